//! `apply-patch propose`, `proposals`, `approve` and `decline`: changes that wait for a person.

use std::path::{Path, PathBuf};

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::{Atomicity, Cancellation, Options, Plan, Report};
use apply_patch_api::files::Sha256;
use apply_patch_api::proposals::{
    self, Approval, Listed, PlannedProposal, Proposal, ProposalList, ProposalPart, ProposalState,
    Proposals, ProposedFile, ProposedPatch, Shown,
};
use apply_patch_api::tools::format_local_time;
use apply_patch_api::tools::input::ReadAs;
use apply_patch_api::tools::text_form::TextForm;
use apply_patch_api::tools::{Session, ToolError};
use clap::Args;
use serde_json::json;

use super::{apply, workspace};
use crate::approve::{Prompt, confirm, preset};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::input::Input;
use crate::render::Pager;
use crate::{args, form, interactive, json, outside, render, source};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch propose --why 'closes the leak' answer.patch\n  \
    apply-patch proposals\n  \
    apply-patch approve p-3f9a")]
pub(crate) struct ProposeArgs {
    #[command(flatten)]
    pub(crate) input: args::Inputs,
    #[command(flatten)]
    pub(crate) from: args::From,
    /// Why the change is wanted: the person who decides reads it
    #[arg(short = 'm', long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) formatting: args::Formatting,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch proposals         those that wait, and those that were decided\n  \
    apply-patch show p-3f9a       the diff as it would be now")]
pub(crate) struct ProposalsArgs {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch approve -n p-3f9a  show what it would do, and write nothing\n  \
    apply-patch approve p-3f9a\n  \
    apply-patch approve -i p-3f9a  ask about each hunk; the others stay proposed\n  \
    apply-patch approve --only part.diff p-3f9a")]
pub(crate) struct ApproveArgs {
    /// Proposal: its id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print what it would do now; nothing is written
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Ask about every file and hunk, and apply those that you take; the others stay proposed
    #[arg(short, long, conflicts_with_all = ["dry_run", "digest", "json"])]
    pub(crate) interactive: bool,
    /// Approve only this part of it, a patch for the files as they are now with some of its changes;
    /// `-` is standard input. The others stay proposed
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    pub(crate) only: Option<PathBuf>,
    /// The plan that is approved, as this command or `show` printed it after the files had changed
    /// [default: the one that was shown when it was proposed]
    #[arg(long, value_name = "SHA256", conflicts_with = "dry_run")]
    pub(crate) digest: Option<Sha256>,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    apply-patch decline -m 'the API stays as it is' p-3f9a")]
pub(crate) struct DeclineArgs {
    /// Proposal: its id, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Why it is declined: whoever proposed it reads it
    #[arg(short = 'm', long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) waiting: args::Waiting,
}

fn told(error: ToolError) -> Failure {
    Failure::Tool(Box::new(error))
}

/// How many proposals wait for a decision.
pub(super) fn waiting(session: &Session) -> Result<Option<usize>, Failure> {
    Proposals::of(session).waiting().map(Some).map_err(told)
}

pub(crate) fn propose(global: &Global, args: &ProposeArgs) -> Result<Exit, Failure> {
    let mut options = apply::options(global, &args.rules)?;
    let settings = workspace::session_settings(global);
    options.formatter.clone_from(&settings.formatter);
    let opened = workspace::session_in(workspace::open(global)?, settings);
    let session = workspace::in_turn(opened, None)?;
    let sources = global.sources(&args.input)?;
    let input = form::all_chosen(global, sources, &args.from, &options.parse)?;
    let patch = form::parsed(&input, &options)?;
    workspace::tidy(global, &session);
    check(&session, &input, &options)?;
    let proposed = ProposedPatch::new(input.sent.clone(), patch, options);
    let made = Proposals::of(&session).propose(proposed, args.why.as_deref()).map_err(told)?;
    let proposal = &made.proposal;
    let id = proposal.id();
    if global.json {
        let planned = PlannedProposal::with_plan(proposal, &made.report.plan)?;
        json::done(proposal.outcome(), PlannedProposal { expired: made.expired, ..planned });
        return Ok(Exit::Done);
    }
    if !global.quiet {
        render::notes(&made.report.plan);
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.line(&headline(proposal));
    proposal.reasons().iter().for_each(|reason| out.line(&format!("! {reason}")));
    out.diff(&made.report.plan.images().diffs()?);
    drop(out);
    if !global.quiet {
        for id in &made.expired {
            render::message(&format!("{id} has expired: it waited longer than `proposal-keep`"));
        }
        render::message(&format!(
            "proposed; nothing is changed. `apply-patch approve {id}` commits it, `apply-patch \
             decline {id}` does not"
        ));
    }
    Ok(Exit::Done)
}

/// Plans the patch, to draw what is wrong with it.
fn check(session: &Session, input: &Input, options: &Options) -> Result<(), Failure> {
    let session = session.reopened(session.workspace().asking().0);
    let patch = form::parsed(input, options)?;
    let planned = session.preview(&patch, options.clone(), Atomicity::Whole, &Cancellation::NEVER);
    planned.map(drop).map_err(|failed| Failure::Failed(Box::new((input.clone(), failed))))
}

/// A proposal in one line: its id, when, who, and what it changes.
fn headline(proposal: &Proposal) -> String {
    let who = match proposal.agent() {
        Some(agent) => format!("{} ({agent})", proposal.session()),
        None => proposal.session().to_owned(),
    };
    let mut line = format!("{} {} {who}", proposal.id(), format_local_time(proposal.time()));
    if proposal.state() != ProposalState::Proposed {
        line += &format!(" {}", proposal.state().as_str());
    }
    line += &format!(": {}", files(proposal));
    match proposal.why() {
        Some(why) => format!("{line}: {why}"),
        None => line,
    }
}

/// The files that a proposal changes, as seen from the top of the project.
fn files(proposal: &Proposal) -> String {
    /// More files are counted.
    const NAMED: usize = 3;
    let directory = proposal.directory();
    let seen = |path: &str| match directory {
        "" => path.to_owned(),
        directory => format!("{directory}/{path}"),
    };
    let name = |file: &ProposedFile| {
        let letter = match &*file.operation {
            "create" => "A",
            "delete" => "D",
            "move" => "R",
            _ => "M",
        };
        let to = file.to_path.as_ref().map(|to| format!(" -> {}", seen(to)));
        format!("{letter} {}{}", seen(&file.path), to.unwrap_or_default())
    };
    let mut names: Vec<_> = proposal.files().iter().take(NAMED).map(name).collect();
    let more = proposal.files().len().saturating_sub(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

pub(crate) fn list(global: &Global) -> Result<Exit, Failure> {
    let session = workspace::recovered(global)?;
    let proposals = Proposals::of(&session);
    let all = proposals.list().map_err(told)?;
    let waiting = proposals.waiting().map_err(told)?;
    let output = match waiting {
        1 => "1 proposal waits".to_owned(),
        waiting => format!("{waiting} proposals wait"),
    };
    if global.json {
        json::done(output, ProposalList::of(&all));
        return Ok(Exit::Done);
    }
    for one in &all {
        match one {
            Listed::Verified(proposal) => render::line(&headline(proposal)),
            Listed::NotVerified { id } => render::line(&format!(
                "{id} not verified: it was altered, or is not signed with a key that is here"
            )),
        }
    }
    if !global.quiet {
        render::message(&output);
    }
    Ok(Exit::Done)
}

/// Opens the directory that a proposal is for, and finds the proposal.
fn find(global: &mut Global, name: &str) -> Result<(Session, Proposal), Failure> {
    let session = workspace::recovered(global)?;
    let proposal = Proposals::of(&session).find(name).map_err(told)?;
    let workspace = session.workspace();
    if workspace.prefix().as_str() == proposal.directory() {
        return Ok((session, proposal));
    }
    let root = workspace.home().path().join(proposal.directory());
    workspace::move_to(global, root)?;
    let session = workspace::session(global)?;
    let proposal = Proposals::of(&session).find(proposal.id()).map_err(told)?;
    Ok((session, proposal))
}

pub(crate) fn show(global: &mut Global, name: &str, as_html: bool) -> Result<Exit, Failure> {
    let (session, proposal) = find(global, name)?;
    let proposals = Proposals::of(&session);
    if proposal.state() != ProposalState::Proposed {
        if global.json {
            json::done(proposal.outcome(), proposal.data());
        } else {
            render::line(&headline(&proposal));
            render::line(&proposal.outcome());
        }
        return Ok(Exit::Done);
    }
    let report = proposals.plan(&proposal).map_err(told)?;
    show_plan(global, &proposal, &report.plan, as_html)?;
    Ok(Exit::Done)
}

/// Prints what a proposal would do now, and how to decide.
fn show_plan(
    global: &Global,
    proposal: &Proposal,
    plan: &Plan,
    as_html: bool,
) -> Result<(), Failure> {
    let differs = plan.digest() != proposal.digest();
    if global.json {
        let planned = PlannedProposal::with_plan(proposal, plan)?;
        json::done(proposal.outcome(), planned);
        return Ok(());
    }
    let diff = plan.images().diffs()?;
    if as_html {
        render::raw(render::page(&headline(proposal), &diff).as_bytes());
        return Ok(());
    }
    if !global.quiet {
        render::notes(plan);
    }
    let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
    out.line(&headline(proposal));
    proposal.reasons().iter().for_each(|reason| out.line(&format!("! {reason}")));
    out.diff(&diff);
    drop(out);
    if !global.quiet {
        if plan.is_empty() {
            let id = proposal.id();
            render::message(&format!(
                "the files have all of it already: `apply-patch approve {id}` ends it"
            ));
        } else {
            render::message(&deciding(proposal, differs.then(|| plan.digest())));
        }
    }
    Ok(())
}

/// The commands to decide with; `digest` is that of a plan that differs from the one proposed.
fn deciding(proposal: &Proposal, digest: Option<Sha256>) -> String {
    let id = proposal.id();
    match digest {
        None => {
            format!("`apply-patch approve {id}` commits it, `apply-patch decline {id}` does not")
        }
        Some(digest) => format!(
            "the files have changed since it was proposed, and this is what it would do now: \
             `apply-patch approve {id} --digest {digest}` commits it"
        ),
    }
}

pub(crate) fn approve(global: &mut Global, args: &ApproveArgs) -> Result<Exit, Failure> {
    let (session, proposal) = find(global, &args.id)?;
    let global = &*global;
    let proposals = Proposals::of(&session);
    if args.dry_run && args.only.is_none() {
        let report = proposals.plan(&proposal).map_err(told)?;
        show_plan(global, &proposal, &report.plan, false)?;
        return Ok(Exit::Done);
    }
    if args.interactive {
        return approve_part(global, &session, &proposal);
    }
    if let Some(file) = &args.only {
        return approve_only(global, &session, &proposal, file, args);
    }
    let prompt = Prompt::new(false);
    let mut agreed = args.digest.unwrap_or_else(|| proposal.digest());
    loop {
        let mut host = TerminalHost::new(&prompt, None, global.quiet || global.json);
        let approval = proposals.approve(&proposal, agreed, &mut host).map_err(told)?;
        match approval {
            Approval::Differs(shown) => agreed = agree(global, &proposal, &shown)?,
            approval => return Ok(approved(global, &proposal, &approval)),
        }
    }
}

/// Asks about each hunk of a proposal; those that are not taken stay proposed. Without a terminal it
/// is shown.
pub(crate) fn review(global: &mut Global, id: &str, html: bool) -> Result<Exit, Failure> {
    let asks = *outside::STDOUT_IS_TERMINAL && outside::terminal().is_ok();
    if !asks || global.json || html {
        return show(global, id, html);
    }
    let (session, proposal) = find(global, id)?;
    approve_part(global, &session, &proposal)
}

/// Shows the plan that differs from the one proposed, and asks a person at a terminal. Returns its
/// digest, if the person agrees.
fn agree(global: &Global, proposal: &Proposal, shown: &Shown) -> Result<Sha256, Failure> {
    if !global.json {
        let mut out = Pager::open(!global.no_pager, global.settings.pager.as_deref());
        out.diff(&shown.diff);
        drop(out);
        if preset() != ApprovalPolicy::Never {
            render::message("the files have changed since it was proposed: this is the result now");
            if confirm("Commit this?")? {
                return Ok(shown.digest);
            }
            return Err(Failure::Refused("not approved; nothing was changed".into()));
        }
    }
    Err(told(proposals::differs(proposal, shown)))
}

/// Prints what was committed.
fn approved(global: &Global, proposal: &Proposal, approval: &Approval) -> Exit {
    let report: &Report = match approval {
        Approval::Committed(report) => report,
        Approval::Done(transaction) => {
            done_before(global, proposal, transaction.as_deref());
            return Exit::Done;
        }
        Approval::Differs(_) => return Exit::Stale,
    };
    let reports = std::slice::from_ref(report);
    if global.json {
        json::print(&json::applied(reports, true, None));
    } else if !global.quiet {
        render::notes(&report.plan);
        render::names(global.root(), &report.plan);
        render::hint(reports);
    }
    Exit::Done
}

/// Says that nothing was left to do.
fn done_before(global: &Global, proposal: &Proposal, transaction: Option<&str>) {
    let id = proposal.id();
    let output = match transaction {
        Some(transaction) => format!("{id} is committed already, as {transaction}"),
        None => format!("{id}: the files have all of it already; nothing was changed"),
    };
    if global.json {
        let data = json!({
            "proposalId": id, "alreadyDone": true, "transactionId": transaction, "changedFiles": [],
        });
        json::done(output, data);
    } else if !global.quiet {
        render::message(&output);
    }
}

/// Lets the person choose hunks: they are committed, and the others stay proposed.
fn approve_part(global: &Global, session: &Session, proposal: &Proposal) -> Result<Exit, Failure> {
    let proposals = Proposals::of(session);
    let input = input_of(proposal).ok_or_else(|| {
        Failure::Usage(format!("{} is not a patch of hunks: approve it as a whole", proposal.id()))
    })?;
    let options = proposals.options(proposal).map_err(told)?;
    let patch = form::parsed(&input, &options)?;
    let alone = Options { expected: std::collections::BTreeMap::new(), ..options.clone() };
    let asking_workspace = session.workspace().asking().0;
    let chosen = interactive::choose(&patch, interactive::PatchForm::of(&input), &|patch| {
        apply_patch_api::engine::plan(asking_workspace.root(), patch, &alone)
    })?;
    let Some(part) = chosen.patch else {
        return Err(Failure::Refused("nothing was taken; nothing was changed".into()));
    };
    let part = form::parsed(&part, &options)?;
    let part = ProposalPart { patch: &part, for_now: false };
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, global.quiet);
    let agreed = proposals.plan_part(proposal, part).map_err(told)?.digest();
    let approval = proposals.approve_part(proposal, part, agreed, &mut host).map_err(told)?;
    if let Approval::Differs(_) = approval {
        let message = "the files changed while you chose; nothing was changed: choose again";
        return Err(Failure::Refused(message.into()));
    }
    if !chosen.left_out.is_empty() && !global.quiet {
        let left = chosen.left_out.join("; ");
        render::message(&format!("still proposed as {}: {left}", proposal.id()));
    }
    Ok(approved(global, proposal, &approval))
}

/// Approves the part of a proposal that a patch has.
fn approve_only(
    global: &Global,
    session: &Session,
    proposal: &Proposal,
    file: &Path,
    args: &ApproveArgs,
) -> Result<Exit, Failure> {
    let proposals = Proposals::of(session);
    let options = proposals.options(proposal).map_err(told)?;
    let input = form::of(source::read(Some(file))?, &ReadAs::default(), &options.parse)?;
    let part = form::parsed(&input, &options)?;
    let part = ProposalPart { patch: &part, for_now: true };
    let planned = proposals.plan_part(proposal, part).map_err(told)?;
    if args.dry_run {
        show_plan(global, proposal, &planned, false)?;
        return Ok(Exit::Done);
    }
    let agreed = args.digest.unwrap_or_else(|| planned.digest());
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, global.quiet || global.json);
    let approval = proposals.approve_part(proposal, part, agreed, &mut host).map_err(told)?;
    if let Approval::Differs(shown) = &approval {
        return Err(told(proposals::differs(proposal, shown)));
    }
    Ok(approved(global, proposal, &approval))
}

/// The patch of a proposal as an input. What was reversed is not asked about by hunks.
fn input_of(proposal: &Proposal) -> Option<Input> {
    let form = TextForm::of_line(proposal.form())?;
    let text = form.read(proposal.patch().to_vec())?;
    (!text.reverse).then(|| Input::of(text, proposal.id()))
}

pub(crate) fn decline(global: &Global, args: &DeclineArgs) -> Result<Exit, Failure> {
    let session = workspace::session(global)?;
    let proposals = Proposals::of(&session);
    let why = args.why.as_deref();
    // Whoever made it takes it back.
    let declined = match proposals.find(&args.id) {
        Ok(own) if own.is_of(&session) => {
            proposals.withdraw(own.id(), why).map(|own| Listed::Verified(Box::new(own)))
        }
        _ => proposals.decline(&args.id, why),
    };
    let declined = declined.map_err(told)?;
    let (output, data) = match &declined {
        Listed::Verified(proposal) => (proposal.outcome(), json!(proposal.data())),
        Listed::NotVerified { id } => {
            let output = format!("{id} was not verified, and is removed; nothing was changed");
            (output, json!({ "proposalId": id, "state": "not_verified" }))
        }
    };
    if global.json {
        json::done(output, data);
    } else if !global.quiet {
        render::message(&output);
    }
    Ok(Exit::Done)
}
