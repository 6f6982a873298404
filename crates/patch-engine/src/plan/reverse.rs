//! Makes the reverse of a patch.
//!
//! It shares the text of the patch that it reverts.

use patch_grammar::{
    AddedLines, Extent, Hunk, Line, LineEndings, LineKind, Patch, Section, SectionOperation,
    Submodule,
};
use patch_text::locate::Order;

use crate::plan::options::{AddNewline, Options};
use crate::plan::reject::{Irreversible, Problem, Reject, Rejects};

/// Returns the patch that reverses `patch`: applied to the result of `patch`, it restores the
/// files that `patch` was made for. It shares the text, and its lines and byte ranges are those of
/// that text.
///
/// Sections are reversed from the last to the first. So are the hunks of each under
/// [`Order::PostState`], as each of them was placed in what the ones before it had left.
///
/// A patch does not say everything: the file that an added one replaced, the blanks that were
/// overlooked to place a hunk, a terminator that no line states. None of these comes back.
///
/// # Errors
///
/// Every section that cannot be reversed from its text alone.
pub fn reverse(patch: &Patch, options: &Options) -> Result<Patch, Rejects> {
    let mut reversed = patch.with_sections(|text, sections| {
        let mut done = Vec::with_capacity(sections.len());
        let mut rejects = Vec::new();
        for (index, section) in sections.iter().enumerate().rev() {
            match reversed_section(text, section, options) {
                Ok(section) => done.push(section),
                Err((hunk, problem)) => rejects.push(Reject {
                    section: Some(index),
                    hunk,
                    patch_line: Some(
                        hunk.map_or(section.line(), |hunk| section.hunks()[hunk].line),
                    ),
                    ..Reject::of(&section.path.text, Problem::Irreversible(problem))
                }),
            }
        }
        rejects.reverse();
        Rejects::new(rejects).map_or(Ok(done), Err)
    })?;
    reversed.reversed = !patch.reversed;
    Ok(reversed)
}

type Problems = (Option<usize>, Irreversible);

fn reversed_section<'p>(
    text: &'p [u8],
    section: &Section<'p>,
    options: &Options,
) -> Result<Section<'p>, Problems> {
    let mut path = section.path.clone();
    let binary = match &section.binary {
        Some(binary) => Some(Box::new(binary.reversed().ok_or((None, Irreversible::Binary))?)),
        None => None,
    };
    let operation = match &section.operation {
        SectionOperation::Add(added) => {
            SectionOperation::Delete(Some(deletion(section, added, options)))
        }
        SectionOperation::Delete(hunks) => {
            let added = hunks.as_deref().and_then(|hunks| addition(text, hunks));
            SectionOperation::Add(added.ok_or((None, Irreversible::Deletion))?)
        }
        SectionOperation::Update { move_to, hunks } => {
            let back = move_to.as_ref().map(|to| std::mem::replace(&mut path, to.clone()));
            let mut hunks: Vec<_> = hunks
                .iter()
                .enumerate()
                .map(|(index, hunk)| {
                    reversed_hunk(hunk, hunks, options).ok_or((Some(index), Irreversible::Place))
                })
                .collect::<Result<_, _>>()?;
            if options.placement.order == Order::PostState {
                hunks.reverse();
            }
            SectionOperation::Update { move_to: back, hunks }
        }
        SectionOperation::Copy { .. } => return Err((None, Irreversible::Copy)),
    };
    let executable = match &section.operation {
        SectionOperation::Update { .. } => section.executable.map(|executable| !executable),
        _ => section.executable,
    };
    let submodule = section.submodule.map(Submodule::reversed);
    Ok(Section { path, operation, executable, binary, submodule, ..section.clone() })
}

/// Makes the hunk that deletes all lines of a new file; none when it has no lines.
fn deletion<'p>(section: &Section<'p>, added: &AddedLines<'p>, options: &Options) -> Vec<Hunk<'p>> {
    let numbers = section.line() + 1..;
    let lines = added.lines().zip(numbers);
    let mut lines: Vec<_> = lines
        .map(|(text, number)| Line::new(text, added.endings, number, LineKind::Delete))
        .collect();
    // Joined lines end in a line feed, unless the last is empty: then it is not a line of the file.
    let joined = options.add_newline == AddNewline::Joined && !added.endings.is_of_diff();
    if added.no_newline {
        if let (Some(last), Some(text)) = (lines.last_mut(), added.lines().last()) {
            // A carriage return before no line feed is part of the line.
            (last.no_newline, last.crlf) = (true, false);
            last.text = text;
            // A last line without a byte and without a line feed is not a line.
            if text.is_empty() {
                lines.pop();
            }
        }
    } else if joined && added.lines().last().is_some_and(<[u8]>::is_empty) {
        lines.pop();
    }
    if lines.is_empty() {
        return Vec::new();
    }
    vec![Hunk {
        opened: true,
        lines,
        endings: added.endings,
        span: section.span.clone(),
        line: section.line(),
        ..Hunk::default()
    }]
}

/// Returns the lines of a file that a diff deletes, if its hunks show nothing else.
fn addition<'p>(text: &'p [u8], hunks: &[Hunk<'p>]) -> Option<AddedLines<'p>> {
    match hunks {
        [] => Some(AddedLines::empty(LineEndings::Exact)),
        [hunk] if hunk.lines.iter().all(|line| line.kind == LineKind::Delete) => {
            let whole = &text[hunk.span.clone()];
            let body = memchr::memchr(b'\n', whole).map_or(&[][..], |end| &whole[end + 1..]);
            Some(AddedLines::of_body(body, hunk.endings))
        }
        _ => None,
    }
}

fn reversed_hunk<'p>(hunk: &Hunk<'p>, all: &[Hunk<'p>], options: &Options) -> Option<Hunk<'p>> {
    // A text that is not there says nothing about the place of the text that it replaced.
    if hunk.extent != Extent::Lines {
        return None;
    }
    // Such a hunk would insert at the end of the file, or below its header.
    if options.placement.append_without_anchor
        && !(options.placement.unidiff_zero && hunk.new_start.is_some())
        && !hunk.end_of_file
        && hunk.new_lines().next().is_none()
    {
        return None;
    }
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for block in hunk
        .lines
        .chunk_by(|one, next| (one.kind == LineKind::Context) == (next.kind == LineKind::Context))
    {
        for (kind, becomes) in [
            (LineKind::Context, LineKind::Context),
            (LineKind::Insert, LineKind::Delete),
            (LineKind::Delete, LineKind::Insert),
        ] {
            let of_kind = block.iter().filter(|line| line.kind == kind);
            lines.extend(of_kind.map(|line| Line { kind: becomes, ..*line }));
        }
    }
    // A header whose line the patch changes names another line afterwards, or none.
    let stay = hunk.headers.iter().all(|header| {
        let mut changed =
            all.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind != LineKind::Context);
        !changed.any(|line| letters(line.text).eq(letters(header.text.as_bytes())))
    });
    Some(Hunk {
        headers: if stay { hunk.headers.clone() } else { Vec::new() },
        lines,
        old_start: hunk.new_start,
        new_start: hunk.old_start,
        shortfall: hunk.shortfall.as_deref().map(|it| Box::new(it.reversed())),
        ..hunk.clone()
    })
}

/// Iterates over the bytes of a line that no pass overlooks.
fn letters(line: &[u8]) -> impl Iterator<Item = u8> + '_ {
    line.iter().copied().filter(u8::is_ascii_alphanumeric)
}
