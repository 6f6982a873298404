//! Where long answers go: to a pager when a person sits at the terminal, else to standard output.

use std::io::{self, IsTerminal as _, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Standard output, or a pager that reads what is written here; codes of colours are removed where nobody wants them.
pub(crate) struct Pager {
    out: Option<Box<dyn Write>>,
    /// What reads it is no person, and gets the bytes.
    plain: bool,
    child: Option<Child>,
}

impl Pager {
    /// Starts the pager of that name, or `$PAGER`, or `less -FRX`. An empty name or `cat` is none.
    pub(crate) fn open(wanted: bool, name: Option<&str>) -> Self {
        let child = command(wanted, name).and_then(|command| {
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).stdin(Stdio::piped());
            // A pager without flags of its own: end when all fits on the screen, colours, and leave the screen alone.
            if std::env::var_os("LESS").is_none() {
                shell.env("LESS", "FRX");
            }
            // Interrupting is for the pager; this process ends when the pager does.
            let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
            shell.spawn().ok()
        });
        let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let (raw, child): (Box<dyn Write>, _) = match child {
            Some(mut child) => match child.stdin.take() {
                Some(stdin) => (Box::new(stdin), Some(child)),
                None => (Box::new(io::stdout()), Some(child)),
            },
            None => (Box::new(io::stdout()), None),
        };
        let raw: Box<dyn Write> = Box::new(io::BufWriter::new(raw));
        let out = if colour { raw } else { Box::new(anstream::StripStream::new(raw)) };
        let plain = !colour && child.is_none() && !io::stdout().is_terminal();
        Self { out: Some(out), plain, child }
    }

    /// Writes a line of text from elsewhere.
    pub(crate) fn line(&mut self, text: &str) {
        // A pager that was left, or a broken pipe, is a quiet end.
        let _ = writeln!(self, "{}", file_tools::shown::sanitize(text));
    }

    /// Writes a diff.
    pub(crate) fn diff(&mut self, diff: &[u8]) {
        let _ = match self.plain {
            // Past what takes codes of colours out: they may be the file's.
            true => self.flush().and_then(|()| io::stdout().write_all(diff)),
            false => super::diff::write_diff(self, diff),
        };
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        if let Some(mut out) = self.out.take() {
            let _ = out.flush();
        }
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

/// The command of the pager; `None` when there is to be none.
fn command(wanted: bool, name: Option<&str>) -> Option<String> {
    if !wanted || !io::stdout().is_terminal() {
        return None;
    }
    let named = name.map(str::to_owned).or_else(|| std::env::var("PAGER").ok());
    let command = named.unwrap_or_else(|| "less -FRX".into());
    (!matches!(command.trim(), "" | "cat")).then_some(command)
}
