//! `apply-patch log` and `apply-patch show`.

use clap::Args;
use file_tools::audit::{self, Status};
use file_tools::changes::carried_text;
use file_tools::envelope::{self, Success};
use file_tools::{BadSessionName, ErrorKind, FailureClass, Hint, ToolError, history};
use patch_engine::transaction::{LogEntry, Workspace};
use serde_json::json;
use workspace_trash::Carried;

use super::workspace;
use crate::args::{self, DiffFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render::Pager;
use crate::{json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch log -n 5\n  \
    apply-patch log -p\n  \
    apply-patch log --verify")]
pub(crate) struct LogArgs {
    /// Print the diff of each transaction
    #[arg(short, long)]
    pub(crate) patch: bool,
    /// Print at most so many transactions
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) max_count: Option<usize>,
    /// Check that no line of the audit logs was changed or removed; print the first that was
    #[arg(long, conflicts_with_all = ["patch", "max_count", "state"])]
    pub(crate) verify: bool,
    /// Compare each file with its last hash in the audit logs
    #[arg(long, conflicts_with_all = ["patch", "max_count"])]
    pub(crate) state: bool,
    /// Check the audit log of this session only
    #[arg(long, value_name = "NAME", requires = "verify")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch show 20261121-014233-123456-9f3ac1d2\n  \
    apply-patch show --format html 20261121-014233-123456-9f3ac1d2 > change.html")]
pub(crate) struct ShowArgs {
    /// The transaction
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The diff as text, or as one self-contained HTML page
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: args::DiffFormat,
}

pub(crate) fn log(global: &Global, args: &LogArgs) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let workspace = session.workspace();
    if args.verify {
        return verify(global, workspace, args.session.as_deref());
    }
    if args.state {
        return state(global, workspace);
    }
    if global.json {
        let data = history::log(workspace, args.max_count, args.patch)?;
        let count = data["transactions"].as_array().map_or(0, Vec::len);
        json::done(format!("{count} transactions"), data);
        return Ok(Exit::Done);
    }
    let (mut entries, unverified) = workspace.history()?;
    entries.truncate(args.max_count.unwrap_or(usize::MAX));
    for one in &unverified {
        let undone = one.undone_by.map(|by| format!("; undone by {by}")).unwrap_or_default();
        let todo =
            history::trusting(one).map(|command| format!("; `{command}` takes it back, if you know that change"));
        let todo = todo.unwrap_or_default();
        render::message(&format!("not verified, and left out: {} ({}{undone}{todo})", one.id, one.problem));
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    for entry in &entries {
        out.line(&headline(entry));
        for one in &entry.journal.carried {
            out.line(&format!("  {}", carried(one)));
        }
        if args.patch {
            out.diff(&workspace.transaction_diff(entry)?);
        }
    }
    Ok(Exit::Done)
}

/// Checks the audit logs.
fn verify(global: &Global, workspace: &Workspace, session: Option<&str>) -> Result<Exit, Failure> {
    let session = session.map(str::parse).transpose();
    let session = session.map_err(|error: BadSessionName| Failure::Usage(error.to_string()))?;
    let sessions = audit::verify(workspace, session.as_ref()).map_err(fs_guard::Error::from)?;
    let bad: Vec<_> = sessions.iter().filter_map(|one| one.first_bad.as_ref()).collect();
    let lines: u64 = sessions.iter().map(|one| one.lines).sum();
    let output = match bad.first() {
        None => format!("{lines} lines of {} sessions are as they were written", sessions.len()),
        Some(bad) => format!("{}: line {}: {}", bad.file, bad.line, bad.problem),
    };
    let exit = if bad.is_empty() { Exit::Done } else { Exit::DoesNotApply };
    if global.json {
        match bad.is_empty() {
            true => json::print(&Success::new(output, json!({ "sessions": sessions }))),
            false => {
                let error = ToolError::new(FailureClass::DoesNotApply, ErrorKind::CommandFailed, output)
                    .hints([Hint::AskPerson { what: "look at the sessions that do not verify".into(), flag: None }]);
                let error = ToolError { details: json!({ "sessions": sessions }), recoverable: false, ..error };
                json::print(&envelope::Failure::from(error));
            }
        }
        return Ok(exit);
    }
    for one in &sessions {
        let signed = if one.signed { "signed" } else { "not signed" };
        match &one.first_bad {
            None => {
                render::line(&format!("{}: {} lines, {signed}, as they were written", one.session, one.lines));
                for id in &one.unanswered {
                    render::line(&format!(
                        "{}: the outcome of {id} is missing; `apply-patch recover` adds it",
                        one.session
                    ));
                }
            }
            Some(bad) => render::line(&format!("{}: {}: line {}: {}", one.session, bad.file, bad.line, bad.problem)),
        }
    }
    if sessions.is_empty() {
        render::line("there are no audit logs");
    }
    Ok(exit)
}

/// Compares the hashes in the audit logs with the files.
fn state(global: &Global, workspace: &Workspace) -> Result<Exit, Failure> {
    let paths = audit::state(workspace).map_err(fs_guard::Error::from)?;
    let differ = paths.iter().filter(|path| path.status != Status::Same).count();
    if global.json {
        let output = format!("{} files, {differ} differ from the audit logs", paths.len());
        json::print(&Success::new(output, json!({ "paths": paths, "differ": differ })));
        return Ok(Exit::Done);
    }
    for path in &paths {
        let word = match path.status {
            Status::Same => "same",
            Status::Changed => "changed",
            Status::Missing => "missing",
            Status::Unexpected => "unexpected",
            Status::Unreadable => "unreadable",
        };
        render::line(&format!("{word} {} {} (transaction {})", path.path, path.logged_sha256, path.transaction_id));
    }
    if !global.quiet {
        render::message(&format!("{} files, {differ} differ from the audit logs", paths.len()));
    }
    Ok(Exit::Done)
}

pub(crate) fn show(global: &Global, args: &ShowArgs) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let workspace = session.workspace();
    let entry = workspace.show(workspace::id(&args.id)?)?;
    if global.json {
        json::done(headline(&entry), history::transaction(workspace, &entry, true)?);
        return Ok(Exit::Done);
    }
    let diff = workspace.transaction_diff(&entry)?;
    if args.format == DiffFormat::Html {
        render::raw(render::page(&headline(&entry), &diff).as_bytes());
        return Ok(Exit::Done);
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.line(&headline(&entry));
    for record in &entry.journal.records {
        out.line(&format!("{} {}", letter(record), record.path));
    }
    for one in &entry.journal.carried {
        out.line(&carried(one));
    }
    out.diff(&diff);
    Ok(Exit::Done)
}

fn letter(record: &workspace_trash::Record) -> char {
    match (&record.before, &record.after) {
        (None, _) => 'A',
        (_, None) => 'D',
        _ => 'M',
    }
}

/// Where a hunk was carried.
fn carried(one: &Carried) -> String {
    let lines = |(first, last): (usize, usize)| first..=last;
    format!("{}: hunk {} {}", one.path, one.hunk + 1, carried_text(&lines(one.from), &lines(one.to), one.already_there))
}

/// A transaction in one line.
fn headline(entry: &LogEntry) -> String {
    let header = &entry.journal.header;
    let time = workspace_trash::format_time(header.id.time());
    let mut line = format!("{} {} {}", header.id, time, header.tool.as_deref().unwrap_or("-"));
    let count = |wanted: char| entry.journal.records.iter().filter(|record| letter(record) == wanted).count();
    for (wanted, what) in [('A', "added"), ('M', "modified"), ('D', "deleted")] {
        match count(wanted) {
            0 => {}
            count => line += &format!(" {count} {what}"),
        }
    }
    if let Some(undone) = header.undo_of {
        line += &format!(" (undoes {}{undone})", if header.partial { "part of " } else { "" });
    }
    if let Some(by) = entry.undone_by {
        line += &format!(" (undone by {by})");
    }
    if entry.aborted {
        line += " (rolled back)";
    }
    line
}
