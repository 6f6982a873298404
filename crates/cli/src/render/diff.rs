//! Coloured diffs. Carriage returns at line ends stay: without them the diff would be another.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use apply_patch_api::tools::shown::sanitize;

use super::unified::{DiffLine, DiffPart, Highlighter, Pieces, parts};

const HEADER: Style = Style::new().bold();
const RANGE: Style = AnsiColor::Cyan.on_default();
const DELETED: Style = AnsiColor::Red.on_default();
const INSERTED: Style = AnsiColor::Green.on_default();

/// Writes a unified diff with colour codes; different words inside a line stand out.
pub(crate) fn write_diff(out: &mut dyn Write, diff: &[u8]) -> std::io::Result<()> {
    let highlighter = Highlighter::new();
    for part in parts(diff) {
        match part {
            DiffPart::Header(text) => {
                writeln!(out, "{HEADER}{}{HEADER:#}", sanitize(text.trim_end_matches('\r')))?
            }
            DiffPart::Hunk(text) => {
                writeln!(out, "{RANGE}{}{RANGE:#}", sanitize(text.trim_end_matches('\r')))?
            }
            DiffPart::Context(line) => {
                write!(out, " {}", sanitize(&line.text))?;
                end(out, &line)?;
            }
            DiffPart::Change(deleted, inserted) => {
                let (left, right) = highlighter.pieces(&deleted, &inserted);
                side(out, '-', DELETED, &deleted, &left)?;
                side(out, '+', INSERTED, &inserted, &right)?;
            }
        }
    }
    Ok(())
}

fn side(
    out: &mut dyn Write,
    sign: char,
    style: Style,
    lines: &[DiffLine<'_>],
    all: &[Pieces],
) -> std::io::Result<()> {
    let strong = style.invert();
    for (line, pieces) in lines.iter().zip(all) {
        write!(out, "{style}{sign}")?;
        for (differs, text) in pieces {
            if *differs {
                write!(out, "{style:#}{strong}{}{strong:#}{style}", sanitize(text))?
            } else {
                write!(out, "{}", sanitize(text))?
            }
        }
        write!(out, "{style:#}")?;
        end(out, line)?;
    }
    Ok(())
}

fn end(out: &mut dyn Write, line: &DiffLine<'_>) -> std::io::Result<()> {
    out.write_all(if line.crlf { b"\r\n" } else { b"\n" })?;
    if line.no_newline { writeln!(out, "\\ No newline at end of file") } else { Ok(()) }
}
