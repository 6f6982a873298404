//! Transactions in a line.

use apply_patch_api::engine::commit::LogEntry;
use apply_patch_api::tools::history;

use super::human::{age, count};

/// A transaction with its whole id and the time, in one line.
pub(crate) fn headline(entry: &LogEntry) -> String {
    let id = entry.journal.header.id;
    format!("{id} {} {}", apply_patch_api::trash::format_time(id.time()), what(entry, usize::MAX))
}

/// A transaction in a line of the log.
pub(crate) fn one_line(entry: &LogEntry) -> String {
    let id = entry.journal.header.id;
    format!("{}  {:>10}  {}", id.short(), age(id.time()), what(entry, 1))
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
