//! Refused patches, kept so that only the corrected sections need to be sent again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use fs_guard::{Dir, Error, Sha256};
use patch_engine::{ErrorKind, Files, Options, Patch, Remedy, Report};
use patch_grammar::Section;
use patch_grammar::diff::{NEXT_DIFF, are_parted};
use patch_grammar::envelope::Writer;

use crate::answer::error::{FailureClass, Kept, ToolError};
use crate::answer::reason::Reason;
use crate::audit::session_name::SessionName;
use crate::input::PatchText;
use crate::session::Session;
use crate::session::proposing::{DIGITS, is_id};
use crate::session::snapshots::oldest_first;
use crate::session::text_form::{PatchLanguage, TextForm};

/// The folder in the state directory; each session has a folder in it.
pub(super) const FOLDER: &str = "refused";

/// The most patches to keep per session, the newest ones.
const MAX_COUNT: usize = 16;

/// The longest patch to keep.
const MAX_SIZE: u64 = 1 << 20;

/// The most bytes of the lines above a kept patch, which tell its form.
const MAX_HEAD: usize = 64 << 10;

impl Session {
    /// Keeps a text, and returns the name to amend the text by. `None` if the text is too long or
    /// cannot be written, which is not a second failure, or if a call must leave no trace because
    /// nothing was ever changed.
    fn keep_text(&self, form: &TextForm, text: &[u8]) -> Option<String> {
        let head = self.directory_line() + &form.line();
        if text.len() as u64 > MAX_SIZE
            || head.len() > MAX_HEAD
            || (self.settings().traceless && !self.workspace().has_state())
        {
            return None;
        }
        let bytes = [head.as_bytes(), text].concat();
        let id = id_of(&bytes);
        self.write_kept(&id, &bytes).is_ok().then_some(id)
    }

    fn write_kept(&self, id: &str, bytes: &[u8]) -> Result<(), Error> {
        let folder = self.workspace().create_state_dir()?;
        let folder = folder.open_or_create_dir(FOLDER)?.open_or_create_dir(self.name().as_str())?;
        folder.spot(id).write(bytes, false)?;
        prune(&folder)
    }

    fn read_kept(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(state) = self.workspace().state_dir()? else { return Ok(None) };
        let Some(folder) = state.open_dir(FOLDER)? else { return Ok(None) };
        let Some(folder) = folder.open_dir(self.name().as_str())? else { return Ok(None) };
        match folder.spot(id).read(MAX_SIZE + MAX_HEAD as u64) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            Err(Error::NotFound { .. } | Error::NotAFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the line with the directory, in the project, to which the paths of a patch are
    /// relative.
    fn directory_line(&self) -> String {
        match self.workspace().prefix() {
            top if top.is_empty() => String::new(),
            prefix => format!("in {}\n", prefix.as_str()),
        }
    }

    /// Returns a patch refused in this session.
    ///
    /// # Errors
    ///
    /// When there is no patch of the name (any more), or the file has been altered.
    pub fn refused(&self, id: &str) -> Result<(TextForm, Vec<u8>), ToolError> {
        let kept = if is_id(id) { self.read_kept(id)? } else { None };
        // The name is the hash, so an altered or truncated file is not used.
        let mut elsewhere = false;
        let kept = kept.filter(|bytes| id_of(bytes) == id).and_then(|mut bytes| {
            let directory = self.directory_line();
            if directory.is_empty() == bytes.starts_with(b"in ")
                || !bytes.starts_with(directory.as_bytes())
            {
                elsewhere = true;
                return None;
            }
            bytes.drain(..directory.len());
            let end = memchr::memchr(b'\n', &bytes)?;
            let form = TextForm::of_line(std::str::from_utf8(&bytes[..end]).ok()?)?;
            bytes.drain(..=end);
            Some((form, bytes))
        });
        kept.ok_or_else(|| {
            let message = if elsewhere {
                format!("the refused patch {id:?} is for another directory of the project")
            } else {
                format!("no refused patch {id:?} is kept; the newest {MAX_COUNT} of a session are")
            };
            ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
                .reason(Reason::NotKept)
                .remedies([Remedy::SendWhole])
        })
    }

    /// Keeps a refused patch of several sections, or the sections left out of a patch, and returns
    /// the way to amend it. `error` and `reports` are the outcome of the patch.
    #[must_use]
    pub fn keep(
        &self,
        form: TextForm,
        patch: &Patch,
        error: &ToolError,
        reports: &[Report],
    ) -> Option<Kept> {
        if form.language() == PatchLanguage::Edits {
            return None;
        }
        let rejects = error.details["rejects"].as_array().into_iter().flatten();
        let refused = rejects.filter_map(|reject| reject["path"].as_str());
        let refused: Vec<&str> = refused.chain(error.path.as_deref()).collect();
        let is_whole = error.details["moreRejects"].is_null();
        match (error.class, reports) {
            (FailureClass::Partial, [report]) if report.plan.is_partial() => {
                let rest = report.plan.left_out().iter();
                let rest: Vec<_> = rest.map(|&index| (patch, &patch.sections()[index])).collect();
                let id = self.keep_text(&form, &written(&rest, form.language()))?;
                let left_out = report.plan.left_out();
                let wrong = self.wrong_sections(patch, |index| left_out.contains(&index), &refused);
                let wrong = if is_whole { wrong } else { Vec::new() };
                Some(Kept { id, wrong, is_rest: true })
            }
            (FailureClass::DoesNotApply | FailureClass::Stale | FailureClass::Unverified, [])
                if patch.sections().len() > 1 =>
            {
                let id = self.keep_text(&form, patch.text().as_bytes())?;
                let wrong = self.wrong_sections(patch, |_| true, &refused);
                let wrong = if is_whole { wrong } else { Vec::new() };
                Some(Kept { id, wrong, is_rest: false })
            }
            _ => None,
        }
    }

    /// Returns the files of the wrong sections: they name a refused path, and `may_be_wrong`. Empty
    /// if every section is wrong, as then nothing is worth keeping, or if some refused path is in
    /// no section, as then another section is not the remedy.
    fn wrong_sections(
        &self,
        patch: &Patch,
        may_be_wrong: impl Fn(usize) -> bool,
        refused: &[&str],
    ) -> Vec<String> {
        let patch = patch_engine::relative(&self.workspace().root().into(), patch);
        let refused: HashSet<Cow<'_, str>> =
            refused.iter().map(|path| fs_guard::shortened(plain(path))).collect();
        let mut wrong: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        let mut found = HashSet::new();
        let mut right = false;
        for (index, section) in patch.sections().iter().enumerate() {
            if !may_be_wrong(index) {
                right = true;
                continue;
            }
            let named: Vec<&str> = section.paths().map(|path| plain(&path.text)).collect();
            let of_it = named.iter().filter_map(|path| refused.get(&fs_guard::shortened(path)));
            let of_it: Vec<_> = of_it.collect();
            right |= of_it.is_empty();
            if !of_it.is_empty() && known.insert(named[0]) {
                wrong.push(named[0].to_owned());
            }
            found.extend(of_it);
        }
        let all = found.len() == refused.len();
        if right && all { wrong } else { Vec::new() }
    }

    /// Completes a sent patch with sections of the refused patch `id`: those for other files are
    /// taken, those for the same files are replaced. A note counts the sections taken.
    ///
    /// # Errors
    ///
    /// When there is no refused patch of the name (any more), the patches differ in form, or one of
    /// them does not parse.
    pub fn amended(
        &self,
        id: &str,
        sent: &PatchText,
        options: &Options,
    ) -> Result<PatchText, ToolError> {
        let with = parsed(sent, options)?;
        let (form, kept) = self.refused(id)?;
        if form != TextForm::of(sent) {
            let message = if form.has_paths_of(&TextForm::of(sent)) {
                format!("{id} has another form: send both as patches, as diffs or blocks")
            } else {
                format!("{id} is for other paths: give the same `directory`, `include`, `exclude`")
            };
            return Err(ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
                .reason(Reason::NotKept)
                .remedies([Remedy::SendWhole]));
        }
        let mut kept = sent.with_text(kept);
        kept.notes.clear();
        let files = Files::from(self.workspace().root());
        let [old, with] = [parsed(&kept, options)?, with]
            .map(|patch| patch_engine::relative(&files, &patch).into_owned());
        let (text, unchanged) = amended(&old, &with, form.language());
        let mut whole = sent.with_text(text);
        whole.notes.push(format!("amended {id}: {unchanged} of its sections kept"));
        Ok(whole)
    }
}

fn parsed(text: &PatchText, options: &Options) -> Result<Patch, ToolError> {
    text.parse(options).map_err(|error| error.tool_error(text.text.as_bytes()))
}

/// Removes a `./` before a path.
fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

fn id_of(bytes: &[u8]) -> String {
    let hash = Sha256::of(bytes).to_string();
    format!("p-{}", &hash[..DIGITS])
}

/// Returns whether the path is one of a folder or a file of this program.
pub(super) fn is_own(path: &str) -> bool {
    let (session, id) = path.split_once('/').map_or((path, None), |(one, id)| (one, Some(id)));
    session.parse::<SessionName>().is_ok() && id.is_none_or(is_id)
}

/// Removes all but the newest patches.
fn prune(folder: &Dir) -> Result<(), Error> {
    let mut all = oldest_first(folder)?;
    let surplus = all.len().saturating_sub(MAX_COUNT);
    all.drain(..surplus).try_for_each(|(_, spot)| spot.remove().map(drop))
}

/// Replaces sections of a refused patch by sections for the same paths in another patch of the same
/// form; sections for other paths come last. Returns the text, and the number of unchanged
/// sections.
fn amended(kept: &Patch, with: &Patch, language: PatchLanguage) -> (Vec<u8>, usize) {
    let mut sections = Vec::new();
    let mut unchanged = 0;
    let mut by_path: HashMap<&str, Vec<&Section<'_>>> = HashMap::new();
    for section in with.sections() {
        by_path.entry(plain(&section.path.text)).or_default().push(section);
    }
    for section in kept.sections() {
        match by_path.get_mut(plain(&section.path.text)) {
            // All sections of a path go to the place of the first.
            Some(others) => sections.extend(others.drain(..).map(|other| (with, other))),
            None => {
                unchanged += 1;
                sections.push((kept, section));
            }
        }
    }
    let left =
        with.sections().iter().filter(|section| !by_path[plain(&section.path.text)].is_empty());
    sections.extend(left.map(|section| (with, section)));
    (written(&sections, language), unchanged)
}

/// Writes sections, each with its patch, as one patch.
fn written(sections: &[(&Patch, &Section<'_>)], language: PatchLanguage) -> Vec<u8> {
    let mut diff = Vec::new();
    let mut envelope = Writer::default();
    // The last section of each patch.
    let mut last: Vec<(&Patch, &Section<'_>)> = Vec::new();
    for (patch, section) in sections {
        let lines = patch.bytes(section.span.clone());
        if !matches!(language, PatchLanguage::Diff(_)) {
            envelope.lines_of(patch, lines);
            continue;
        }
        // The patch of a mail builds on the patches of the mails before.
        match last.iter_mut().find(|(of, _)| std::ptr::eq(*of, *patch)) {
            Some((_, last)) => {
                let follows = last.span.end <= section.span.start;
                if follows && are_parted(patch, last, section) {
                    diff.extend_from_slice(NEXT_DIFF);
                }
                *last = section;
            }
            None => last.push((patch, section)),
        }
        diff.extend_from_slice(lines);
        if !diff.ends_with(b"\n") {
            diff.push(b'\n');
        }
    }
    if matches!(language, PatchLanguage::Diff(_)) { diff } else { envelope.finish() }
}

#[cfg(test)]
mod tests {
    use patch_engine::{Options, parse};

    use super::*;

    fn check(kept: &str, with: &str, wanted: &str) {
        let options = Options::default().parse;
        let [kept, with] = [kept, with].map(|body| {
            let end = if body.contains("\r\n*** ") { "\r\n" } else { "\n" };
            format!("*** Begin Patch{end}{body}*** End Patch{end}")
        });
        let kept = parse(kept, &options).expect("a patch");
        let with = parse(with, &options).expect("a patch");
        let (text, _) = amended(&kept, &with, PatchLanguage::Envelope);
        assert_eq!(
            String::from_utf8(text).expect("text"),
            format!("*** Begin Patch\n{wanted}*** End Patch\n")
        );
    }

    #[test]
    fn sections_of_the_same_path_are_replaced_where_they_stand() {
        let a = "*** Add File: a\n+1\n";
        let b = "*** Update File: b\n@@\n-x\n+y\n";
        let c = "*** Delete File: c\n";
        let other = "*** Update File: b\n@@\n-X\n+Y\n";
        check(&format!("{a}{b}{c}"), other, &format!("{a}{other}{c}"));
        check(
            &format!("{a}{b}{c}"),
            "*** Update File: ./b\n@@\n-X\n+Y\n",
            &format!("{a}*** Update File: ./b\n@@\n-X\n+Y\n{c}"),
        );
        // All sections of a path replace all.
        check(&format!("{b}{a}{b}"), other, &format!("{other}{a}"));
        check(&format!("{b}{c}"), &format!("{other}{other}"), &format!("{other}{other}{c}"));
        check(&format!("{a}{c}"), other, &format!("{a}{c}{other}"));
        // The line ends of the envelopes say nothing about the files.
        check("*** Add File: a\r\n+1\r\n*** Delete File: c\r\n", other, &format!("{a}{c}{other}"));
    }
}
