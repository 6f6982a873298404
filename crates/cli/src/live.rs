//! `--stream`: file names and line counts while the text is still arriving on standard input.

use std::io::{Read as _, Write as _};

use apply_patch_api::engine::remedy::{Remedy, Setting};
use apply_patch_api::engine::{MAX_PATCH_SIZE, ParseError};
use apply_patch_api::grammar::{ParseOptions, PatchStream, StreamEvent, StreamOperation};

use crate::failure::Failure;
use crate::input::Input;
use crate::{outside, render};

/// Reads the patch from standard input. What cannot become a patch any more fails before its end.
pub(crate) fn read(options: &ParseOptions) -> Result<Input, Failure> {
    let mut stdin = std::io::stdin().lock();
    let mut stream = PatchStream::new(options.clone());
    let mut view = View { live: *outside::STDERR_IS_TERMINAL, sections: Vec::new() };
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match stdin.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::Input(format!("cannot read standard input: {error}")));
            }
        };
        bytes.extend_from_slice(&buffer[..read]);
        if bytes.len() as u64 > MAX_PATCH_SIZE {
            return Err(Failure::TooLong);
        }
        let events = stream.push(&buffer[..read]);
        let failed = view.show(events);
        if let Some(error) = failed {
            view.end();
            let input = Input::new(bytes, "standard input");
            return Err(if is_diff(&error) { of_diff() } else { Failure::parse(&input, error) });
        }
    }
    let failed = view.show(stream.end());
    view.end();
    // The parser checks the whole, and reports its errors.
    if failed.is_some_and(|error| is_diff(&error)) {
        return Err(of_diff());
    }
    Ok(Input::new(bytes, "standard input"))
}

/// Whether the advice would be another form, with a flag that `--stream` does not allow.
fn is_diff(error: &ParseError) -> bool {
    Remedy::of_parse(error).contains(&Remedy::Set(Setting::AnyForm))
}

fn of_diff() -> Failure {
    let message = "--stream reads patches that begin with `*** Begin Patch`, and this is a diff: \
                   leave `--stream` out";
    Failure::Usage(message.into())
}

/// The lines on standard error: on a terminal one changing line, else one for each finished
/// section.
struct View {
    live: bool,
    /// A letter and the path or paths, for each section.
    sections: Vec<String>,
}

impl View {
    fn show(&mut self, events: Vec<StreamEvent>) -> Option<ParseError> {
        let mut failed = None;
        for event in events {
            match event {
                StreamEvent::Begun { operation, path, move_to, .. } => {
                    let letter = match operation {
                        StreamOperation::Add => 'A',
                        StreamOperation::Delete => 'D',
                        StreamOperation::Update => 'M',
                        StreamOperation::Move => 'R',
                    };
                    let to = move_to.map(|to| format!(" -> {to}")).unwrap_or_default();
                    self.sections.push(format!("{letter} {path}{to}"));
                    self.line(self.sections.len() - 1, 0, 0, false);
                }
                StreamEvent::MoveTo { section, path } => {
                    let name = &mut self.sections[section];
                    name.replace_range(..1, "R");
                    *name += &format!(" -> {path}");
                }
                StreamEvent::Lines { section, inserted, deleted } => {
                    self.line(section, inserted, deleted, false)
                }
                StreamEvent::Finished { section, inserted, deleted } => {
                    self.line(section, inserted, deleted, true)
                }
                StreamEvent::Failed(error) => failed = Some(error),
                _ => {}
            }
        }
        failed
    }

    fn line(&self, section: usize, inserted: usize, deleted: usize, finished: bool) {
        let name = render::sanitize(&self.sections[section]).into_owned();
        let mut out = std::io::stderr().lock();
        // Nothing can be done about a closed standard error.
        let _ = match (self.live, finished) {
            (true, true) => writeln!(out, "\r\u{1b}[K{name} | +{inserted} -{deleted}"),
            (true, false) => write!(out, "\r\u{1b}[K{name} | +{inserted} -{deleted} …"),
            (false, true) => writeln!(out, "{name} | +{inserted} -{deleted}"),
            (false, false) => Ok(()),
        };
        let _ = out.flush();
    }

    /// Leaves no half line behind.
    fn end(&self) {
        if self.live {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
