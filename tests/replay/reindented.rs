//! Patches for files that are indented otherwise: a file is written with another unit, and patched
//! by what was written for the file as it was.
//!
//! What every hunk has to come to is known: what it makes of the file as it was, written with the
//! other unit.

use patch_engine::{FinalNewline, Note, Options, Profile, RejectReason, edit, is_binary, parse};
use patch_grammar::Hunk;
use testutils::write::{Style, write_hunks};

/// What one level is indented by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Tab,
    Blanks(usize),
}

impl Unit {
    /// Those that files are written with.
    pub(crate) const ALL: [Self; 5] =
        [Self::Tab, Self::Blanks(2), Self::Blanks(3), Self::Blanks(4), Self::Blanks(8)];

    /// The unit of a file: by what most lines are indented deeper than those before them.
    fn of(file: &[u8]) -> Option<Self> {
        let mut counts = [0_usize; Self::ALL.len()];
        let mut before: &[u8] = b"";
        for line in file.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let blanks = indentation(line);
            let deeper = blanks.strip_prefix(before).map(|more| match more {
                b"\t" => Some(Self::Tab),
                _ if !more.contains(&b'\t') => Some(Self::Blanks(more.len())),
                _ => None,
            });
            if let Some(unit) = deeper.flatten()
                && let Some(nth) = Self::ALL.iter().position(|one| *one == unit)
            {
                counts[nth] += 1;
            }
            before = blanks;
        }
        let most = counts.iter().max().filter(|most| **most > 0)?;
        Some(Self::ALL[counts.iter().position(|count| count == most)?])
    }

    /// A text of this unit with another one. Blanks that are no whole unit stay.
    fn rewrite(self, text: &[u8], other: Self) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let blanks = indentation(line);
            let tabs = blanks.iter().take_while(|byte| **byte == b'\t').count();
            let (levels, left) = match self {
                Self::Tab => (tabs, &blanks[tabs..]),
                Self::Blanks(width) if tabs == 0 && !blanks.contains(&b'\t') => {
                    (blanks.len() / width, &blanks[blanks.len() / width * width..])
                }
                Self::Blanks(_) => (0, blanks),
            };
            match other {
                // Nothing but blanks, as it may be.
                _ if line.trim_ascii().is_empty() => out.extend_from_slice(blanks),
                Self::Tab => out.extend(std::iter::repeat_n(b'\t', levels).chain(left.to_vec())),
                Self::Blanks(width) => {
                    out.extend(std::iter::repeat_n(b' ', levels * width).chain(left.to_vec()));
                }
            }
            out.extend_from_slice(&line[blanks.len()..]);
        }
        out
    }
}

fn indentation(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[..end]
}

/// How hunks fared.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// What was written is what the hunk makes of the file as it was, with the other unit.
    pub(crate) equal: usize,
    /// The matched lines do not tell how to indent the others.
    pub(crate) refused: usize,
    /// The hunk was found exactly: nothing tells of another unit.
    pub(crate) exact: usize,
    /// It has no place, or several.
    pub(crate) not_placed: usize,
    /// Anything else.
    pub(crate) wrong: Vec<String>,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { equal, refused, exact, not_placed, wrong } = self;
        write!(
            f,
            "{equal} equal, {refused} refused, {} wrong; {exact} found exactly, {not_placed} not \
             placed",
            wrong.len()
        )
    }
}

/// Applies each hunk of an update to the file in every other unit.
pub(crate) fn count(name: &str, before: &[u8], after: &[u8], context: usize, counts: &mut Counts) {
    let style = Style { context, ..Style::new(Profile::Codex) };
    let Some(unit) = Unit::of(before).filter(|_| !is_binary(before) && !is_binary(after)) else {
        return;
    };
    let Ok(hunks) = write_hunks(before, after, &style) else { return };
    let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    let options = Options::new(Profile::Codex);
    let patch = parse(&text, &options.parse).expect("what was written parses");
    let apply = |file: &[u8], hunk: &Hunk<'_>| {
        let hunk = std::slice::from_ref(hunk);
        edit(file, hunk, &options.placement, FinalNewline::Keep)
    };
    for hunk in patch.sections()[0].hunks() {
        let Ok(alone) = apply(before, hunk) else {
            counts.not_placed += 1;
            continue;
        };
        for other in Unit::ALL.into_iter().filter(|other| *other != unit) {
            let file = unit.rewrite(before, other);
            match apply(&file, hunk) {
                Ok(edit) if !edit.placed[0].notes.iter().any(is_fuzz) => counts.exact += 1,
                Ok(edit) if edit.apply(&file) == unit.rewrite(&alone.apply(before), other) => {
                    counts.equal += 1;
                }
                Ok(_) => counts.wrong.push(format!(
                    "{name}: {unit:?} as {other:?}, hunk at patch line {}",
                    hunk.line
                )),
                Err(rejects) => match rejects[0].reason {
                    RejectReason::Indentation { .. } => counts.refused += 1,
                    _ => counts.not_placed += 1,
                },
            }
        }
    }
}

fn is_fuzz(note: &Note) -> bool {
    matches!(note, Note::Fuzz(_))
}
