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

/// The fewest columns that a bar is drawn in.
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
    let count = |lines: Option<usize>| lines.unwrap_or_default();
    let row = |file| (stat_name(file), (count(file.inserted), count(file.deleted)));
    let rows: Vec<_> = files.iter().map(row).collect();
    let text = match width {
        Some(width) => bars(&rows, width),
        None => rows
            .iter()
            .map(|(name, (inserted, deleted))| {
                format!("{} | +{inserted} -{deleted}\n", sanitize(name))
            })
            .collect(),
    };
    text + &stat_totals(files) + "\n"
}

/// How many files and lines change, in a line.
pub(crate) fn stat_totals(files: &[FileStatistics]) -> String {
    let sum = |lines: fn(&FileStatistics) -> Option<usize>| files.iter().filter_map(lines).sum();
    let (inserted, deleted): (usize, usize) = (sum(|file| file.inserted), sum(|file| file.deleted));
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
        let count = |lines: Option<usize>| lines.map_or("-".to_owned(), |lines| lines.to_string());
        let counts = format!("{}\t{}\t", count(file.inserted), count(file.deleted));
        out.extend_from_slice(counts.as_bytes());
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

/// What happens to a file as a whole, in the lines of git.
fn summary(file: &FileStatistics) -> Vec<String> {
    let FileHeader { old_mode, new_mode, similarity, dissimilarity, .. } = file.stated;
    let percent = |percent: Option<u8>| percent.map(|percent| format!(" ({percent}%)"));
    let of_mode = |mode: Option<u32>| mode.map(|mode| format!(" mode {}", octal(mode)));
    let path = shown(&file.path);
    let (first, names_file) = match (file.operation, &file.to_path, dissimilarity) {
        (FileOperation::Create, ..) => {
            return vec![format!(" create{} {path}", of_mode(new_mode).unwrap_or_default())];
        }
        (FileOperation::Delete, ..) => {
            return vec![format!(" delete{} {path}", of_mode(old_mode).unwrap_or_default())];
        }
        (operation @ (FileOperation::Move | FileOperation::Copy), Some(to), _) => {
            let word = if operation == FileOperation::Copy { "copy" } else { "rename" };
            let percent = percent(similarity).unwrap_or_default();
            (Some(format!(" {word} {}{percent}", both(&path, &shown(to)))), true)
        }
        (_, _, Some(_)) => {
            let percent = percent(dissimilarity).unwrap_or_default();
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

/// Two paths; the directories that they begin with are written once.
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

/// The rows as columns of at most `width`, where the names leave room for that.
fn bars(rows: &[(String, (usize, usize))], width: usize) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, (inserted, deleted))| {
            (sanitize(name), format!("+{inserted} -{deleted}"), *inserted, *deleted)
        })
        .collect();
    let longest =
        |of: &dyn Fn(&(_, String, _, _)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let counts = longest(&|row| row.1.len());
    let names =
        longest(&|row: &(std::borrow::Cow<'_, str>, String, usize, usize)| row.0.chars().count());
    let names = names.min(width.saturating_sub(counts + LEAST + 5));
    let room = width.saturating_sub(names + counts + 5).max(LEAST);
    let most = longest(&|row| row.2 + row.3);
    let scaled = |lines: usize| match most {
        0 => 0,
        _ if most <= room => lines,
        // What changes at all is seen.
        _ => (lines * room / most).max(usize::from(lines > 0)),
    };
    let mut out = String::new();
    for (name, count, inserted, deleted) in &rows {
        let plus = "+".repeat(scaled(*inserted));
        let minus = "-".repeat(scaled(*deleted));
        out += &format!(
            "{name:names$} | {count:counts$}  \
             {INSERTED}{plus}{INSERTED:#}{DELETED}{minus}{DELETED:#}\n"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_into_the_terminal() {
        let rows = [
            ("M a".to_owned(), (3, 1)),
            ("A long/name".to_owned(), (200, 0)),
            ("D b".to_owned(), (0, 0)),
        ];
        let plain = |width| anstream::adapter::strip_str(&bars(&rows, width)).to_string();
        let wide: Vec<_> = plain(300).lines().map(str::to_owned).collect();
        assert_eq!(wide[0], "M a         | +3 -1    +++-");
        assert_eq!(wide[1], format!("A long/name | +200 -0  {}", "+".repeat(200)));
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
