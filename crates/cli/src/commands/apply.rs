//! `apply-patch apply` and `apply-patch check`.

use file_tools::SessionName;
use file_tools::events::Events;
use patch_engine::approval::{ApprovalPolicy, Approvals};
use patch_engine::transaction::Workspace;
use patch_engine::{
    Ambiguous, Applied, ApplyError, Options, Pass, Patch, Plan, Profile, Reject, Settings, transaction,
};

use crate::approve::{Instead, Prompt};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::interrupt::Interrupt;
use crate::{approve, args, audit, events, expect, json, live, render};

impl From<args::Profile> for Profile {
    fn from(profile: args::Profile) -> Self {
        match profile {
            args::Profile::Strict => Self::Strict,
            args::Profile::Codex => Self::Codex,
        }
    }
}

/// The options that the command line asks for.
pub(super) fn options(rules: &args::Rules, default: Profile) -> Result<Options, Failure> {
    let mut options = Options::new(rules.profile.map_or(default, Into::into));
    options.expected = expect::read(&rules.expect, rules.expect_from.as_deref()).map_err(Failure::Usage)?;
    options.allow_delete = rules.allow_delete;
    options.allow_move = rules.allow_move;
    options.create_parents |= rules.create_parents;
    options.overwrite |= rules.overwrite;
    if let Some(ambiguous) = rules.ambiguous {
        options.placement.ambiguous = match ambiguous {
            args::Ambiguous::Reject => Ambiguous::Reject,
            args::Ambiguous::First => Ambiguous::First,
        };
    }
    if let Some(fuzz) = rules.fuzz {
        let most_lenient = match fuzz {
            args::Fuzz::None => Pass::Exact,
            args::Fuzz::Trailing => Pass::Trailing,
            args::Fuzz::Blanks => Pass::Blanks,
            args::Fuzz::Unicode => Pass::Unicode,
        };
        options.placement.passes = Pass::ALL.into_iter().filter(|&pass| pass <= most_lenient).collect();
    }
    Ok(options)
}

/// The options for a text that was not written as a patch.
///
/// In a diff an insertion without context stands at the top of the file, and a patch cannot say that: it is only
/// taken where the file is empty, never for the end of the file.
pub(super) fn read_as(mut options: Options, input: &input::Input) -> Options {
    options.placement.append_without_anchor &= !input.from_diff;
    options
}

/// What the guard allows.
fn policy(rules: &args::Rules) -> Result<fs_guard::Policy, Failure> {
    let mut policy = fs_guard::Policy::default();
    if !rules.allow.is_empty() {
        policy.allow = fs_guard::Globs::new(&rules.allow).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    policy.names = match rules.names {
        args::Names::Portable => fs_guard::NamePolicy::Portable,
        args::Names::Native => fs_guard::NamePolicy::Native,
    };
    policy.hard_links = match rules.hard_links {
        args::HardLinks::Refuse => fs_guard::HardLinks::Refuse,
        args::HardLinks::Break => fs_guard::HardLinks::Break,
    };
    Ok(policy)
}

/// Opens the workspace that `-C` names.
pub(super) fn open(global: &args::Global, rules: &args::Rules) -> Result<Workspace, Failure> {
    Ok(Workspace::open(&global.root, policy(rules)?)?)
}

/// Reads and parses the patch, then lets `then` do the rest.
pub(super) fn with_patch(
    global: &args::Global,
    args: &args::Check,
    options: &Options,
    then: impl FnOnce(&Patch<'_>) -> Result<Exit, Rest>,
) -> Result<Exit, Failure> {
    let input = input::read(args.input.file.as_deref())?;
    with_input(input::envelope(input, args.from, global.quiet)?, options, then)
}

/// Parses the patch, then lets `then` do the rest.
fn with_input<T>(
    input: Input,
    options: &Options,
    then: impl FnOnce(&Patch<'_>) -> Result<T, Rest>,
) -> Result<T, Failure> {
    let result = match patch_engine::decode(&input.bytes).and_then(|text| patch_engine::parse(text, &options.parse)) {
        Ok(patch) => then(&patch),
        Err(error) => return Err(Failure::Parse(Box::new((input, error)))),
    };
    result.map_err(|rest| match rest {
        Rest::Rejected(rejects) => Failure::Rejected(Box::new((input, rejects))),
        Rest::Applied(applied) => Failure::Applied(Box::new((input, applied))),
        Rest::Refused(message) => Failure::Refused(message),
    })
}

/// A failure that still lacks the text of the patch.
pub(super) enum Rest {
    Rejected(Vec<Reject>),
    Applied(Applied),
    Refused(String),
}

pub(crate) fn check(global: &args::Global, args: &args::Check) -> Exit {
    let mut workspace = None;
    let result = (|| {
        let options = options(&args.rules, Profile::Strict)?;
        let workspace = workspace.insert(open(global, &args.rules)?);
        with_patch(global, args, &options, |patch| {
            super::tidy(global, workspace);
            let plan = patch_engine::plan(workspace.root(), patch, &options).map_err(Rest::Rejected)?;
            if global.json {
                json::print(&json::planned(&plan));
            } else if !global.quiet {
                render::notes(&plan);
                render::line(&format!("it applies: {}", render::summary(&plan)));
            }
            Ok(Exit::Done)
        })
    })();
    result.unwrap_or_else(|failure| failure.report(global, workspace.as_ref()))
}

pub(crate) fn apply(global: &args::Global, args: &args::Apply) -> Exit {
    let mut workspace = None;
    let mut events = None;
    run(global, args, &mut workspace, &mut events).unwrap_or_else(|failure| {
        let told = json::Failure::new(&failure);
        if let (Failure::Parse(_), Some(workspace), false) = (&failure, &workspace, args.dry_run || args.check) {
            audit::failed(workspace, "apply", told.error());
        }
        if let Some(events) = &mut events {
            events.end_call(&told.envelope(), Some(&told.error().message));
        }
        failure.report(global, workspace.as_ref())
    })
}

fn run(
    global: &args::Global,
    args: &args::Apply,
    workspace: &mut Option<Workspace>,
    events: &mut Option<Events<'static>>,
) -> Result<Exit, Failure> {
    let mut settings = Settings::new(options(&args.rules, Profile::Strict)?);
    settings.commit = super::commit_options("apply", &args.writing);
    settings.lock_timeout = args.writing.lock_timeout;
    settings.atomic = !args.no_atomic;
    let looks_only = args.dry_run || args.check;
    let asked = if looks_only { ApprovalPolicy::Never } else { approve::policy(args.approve) };
    let asks = asked != ApprovalPolicy::Never;
    let mut approvals = Approvals::new(asked);
    let guard = approvals.take_guarded(policy(&args.rules)?);
    let workspace = &*workspace.insert(Workspace::open(&global.root, guard)?);
    let source = input::open(args.input.file.as_deref())?;
    if args.sandbox {
        confine(global, workspace)?;
    }
    let mut input = match args.stream {
        true => live::read(&settings.options.parse)?,
        false => input::envelope(source.read()?, args.from, global.quiet)?,
    };
    settings.options = read_as(settings.options, &input);
    if let Some(form) = events::of(&global.root, SessionName::cli().as_str(), &args.reporting) {
        let call = json::PatchInput { patch: String::from_utf8_lossy(&input.bytes) };
        events.insert(form).begin_call(&events::call_id(&args.reporting)?, "apply_patch", &call);
    }
    if looks_only {
        return with_input(input, &settings.options, |patch| {
            super::tidy(global, workspace);
            let plan = patch_engine::plan(workspace.root(), patch, &settings.options).map_err(Rest::Rejected)?;
            preview(global, args, &plan);
            Ok(Exit::Done)
        });
    }
    // An editor is another program, and has to read and write elsewhere.
    let prompt = Prompt::new(settings.atomic && !args.sandbox);
    loop {
        // A person may want to edit it.
        let again = asks.then(|| input.copy());
        let exit = with_input(input, &settings.options, |patch| {
            attempt(global, args, workspace, &settings, patch, (&mut approvals, &prompt), events)
        })?;
        match exit {
            Some(exit) => return Ok(exit),
            None => input = approve::edit(&again.expect("only who is asked edits"))?,
        }
    }
}

/// Takes from this process what it does not need; before anything of the patch is looked at.
fn confine(global: &args::Global, workspace: &Workspace) -> Result<(), Failure> {
    let key = workspace.key_place().prepare()?;
    let also: Vec<_> = key.as_deref().into_iter().collect();
    let confined = workspace.root().confine(&also)?;
    if global.verbose || (!confined.complete && !global.quiet) {
        render::message(&confined.to_string());
    }
    Ok(())
}

/// Applies the patch, if it is approved; `None` when the person wants to edit it first.
fn attempt(
    global: &args::Global,
    args: &args::Apply,
    workspace: &Workspace,
    settings: &Settings,
    patch: &Patch<'_>,
    (approvals, mut prompt): (&mut Approvals, &Prompt),
    events: &mut Option<Events<'static>>,
) -> Result<Option<Exit>, Rest> {
    let mut interrupt = Interrupt::watch();
    let writing = interrupt.clone();
    let verdicts = events.as_ref().map(Events::verdicts);
    let mut approve = |plan: &Plan| {
        let verdict = approvals.decide(plan, &mut prompt);
        if let Some(verdicts) = &verdicts {
            verdicts.tell(verdict);
        }
        if verdict.approved {
            writing.writing();
        }
        verdict.approved
    };
    let mut observer = (events.as_mut(), &mut interrupt);
    let applied = audit::apply(workspace, patch, settings, &mut approve, &mut observer);
    match (&applied.failure, interrupt.exit()) {
        (Some(ApplyError::Commit(transaction::CommitError::Refused(_))), Some(exit)) => {
            render::message("interrupted; everything was rolled back");
            if let Some(events) = events {
                events.end_call(&(), Some("interrupted; everything was rolled back"));
            }
            Ok(Some(exit))
        }
        (Some(ApplyError::Declined), _) => match prompt.instead() {
            Some(Instead::Edit) => Ok(None),
            Some(Instead::NoTerminal) if applied.reports.is_empty() => Err(Rest::Refused(
                "the patch needs approval, and there is no terminal to ask at; nothing was changed".into(),
            )),
            _ => Err(Rest::Applied(applied)),
        },
        (Some(_), _) => Err(Rest::Applied(applied)),
        (None, _) => {
            match events {
                Some(events) => events.end_call(&json::applied(&applied, settings.atomic), None),
                None => report(global, args, &applied),
            }
            Ok(Some(Exit::Done))
        }
    }
}

fn preview(global: &args::Global, args: &args::Apply, plan: &Plan) {
    if global.json {
        json::print(&json::planned(plan));
    } else if !args.check {
        if !global.quiet {
            render::notes(plan);
        }
        if args.stat { render::stat(plan) } else { render::diff(&plan.diffs()) }
    }
}

fn report(global: &args::Global, args: &args::Apply, applied: &Applied) {
    if global.json {
        json::print(&json::applied(applied, !args.no_atomic));
        return;
    }
    for report in &applied.reports {
        if !global.quiet {
            render::notes(&report.plan);
        }
        if args.stat { render::stat(&report.plan) } else { render::names(&report.plan) }
    }
    if !global.quiet {
        render::recovered(&applied.recovered);
        render::hint(applied);
    }
}
