//! `apply-patch apply` and `apply-patch check`.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use apply_patch_api::engine::commit;
use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::engine::{
    Atomicity, Cancellation, Failed, Options, Order, Patch, Plan, Report,
};
use apply_patch_api::tools::audit::Operation;
use apply_patch_api::tools::changes::DiffDetail;
use apply_patch_api::tools::settings::Settings;
use apply_patch_api::tools::statistics::FileStatistics;
use apply_patch_api::tools::text_form::TextForm;
use apply_patch_api::tools::{Session, SessionSettings};
use clap::Args;

use super::workspace;
use crate::approve::{Instead, Prompt};
use crate::args::DiffFormat;
use crate::events::Events;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::input::Input;
use crate::{approve, args, events, expect, interactive, json, live, render};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch < answer.patch              apply it in the current directory\n  \
    apply-patch -n -C ../repo answer.patch  show the diff, write nothing\n  \
    apply-patch -i answer.patch             ask about each file and hunk\n  \
    apply-patch --clipboard                 apply what was copied\n  \
    apply-patch 0001-a.patch 0002-b.patch   apply both in order, all or nothing\n  \
    apply-patch -R answer.patch             apply it in reverse, from its text alone\n  \
    apply-patch --verify 'cargo test' answer.patch  keep it only if the tests pass\n  \
    apply-patch --from auto answer.md       find the patch or diff in a chat answer\n  \
    apply-patch --profile codex --expect src/a.rs=$(sha256sum < src/a.rs | cut -c1-64) \
    answer.patch\n\n\
    What flags leave open is taken from $APPLY_PATCH_*, then from \
    ~/.config/apply-patch/config.toml;\n\
    .apply-patch.toml in the workspace can only tighten it. `apply-patch doctor` shows all \
    settings.")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) input: args::Inputs,
    #[command(flatten)]
    pub(crate) from: args::From,
    /// Print the diff; nothing is written
    #[arg(short = 'n', long, conflicts_with_all = ["events", "call_id", "verify"])]
    pub(crate) dry_run: bool,
    /// With `-n`: the diff as text, or as one self-contained HTML page
    #[arg(
        long, value_name = "FORMAT", default_value = "text", requires = "dry_run",
        conflicts_with_all = [
            "stat", "numstat", "summary", "nul", "json", "events", "call_id", "verify", "check",
            "approve", "interactive",
        ],
    )]
    pub(crate) format: args::DiffFormat,
    /// Tell by the exit code alone whether the patch would apply; nothing is written
    #[arg(long, conflicts_with_all = ["dry_run", "events", "call_id", "verify"])]
    pub(crate) check: bool,
    /// Confine this process to the workspace and its state before the patch is read (Linux with
    /// Landlock; an error elsewhere)
    #[arg(long, conflicts_with_all = ["verify", "format_with"])]
    pub(crate) sandbox: bool,
    /// Show file names and line counts while the patch is still arriving on standard input, and
    /// fail at the first error
    #[arg(
        long,
        conflicts_with_all = [
            "files", "clipboard", "from", "strip", "skip_binary", "recount", "reverse", "directory", "include",
            "exclude", "quiet",
        ],
    )]
    pub(crate) stream: bool,
    /// When to ask at the terminal before anything is changed: always (`ask`), or when a file is
    /// deleted, replaced whole or guarded (`auto`) [default: auto if a person is at the terminal,
    /// else never]
    #[arg(
        long, value_name = "WHEN", value_parser = args::choice::<ApprovalPolicy>(),
        conflicts_with_all = ["dry_run", "check"],
    )]
    pub(crate) approve: Option<ApprovalPolicy>,
    /// Ask about every file and hunk, and apply those that you take as one transaction
    #[arg(
        short, long,
        conflicts_with_all = [
            "dry_run", "check", "stream", "events", "call_id", "no_atomic", "partial", "json", "sandbox",
            "approve", "reverse",
        ],
    )]
    pub(crate) interactive: bool,
    #[command(flatten)]
    pub(crate) parts: args::Parts,
    #[command(flatten)]
    pub(crate) checks: args::Checks,
    #[command(flatten)]
    pub(crate) statistics: args::Statistics,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
    #[command(flatten)]
    pub(crate) detail: args::Detail,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
    #[command(flatten)]
    pub(crate) reporting: args::Reporting,
}

impl ApplyArgs {
    /// Whether nothing is written.
    fn looks_only(&self) -> bool {
        self.dry_run || self.check
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch check answer.patch\n  \
    apply-patch explain --from auto answer.md")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: args::Inputs,
    #[command(flatten)]
    pub(crate) from: args::From,
    #[command(flatten)]
    pub(crate) parts: args::Parts,
    #[command(flatten)]
    pub(crate) formatting: args::Formatting,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
}

/// Returns the options that the settings and the flags ask for.
pub(super) fn options(global: &Global, rules: &args::Rules) -> Result<Options, Failure> {
    let base = workspace::base(global, rules)?;
    Ok(Options { base, ..options_without_base(&global.settings, rules)? })
}

/// Returns the same options without the base.
pub(crate) fn options_without_base(
    settings: &Settings,
    rules: &args::Rules,
) -> Result<Options, Failure> {
    let mut options = settings.options();
    options.formatter = apply_patch_api::formatter(settings, None);
    options.parse.environment = rules.environment.clone();
    options.expected =
        expect::read(&rules.expect, rules.expect_from.as_deref()).map_err(Failure::Usage)?;
    Ok(options)
}

/// Shows what a patch would do.
type Show<'s> = dyn Fn(&Patch, &Plan) -> Result<(), apply_patch_api::files::Error> + 's;

/// Reads and plans the patch of a command that only looks, and shows what it would do.
pub(super) fn looked(
    global: &Global,
    args: &CheckArgs,
    show: impl Fn(&Options, &Patch, &Plan) -> Result<(), apply_patch_api::files::Error>,
) -> Result<Exit, Failure> {
    let options = options(global, &args.rules)?;
    let settings = workspace::session_settings(global);
    let atomicity = atomicity(&args.parts, &settings)?;
    let session =
        workspace::in_turn(workspace::session_in(workspace::open(global)?, settings), None)?;
    let sources = global.sources(&args.input)?;
    let input = form::all_chosen(global, sources, &args.from, &options.parse)?;
    let input = amended(input, &args.parts, &session, &options)?;
    look(global, &session, &input, &options, atomicity, &|patch, plan| show(&options, patch, plan))
}

/// Returns which sections are applied where some do not apply.
fn atomicity(parts: &args::Parts, settings: &SessionSettings) -> Result<Atomicity, Failure> {
    if parts.no_atomic && settings.verify.is_some() {
        let message = "with a `verify` command, all files of a patch are changed or none: leave \
            out `--no-atomic`";
        return Err(Failure::Usage(message.into()));
    }
    Ok(Atomicity::of(!parts.no_atomic, parts.partial).expect("BUG: clap refuses both"))
}

/// Returns a patch together with the other files' sections from the refused one, if the patch
/// amends one.
fn amended(
    input: Input,
    parts: &args::Parts,
    session: &Session,
    options: &Options,
) -> Result<Input, Failure> {
    let Some(id) = &parts.amend else { return Ok(input) };
    let sent = session.amended(id, &input.sent, options).map_err(|error| {
        // An error of the parser is drawn.
        match form::parsed(&input, options) {
            Err(failure) => failure,
            Ok(_) => Failure::Tool(Box::new(error)),
        }
    })?;
    Ok(Input::of(sent, format!("{id}, amended")))
}

/// Plans a patch, and shows what it would do: for a patch that does not apply as a whole, the part
/// to be applied. The message for a patch already applied is the same as when applying: a preview
/// does not differ from the commit.
fn look(
    global: &Global,
    session: &Session,
    input: &Input,
    options: &Options,
    atomicity: Atomicity,
    show: &Show<'_>,
) -> Result<Exit, Failure> {
    let patch = form::parsed(input, options)?;
    workspace::tidy(global, session);
    let report = match session.preview(&patch, options.clone(), atomicity, &Cancellation::NEVER) {
        Ok(report) => report,
        Err(failed) => {
            let failure = told(session, Failure::Failed(Box::new((input.clone(), failed))));
            if !global.json
                && let Some(plan) = failure.planned()
            {
                show(&patch, plan)?;
            }
            return Err(failure);
        }
    };
    if !report.already_done {
        show(&patch, &report.plan)?;
    } else if global.json {
        json::print(&json::applied(&[report], atomicity != Atomicity::EachSection, None));
    } else if !global.quiet {
        render::hint(&[report]);
    }
    Ok(Exit::Done)
}

/// The failure where approval is needed, and there is no terminal to ask at.
pub(super) fn no_terminal() -> Failure {
    let message =
        "the patch needs approval, and there is no terminal to ask at; nothing was changed";
    Failure::Refused(message.into())
}

pub(crate) fn check(global: &Global, args: &CheckArgs) -> Result<Exit, Failure> {
    looked(global, args, |options, _, plan| {
        placements(global, plan, options.placement.order);
        applies(global, plan, !args.parts.no_atomic, None, global.quiet)
    })
}

/// Says that a plan applies.
fn applies(
    global: &Global,
    plan: &Plan,
    atomic: bool,
    diff: Option<DiffDetail>,
    quiet: bool,
) -> Result<(), apply_patch_api::files::Error> {
    if global.json {
        json::print(&json::planned(plan, atomic, diff)?);
    } else if !quiet {
        render::notes(plan);
        render::line(&format!("it applies: {}", render::summary(plan)));
    }
    Ok(())
}

pub(crate) fn apply(global: &Global, args: &ApplyArgs) -> Result<Exit, Failure> {
    // The session is not dropped: that would close its files one by one, and the process ends soon.
    let mut session = ManuallyDrop::new(None);
    let mut events = None;
    run(global, args, &mut session, &mut events).inspect_err(|failure| {
        let error = failure.error();
        if matches!(failure, Failure::Parse(_))
            && !args.looks_only()
            && let Some(session) = &*session
        {
            session.failed("apply", Operation::Patch, &error, &mut ());
        }
        events::fail(&mut events, error);
    })
}

fn run(
    global: &Global,
    args: &ApplyArgs,
    session: &mut Option<Session>,
    events: &mut Option<Events>,
) -> Result<Exit, Failure> {
    args.detail.check(global.json).map_err(Failure::Usage)?;
    let mut options = options(global, &args.rules)?;
    let looks_only = args.looks_only();
    let asked = if looks_only { ApprovalPolicy::Never } else { global.settings.approve };
    let mut approvals = Approvals::new(asked);
    let guard = approvals.take_guarded(global.settings.policy()?);
    let show = shows_output(global, args).then_some(render::output as fn(&str));
    let settings = workspace::session_settings_showing(global, show);
    options.formatter.clone_from(&settings.formatter);
    let atomicity = atomicity(&args.parts, &settings)?;
    let opened = workspace::session_in(workspace::open_with(global, guard)?, settings);
    let session = &*session.insert(workspace::in_turn(opened, None)?);
    let sources = global.sources(&args.input)?;
    if args.sandbox {
        workspace::confine(global, session.workspace(), Some(&args.rules))?;
    }
    let mut input = if args.stream {
        live::read(&options.parse)?
    } else {
        form::all_chosen(global, sources, &args.from, &options.parse)?
    };
    events::begin(events, global.root(), &args.reporting, input.bytes())?;
    input = amended(input, &args.parts, session, &options)?;
    if looks_only
        && args.statistics.are_wanted()
        && let Some(diff) = &mut input.sent.diff
    {
        diff.counted = true;
        count(global, args, &form::parsed(&input, &options)?);
        return Ok(Exit::Done);
    }
    if looks_only {
        return look(global, session, &input, &options, atomicity, &|_, plan| {
            preview(global, args, plan, options.placement.order)
        });
    }
    if args.interactive {
        input = match choose(input, session, &options)? {
            Some(chosen) => chosen,
            None => return Err(Failure::Refused("nothing was taken; nothing was changed".into())),
        };
    }
    // An editor is another program, and has to read and write elsewhere.
    let prompt = Prompt::new(!args.parts.no_atomic && !args.sandbox);
    prompt.deletes_approved(args.interactive);
    let attempt = Attempt { global, args, session, options: &options, atomicity, prompt: &prompt };
    loop {
        let exit = attempt.run(&input, &mut approvals, events);
        let exit = exit.map_err(|failure| keep(session, &options, failure))?;
        match exit {
            Some(exit) => return Ok(exit),
            // The person wants to edit the patch again.
            None => {
                input = approve::edit(&input)?;
                prompt.deletes_approved(false);
            }
        }
    }
}

/// Returns whether the output of `--verify` commands is shown live: to a person. A program gets the
/// end of the output in the answer.
fn shows_output(global: &Global, args: &ApplyArgs) -> bool {
    !global.json && !global.quiet && args.reporting.events.is_none()
}

/// Finds out who last changed the files that were found changed.
fn told(session: &Session, mut failure: Failure) -> Failure {
    let error = failure.error();
    if let Failure::Failed(failed) = &mut failure {
        failed.0.changed_by = session.changed_by(&error);
    }
    failure
}

/// Keeps what was not applied of a patch.
fn keep(session: &Session, options: &Options, failure: Failure) -> Failure {
    let mut failure = told(session, failure);
    let error = failure.error();
    if let Failure::Failed(failed) = &mut failure
        && !failed.1.error.is_cancelled()
        && !failed.0.sent.reverse
        && let Ok(patch) = form::parsed(&failed.0, options)
    {
        let (input, Failed { reports, .. }) = &mut **failed;
        input.kept = session.keep(TextForm::of(&input.sent), &patch, &error, reports);
    }
    failure
}

/// Lets the person choose hunks, and prints what was left out.
fn choose(input: Input, session: &Session, options: &Options) -> Result<Option<Input>, Failure> {
    if input.sent.edits.is_some() {
        let message = "-i asks about hunks of whole lines, and an edit may change a part of one; \
                       `apply-patch convert --to git` makes a diff of it";
        return Err(Failure::Usage(message.into()));
    }
    let form = interactive::PatchForm::of(&input);
    let patch = form::parsed(&input, options)?;
    // The expected states of the files are checked in the plan of the whole patch.
    let alone = Options { expected: BTreeMap::new(), ..options.clone() };
    let chosen = interactive::choose(&patch, form, &|patch| {
        apply_patch_api::engine::plan(session.workspace().root(), patch, &alone)
    })?;
    if !chosen.left_out.is_empty() {
        render::message(&format!("left out: {}", chosen.left_out.join("; ")));
    }
    Ok(chosen.patch)
}

/// The way to apply a patch, however often the person edits the text first.
struct Attempt<'a> {
    global: &'a Global,
    args: &'a ApplyArgs,
    session: &'a Session,
    options: &'a Options,
    atomicity: Atomicity,
    prompt: &'a Prompt,
}

impl Attempt<'_> {
    /// Applies the patch, if it is approved; `None` when the person wants to edit it first.
    fn run(
        &self,
        input: &Input,
        approvals: &mut Approvals,
        events: &mut Option<Events>,
    ) -> Result<Option<Exit>, Failure> {
        let Self { global, args, prompt, .. } = self;
        let patch = &form::parsed(input, self.options)?;
        let mut host = TerminalHost::new(prompt, events.as_mut(), global.quiet || global.json);
        let result = self.session.apply_in_place_of(
            prompt.proposal(),
            "apply",
            patch,
            self.options.clone(),
            self.atomicity,
            &mut approvals.ask(&mut host),
        );
        match (result, events) {
            (Ok(reports), Some(events)) => {
                events.end_call(&json::applied(&reports, !args.parts.no_atomic, None), None);
                Ok(Some(Exit::Done))
            }
            (Ok(reports), None) => {
                report(global, args, &reports, self.options.placement.order);
                Ok(Some(Exit::Done))
            }
            (Err(failed), _) if matches!(failed.error, commit::Error::Declined) => {
                declined(prompt, input, failed)
            }
            (Err(failed), _) => Err(Failure::Failed(Box::new((input.clone(), failed)))),
        }
    }
}

/// The end of an attempt that was not approved; `None` when the person wants to edit the patch.
fn declined(prompt: &Prompt, input: &Input, failed: Failed) -> Result<Option<Exit>, Failure> {
    match prompt.instead() {
        Some(Instead::Edit) => Ok(None),
        Some(Instead::Nothing(why)) if failed.reports.is_empty() => {
            Err(Failure::Refused(approve::no_answer(why)))
        }
        Some(Instead::NoTerminal) if failed.reports.is_empty() => Err(no_terminal()),
        _ => Err(Failure::Failed(Box::new((input.clone(), failed)))),
    }
}

fn preview(
    global: &Global,
    args: &ApplyArgs,
    plan: &Plan,
    order: Order,
) -> Result<(), apply_patch_api::files::Error> {
    placements(global, plan, order);
    if global.json && args.statistics.are_wanted() {
        json::print(&json::planned_counted(plan, !args.parts.no_atomic, args.detail.diff)?);
    } else if global.json || (args.check && !args.statistics.are_wanted()) {
        // The exit code alone tells.
        applies(global, plan, !args.parts.no_atomic, args.detail.diff, true)?;
    } else if args.format == DiffFormat::Text {
        workspace::preview(global, plan, &args.statistics)?;
    } else {
        if !global.quiet {
            render::notes(plan);
        }
        render::raw(render::page(&render::summary(plan), &plan.images().diffs()?).as_bytes());
    }
    Ok(())
}

/// Prints how much a diff changes. Its text says everything: no file is looked at.
fn count(global: &Global, args: &ApplyArgs, patch: &Patch) {
    let files = FileStatistics::of_diff(patch);
    if global.json {
        json::print(&json::counted(patch, files));
        return;
    }
    if !global.quiet {
        render::patch_notes(patch);
    }
    render::statistics(&files, &args.statistics);
}

/// Says with `--verbose` where each hunk stands.
fn placements(global: &Global, plan: &Plan, order: Order) {
    if global.verbose && !global.json {
        render::placements(plan, order);
    }
}

fn report(global: &Global, args: &ApplyArgs, reports: &[Report], order: Order) {
    if global.json && args.statistics.are_wanted() {
        json::print(&json::applied_counted(reports, !args.parts.no_atomic, args.detail.diff));
        return;
    }
    if global.json {
        json::print(&json::applied(reports, !args.parts.no_atomic, args.detail.diff));
        return;
    }
    for report in reports {
        if !global.quiet {
            render::notes(&report.plan);
        }
        placements(global, &report.plan, order);
        // The commit is done, but a file was changed again since: then the names have to do.
        let wanted = args.statistics.are_wanted();
        match wanted.then(|| FileStatistics::of_plan(report.images())) {
            Some(Ok(files)) => render::statistics(&files, &args.statistics),
            _ if !global.quiet => render::names(global.root(), &report.plan),
            _ => {}
        }
    }
    if !global.quiet {
        render::hint(reports);
    }
}
