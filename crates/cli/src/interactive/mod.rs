//! `-i`: a person at the terminal takes or leaves each file and each hunk; what is taken becomes a
//! patch of its own.

mod asking;
mod form;
mod hunk_text;
mod places;
#[cfg(feature = "review")]
mod review;

use apply_patch_api::engine::{Plan, Rejects};
use apply_patch_api::grammar::diff::{NEXT_DIFF, are_parted};
use apply_patch_api::grammar::{Patch, SectionOperation};

use crate::failure::Failure;
use crate::input::Input;
use asking::{APPLY, Asker, HunkPiece, excerpt};
pub(crate) use form::PatchForm;
use form::mode_text;
use hunk_text::{HunkText, PartDecision, counted, hunk_text};
use places::{Places, places};
#[cfg(feature = "review")]
pub(crate) use review::{kind_words, left_alone, operation_words, review, title, undo};

/// The parts of a patch that the person took.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The patch of the accepted parts, in the form of the whole; `None` for no parts.
    pub(crate) patch: Option<Input>,
    /// The names of the omitted parts.
    pub(crate) left_out: Vec<String>,
}

/// Asks about every part of `patch`, in its form. `plan` tells the places of the hunks.
pub(crate) fn choose(
    patch: &Patch,
    form: PatchForm,
    plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>,
) -> Result<Chosen, Failure> {
    let asker = Asker::open(&APPLY, "-i")?;
    let mut person = Person { asker, form, places: places(patch, plan), left_out: Vec::new() };
    let mut text = Vec::new();
    let mut last = None;
    for (index, section) in patch.sections().iter().enumerate() {
        // A mail reads the files as those before it left them.
        let is_parted = last.is_some_and(|last| are_parted(patch, last, section));
        if is_parted && form == PatchForm::Diff && !text.is_empty() {
            text.extend_from_slice(NEXT_DIFF);
        }
        last = Some(section);
        text.extend(person.section(patch, index)?);
    }
    Ok(Chosen {
        patch: (!text.is_empty()).then(|| form.whole(patch, text)),
        left_out: person.left_out,
    })
}

struct Person {
    asker: Asker,
    form: PatchForm,
    places: Places,
    /// The names of the omitted parts.
    left_out: Vec<String>,
}

impl Person {
    /// Returns the accepted part of a section, as text.
    fn section(&mut self, patch: &Patch, index: usize) -> Result<Vec<u8>, Failure> {
        let section = &patch.sections()[index];
        let path = &section.path.text;
        let form = self.form;
        // The one line of a link is taken or left with the link.
        if section.link {
            let taken = self.takes(b"", format!("L {path}"), "Change this symbolic link")?;
            let text = patch.bytes(section.span.clone());
            return Ok(if taken { text.to_vec() } else { Vec::new() });
        }
        if section.submodule.is_some() {
            let taken = self.takes(b"", format!("M {path}, submodule"), "Change this submodule")?;
            let text = patch.bytes(section.span.clone());
            return Ok(if taken { text.to_vec() } else { Vec::new() });
        }
        let mode = section.executable;
        if let Some(binary) = &section.binary {
            let to = section.destination().map(|to| format!(" -> {}", to.text));
            let name = format!("M {path}{}, binary", to.unwrap_or_default());
            if !self.takes(b"", name, "Apply this binary change")? {
                return Ok(Vec::new());
            }
            return Ok(form.binary(patch, section, binary));
        }
        let mut takes_move = false;
        match &section.operation {
            SectionOperation::Add(added) => {
                let lines = form.added(added);
                if !self.takes(&lines, format!("A {path}"), "Add this file")? {
                    return Ok(Vec::new());
                }
                return Ok([form.header(section, false, mode, !lines.is_empty()), lines].concat());
            }
            SectionOperation::Delete(hunks) => {
                if !self.takes(b"", format!("D {path}"), "Delete this file")? {
                    return Ok(Vec::new());
                }
                let lines: Vec<_> =
                    hunks.iter().flatten().flat_map(|hunk| hunk_text(patch, hunk)).collect();
                return Ok([form.header(section, false, None, !lines.is_empty()), lines].concat());
            }
            SectionOperation::Copy { to, .. } => {
                let name = format!("C {path} -> {}", to.text);
                if !self.takes(b"", name, "Copy this file")? {
                    return Ok(Vec::new());
                }
                takes_move = true;
            }
            SectionOperation::Update { move_to: Some(to), .. } => {
                let name = format!("R {path} -> {}", to.text);
                takes_move = self.takes(b"", name, "Move this file")?;
            }
            SectionOperation::Update { move_to: None, .. } => {}
        }
        let mut takes_mode = None;
        if let Some(executable) = mode {
            let name = format!("M {path}, mode {}", mode_text(executable));
            let taken = self.takes(b"", name, "Change the mode of this file")?;
            takes_mode = mode.filter(|_| taken);
        }
        let body = self.hunks(patch, index)?;
        if body.is_empty() && !takes_move && takes_mode.is_none() {
            return Ok(body);
        }
        Ok([form.header(section, takes_move, takes_mode, !body.is_empty()), body].concat())
    }

    /// Returns what is taken of the hunks of a section, as text.
    fn hunks(&mut self, patch: &Patch, index: usize) -> Result<Vec<u8>, Failure> {
        let section = &patch.sections()[index];
        let path = &section.path.text;
        let hunks = section.hunks();
        let mut texts = Vec::with_capacity(hunks.len());
        let mut pieces = Vec::with_capacity(hunks.len());
        for (nth, hunk) in hunks.iter().enumerate() {
            let place = self.places.remove(&(index, nth));
            let place = place.unwrap_or_else(|| Err("its place is not known".into()));
            let text = HunkText::of(patch, hunk, place);
            pieces.push(HunkPiece::whole(path, nth, hunks.len(), &text));
            texts.push(text);
        }
        self.asker.decide(&texts, &mut pieces)?;
        let left_out = pieces.iter().filter(|piece| piece.decided == Some(PartDecision::Left));
        self.left_out.extend(left_out.map(|piece| piece.name.clone()));
        let mut body = Vec::new();
        for (nth, text) in texts.iter().enumerate() {
            let parts = pieces.iter().filter(|piece| piece.hunk == nth);
            let parts: Vec<_> = parts.filter_map(|piece| piece.decided.clone()).collect();
            body.extend(match &parts[..] {
                [PartDecision::Taken] => text.whole.clone(),
                [PartDecision::Left] => Vec::new(),
                [PartDecision::Edited(text)] => counted(text.clone(), self.form),
                parts => text.text(parts, self.form),
            });
        }
        Ok(body)
    }

    /// Asks about a change that is taken or left as a whole.
    fn takes(&mut self, shown: &[u8], name: String, question: &str) -> Result<bool, Failure> {
        let lines = shown.split_inclusive(|&byte| byte == b'\n');
        let lines: Vec<u8> =
            lines.filter(|line| line.starts_with(b"+")).flatten().copied().collect();
        let keys = ['y', 'n', 'q'];
        let asker = &mut self.asker;
        let taken = !asker.quit && asker.ask(&excerpt(&lines), &name, question, &keys)?.0 == 'y';
        if !taken {
            self.left_out.push(name);
        }
        Ok(taken)
    }
}
