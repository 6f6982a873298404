//! `-i`: a person at the terminal takes or leaves each file and each hunk; what is taken becomes a patch of its own.

use std::io::{BufRead as _, BufReader, Write as _};

use patch_grammar::marker::envelope;
use patch_grammar::{Hunk, Marker, Patch, Section, SectionOperation};

use crate::approve;
use crate::failure::Failure;
use crate::input::Input;
use crate::outside::{self, Terminal};
use crate::render;

/// How many lines are shown of a new file.
const SHOWN: usize = 60;

/// What is left of a patch when everything was asked.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The patch of what was taken; `None` when that is nothing.
    pub(crate) patch: Option<Input>,
    /// What was left out, in words.
    pub(crate) left_out: Vec<String>,
}

/// What was answered, and what holds for the questions to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// Yes, and to the rest of the file too.
    All,
    /// No, and to the rest of the file too.
    Done,
    Edit,
    /// No, and to everything that is left.
    Quit,
}

/// Asks about every part of `patch`.
pub(crate) fn choose(patch: &Patch<'_>) -> Result<Chosen, Failure> {
    let refused = |_| Failure::Usage("-i needs a terminal to ask at".into());
    let mut person = Person { terminal: BufReader::new(outside::terminal().map_err(refused)?), rest: None };
    let mut chosen = Chosen { patch: None, left_out: Vec::new() };
    let mut text = String::new();
    for section in &patch.sections {
        // An answer for the rest of a file ends with the file; to quit does not.
        person.rest = person.rest.filter(|rest| *rest == Answer::Quit);
        // Who sits at a terminal that goes away takes nothing.
        let taken = person.section(patch, section, &mut chosen.left_out);
        text += &taken
            .map_err(|error| Failure::Refused(format!("the terminal is gone: {error}; nothing was changed")))??;
    }
    if !text.is_empty() {
        let bytes = envelope(&text).into_bytes();
        chosen.patch = Some(Input::new(bytes, "the chosen part"));
    }
    Ok(chosen)
}

struct Person {
    terminal: BufReader<Terminal>,
    /// The answer to all questions that come.
    rest: Option<Answer>,
}

impl Person {
    /// The part of a section that is taken, as text; an error of the editor is the inner one.
    fn section(
        &mut self,
        patch: &Patch<'_>,
        section: &Section<'_>,
        left_out: &mut Vec<String>,
    ) -> std::io::Result<Result<String, Failure>> {
        let path = section.path.text;
        let whole = ended(&String::from_utf8_lossy(&patch.text[section.span.clone()]));
        let (move_to, hunks) = match &section.operation {
            SectionOperation::Add(_) => {
                let taken = self.takes(&whole, format!("A {path}"), "Add this file", left_out)?;
                return Ok(Ok(if taken { whole } else { String::new() }));
            }
            SectionOperation::Delete => {
                let taken = self.takes("", format!("D {path}"), "Delete this file", left_out)?;
                return Ok(Ok(if taken { Marker::Delete.header(path) } else { String::new() }));
            }
            SectionOperation::Update { move_to, hunks } => (move_to, hunks),
            SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
        };
        let mut header = Marker::Update.header(path);
        let mut takes_move = false;
        if let Some(to) = move_to {
            let name = format!("R {path} -> {}", to.text);
            takes_move = self.takes("", name, "Move this file", left_out)?;
            if takes_move {
                header += &Marker::MoveTo.header(to.text);
            }
        }
        let mut body = String::new();
        for (nth, hunk) in hunks.iter().enumerate() {
            let name = format!("M {path}, hunk {} of {}", nth + 1, hunks.len());
            let text = hunk_text(patch, hunk);
            match self.ask(&text, &name, "Apply this hunk", true)? {
                Answer::Edit => match edited(&text) {
                    Ok(text) => body += &text,
                    Err(failure) => return Ok(Err(failure)),
                },
                Answer::Yes | Answer::All => body += &text,
                Answer::No | Answer::Done | Answer::Quit => left_out.push(name[2..].to_owned()),
            }
        }
        Ok(Ok(if body.is_empty() && !takes_move { body } else { header + &body }))
    }

    /// Asks about something that is taken or left as a whole.
    fn takes(
        &mut self,
        shown: &str,
        name: String,
        question: &str,
        left_out: &mut Vec<String>,
    ) -> std::io::Result<bool> {
        let taken = matches!(self.ask(shown, &name, question, false)?, Answer::Yes | Answer::All);
        if !taken {
            left_out.push(name);
        }
        Ok(taken)
    }

    fn ask(&mut self, text: &str, name: &str, question: &str, is_hunk: bool) -> std::io::Result<Answer> {
        if let Some(rest) = self.rest {
            return Ok(rest);
        }
        let mut shown = format!("{}\n", render::sanitize(name)).into_bytes();
        let lines: Vec<_> = text.lines().filter(|line| is_hunk || line.starts_with('+')).collect();
        let limit = if is_hunk { usize::MAX } else { SHOWN };
        let diff = lines.iter().take(limit).map(|line| format!("{line}\n")).collect::<String>();
        let diff = if diff.starts_with("@@") { diff } else { format!("@@\n{diff}") };
        if !lines.is_empty() {
            render::write_diff(&mut shown, diff.as_bytes())?;
        }
        if lines.len() > limit {
            writeln!(shown, "… {} more lines", lines.len() - limit)?;
        }
        approve::write_coloured(self.terminal.get_mut(), &shown)?;
        let keys = if is_hunk { "y,n,a,d,e,q,?" } else { "y,n,q,?" };
        loop {
            write!(self.terminal.get_mut(), "{question}? [{keys}] ")?;
            let mut answer = String::new();
            if self.terminal.read_line(&mut answer)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let answer = match answer.trim() {
                "y" => Answer::Yes,
                "n" => Answer::No,
                "a" if is_hunk => Answer::All,
                "d" if is_hunk => Answer::Done,
                "e" if is_hunk => Answer::Edit,
                "q" => Answer::Quit,
                _ => {
                    self.help(is_hunk)?;
                    continue;
                }
            };
            if matches!(answer, Answer::All | Answer::Done | Answer::Quit) {
                self.rest = Some(answer);
            }
            return Ok(answer);
        }
    }

    fn help(&mut self, is_hunk: bool) -> std::io::Result<()> {
        let out = self.terminal.get_mut();
        writeln!(out, "y - yes, take it")?;
        writeln!(out, "n - no, leave it out")?;
        if is_hunk {
            writeln!(out, "a - take this hunk and all that follow in this file")?;
            writeln!(out, "d - leave out this hunk and all that follow in this file")?;
            writeln!(out, "e - edit this hunk in $VISUAL or $EDITOR, and take what comes out")?;
        }
        writeln!(out, "q - leave out this and all that follows, and apply what was taken")?;
        writeln!(out, "? - show this help")
    }
}

/// The text of a hunk, with all of its lines ended.
fn hunk_text(patch: &Patch<'_>, hunk: &Hunk<'_>) -> String {
    const END: &str = Marker::EndOfFile.as_str();
    let mut text = ended(&String::from_utf8_lossy(&patch.text[hunk.span.clone()]));
    if hunk.end_of_file && !text.lines().any(|line| line == END) {
        text = text + END + "\n";
    }
    text
}

fn ended(text: &str) -> String {
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{text}{end}")
}

fn edited(text: &str) -> Result<String, Failure> {
    let input = Input::new(text.into(), "the hunk");
    let bytes = approve::edit(&input)?.bytes;
    String::from_utf8(bytes).map(|text| ended(&text)).map_err(|_| Failure::Input("the edited hunk is not UTF-8".into()))
}
