//! Messages on two streams, one per line. Two threads read and write, so that a slow stream does
//! not hold up the other. Lines that are not messages are answered here.
//!
//! rmcp has a transport of its own for such streams. It drops an overlong line, ignores text other
//! than JSON and answers a bad id without the id, so that a client waits for ever; rmcp puts no
//! bound on the work under way, and drops unwritten answers when the input ends.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use crate::backlog::{Backlog, HeldMessage};
use crate::id::IdScanner;
use crate::message::{self, INVALID_REQUEST, Refused};

/// The most messages in the queue of each side.
const QUEUE: usize = 64;

/// How long to wait for a client, after its last request, to take another answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on its way to the client.
struct Outgoing {
    line: Vec<u8>,
    _held: HeldMessage,
}

/// Both directions of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    received: mpsc::Receiver<ClientJsonRpcMessage>,
    sent: Option<mpsc::Sender<Outgoing>>,
    /// Ends with whether everything was written.
    writer: Option<oneshot::Receiver<bool>>,
    /// The client has stopped reading.
    deaf: bool,
    backlog: Backlog,
}

impl Wire {
    /// Starts to read and write; the second value becomes true when the client has gone.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        max_message: usize,
        backlog: Backlog,
    ) -> io::Result<(Self, watch::Receiver<bool>)> {
        let (to_server, received) = mpsc::channel(QUEUE);
        let (sent, to_client) = mpsc::channel(QUEUE);
        let (closing, closed) = watch::channel(false);
        let (written, writer) = oneshot::channel();
        let closing = std::sync::Arc::new(closing);
        let gone = closing.clone();
        let reader = WireReader {
            to_server,
            answers: sent.clone(),
            backlog: backlog.clone(),
            max_message,
            begun: false,
        };
        let ending = backlog.clone();
        thread::Builder::new().name("mcp-read".into()).spawn(move || {
            reader.run(BufReader::with_capacity(1 << 16, input));
            closing.send_replace(true);
        })?;
        thread::Builder::new().name("mcp-write".into()).spawn(move || {
            let all = write(to_client, output).is_ok();
            if !all {
                gone.send_replace(true);
            }
            ending.close();
            let _ = written.send(all);
        })?;
        Ok((
            Self { received, sent: Some(sent), writer: Some(writer), deaf: false, backlog },
            closed,
        ))
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sent = self.sent.clone();
        // The message counts from here on, however long the wait for the writer.
        let outgoing = serde_json::to_vec(&item)
            .map(|line| Outgoing { _held: self.backlog.hold(line.len()), line });
        async move {
            let sent = sent.ok_or(io::ErrorKind::BrokenPipe)?;
            sent.send(outgoing?).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let writer = self.writer.as_mut().filter(|_| !self.deaf)?;
        tokio::select! {
            message = self.received.recv() => message,
            // The writer ends first only if the client does not listen any more.
            _ = writer => {
                self.deaf = true;
                None
            }
        }
    }

    /// Ends when everything is written, or the client has taken nothing for a second.
    async fn close(&mut self) -> Result<(), io::Error> {
        // The reader holds a sender for its answers until the input ends.
        self.received.close();
        self.sent = None;
        if let Some(mut writer) = self.writer.take().filter(|_| !self.deaf) {
            let mut left = usize::MAX;
            while tokio::time::timeout(PATIENCE, &mut writer).await.is_err()
                && self.backlog.bytes() < left
            {
                left = self.backlog.bytes();
            }
        }
        Ok(())
    }
}

impl Drop for Wire {
    /// Waits for answers to a client that left before its first request: rmcp does not close such a
    /// connection.
    fn drop(&mut self) {
        let end = Instant::now() + PATIENCE;
        while self.writer.is_some() && self.backlog.bytes() > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn write(mut lines: mpsc::Receiver<Outgoing>, mut output: impl Write) -> io::Result<()> {
    while let Some(mut outgoing) = lines.blocking_recv() {
        outgoing.line.push(b'\n');
        output.write_all(&outgoing.line)?;
        output.flush()?;
    }
    Ok(())
}

struct WireReader {
    to_server: mpsc::Sender<ClientJsonRpcMessage>,
    answers: mpsc::Sender<Outgoing>,
    backlog: Backlog,
    max_message: usize,
    /// Whether a request was seen.
    begun: bool,
}

/// The kind of a line.
enum WireLine {
    Whole,
    TooLong(Option<Value>),
    End,
}

impl WireReader {
    fn run(mut self, mut input: impl BufRead) {
        loop {
            let mut line = Vec::new();
            let goes_on = match read_line(&mut input, self.max_message, &mut line) {
                // The unfinished last line of a client is ignored.
                Ok(WireLine::End) | Err(_) => return,
                Ok(WireLine::TooLong(id)) => {
                    let message = format!(
                        "the message is longer than {} bytes; split the change",
                        self.max_message
                    );
                    self.answer(&Refused::new(id, INVALID_REQUEST, message))
                }
                Ok(WireLine::Whole) => self.message(line),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Takes a line; `false` when the connection has ended.
    fn message(&mut self, line: Vec<u8>) -> bool {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            return true;
        }
        match message::read(text, &self.backlog) {
            Ok(Some(message)) => {
                drop(line);
                self.begun |= matches!(message, ClientJsonRpcMessage::Request(_));
                // Before the first request there is nothing to cancel or answer: such messages were
                // meant for an earlier server.
                !self.begun || self.to_server.blocking_send(message).is_ok()
            }
            Ok(None) => true,
            Err(refused) => self.answer(&refused),
        }
    }

    fn answer(&self, refused: &Refused) -> bool {
        let line = serde_json::to_vec(refused).expect("text keys");
        let held = self.backlog.hold(line.len());
        self.answers.blocking_send(Outgoing { line, _held: held }).is_ok()
    }
}

/// Reads up to a line feed; of a line longer than `limit`, only the id is kept.
fn read_line(input: &mut impl BufRead, limit: usize, line: &mut Vec<u8>) -> io::Result<WireLine> {
    let mut dropped: Option<IdScanner> = None;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return Ok(WireLine::End);
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        match &mut dropped {
            Some(scanner) => scanner.feed(part),
            None if line.len() + part.len() > limit => {
                let mut scanner = IdScanner::default();
                scanner.feed(line);
                scanner.feed(part);
                *line = Vec::new();
                dropped = Some(scanner);
            }
            None => line.extend_from_slice(part),
        }
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            return Ok(dropped.map_or(WireLine::Whole, |scanner| WireLine::TooLong(scanner.id())));
        }
    }
}
