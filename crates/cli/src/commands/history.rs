//! `apply-patch log` and `apply-patch show`.

use std::collections::BTreeMap;
use std::time::SystemTime;

use apply_patch_api::engine::commit::{LogEntry, Unverified, Workspace};
use apply_patch_api::engine::remedy::ForPerson;
use apply_patch_api::engine::{HistoryDiffs, Remedy};
use apply_patch_api::grammar::diff::{self, DiffOptions};
use apply_patch_api::tools::audit::{self, Status};
use apply_patch_api::tools::changes::carried_text;
use apply_patch_api::tools::envelope::{self, Success};
use apply_patch_api::tools::format_local_time;
use apply_patch_api::tools::history::Wanted;
use apply_patch_api::tools::settings::since;
use apply_patch_api::tools::statistics::FileStatistics;
use apply_patch_api::tools::{
    BadName, ErrorKind, FailureClass, Named, NetDiff, Session, Span, SpanNames, ToolError, history,
};
use apply_patch_api::trash::{Carried, format_time};
use clap::Args;
use serde_json::json;

use super::workspace;
use crate::args::{self, DiffFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render::Pager;
use crate::{elsewhere, json, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch log -n 5                the last five, each in a line\n  \
    apply-patch log -p src/             what was done beneath src, with diffs\n  \
    apply-patch log --since yesterday   what was done since then\n  \
    apply-patch log --stats --since 4w  what was refused, and why\n  \
    apply-patch log --verify            whether the audit logs are as they were written")]
pub(crate) struct LogArgs {
    /// Only transactions that changed one of these paths, or something beneath it
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Print the diff of each transaction, or of each turn
    #[arg(short, long)]
    pub(crate) patch: bool,
    /// Print how many lines each transaction changed in each file
    #[arg(long)]
    pub(crate) stat: bool,
    /// Print no more than the id and what was done, and each turn in one line
    #[arg(long)]
    pub(crate) oneline: bool,
    /// Print at most so many transactions, a turn counting as one, as in git; elsewhere `-n` is
    /// `--dry-run`
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) max_count: Option<usize>,
    /// Only what is not older: an age such as `2d` or `3 weeks`, a time of day such as `9am` or
    /// `10:30`, a day such as `today`, `last tuesday` or `2026-11-01`, or both, as `yesterday 9am`,
    /// in local time
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<SystemTime>,
    /// Count what was committed and what was refused, by reason, profile, agent and day, from the
    /// audit logs
    #[arg(
        long,
        conflicts_with_all = ["patch", "stat", "oneline", "max_count", "state", "verify", "paths"],
    )]
    pub(crate) stats: bool,
    /// Check that no line of the audit logs was changed or removed; print the first that was
    #[arg(
        long,
        conflicts_with_all = ["patch", "stat", "oneline", "max_count", "state", "paths", "since"],
    )]
    pub(crate) verify: bool,
    /// Compare each file with its last hash in the audit logs
    #[arg(long, conflicts_with_all = ["patch", "stat", "oneline", "max_count", "paths", "since"])]
    pub(crate) state: bool,
    /// Only this session: its name or the beginning of it, as `log` prints it; `cli` is that of the
    /// command line. With `--verify`, its audit log
    #[arg(long, value_name = "NAME", conflicts_with_all = ["stats", "state"])]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch show                      the last change\n  \
    apply-patch show --since 9am          all that was changed since then, as one diff\n  \
    apply-patch show --session refactor   all that a session changed\n  \
    apply-patch show 9f3ac1d2..51e07b44   from before the first to after the last\n  \
    apply-patch show p-3f9a               a proposal, as it would be now\n  \
    apply-patch show --format html 9f3ac1d2 > change.html")]
pub(crate) struct ShowArgs {
    /// Transaction: its id, or four characters or more of its beginning or end; `last`, or `@N` for
    /// the N-th newest; a turn; the first and the last of several, `ID..ID`; or a proposal [default:
    /// last]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// The diff as text, or as one self-contained HTML page
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: args::DiffFormat,
}

impl ShowArgs {
    /// The proposal that is to be shown.
    pub(crate) fn proposal(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| is_proposal(id))
    }
}

/// Whether a name is one of a proposal: ids of transactions do not begin so.
pub(super) fn is_proposal(id: &str) -> bool {
    id.starts_with("p-") && id.len() > 2
}

/// Several transactions that are taken as one.
#[derive(Debug, Args)]
pub(crate) struct SpanArgs {
    /// All that was changed in this turn, as one
    #[arg(long, value_name = "NAME", conflicts_with_all = ["id", "session", "since"])]
    pub(crate) turn: Option<String>,
    /// All that this session changed, as one: its name or the beginning of it, as `log` prints it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["id", "since"])]
    pub(crate) session: Option<String>,
    /// A transaction and all that followed it, or all since a time (`2h`, `9am`, `2026-11-26`),
    /// as one
    #[arg(long, value_name = "ID|TIME", conflicts_with = "id")]
    pub(crate) since: Option<String>,
}

impl SpanArgs {
    /// The named transactions; `None` if none are named.
    pub(crate) fn find(&self, workspace: &Workspace) -> Result<Option<Span>, Failure> {
        let session = self.session.as_deref();
        let names = SpanNames { session, since: self.since.as_deref(), turn: self.turn.as_deref() };
        names.find(workspace).map_err(|error| Failure::Tool(Box::new(error)))
    }
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
    if args.stats {
        return stats(global, workspace, args.since);
    }
    let paths = args
        .paths
        .iter()
        .map(|path| workspace.root().relative(path).unwrap_or_else(|| path.clone()))
        .collect();
    let session = args.session.as_ref().map(|name| history::session(workspace, name));
    let session = session.transpose().map_err(|error| Failure::Tool(Box::new(error)))?;
    let wanted = Wanted { max_count: args.max_count, since: args.since, session, paths };
    let (grouped, unverified) = wanted.read(workspace)?;
    let store = workspace.store()?;
    let diffs = HistoryDiffs::new(workspace, store.as_ref());
    if global.json {
        let mut data = history::listed(workspace, &grouped, &unverified, args.patch)?;
        let entries: Vec<_> = grouped.iter().flatten().collect();
        if args.stat {
            let transactions = data["transactions"].as_array_mut().into_iter().flatten();
            for (value, entry) in transactions.zip(&entries) {
                value["statistics"] =
                    json!(statistics(&diffs.of(std::slice::from_ref(entry))?.diff()));
            }
        }
        json::done(render::count(entries.len(), "transaction"), data);
        return Ok(Exit::Done);
    }
    warn_of(&unverified);
    if grouped.is_empty()
        && !global.quiet
        && let Some(found) = elsewhere::history(global)
    {
        render::message(&found.words);
    }
    print_log(global, args, &grouped, &diffs)?;
    Ok(Exit::Done)
}

/// Warns of transactions that are left out.
fn warn_of(unverified: &[Unverified]) {
    for one in unverified {
        let undone = one.undone_by.map(|by| format!("; undone by {by}")).unwrap_or_default();
        let todo = history::trusting(one)
            .map(|command| format!("; `{command}` undoes it, if you know that change"));
        let todo = todo.unwrap_or_default();
        render::message(&format!(
            "not verified, and left out: {} ({}{undone}{todo})",
            one.id, one.problem
        ));
    }
}

/// Prints the transactions of each turn, and those of none.
fn print_log(
    global: &Global,
    args: &LogArgs,
    grouped: &[Vec<LogEntry>],
    diffs: &HistoryDiffs<'_>,
) -> Result<(), Failure> {
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    let width = render::width();
    let indented = width.map(|width| width.saturating_sub(2));
    for entries in grouped {
        let is_turn = entries[0].journal.header.turn.is_some();
        if is_turn {
            let line = render::turn_line(entries, args.oneline, width);
            out.coloured(&render::coloured(&line, !history::is_undone(entries)));
        }
        let (indent, width) = if is_turn { ("  ", indented) } else { ("", width) };
        // In one line a turn is one.
        for entry in entries.iter().filter(|_| !(is_turn && args.oneline)) {
            let line = render::one_line(entry, args.oneline, width);
            out.coloured(&format!("{indent}{}", render::coloured(&line, render::holds(entry))));
            for one in entry.journal.carried.iter().filter(|_| !args.oneline) {
                out.line(&format!("{indent}  {}", carried(one)));
            }
        }
        if !(args.stat || args.patch) {
            continue;
        }
        let diff = diffs.of(entries)?.diff();
        if args.stat {
            let text = render::stat_text(&statistics(&diff), indented);
            text.lines().for_each(|line| out.coloured(&format!("  {line}")));
        }
        if args.patch {
            out.diff(&diff);
        }
    }
    Ok(())
}

/// How many lines a diff changes in each file.
fn statistics(diff: &[u8]) -> Vec<FileStatistics> {
    // It has no files where only directories were made or removed.
    let read = diff::parse(diff, &DiffOptions { skip_binary: true, ..DiffOptions::default() });
    read.map(|patch| FileStatistics::of_diff(&patch)).unwrap_or_default()
}

/// Counts what the audit logs tell.
fn stats(
    global: &Global,
    workspace: &Workspace,
    since: Option<SystemTime>,
) -> Result<Exit, Failure> {
    let stats = audit::stats(workspace, since.unwrap_or(SystemTime::UNIX_EPOCH))?;
    let committed = render::count(stats.transactions, "transaction");
    let failed = render::count(stats.failed, "call");
    let output = match stats.since.get(..10) {
        Some(day) => format!("{committed} committed, {failed} refused, since {day}"),
        None => "the audit logs have nothing".to_owned(),
    };
    if global.json {
        json::done(output, stats);
        return Ok(Exit::Done);
    }
    render::line(&output);
    print_refused("reason", &stats.by_reason);
    print_refused("profile", &stats.by_profile);
    for (title, counts) in [("agent", &stats.by_agent), ("day", &stats.by_day)] {
        if !counts.is_empty() {
            render::line(&format!("\n{title:<24} {:>9} {:>9}", "committed", "refused"));
        }
        for (name, count) in counts {
            render::line(&format!("{name:<24} {:>9} {:>9}", count.transactions, count.failed));
        }
    }
    Ok(Exit::Done)
}

/// Prints how many calls were refused by each of these, the most first.
fn print_refused(title: &str, counts: &BTreeMap<String, usize>) {
    let mut rows: Vec<_> = counts.iter().collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    if !rows.is_empty() {
        render::line(&format!("\n{title:<24} {:>9}", "refused"));
    }
    rows.iter().for_each(|(name, count)| render::line(&format!("{name:<24} {count:>9}")));
}

/// Checks the audit logs.
fn verify(global: &Global, workspace: &Workspace, session: Option<&str>) -> Result<Exit, Failure> {
    let session = session.map(str::parse).transpose();
    let session = session.map_err(|error: BadName| Failure::Usage(error.to_string()))?;
    let sessions = audit::verify(workspace, session.as_ref())?;
    if let Some(session) = session.as_ref().filter(|_| sessions.is_empty()) {
        let message = format!("there is no audit log of session {session}");
        let error = ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message);
        return Err(Failure::Tool(Box::new(error)));
    }
    let bad: Vec<_> = sessions.iter().filter_map(|one| one.first_bad.as_ref()).collect();
    let lines: u64 = sessions.iter().map(|one| one.lines).sum();
    let output = match bad.first() {
        None => format!(
            "{lines} lines of {} are as they were written",
            render::count(sessions.len(), "session")
        ),
        Some(bad) => format!("{}: line {}: {}", bad.file, bad.line, bad.problem),
    };
    let exit = if bad.is_empty() { Exit::Done } else { Exit::DoesNotApply };
    if global.json {
        if bad.is_empty() {
            json::print(&Success::new(output, json!({ "sessions": sessions })))
        } else {
            let error =
                ToolError::new(FailureClass::DoesNotApply, ErrorKind::CommandFailed, output)
                    .remedies([Remedy::Ask(ForPerson::Own(
                        "look at the sessions that do not verify".into(),
                    ))]);
            let error =
                ToolError { details: json!({ "sessions": sessions }), recoverable: false, ..error };
            json::print(&envelope::Failure::from(error));
        }
        return Ok(exit);
    }
    for one in &sessions {
        let signed = if one.signed { "signed" } else { "not signed" };
        match &one.first_bad {
            None => {
                let purged = one.purged.as_ref().map(|purged| {
                    let day = &purged.timestamp[..10.min(purged.timestamp.len())];
                    format!("; the {} before them were purged on {day}", purged.lines)
                });
                render::line(&format!(
                    "{}: {} lines, {signed}, as they were written{}",
                    one.session,
                    one.lines,
                    purged.unwrap_or_default()
                ));
                for id in &one.unanswered {
                    render::line(&format!(
                        "{}: the outcome of {id} is missing; `apply-patch recover` adds it",
                        one.session
                    ));
                }
            }
            Some(bad) => render::line(&format!(
                "{}: {}: line {}: {}",
                one.session, bad.file, bad.line, bad.problem
            )),
        }
    }
    if sessions.is_empty() {
        render::line("there are no audit logs");
    }
    Ok(exit)
}

/// Compares the hashes in the audit logs with the files.
fn state(global: &Global, workspace: &Workspace) -> Result<Exit, Failure> {
    let paths = audit::state(workspace)?;
    let differ = paths.iter().filter(|path| path.status != Status::Same).count();
    if global.json {
        let output =
            format!("{}, {differ} differ from the audit logs", render::count(paths.len(), "file"));
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
        render::line(&format!(
            "{word} {} {} (transaction {})",
            path.path, path.logged_sha256, path.transaction_id
        ));
    }
    if !global.quiet {
        render::message(&format!(
            "{}, {differ} differ from the audit logs",
            render::count(paths.len(), "file")
        ));
    }
    Ok(Exit::Done)
}

pub(crate) fn show(global: &Global, args: &ShowArgs) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let workspace = session.workspace();
    if let Some(span) = args.span.find(workspace)? {
        return show_net(global, &session, &span, args.format);
    }
    let id = args.id.as_deref().unwrap_or("last");
    let named = workspace::named(workspace, id).map_err(|failure| {
        workspace::instead_of_file(global, Some(id), failure, |root, file| {
            format!(
                "`apply-patch{root} show last` shows the last change, `apply-patch{root} log -p \
                 {file}` those of this file"
            )
        })
    })?;
    let (turn, entries) = match named {
        Named::Transaction(id) => (false, vec![workspace.show(id)?]),
        Named::Turn(_, entries) => (true, entries),
        Named::Range(span) => return show_net(global, &session, &span, args.format),
    };
    if global.json {
        let data = if turn {
            history::turn(workspace, &entries)?
        } else {
            history::transaction(workspace, &entries[0], true)?
        };
        json::done(headline(&entries, turn, format_time), data);
        return Ok(Exit::Done);
    }
    let diff = workspace.turn_diff(&entries)?.diff();
    let headline = headline(&entries, turn, format_local_time);
    if args.format == DiffFormat::Html {
        render::raw(render::page(&headline, &diff).as_bytes());
        return Ok(Exit::Done);
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.coloured(&render::coloured(&headline, !history::is_undone(&entries)));
    let files = statistics(&diff);
    if !files.is_empty() {
        out.coloured(&render::stat_totals(&files));
    }
    for entry in &entries {
        if turn {
            let line = render::part_of_turn(entry);
            out.coloured(&format!("  {}", render::coloured(&line, render::holds(entry))));
            continue;
        }
        for change in history::changes(&entry.journal) {
            let line = format!("{} {}", change.letter, change.paths());
            out.coloured(&render::lettered(&render::sanitize(&line)));
        }
        for one in &entry.journal.carried {
            out.line(&carried(one));
        }
    }
    out.diff(&diff);
    Ok(Exit::Done)
}

/// Prints what several transactions changed, as one diff.
fn show_net(
    global: &Global,
    session: &Session,
    span: &Span,
    format: DiffFormat,
) -> Result<Exit, Failure> {
    let entries = span.entries(session.workspace())?;
    let NetDiff { data, diff, .. } = session.net_changes(&entries)?;
    if global.json {
        let output = render::count(entries.len(), "transaction");
        json::done(output, data);
        return Ok(Exit::Done);
    }
    let headline = net_headline(&entries);
    if format == DiffFormat::Html {
        let between: Vec<_> = data.changed_between.iter().map(|one| format!(". {one}")).collect();
        let headline = headline + &between.concat();
        render::raw(render::page(&headline, &diff).as_bytes());
        return Ok(Exit::Done);
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.line(&headline);
    let files = statistics(&diff);
    if !files.is_empty() {
        out.coloured(&render::stat_totals(&files));
    }
    for entry in &entries {
        let line = render::part_of_turn(entry);
        out.coloured(&format!("  {}", render::coloured(&line, render::holds(entry))));
    }
    for one in &data.changed_between {
        out.line(&format!("note: {one}"));
    }
    out.diff(&diff);
    Ok(Exit::Done)
}

/// Several transactions in one line: how many, when, and in which sessions.
pub(super) fn net_headline(entries: &[LogEntry]) -> String {
    let undone = entries.iter().filter(|entry| entry.undone_by.is_some()).count();
    let mut line = render::count(entries.len(), "transaction");
    if undone > 0 {
        line += &format!(" ({undone} undone)");
    }
    let time = |entry: &LogEntry| entry.journal.header.id.time();
    if let Some((from, to)) = entries.last().map(time).zip(entries.first().map(time)) {
        line += &format!(", {}", format_local_time(from));
        if from != to {
            line += &format!(" to {}", format_local_time(to));
        }
    }
    line
}

/// A turn or a transaction in one line.
fn headline(entries: &[LogEntry], is_turn: bool, time: fn(SystemTime) -> String) -> String {
    if is_turn {
        format!("{} {}", render::turn_name(entries), render::turn_what(entries))
    } else {
        render::headline(&entries[0], time)
    }
}

/// Where a hunk was carried.
fn carried(one: &Carried) -> String {
    let from = one.from.0..=one.from.1;
    let to = one.to.0..=one.to.1;
    let text = carried_text(&from, &to, one.already_there);
    format!("{}: hunk {} {text}", one.path, one.hunk + 1)
}
