//! Oddities of a hunk that only the file tells: line numbers before its lines, and `@@` behind its
//! header. Both are left out where this loses nothing, and noted.

use std::borrow::Cow;
use std::collections::HashSet;

use fs_guard::Access;
use patch_grammar::{Hunk, Patch, Section, SectionOperation};
use patch_text::locate::mangled::without_numbers;
use patch_text::text::lines::Lines;

use crate::files::Files;

/// Returns the patch as it is meant for these files.
pub(super) fn normalised<'a>(files: &Files, patch: &'a Patch, limit: u64) -> Cow<'a, Patch> {
    if !patch.sections().iter().any(is_odd) {
        return Cow::Borrowed(patch);
    }
    let mut notes = Vec::new();
    let mut changed = patch.map_sections(|sections| {
        let mut sections = sections.to_vec();
        for section in sections.iter_mut().filter(|section| is_odd(section)) {
            let Ok(path) = files.check(&section.path.text, Access::Read) else { continue };
            let Ok((bytes, _)) = files.read(&path, limit) else { continue };
            let file = Lines::new(&bytes);
            let lines: Vec<&[u8]> = file.iter().collect();
            // Each hunk asks for lines, and there may be many hunks.
            let known = lines.iter().flat_map(|line| [*line, line.trim_ascii()]).collect();
            let (SectionOperation::Update { hunks, .. } | SectionOperation::Copy { hunks, .. }) =
                &mut section.operation
            else {
                continue;
            };
            for hunk in hunks {
                notes.extend(hunk_normalised(hunk, &lines, &known));
            }
        }
        sections
    });
    changed.notes.extend(notes);
    Cow::Owned(changed)
}

/// Whether a hunk of a section looks as if another program had marked its lines.
fn is_odd(section: &Section<'_>) -> bool {
    section.hunks().iter().any(|hunk| has_numbers(hunk) || has_closed_header(hunk))
}

/// Whether a hunk looks as if its lines had numbers.
fn has_numbers(hunk: &Hunk<'_>) -> bool {
    let first = hunk.old_lines().next();
    first.is_some_and(|line| {
        let text = line.text.trim_ascii_start();
        let text = text.strip_prefix(b"L").unwrap_or(text);
        text.first().is_some_and(u8::is_ascii_digit)
    }) && !without_numbers(hunk).is_empty()
}

/// Whether a header ends in `@@`, as that of a diff without a heading.
fn has_closed_header(hunk: &Hunk<'_>) -> bool {
    hunk.old_start.is_none() && hunk.headers.iter().any(|header| open(&header.text).is_some())
}

/// The header without the `@@` at its end.
fn open(header: &str) -> Option<&str> {
    let text = header.trim_end().strip_suffix("@@")?;
    // Line numbers are left out elsewhere.
    (text.ends_with([' ', '\t']) && !text.trim().is_empty() && !text.starts_with('-'))
        .then(|| text.trim_end())
}

/// Returns whether the old lines of a hunk are in a file from a line on.
fn stands(hunk: &Hunk<'_>, lines: &[&[u8]], at: usize) -> bool {
    let mut found = lines.get(at..).unwrap_or_default().iter();
    hunk.old_lines().all(|line| found.next().is_some_and(|found| *found == line.text))
}

/// Changes a hunk to what is meant, and says what was left out. `known` has the lines of the file,
/// also without the blanks around them.
fn hunk_normalised(hunk: &mut Hunk<'_>, lines: &[&[u8]], known: &HashSet<&[u8]>) -> Vec<String> {
    let mut notes = Vec::new();
    for header in &mut hunk.headers {
        let as_written = known.contains(header.text.trim().as_bytes());
        let opened = open(&header.text).filter(|text| known.contains(text.trim().as_bytes()));
        if let Some(text) = opened.filter(|_| !as_written) {
            let text = text.to_owned();
            notes.push(format!("normalised line {}: left out `@@` behind `{text}`", header.line));
            header.text = text.into();
        }
    }
    if hunk.old_start.is_some() {
        return notes;
    }
    // Lines that are in the file as they are have no numbers before them.
    let Some(first) = hunk.old_lines().next().map(|line| line.text) else { return notes };
    if known.contains(first) {
        return notes;
    }
    let meant = without_numbers(hunk)
        .into_iter()
        .find(|(first, meant)| first.checked_sub(1).is_some_and(|at| stands(meant, lines, at)));
    if let Some((first, meant)) = meant {
        let line = hunk.line;
        notes.push(format!("normalised line {line}: left out the line numbers of the hunk"));
        let old_start = u32::try_from(first).ok();
        *hunk = Hunk { old_start, headers: Vec::new(), ..meant };
    }
    notes
}
