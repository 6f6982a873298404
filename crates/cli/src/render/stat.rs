//! `--stat`, `--numstat` and `--summary`: how much of each file changes.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use apply_patch_api::grammar::diff::{FileHeader, push_quoted};
use apply_patch_api::tools::shown::sanitize;
use apply_patch_api::tools::statistics::{FileOperation, FileStatistics, octal, totals};

use super::human::line_counts;
use super::print::{line, raw, width, written};
use crate::args::Statistics;
use crate::outside::STDOUT_IS_TERMINAL;

const DELETED: Style = AnsiColor::Red.on_default();
const INSERTED: Style = AnsiColor::Green.on_default();

/// The fewest columns of a bar.
const LEAST: usize = 10;

/// Prints what is wanted of the statistics of files.
pub(crate) fn statistics(files: &[FileStatistics], wanted: &Statistics) {
    if wanted.stat {
        stat(files);
    }
    if wanted.numstat {
        numstat(files, wanted.nul);
    }
    if wanted.summary {
        files.iter().flat_map(summary).for_each(|text| line(&text));
    }
}

/// Prints each change with its line counts; on a terminal in columns, with a bar.
pub(crate) fn stat(files: &[FileStatistics]) {
    let width = STDOUT_IS_TERMINAL.then(|| width().unwrap_or(80));
    written(anstream::stdout().write_all(stat_text(files, width).as_bytes()));
}

/// The same as text, without what a terminal would obey; in columns where there is a width.
pub(crate) fn stat_text(files: &[FileStatistics], width: Option<usize>) -> String {
    let rows: Vec<_> = files.iter().map(StatRow::of).collect();
    let text = match width {
        Some(width) => bars(&rows, width),
        None => {
            rows.iter().map(|row| format!("{} | {}\n", sanitize(&row.name), row.counts())).collect()
        }
    };
    text + &stat_totals(files) + "\n"
}

/// How many files and lines change, in a line.
pub(crate) fn stat_totals(files: &[FileStatistics]) -> String {
    let inserted = files.iter().filter_map(|file| file.inserted).sum();
    let deleted = files.iter().filter_map(|file| file.deleted).sum();
    let operations = totals(files.iter().map(|file| file.operation));
    format!("{operations}, {}", line_counts(inserted, deleted))
}

/// A letter and the path or paths.
fn stat_name(file: &FileStatistics) -> String {
    let letter = match file.operation {
        FileOperation::Create => 'A',
        FileOperation::Update => 'M',
        FileOperation::Delete => 'D',
        FileOperation::Move => 'R',
        FileOperation::Copy => 'C',
    };
    match &file.to_path {
        Some(to) => format!("{letter} {} -> {to}", file.path),
        None => format!("{letter} {}", file.path),
    }
}

/// Prints the line counts and the path of each file as git does, for programs.
fn numstat(files: &[FileStatistics], nul: bool) {
    let mut out = Vec::new();
    for file in files {
        for lines in [file.inserted, file.deleted] {
            let count = lines.map_or("-".to_owned(), |lines| lines.to_string());
            out.extend_from_slice(count.as_bytes());
            out.push(b'\t');
        }
        if nul {
            out.extend_from_slice(file.last_path().as_bytes());
            out.push(0);
        } else {
            push_quoted(&mut out, "", file.last_path());
            out.push(b'\n');
        }
    }
    if nul {
        written(std::io::stdout().write_all(&out));
    } else {
        raw(&out);
    }
}

fn percentage(percent: Option<u8>) -> String {
    percent.map(|percent| format!(" ({percent}%)")).unwrap_or_default()
}

fn mode_words(mode: Option<u32>) -> String {
    mode.map(|mode| format!(" mode {}", octal(mode))).unwrap_or_default()
}

/// The change of a file as a whole, in the lines of git.
fn summary(file: &FileStatistics) -> Vec<String> {
    let FileHeader { old_mode, new_mode, similarity, dissimilarity, .. } = file.stated;
    let path = shown(&file.path);
    let (first, names_file) = match (file.operation, &file.to_path, dissimilarity) {
        (FileOperation::Create, ..) => {
            return vec![format!(" create{} {path}", mode_words(new_mode))];
        }
        (FileOperation::Delete, ..) => {
            return vec![format!(" delete{} {path}", mode_words(old_mode))];
        }
        (operation @ (FileOperation::Move | FileOperation::Copy), Some(to), _) => {
            let word = if operation == FileOperation::Copy { "copy" } else { "rename" };
            let percent = percentage(similarity);
            (Some(format!(" {word} {}{percent}", both(&path, &shown(to)))), true)
        }
        (_, _, Some(_)) => {
            let percent = percentage(dissimilarity);
            (Some(format!(" rewrite {path}{percent}")), true)
        }
        _ => (None, false),
    };
    let change = match (old_mode, new_mode) {
        (Some(old), Some(new)) if old != new => {
            let name = if names_file { String::new() } else { format!(" {path}") };
            Some(format!(" mode change {} => {}{name}", octal(old), octal(new)))
        }
        _ => None,
    };
    first.into_iter().chain(change).collect()
}

/// A path in one line.
fn shown(path: &str) -> String {
    path.replace('\n', "\\n")
}

/// Two paths; their common directories are written once.
fn both(old: &str, new: &str) -> String {
    let common = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    match old.as_bytes()[..common].iter().rposition(|&byte| byte == b'/') {
        Some(slash) => {
            let (directory, old) = old.split_at(slash + 1);
            format!("{directory}{{{old} => {}}}", &new[slash + 1..])
        }
        None => format!("{old} => {new}"),
    }
}

/// A file of `--stat`.
struct StatRow {
    name: String,
    inserted: usize,
    deleted: usize,
    is_binary: bool,
}

impl StatRow {
    fn of(file: &FileStatistics) -> Self {
        Self {
            name: stat_name(file),
            inserted: file.inserted.unwrap_or_default(),
            deleted: file.deleted.unwrap_or_default(),
            is_binary: file.inserted.is_none(),
        }
    }

    fn counts(&self) -> String {
        if self.is_binary {
            return "Bin".to_owned();
        }
        format!("+{} -{}", self.inserted, self.deleted)
    }
}

/// The rows as columns of at most `width`, if the names leave room.
fn bars(rows: &[StatRow], width: usize) -> String {
    let names: Vec<_> = rows.iter().map(|row| sanitize(&row.name)).collect();
    let counts: Vec<_> = rows.iter().map(StatRow::counts).collect();
    let counts_width = counts.iter().map(String::len).max().unwrap_or_default();
    let names_width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let names_width = names_width.min(width.saturating_sub(counts_width + LEAST + 5));
    let room = width.saturating_sub(names_width + counts_width + 5).max(LEAST);
    let most = rows.iter().map(|row| row.inserted + row.deleted).max().unwrap_or_default();
    let mut out = String::new();
    for ((row, name), count) in rows.iter().zip(&names).zip(&counts) {
        let plus = "+".repeat(scaled(row.inserted, most, room));
        let minus = "-".repeat(scaled(row.deleted, most, room));
        out += &format!(
            "{name:names_width$} | {count:counts_width$}  \
             {INSERTED}{plus}{INSERTED:#}{DELETED}{minus}{DELETED:#}\n"
        );
    }
    out
}

/// The length of the bar of so many lines, of `most` in `room`: any change is seen.
fn scaled(lines: usize, most: usize, room: usize) -> usize {
    match most {
        0 => 0,
        _ if most <= room => lines,
        _ => (lines * room / most).max(usize::from(lines > 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_into_the_terminal() {
        let rows = [
            StatRow { name: "M a".to_owned(), inserted: 3, deleted: 1, is_binary: false },
            StatRow { name: "A long/name".to_owned(), inserted: 200, deleted: 0, is_binary: false },
            StatRow { name: "D b".to_owned(), inserted: 0, deleted: 0, is_binary: true },
        ];
        let plain = |width| anstream::adapter::strip_str(&bars(&rows, width)).to_string();
        let wide: Vec<_> = plain(300).lines().map(str::to_owned).collect();
        assert_eq!(wide[0], "M a         | +3 -1    +++-");
        assert_eq!(wide[1], format!("A long/name | +200 -0  {}", "+".repeat(200)));
        assert_eq!(wide[2].trim_end(), "D b         | Bin");
        for width in [40, 80, 200] {
            for line in plain(width).lines() {
                assert!(line.len() <= width, "{width}: {line}");
            }
        }
        assert!(
            plain(80).starts_with("M a         | +3 -1    +-"),
            "what changes is seen: {}",
            plain(80)
        );
    }

    #[test]
    fn directories_that_two_paths_begin_with_are_written_once() {
        for (old, new, wanted) in [
            ("a", "b", "a => b"),
            ("d/a", "d/b", "d/{a => b}"),
            ("d/e/old", "d/f/new", "d/{e/old => f/new}"),
            ("k/one/t", "k/two/t", "k/{one/t => two/t}"),
            ("ab/t", "abc/t", "ab/t => abc/t"),
            ("\u{e4}/x", "\u{e5}/x", "\u{e4}/x => \u{e5}/x"),
        ] {
            assert_eq!(both(old, new), wanted);
        }
    }
}
