//! Transactions in a line.

use std::time::SystemTime;

use anstyle::Style;
use apply_patch_api::engine::commit::LogEntry;
use apply_patch_api::tools::format_local_time;
use apply_patch_api::tools::history;
use apply_patch_api::tools::shown::sanitize;

use super::human::{age, count, cut};
use super::print::ID;

/// A transaction that does not hold any more.
const UNDONE: Style = Style::new().dimmed();

/// How much of the name of a session is shown.
const SHORT: usize = 10;

/// A transaction with its time and author, in one line.
pub(crate) fn headline(entry: &LogEntry, time: fn(SystemTime) -> String) -> String {
    let id = entry.journal.header.id;
    format!("{} {}{}{}", id.short(), time(id.time()), who(entry), since(entry))
}

/// A transaction of a turn, with the time and the first of its files by name.
pub(crate) fn part_of_turn(entry: &LogEntry) -> String {
    let id = entry.journal.header.id;
    format!("{} {} {}", id.short(), format_local_time(id.time()), what(entry, 1))
}

/// A transaction in a line of the log of at most so many columns; with the time, unless `brief`.
pub(crate) fn one_line(entry: &LogEntry, brief: bool, width: Option<usize>) -> String {
    let id = entry.journal.header.id;
    let age = if brief { String::new() } else { format!("  {:>10} ", age(id.time())) };
    cut(&format!("{}{age} {}", id.short(), what(entry, 1)), width)
}

/// A turn, by its transactions, the newest first, in a line of the log of at most so many columns;
/// with the time, unless `brief`.
pub(crate) fn turn_line(entries: &[LogEntry], brief: bool, width: Option<usize>) -> String {
    let header = &entries[0].journal.header;
    let age = if brief { String::new() } else { format!("  {:>10} ", age(header.id.time())) };
    cut(&format!("{}{age} {}", turn_name(entries), turn_what(entries)), width)
}

/// The changes of a turn, the first of its files by name, and who made them.
pub(crate) fn turn_what(entries: &[LogEntry]) -> String {
    let header = &entries[0].journal.header;
    let changes = entries.iter().rev().flat_map(|entry| history::changes(&entry.journal));
    let mut paths: Vec<String> = Vec::new();
    for path in changes.map(|change| change.paths()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let mut line = count(entries.len(), "transaction");
    if let Some(first) = paths.first() {
        line += &format!(", {}: {first}", count(paths.len(), "file"));
    }
    if paths.len() > 1 {
        line += &format!(", +{} more", paths.len() - 1);
    }
    line + &by(header.agent.as_deref().into_iter().chain(session(entries)))
}

/// The session of transactions, in short; none for the command line.
fn session(entries: &[LogEntry]) -> Option<&str> {
    let name = entries[0].journal.header.session.as_deref().filter(|name| *name != "cli")?;
    // Random names have 18 characters; a short one may mean something.
    Some(if name.len() > SHORT + 2 { name.get(..SHORT).unwrap_or(name) } else { name })
}

/// Who did something, to stand behind it.
fn by<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() { String::new() } else { format!("  ({})", names.join(", ")) }
}

/// The name of a turn, by its transactions.
pub(crate) fn turn_name(entries: &[LogEntry]) -> &str {
    entries[0].journal.header.turn.as_deref().unwrap_or_default()
}

/// A line with the id of a transaction or of a turn in front, in the colours of a log and without
/// control codes for the terminal; `holds` if not undone.
pub(crate) fn coloured(line: &str, holds: bool) -> String {
    let (id, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    let rest = sanitize(rest);
    if holds {
        format!("{ID}{id}{ID:#}{rest}")
    } else {
        format!("{ID}{id}{ID:#}{UNDONE}{rest}{UNDONE:#}")
    }
}

/// Whether a transaction was neither undone nor rolled back.
pub(crate) fn holds(entry: &LogEntry) -> bool {
    entry.undone_by.is_none() && !entry.aborted
}

/// The changes of a transaction, the first of its files by name, and the tool behind them.
pub(crate) fn what(entry: &LogEntry, names: usize) -> String {
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
    line += &who(entry);
    line += &since(entry);
    line
}

/// The tool, the agent and the session of a transaction.
fn who(entry: &LogEntry) -> String {
    let header = &entry.journal.header;
    let names = header.tool.iter().chain(&header.agent).map(String::as_str);
    // Above the transactions of a turn stands its own line.
    let session = session(std::slice::from_ref(entry)).filter(|_| header.turn.is_none());
    by(names.chain(session))
}

/// The transactions undone by a transaction, and the one that undid it.
fn since(entry: &LogEntry) -> String {
    let header = &entry.journal.header;
    let mut line = String::new();
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
