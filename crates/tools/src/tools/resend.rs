//! Edits that were refused, as they can be sent again: with the text of the file, or two as one.

use std::ops::Range;

use patch_engine::Nearest;
use patch_session::text::normalised;

/// The two texts of an edit.
#[derive(Clone, Copy)]
pub(super) struct Texts<'t> {
    pub(super) old: &'t str,
    pub(super) new: &'t str,
}

/// An edit as it can be sent.
pub(super) struct Corrected {
    /// The text of the file.
    pub(super) old: String,
    /// The replacement; `None` where the file does not tell how it is indented.
    pub(super) new: Option<String>,
}

/// Returns an edit with the lines of a file that differ from its own only in blanks, in what cannot
/// be seen, or in line numbers.
pub(super) fn corrected(text: &[u8], edit: Texts<'_>, nearest: &Nearest) -> Option<Corrected> {
    let is_same = nearest.pass.is_some()
        || nearest.unseen.is_some()
        || nearest.mangled.is_some() && nearest.agreeing == nearest.of;
    if !is_same {
        return None;
    }
    let side = |sign: char| {
        let lines = nearest.paste.iter().filter(move |line| line.starts_with([' ', sign]));
        lines.map(|line| line[1..].trim_end_matches('\r')).collect::<Vec<_>>().join("\n")
    };
    let ends = |of: &str| if of.ends_with('\n') { "\n" } else { "" };
    let (old, new) = if nearest.paste.is_empty() {
        let lines = nearest.lines.clone();
        let count = lines.end() + 1 - lines.start();
        let found = std::str::from_utf8(text).ok()?.lines().skip(lines.start() - 1).take(count);
        (found.collect::<Vec<_>>().join("\n"), None)
    } else {
        (side('-'), Some(side('+')))
    };
    let old = old + ends(edit.old);
    let new = new.map(|new| if new.is_empty() { new } else { new + ends(edit.new) });
    (only_place(text, old.as_bytes()).is_some() && new.as_ref() != Some(&old))
        .then_some(Corrected { old, new })
}

/// Returns the edit that does what two do one after the other; `None` where the second is not for
/// what the first leaves.
pub(super) fn joined(text: &[u8], first: Texts<'_>, second: Texts<'_>) -> Option<Corrected> {
    let [old, new] = [first.old, first.new].map(|text| normalised(text).into_owned());
    let place = only_place(text, old.as_bytes())?;
    let between = replaced(text, &place, new.as_bytes());
    let [wanted, last] = [second.old, second.new].map(|text| normalised(text).into_owned());
    let then = only_place(&between, wanted.as_bytes())?;
    let start = place.start.min(then.start);
    let written = place.start + new.len();
    let end = written.max(then.end);
    let end_before = end - new.len() + old.len();
    let end_after = end - wanted.len() + last.len();
    let after = replaced(&between, &then, last.as_bytes());
    let old_text = String::from_utf8(text[start..end_before].to_vec()).ok()?;
    let new_text = String::from_utf8(after[start..end_after].to_vec()).ok()?;
    let is_sure = only_place(text, old_text.as_bytes()).is_some() && old_text != new_text;
    is_sure.then_some(Corrected { old: old_text, new: Some(new_text) })
}

/// Returns the one place of a text.
fn only_place(text: &[u8], wanted: &[u8]) -> Option<Range<usize>> {
    let finder = memchr::memmem::Finder::new(wanted);
    let start = finder.find(text).filter(|_| !wanted.is_empty())?;
    finder.find(&text[start + 1..]).is_none().then(|| start..start + wanted.len())
}

fn replaced(text: &[u8], place: &Range<usize>, new: &[u8]) -> Vec<u8> {
    [&text[..place.start], new, &text[place.end..]].concat()
}
