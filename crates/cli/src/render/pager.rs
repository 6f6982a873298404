//! Where long answers go: to a pager when a person sits at the terminal, else to standard output.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::print::{message, written};
use crate::outside::STDOUT_IS_TERMINAL;

/// Standard output, or a pager that reads what is written here; colours are removed where they are
/// switched off.
pub(crate) struct Pager {
    out: Box<dyn Write>,
    /// Whether the output goes unchanged to a file or a program.
    plain: bool,
}

impl Pager {
    /// Starts the pager of this name, or `$PAGER`, or (not on Windows) `less -FRX`. An empty name
    /// or `cat` means none.
    pub(crate) fn open(wanted: bool, name: Option<&str>) -> Self {
        let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let reader = command(wanted, name).and_then(PagerReader::start);
        let plain = !colour && reader.is_none() && !*STDOUT_IS_TERMINAL;
        let raw: Box<dyn Write> = match reader {
            Some(reader) => Box::new(io::BufWriter::new(reader)),
            None => Box::new(io::BufWriter::new(io::stdout())),
        };
        Self { out: if colour { raw } else { Box::new(anstream::StripStream::new(raw)) }, plain }
    }

    /// Writes a line of text from elsewhere.
    pub(crate) fn line(&mut self, text: &str) {
        written(writeln!(self, "{}", apply_patch_api::tools::shown::sanitize(text)));
    }

    /// Writes a line with colours and without other control codes for a terminal.
    pub(crate) fn coloured(&mut self, text: &str) {
        written(writeln!(self, "{text}"));
    }

    /// Writes a diff.
    pub(crate) fn diff(&mut self, diff: &[u8]) {
        written(if self.plain {
            // Not through the filter for colours: it would take bytes outside UTF-8 for a part of
            // them.
            self.flush().and_then(|()| io::stdout().write_all(diff))
        } else {
            super::diff::write_diff(self, diff)
        });
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        written(self.out.flush());
    }
}

/// How much of the pager's input is kept: more than the capacity of a pipe without a reader.
const KEPT: usize = 2 << 20;

/// A pager that runs. If the program turns out to be missing, its input goes to standard output.
struct PagerReader {
    command: String,
    child: Child,
    /// Until the pager has ended.
    stdin: Option<ChildStdin>,
    /// The pager's input, up to more than the capacity of a pipe: then somebody is reading.
    kept: Option<Vec<u8>>,
}

impl PagerReader {
    fn start(command: String) -> Option<Self> {
        let mut shell = apply_patch_api::shell(&command);
        shell.stdin(Stdio::piped());
        // A pager without flags of its own: end when all fits on the screen, colours, and leave the
        // screen alone.
        if std::env::var_os("LESS").is_none() {
            shell.env("LESS", "FRX");
        }
        // Interrupting is for the pager; this process ends when the pager does.
        let _ = signal_hook::flag::register(
            signal_hook::consts::SIGINT,
            Arc::new(AtomicBool::new(false)),
        );
        let mut child = shell.spawn().ok()?;
        let stdin = child.stdin.take();
        Some(Self { command, child, stdin, kept: Some(Vec::new()) })
    }

    /// Waits for the pager to end. Returns whether the program could not be run, so that standard
    /// output takes its input.
    fn end(&mut self) -> bool {
        // The pager reads until this is closed.
        drop(self.stdin.take());
        let code = self.child.wait().ok().and_then(|status| status.code());
        let Some(kept) = self.kept.take().filter(|_| matches!(code, Some(126 | 127))) else {
            return false;
        };
        message(&format!("warning: the pager cannot be run: `{}`", self.command));
        written(io::stdout().write_all(&kept));
        true
    }
}

impl Write for PagerReader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(stdin) = &mut self.stdin else { return io::stdout().write(bytes) };
        match stdin.write(bytes) {
            Ok(count) => {
                self.kept.take_if(|kept| kept.len() + count > KEPT);
                if let Some(kept) = &mut self.kept {
                    kept.extend_from_slice(&bytes[..count]);
                }
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(_) if self.end() => io::stdout().write(bytes),
            Err(error) => Err(error),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PagerReader {
    fn drop(&mut self) {
        if self.stdin.is_some() {
            self.end();
        }
    }
}

/// The command of the pager; `None` when there is to be none.
fn command(wanted: bool, name: Option<&str>) -> Option<String> {
    if !wanted || !*STDOUT_IS_TERMINAL {
        return None;
    }
    let named = name.map(str::to_owned).or_else(|| std::env::var("PAGER").ok());
    // Windows has no pager that lets colours through.
    let command =
        named.unwrap_or_else(|| if cfg!(windows) { String::new() } else { "less -FRX".into() });
    (!matches!(command.trim(), "" | "cat")).then_some(command)
}
