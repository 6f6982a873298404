//! Transactions in a line.

use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use apply_patch_api::engine::commit::LogEntry;
use apply_patch_api::tools::history;
use apply_patch_api::tools::shown::sanitize;

use super::human::{age, count, cut};

const ID: Style = AnsiColor::Yellow.on_default();
/// What does not hold any more.
const UNDONE: Style = Style::new().dimmed();

/// A transaction with its whole id and the time, in one line.
pub(crate) fn headline(entry: &LogEntry, time: fn(SystemTime) -> String) -> String {
    let id = entry.journal.header.id;
    format!("{id} {} {}", time(id.time()), what(entry, usize::MAX))
}

/// A transaction in a line of the log of at most so many columns; with the time, unless it is
/// `brief`.
pub(crate) fn one_line(entry: &LogEntry, brief: bool, width: Option<usize>) -> String {
    let id = entry.journal.header.id;
    let age = if brief { String::new() } else { format!("  {:>10} ", age(id.time())) };
    cut(&format!("{}{age} {}", id.short(), what(entry, 1)), width)
}

/// A line that begins with the id of a transaction, in the colours of a log and without what a
/// terminal would obey.
pub(crate) fn coloured(entry: &LogEntry, line: &str) -> String {
    let (id, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    let holds = entry.undone_by.is_none() && !entry.aborted;
    let rest = sanitize(rest);
    if holds {
        format!("{ID}{id}{ID:#}{rest}")
    } else {
        format!("{ID}{id}{ID:#}{UNDONE}{rest}{UNDONE:#}")
    }
}

/// What a transaction did, to the first of its files by name, and what did it.
pub(crate) fn what(entry: &LogEntry, names: usize) -> String {
    let header = &entry.journal.header;
    let changes = history::changes(&entry.journal);
    let mut line = match &changes[..] {
        [] => "directories".to_owned(),
        all => {
            let named: Vec<_> = all.iter().take(names).map(|change| change.paths()).collect();
            let more = all.len() - named.len();
            let more = if more > 0 { format!(", +{more} more") } else { String::new() };
            format!("{}: {}{more}", count(all.len(), "file"), named.join(", "))
        }
    };
    let by: Vec<_> = header.tool.iter().chain(&header.agent).map(String::as_str).collect();
    if !by.is_empty() {
        line += &format!("  ({})", by.join(", "));
    }
    if let Some(undone) = header.undo_of {
        line +=
            &format!("  undoes {}{}", if header.partial { "part of " } else { "" }, undone.short());
        if !header.also_undo_of.is_empty() {
            line += &format!(" and {} more", header.also_undo_of.len());
        }
    }
    if let Some(by) = entry.undone_by {
        line += &format!("  undone by {}", by.short());
    }
    if entry.aborted {
        line += "  rolled back";
    }
    line
}
