//! Notes as a text for an agent.

use std::fmt::Write as _;

use crate::kept::Note;

/// Writes notes as a text in Markdown: for each one the file and the line, the hunk, and the words.
#[must_use]
pub fn notes_text(notes: &[Note]) -> String {
    let mut text = String::new();
    for note in notes {
        if !text.is_empty() {
            text.push('\n');
        }
        let place = match note.line {
            0 => note.path.clone(),
            line => format!("{}:{line}", note.path),
        };
        // Writing to memory never fails.
        let _ = writeln!(text, "## {place} ({})\n\n{}", note.hunk, note.words.trim_end());
        if !note.diff.is_empty() {
            let fence = fence(&note.diff);
            let end = if note.diff.ends_with('\n') { "" } else { "\n" };
            let _ = writeln!(text, "\n{fence}diff\n{}{end}{fence}", note.diff);
        }
    }
    text
}

/// Returns a fence that is longer than every run of backticks in a text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
