//! `apply-patch review`, and the choice of `undo -i`.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::commit::{self, LogEntry, UndoOptions};
use apply_patch_api::engine::{Cancellation, Files, Plan};
use apply_patch_api::review::{
    Choices, HunkState, Kept, Note, Review, ReviewFile, ReviewHunk, notes_text,
};
use apply_patch_api::tools::changes::DiffDetail;
use apply_patch_api::tools::{Named, Session, hints};
use serde_json::json;

use super::execute::execute;
use super::history::{SpanArgs, net_headline};
use super::review_args::ReviewArgs;
use super::workspace;
use crate::args::DiffFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render::{ChoiceFile, ChoiceHunk, Pager};
use crate::{interactive, json, outside, render};

pub(crate) fn review(global: &Global, args: &ReviewArgs) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let paths = in_project(&session, &args.paths);
    let session = whole_project(session);
    let mut kept = Kept::read(session.workspace())?;
    if args.notes && args.names_nothing() {
        return Ok(print_notes(global, &kept.notes));
    }
    let entries = entries(&session, args.id.as_deref(), &args.span)?;
    if entries.is_empty() && !global.json {
        render::message("there is nothing to review");
        return Ok(Exit::Done);
    }
    let mut review = Review::new(&session, &entries)?;
    if !paths.is_empty() {
        review.only(&paths);
        if review.files.is_empty() {
            return Err(Failure::Usage("none of these files was changed".to_owned()));
        }
    }
    if args.notes {
        let of_review = |note: &Note| review.hunks().any(|hunk| hunk.id == note.hunk);
        let notes: Vec<Note> = kept.notes.iter().filter(|note| of_review(note)).cloned().collect();
        return Ok(print_notes(global, &notes));
    }
    if !args.note.is_empty() {
        return note(global, &session, &review, kept, &args.note);
    }
    if args.restart {
        kept.forget(&review);
        kept.write(session.workspace())?;
    }
    if !args.revert.is_empty() {
        let choices = chosen(&review, &args.revert)?;
        return revert(global, args, &session, &review, &choices, ApprovalPolicy::Never);
    }
    if global.json {
        let open = review.standing().count();
        let output = format!("{}, {open} to review", render::count(review.hunks().count(), "hunk"));
        json::done(output, review.data(&kept));
        return Ok(Exit::Done);
    }
    if args.format == DiffFormat::Html {
        let files: Vec<_> = review.files.iter().map(choice_file).collect();
        let (before, after) = args.command();
        let page = render::choice_page(&net_headline(&entries), &files, (&before, &after));
        render::raw(page.as_bytes());
        return Ok(Exit::Done);
    }
    let asks = *outside::STDOUT_IS_TERMINAL && outside::terminal().is_ok() && !args.dry_run;
    if !asks || review.standing().next().is_none() {
        print(global, &entries, &review, &kept);
        return Ok(Exit::Done);
    }
    ask(global, args, &session, &review, kept)
}

/// The paths from the top of the project.
fn in_project(session: &Session, paths: &[String]) -> Vec<String> {
    let workspace = session.workspace();
    let paths = paths.iter().map(|path| {
        let own = workspace.root().relative(path);
        let own = own.as_deref().unwrap_or(path);
        workspace.prefix().join(own.trim_start_matches("./").trim_end_matches('/'))
    });
    paths.collect()
}

/// Opens the session in the whole project: what was changed may lie anywhere in it.
fn whole_project(session: Session) -> Session {
    if session.workspace().prefix().is_empty() { session } else { workspace::project(&session) }
}

/// The transactions that a name means.
fn named(session: &Session, name: &str) -> Result<Vec<LogEntry>, Failure> {
    let workspace = session.workspace();
    Ok(match workspace::named(workspace, name)? {
        Named::Transaction(id) => vec![workspace.show(id)?],
        Named::Turn(_, entries) => entries,
        Named::Range(span) => span.entries(workspace)?,
    })
}

/// The newest change that stands, with its turn.
fn last(session: &Session) -> Result<Vec<LogEntry>, Failure> {
    let is_change = |entry: &LogEntry| {
        let header = &entry.journal.header;
        let is_of_review = matches!(header.tool.as_deref(), Some("review" | "undo"));
        !entry.aborted && entry.undone_by.is_none() && header.undo_of.is_none() && !is_of_review
    };
    let workspace = session.workspace();
    let (log, _) = workspace.history_while(|entry| !is_change(entry))?;
    let Some(newest) = log.last().filter(|entry| is_change(entry)) else { return Ok(Vec::new()) };
    match &newest.journal.header.turn {
        Some(turn) => {
            let own = newest.journal.header.session.as_ref();
            let name = own.map_or_else(|| turn.clone(), |own| format!("{own}/{turn}"));
            named(session, &name)
        }
        None => Ok(vec![newest.clone()]),
    }
}

/// The hunks that are named to be reverted; `all` for all that stand.
fn chosen(review: &Review, names: &[String]) -> Result<Choices, Failure> {
    let mut ids = Vec::new();
    for name in names {
        if name == "all" {
            ids.extend(review.standing().map(|hunk| &*hunk.id));
        } else {
            let hunk = review.find(name).map_err(|error| Failure::Tool(Box::new(error)))?;
            ids.push(&*hunk.id);
        }
    }
    Ok(Choices::revert(ids))
}

/// Keeps comments, each as `HUNK=TEXT`; without a text, those on the hunk are removed.
fn note(
    global: &Global,
    session: &Session,
    review: &Review,
    mut kept: Kept,
    given: &[String],
) -> Result<Exit, Failure> {
    let mut added = 0;
    let mut removed = 0;
    for one in given {
        let (id, words) = one.split_once('=').ok_or_else(|| {
            Failure::Usage(format!("{one:?} is no comment: write HUNK=TEXT, or HUNK= to remove it"))
        })?;
        let hunk = review.named(id).map_err(|error| Failure::Tool(Box::new(error)))?;
        if words.trim().is_empty() {
            removed += kept.remove_notes(&hunk.id);
            continue;
        }
        let file = review.files.iter().find(|file| file.hunks.iter().any(|one| one.id == hunk.id));
        let path = file.map_or("", |file| &file.path);
        kept.note(&hunk.id, path, &hunk.diff, words.trim());
        added += 1;
    }
    kept.write(session.workspace())?;
    let mut output = Vec::new();
    if added > 0 {
        output.push(format!(
            "{} kept; `apply-patch review --notes` prints them",
            render::count(added, "comment")
        ));
    }
    if removed > 0 || added == 0 {
        output.push(format!("{} removed", render::count(removed, "comment")));
    }
    let output = output.join("; ");
    if global.json {
        json::done(output, json!({ "notes": kept.notes }));
    } else if !global.quiet {
        render::message(&output);
    }
    Ok(Exit::Done)
}

/// Asks about each hunk, and carries out what was decided.
fn ask(
    global: &Global,
    args: &ReviewArgs,
    session: &Session,
    review: &Review,
    mut kept: Kept,
) -> Result<Exit, Failure> {
    let workspace = session.workspace();
    let finished = interactive::review(review, &mut kept, &mut |kept| Ok(kept.write(workspace)?))?;
    if !finished {
        let open = review.standing().filter(|hunk| !kept.decisions.contains_key(&hunk.id));
        render::message(&format!(
            "{} left; `{}` goes on; nothing was changed yet",
            render::count(open.count(), "hunk"),
            args.command_with("")
        ));
        return Ok(Exit::Done);
    }
    let choices = kept.choices(review);
    if choices.is_empty() {
        render::message("all hunks are kept; there is nothing to change");
    } else {
        let exit = revert(global, args, session, review, &choices, ApprovalPolicy::Always)?;
        if exit != Exit::Done {
            render::message(&format!(
                "what was decided is kept: `{}` asks again whether to apply it, `{}` begins anew",
                args.command_with(""),
                args.command_with(" --restart")
            ));
            return Ok(exit);
        }
    }
    kept.forget(review);
    kept.write(workspace)?;
    Ok(Exit::Done)
}

/// Reverts what was chosen.
fn revert(
    global: &Global,
    args: &ReviewArgs,
    session: &Session,
    review: &Review,
    choices: &Choices,
    approval: ApprovalPolicy,
) -> Result<Exit, Failure> {
    let session = &session_for(global, session, review, choices)?;
    let plan = |cancellation: &Cancellation| planned(session, review, choices, cancellation);
    execute(global, session, "review", args.dry_run, args.detail.diff, approval, plan)
}

/// The session for a choice. To choose a hunk is to approve the change of its file.
fn session_for(
    global: &Global,
    session: &Session,
    review: &Review,
    choices: &Choices,
) -> Result<Session, Failure> {
    let chosen = workspace::session_for(global, review.paths(choices))?;
    let is_whole = session.workspace().root().path() == chosen.workspace().root().path();
    Ok(if is_whole { chosen } else { workspace::project(&chosen) })
}

fn planned(
    session: &Session,
    review: &Review,
    choices: &Choices,
    cancellation: &Cancellation,
) -> Result<Plan, commit::Error> {
    let files = Files::from(session.workspace().root());
    review.plan(files.cancelled_by(cancellation.clone()), choices)
}

/// Asks which hunks of some transactions are undone, and undoes them. All of them together are an
/// undo like any other, which `log` shows.
pub(super) fn undo_some(
    global: &Global,
    session: Session,
    entries: &[LogEntry],
    paths: &[String],
    (dry_run, detail): (bool, Option<DiffDetail>),
) -> Result<Exit, Failure> {
    let paths = in_project(&session, paths);
    let session = whole_project(session);
    let mut review = Review::new(&session, entries)?;
    if !paths.is_empty() {
        review.only(&paths);
    }
    if review.standing().next().is_none() {
        if review.hunks().next().is_some() {
            print(global, entries, &review, &Kept::default());
        }
        render::message("there is nothing that can be undone hunk by hunk");
        return Ok(Exit::Done);
    }
    let choices = interactive::undo(&review)?;
    if choices.is_empty() {
        render::message("nothing was chosen; nothing was changed");
        return Ok(Exit::Done);
    }
    let session = session_for(global, &session, &review, &choices)?;
    let is_all = paths.is_empty() && review.reverts_all(&choices);
    let ids: Vec<_> = commit::standing(entries, |_| true);
    let plan = |cancellation: &Cancellation| {
        if !is_all {
            return planned(&session, &review, &choices, cancellation);
        }
        let cancellation = cancellation.clone();
        let options = UndoOptions { carry: true, cancellation, ..UndoOptions::default() };
        session.workspace().plan_undo_all(&ids, &options)
    };
    let never = ApprovalPolicy::Never;
    execute(global, &session, "undo", dry_run, detail, never, plan)
}

/// The named transactions, the newest first; without a name, those of the last change.
pub(super) fn entries(
    session: &Session,
    id: Option<&str>,
    span: &SpanArgs,
) -> Result<Vec<LogEntry>, Failure> {
    let workspace = session.workspace();
    if let Some(span) = span.find(workspace)? {
        return Ok(span.entries(workspace)?);
    }
    match id {
        Some(name) => named(session, name),
        None => last(session),
    }
}

fn print_notes(global: &Global, notes: &[Note]) -> Exit {
    if global.json {
        json::done(render::count(notes.len(), "note"), json!({ "notes": notes }));
    } else if notes.is_empty() {
        render::message("there are no notes");
    } else {
        render::raw(notes_text(notes).as_bytes());
    }
    Exit::Done
}

/// Prints the hunks with their ids.
fn print(global: &Global, entries: &[LogEntry], review: &Review, kept: &Kept) {
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.line(&net_headline(entries));
    for one in &review.net.changed_between {
        out.line(&format!("note: {one}"));
    }
    let count = |state| review.hunks().filter(|hunk| hunk.state == state).count();
    let mut line = format!("{} to review", render::count(count(HunkState::Standing), "hunk"));
    for (state, words) in [
        (HunkState::Reverted, "reverted already"),
        (HunkState::Changed, "changed since"),
        (HunkState::Unknown, "not known any more"),
    ] {
        if count(state) > 0 {
            line += &format!(", {} {words}", count(state));
        }
    }
    out.line(&line);
    for file in &review.files {
        out.coloured(&render::lettered(&render::sanitize(&interactive::title(file))));
        for hunk in &file.hunks {
            out.line(&render::sanitize(&hunk_line(hunk, kept)));
            print_hunk(&mut out, hunk);
        }
    }
}

/// The id of a hunk, and what is known about it.
fn hunk_line(hunk: &ReviewHunk, kept: &Kept) -> String {
    let decision = kept.decisions.get(&hunk.id).map(|decision| decision.as_str());
    let decided = decision.map(|name| format!(" ({name})")).unwrap_or_default();
    match hunk.state {
        HunkState::Standing => {
            let kind = interactive::kind_words(hunk.kind);
            let blank = if kind.is_empty() { "" } else { " " };
            format!("{}{blank}{kind}{decided}", hunk.id)
        }
        HunkState::Reverted => format!("{}: reverted already", hunk.id),
        _ => interactive::left_alone(hunk).unwrap_or_default(),
    }
}

/// Prints the lines of a hunk; of one that was changed since, the three texts.
fn print_hunk(out: &mut Pager, hunk: &ReviewHunk) {
    let Some(conflict) = &hunk.conflict else {
        if hunk.state != HunkState::Reverted {
            out.diff(&hunk.diff);
        }
        return;
    };
    for (name, excerpt) in [
        ("before", &conflict.wanted),
        ("as it was left", &conflict.base),
        ("now", &conflict.current),
    ] {
        out.line(&format!("  {name}:"));
        for line in String::from_utf8_lossy(&excerpt.text).lines() {
            out.line(&render::sanitize(&format!("    {line}")));
        }
    }
}

/// A file of the page.
fn choice_file(file: &ReviewFile) -> ChoiceFile {
    let operation = interactive::operation_words(file);
    let name = match &file.to_path {
        Some(to) => format!("{} → {to}", file.path),
        None => file.path.clone(),
    };
    let hunks = file.hunks.iter().map(|hunk| {
        let id = (hunk.state == HunkState::Standing).then(|| hunk.id.clone());
        let words = match hunk.state {
            HunkState::Standing => interactive::kind_words(hunk.kind),
            HunkState::Reverted => format!("{}: reverted already", hunk.id),
            _ => interactive::left_alone(hunk).unwrap_or_default(),
        };
        ChoiceHunk { id, words, diff: hunk.diff.clone() }
    });
    ChoiceFile { operation, name, hunks: hunks.collect() }
}

impl ReviewArgs {
    fn command_with(&self, more: &str) -> String {
        let (before, after) = self.command();
        format!("{before}{more}{after}")
    }

    fn names_nothing(&self) -> bool {
        let span = &self.span;
        self.id.is_none() && span.turn.is_none() && span.session.is_none() && span.since.is_none()
    }

    /// The command that makes this review again, before and after what is added to it.
    fn command(&self) -> (String, String) {
        let mut words = vec!["apply-patch".to_owned(), "review".to_owned()];
        let span = &self.span;
        for (flag, value) in
            [("--turn", &span.turn), ("--session", &span.session), ("--since", &span.since)]
        {
            if let Some(value) = value {
                words.extend([flag.to_owned(), hints::shell_word(value)]);
            }
        }
        words.extend(self.id.as_deref().map(hints::shell_word));
        let paths = self.paths.iter().map(|path| format!(" {}", hints::shell_word(path)));
        let paths: String = paths.collect();
        let after = if paths.is_empty() { paths } else { format!(" --{paths}") };
        (words.join(" "), after)
    }
}
