//! `--approve`: a person at the terminal sees the plan and decides.

use std::cell::{Cell, RefCell};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::process::Command;

use anstyle::{AnsiColor, Style};
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Decision, Reason, Request};
use apply_patch_api::engine::{MAX_PATCH_SIZE, Plan, TurnDiff};
use apply_patch_api::tools::changes::warnings;
use apply_patch_api::tools::received::Part;

use crate::failure::Failure;
use crate::input::Input;
use crate::outside::{self, Terminal};
use crate::{interrupt, render};

/// How many lines of the diff are shown before the question.
const SHOWN: usize = 60;

/// Returns when a person is asked by default: about dangerous changes, if someone sees the output
/// and the terminal can be opened; otherwise never, so that no program waits for an answer.
/// Standard input may be the patch.
pub(crate) fn preset() -> ApprovalPolicy {
    let seen = *outside::STDOUT_IS_TERMINAL && *outside::STDERR_IS_TERMINAL;
    if seen && outside::terminal().is_ok() {
        ApprovalPolicy::OnRequest
    } else {
        ApprovalPolicy::Never
    }
}

/// An answer other than yes and no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instead {
    /// Edit the patch, and plan again.
    Edit,
    /// Nothing: there is no terminal to ask at.
    NoTerminal,
    /// Nothing: the input ended, or the terminal went away.
    Nothing(ErrorKind),
}

/// Says why there is no answer, after an error of reading.
pub(crate) fn no_answer(error: ErrorKind) -> String {
    match error {
        ErrorKind::UnexpectedEof => {
            "nothing was answered (end of input); nothing was changed".into()
        }
        error => format!("the terminal is gone: {error}; nothing was changed"),
    }
}

/// Asks at the terminal.
#[derive(Debug, Default)]
pub(crate) struct Prompt {
    /// Whether `e` is offered.
    pub(crate) may_edit: bool,
    /// Whether the person was asked about every file that is deleted.
    deletes_approved: Cell<bool>,
    /// The changes of the plan that the person edited first.
    proposal: RefCell<Option<TurnDiff>>,
    instead: Cell<Option<Instead>>,
}

impl Prompt {
    pub(crate) fn new(may_edit: bool) -> Self {
        Self { may_edit, ..Self::default() }
    }

    /// Sets whether the person was asked about every file that a plan deletes: then deleting is no
    /// reason to ask again.
    pub(crate) fn deletes_approved(&self, yes: bool) {
        self.deletes_approved.set(yes);
    }

    /// The changes of the plan that the person edited first, if there is one.
    pub(crate) fn proposal(&self) -> Option<TurnDiff> {
        self.proposal.borrow().clone()
    }

    /// Why the plan was declined, other than by a plain no.
    pub(crate) fn instead(&self) -> Option<Instead> {
        self.instead.take()
    }

    /// Asks about a plan. Without a terminal the answer is no.
    pub(crate) fn decide(
        &self,
        request: &Request<'_>,
    ) -> Result<Decision, apply_patch_api::files::Error> {
        let only_deletes =
            request.reasons.iter().all(|reason| matches!(reason, Reason::Deletes { .. }));
        if only_deletes && self.deletes_approved.get() {
            return Ok(Decision::Approve);
        }
        let Ok(terminal) = outside::terminal() else {
            self.instead.set(Some(Instead::NoTerminal));
            return Ok(Decision::Decline);
        };
        let diff = request.plan.images().diffs()?;
        Ok(self.ask(&mut BufReader::new(terminal), request, &diff).unwrap_or_else(|error| {
            // A terminal that goes away during the question does not count as a yes.
            self.instead.set(Some(Instead::Nothing(error.kind())));
            Decision::Decline
        }))
    }

    fn ask(
        &self,
        terminal: &mut BufReader<Terminal>,
        request: &Request<'_>,
        diff: &[u8],
    ) -> std::io::Result<Decision> {
        let out = terminal.get_mut();
        show(out, request.plan, diff, SHOWN)?;
        for warning in warnings(request.plan) {
            writeln!(out, "{}", render::sanitize(&format!("! {warning}")))?;
        }
        for reason in &request.reasons {
            writeln!(out, "{}", render::sanitize(&format!("! {reason}")))?;
        }
        let keys = if self.may_edit { "y,n,e,v,?" } else { "y,n,v,?" };
        loop {
            let answer = line(terminal, &format!("Apply this patch? [{keys}] "))?;
            let out = terminal.get_mut();
            match &*answer {
                "y" => return Ok(Decision::Approve),
                "n" => return Ok(Decision::Decline),
                "e" if self.may_edit => {
                    let mut proposal = self.proposal.borrow_mut();
                    proposal.get_or_insert_with(|| TurnDiff::in_place_of(request.plan));
                    self.instead.set(Some(Instead::Edit));
                    return Ok(Decision::Decline);
                }
                "v" => show(out, request.plan, diff, usize::MAX)?,
                _ => {
                    writeln!(out, "y - apply the patch")?;
                    writeln!(out, "n - do not apply it; nothing is changed")?;
                    if self.may_edit {
                        writeln!(
                            out,
                            "e - edit the patch in $VISUAL or $EDITOR, and plan it again"
                        )?;
                    }
                    writeln!(out, "v - view the whole diff")?;
                    writeln!(out, "? - show this help")?;
                }
            }
        }
    }
}

const PROMPT: Style = AnsiColor::Blue.on_default().bold();

/// Asks for a line, and returns the line without blanks around. The end of the input is an error.
pub(crate) fn line(terminal: &mut BufReader<Terminal>, prompt: &str) -> std::io::Result<String> {
    interrupt::waiting(|| {
        // As that of `git add -p`.
        let text = format!("{PROMPT}{prompt}{PROMPT:#}");
        write_coloured(terminal.get_mut(), text.as_bytes())?;
        let mut line = String::new();
        match terminal.read_line(&mut line)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim().to_owned()),
        }
    })
}

/// Asks a question at the terminal that `y` answers with yes.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    let answer = outside::terminal()
        .and_then(|terminal| line(&mut BufReader::new(terminal), &format!("{question} [y/N] ")));
    match answer {
        Ok(answer) => Ok(matches!(&*answer, "y" | "Y" | "yes")),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(Failure::Refused(format!("there is no terminal to ask at: {error}"))),
    }
}

/// Asks which of several patches is meant, with the list `several`.
pub(crate) fn which(several: &str) -> Result<Part, Failure> {
    match ask_which(several) {
        Ok(Some(part)) => Ok(part),
        Ok(None) => Err(Failure::Refused("none was chosen; nothing was changed".into())),
        Err(error) => Err(Failure::Refused(no_answer(error.kind()))),
    }
}

fn ask_which(several: &str) -> std::io::Result<Option<Part>> {
    let terminal = outside::terminal().map_err(std::io::Error::other)?;
    let mut terminal = BufReader::new(terminal);
    writeln!(terminal.get_mut(), "{}", render::sanitize(several))?;
    loop {
        let answer = line(&mut terminal, "Which one? [its number, a(ll), q] ")?;
        match &*answer {
            "a" | "all" => return Ok(Some(Part::All)),
            "q" => return Ok(None),
            number => match number.parse() {
                Ok(nth) if nth > 0 => return Ok(Some(Part::Nth(nth))),
                _ => {}
            },
        }
    }
}

/// Shows what would change, and at most `limit` lines of how.
fn show(out: &mut Terminal, plan: &Plan, diff: &[u8], limit: usize) -> std::io::Result<()> {
    let mut text = Vec::new();
    for change in plan.changes() {
        writeln!(text, "{}", render::sanitize(&render::name(change)))?;
    }
    let total = diff.iter().filter(|&&byte| byte == b'\n').count();
    let end = diff.split_inclusive(|&byte| byte == b'\n').take(limit).map(<[u8]>::len).sum();
    render::write_diff(&mut text, &diff[..end])?;
    if end < diff.len() {
        writeln!(text, "… {} more lines; v shows them", total - limit)?;
    }
    write_coloured(out, &text)
}

/// Writes coloured text to the terminal, or without its colours where they are switched off.
pub(crate) fn write_coloured(out: &mut Terminal, text: &[u8]) -> std::io::Result<()> {
    let plain = anstream::ColorChoice::global() == anstream::ColorChoice::Never
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain {
        out.write_all(&anstream::adapter::strip_bytes(text).into_vec())
    } else {
        out.write_all(text)
    }
}

/// Lets the person edit the patch.
pub(crate) fn edit(input: &Input) -> Result<Input, Failure> {
    let mut file = tempfile::Builder::new()
        .prefix("apply-patch-")
        .suffix(".patch")
        .tempfile()
        .map_err(|error| not_edited("cannot make a file to edit", error))?;
    file.write_all(input.bytes())
        .map_err(|error| not_edited("cannot write the file to edit", error))?;
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".into());
    // Standard input may be the patch; the editor gets the terminal.
    let script = format!("{editor} \"$1\" < /dev/tty > /dev/tty 2>&1");
    let status = Command::new("sh").args(["-c", &script, "editor"]).arg(file.path()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(not_edited("the editor failed, nothing was changed", status)),
        Err(error) => return Err(not_edited("cannot start the editor", error)),
    }
    let bytes = outside::read_input(file.path(), MAX_PATCH_SIZE)?;
    let sent = input.sent.with_text(bytes);
    Ok(Input::of(sent, "the edited patch"))
}

fn not_edited(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("{what}: {error}"))
}
