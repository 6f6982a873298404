//! `-i`: a person at the terminal takes or leaves each file and each hunk; what is taken becomes a patch of its own.

use std::io::{BufRead as _, BufReader, Write as _};

use patch_grammar::diff::{DiffOptions, push_quoted};
use patch_grammar::marker::NO_NEWLINE;
use patch_grammar::{AddedLines, Hunk, LineEndings, Marker, Patch, Section, SectionOperation};

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
    /// The patch of what was taken, in the form of the whole; `None` when that is nothing.
    pub(crate) patch: Option<Input>,
    /// What was left out, in words.
    pub(crate) left_out: Vec<String>,
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Envelope,
    Diff,
}

impl Form {
    pub(crate) fn of(input: &Input) -> Self {
        if input.diff.is_some() { Self::Diff } else { Self::Envelope }
    }

    /// The header of a section of which this is taken: that it goes elsewhere, or has another mode.
    fn header(self, section: &Section<'_>, moves: bool, mode: Option<bool>, has_hunks: bool) -> Vec<u8> {
        let from = section.path.text;
        let to = section.destination().filter(|_| moves).map_or(from, |to| to.text);
        let is = |operation: fn(&SectionOperation<'_>) -> bool| operation(&section.operation);
        let (added, deleted) =
            (is(|it| matches!(it, SectionOperation::Add(_))), is(|it| matches!(it, SectionOperation::Delete(_))));
        if self == Self::Envelope {
            let marker = match () {
                () if added => Marker::Add,
                () if deleted => Marker::Delete,
                () => Marker::Update,
            };
            let to = if moves { Marker::MoveTo.header(to) } else { String::new() };
            return (marker.header(from) + &to).into_bytes();
        }
        let mut out = Vec::new();
        let mut line = |names: &[(&str, &str, &str)]| {
            for (words, prefix, name) in names {
                out.extend_from_slice(words.as_bytes());
                if !name.is_empty() {
                    push_quoted(&mut out, prefix, name);
                }
            }
            // After a name with blanks as git has it.
            let blank = names[0].0.starts_with(['-', '+']) && names[0].2.contains(' ');
            out.extend_from_slice(if blank { b"\t\n" } else { b"\n" });
        };
        line(&[("diff --git ", "a/", from), (" ", "b/", to)]);
        let named = |executable: bool| if executable { "100755" } else { "100644" };
        match mode {
            _ if deleted => line(&[("deleted file mode 100644", "", "")]),
            mode if added => line(&[("new file mode ", "", ""), (named(mode.unwrap_or(false)), "", "")]),
            Some(mode) => {
                line(&[("old mode ", "", ""), (named(!mode), "", "")]);
                line(&[("new mode ", "", ""), (named(mode), "", "")]);
            }
            None => {}
        }
        if moves {
            let copies = is(|it| matches!(it, SectionOperation::Copy { .. }));
            line(&[(if copies { "copy from " } else { "rename from " }, "", from)]);
            line(&[(if copies { "copy to " } else { "rename to " }, "", to)]);
        }
        if has_hunks {
            line(&[("--- ", "a/", from)].map(|name| if added { ("--- /dev/null", "", "") } else { name }));
            line(&[("+++ ", "b/", to)].map(|name| if deleted { ("+++ /dev/null", "", "") } else { name }));
        }
        out
    }

    /// The lines of a new file.
    fn added(self, added: &AddedLines<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        if self == Self::Diff && !added.text.is_empty() {
            out.extend_from_slice(format!("@@ -0,0 +1,{} @@\n", added.lines().count()).as_bytes());
        }
        out.extend_from_slice(&ended(added.text));
        if added.no_newline {
            out.extend_from_slice(NO_NEWLINE.as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// The sections as a patch.
    fn whole(self, patch: &Patch<'_>, sections: Vec<u8>) -> Input {
        const NAME: &str = "the chosen part";
        match self {
            Self::Diff => Input { diff: Some(DiffOptions::default()), ..Input::new(sections, NAME) },
            Self::Envelope => {
                // The line of the first marker says whether carriage returns are the files'.
                let end = if is_framed(patch) { "\r\n" } else { "\n" };
                let begin = [Marker::Begin.as_str().as_bytes(), end.as_bytes()].concat();
                let end = [Marker::End.as_str().as_bytes(), b"\n"].concat();
                Input::new([begin, sections, end].concat(), NAME)
            }
        }
    }
}

/// Whether the carriage returns of a patch say nothing of the files.
fn is_framed(patch: &Patch<'_>) -> bool {
    patch.sections.iter().any(|section| match &section.operation {
        SectionOperation::Add(added) => added.endings == LineEndings::Framing,
        _ => section.hunks().iter().any(|hunk| hunk.endings == LineEndings::Framing),
    })
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

/// Asks about every part of `patch`, which is of this form.
pub(crate) fn choose(patch: &Patch<'_>, form: Form) -> Result<Chosen, Failure> {
    let refused = |_| Failure::Usage("-i needs a terminal to ask at".into());
    let terminal = BufReader::new(outside::terminal().map_err(refused)?);
    let mut person = Person { terminal, form, rest: None };
    let mut chosen = Chosen { patch: None, left_out: Vec::new() };
    let mut text = Vec::new();
    for section in &patch.sections {
        // An answer for the rest of a file ends with the file; to quit does not.
        person.rest = person.rest.filter(|rest| *rest == Answer::Quit);
        // Who sits at a terminal that goes away takes nothing.
        let taken = person.section(patch, section, &mut chosen.left_out);
        let gone = |error| Failure::Refused(format!("the terminal is gone: {error}; nothing was changed"));
        text.extend(taken.map_err(gone)??);
    }
    if !text.is_empty() {
        chosen.patch = Some(form.whole(patch, text));
    }
    Ok(chosen)
}

struct Person {
    terminal: BufReader<Terminal>,
    form: Form,
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
    ) -> std::io::Result<Result<Vec<u8>, Failure>> {
        let (form, path) = (self.form, section.path.text);
        let mode = section.executable;
        let (mut takes_move, mut takes_mode) = (false, None);
        match &section.operation {
            SectionOperation::Add(added) => {
                let lines = form.added(added);
                if !self.takes(&lines, format!("A {path}"), "Add this file", left_out)? {
                    return Ok(Ok(Vec::new()));
                }
                return Ok(Ok([form.header(section, false, mode, !lines.is_empty()), lines].concat()));
            }
            SectionOperation::Delete(hunks) => {
                if !self.takes(b"", format!("D {path}"), "Delete this file", left_out)? {
                    return Ok(Ok(Vec::new()));
                }
                let lines: Vec<_> = hunks.iter().flatten().flat_map(|hunk| hunk_text(patch, hunk)).collect();
                return Ok(Ok([form.header(section, false, None, !lines.is_empty()), lines].concat()));
            }
            SectionOperation::Copy { to, .. } => {
                let name = format!("C {path} -> {}", to.text);
                if !self.takes(b"", name, "Copy this file", left_out)? {
                    return Ok(Ok(Vec::new()));
                }
                takes_move = true;
            }
            SectionOperation::Update { move_to: Some(to), .. } => {
                let name = format!("R {path} -> {}", to.text);
                takes_move = self.takes(b"", name, "Move this file", left_out)?;
            }
            SectionOperation::Update { move_to: None, .. } => {}
        }
        if let Some(executable) = mode {
            let name = format!("M {path}, mode {}", if executable { "100755" } else { "100644" });
            let taken = self.takes(b"", name, "Change the mode of this file", left_out)?;
            takes_mode = mode.filter(|_| taken);
        }
        let hunks = section.hunks();
        let mut body = Vec::new();
        for (nth, hunk) in hunks.iter().enumerate() {
            let name = format!("M {path}, hunk {} of {}", nth + 1, hunks.len());
            let text = hunk_text(patch, hunk);
            match self.ask(&text, &name, "Apply this hunk", true)? {
                Answer::Edit => match edited(text) {
                    Ok(text) => body.extend(text),
                    Err(failure) => return Ok(Err(failure)),
                },
                Answer::Yes | Answer::All => body.extend(text),
                Answer::No | Answer::Done | Answer::Quit => left_out.push(name[2..].to_owned()),
            }
        }
        if body.is_empty() && !takes_move && takes_mode.is_none() {
            return Ok(Ok(body));
        }
        Ok(Ok([form.header(section, takes_move, takes_mode, !body.is_empty()), body].concat()))
    }

    /// Asks about something that is taken or left as a whole.
    fn takes(
        &mut self,
        shown: &[u8],
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

    fn ask(&mut self, text: &[u8], name: &str, question: &str, is_hunk: bool) -> std::io::Result<Answer> {
        if let Some(rest) = self.rest {
            return Ok(rest);
        }
        let mut shown = format!("{}\n", render::sanitize(name)).into_bytes();
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        let lines: Vec<_> = lines.filter(|line| is_hunk || line.starts_with(b"+")).collect();
        let limit = if is_hunk { usize::MAX } else { SHOWN };
        let diff: Vec<u8> = lines.iter().take(limit).flat_map(|line| *line).copied().collect();
        let diff = if diff.starts_with(b"@@") { diff } else { [b"@@\n", &diff[..]].concat() };
        if !lines.is_empty() {
            render::write_diff(&mut shown, &diff)?;
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
fn hunk_text(patch: &Patch<'_>, hunk: &Hunk<'_>) -> Vec<u8> {
    const END: &[u8] = Marker::EndOfFile.as_str().as_bytes();
    let mut text = ended(&patch.text[hunk.span.clone()]);
    if hunk.end_of_file && !text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end() == END) {
        text.extend_from_slice(END);
        text.push(b'\n');
    }
    text
}

fn ended(text: &[u8]) -> Vec<u8> {
    let end: &[u8] = if text.ends_with(b"\n") || text.is_empty() { b"" } else { b"\n" };
    [text, end].concat()
}

fn edited(text: Vec<u8>) -> Result<Vec<u8>, Failure> {
    Ok(ended(&approve::edit(&Input::new(text, "the hunk"))?.bytes))
}
