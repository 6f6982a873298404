//! `apply-patch git`: a patch becomes a commit, without a checkout.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use apply_patch_api::engine::{ErrorKind, Event, Host, MAX_PATCH_SIZE, Options, Patch};
use apply_patch_api::tools::audit::Audit;
use apply_patch_api::tools::changes::DiffDetail;
use apply_patch_api::tools::envelope;
use apply_patch_api::tools::git::{GitReport, GitRequest, GitSession, TOGETHER};
use apply_patch_api::tools::input::PatchText;
use apply_patch_api::tools::statistics::FileStatistics;
use apply_patch_api::tools::{FailureClass, SessionName, ToolError};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{apply, explain, workspace};
use crate::approve::{Instead, Prompt};
use crate::events::Events;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::input::Input;
use crate::{args, events, json, render, source};

#[derive(Debug, Args)]
#[command(
    after_help = "Makes a commit, moves the branch to it if the branch is where it was, and prints \
    the id of the commit.\n\n\
    Examples:\n  \
    apply-patch git --onto main < answer.patch              commit on top of main, and move main\n  \
    apply-patch git --onto v1.2 --branch fix -m 'Fix it' answer.patch\n  \
    apply-patch git --git-dir project.git --onto main -n answer.patch\n  \
    apply-patch git --batch < requests.jsonl > answers.jsonl\n\n\
    A line of --batch is an object: `patch`, and optionally `id`, `onto`, `branch`, `message`, \
    `author` and `carry`, which go before\n\
    the flags. Each line gets one as an answer, with its `id`."
)]
pub(crate) struct GitArgs {
    #[command(flatten)]
    pub(crate) input: args::Inputs,
    #[command(flatten)]
    pub(crate) from: args::From,
    /// The repository: its git directory, or its work tree [default: that of `-C`]
    #[arg(long, value_name = "DIR")]
    pub(crate) git_dir: Option<PathBuf>,
    /// The commit that the patch is for: a branch, a tag, an id, `HEAD~2`
    #[arg(long, value_name = "REV", required_unless_present = "batch")]
    pub(crate) onto: Option<String>,
    /// Branch to move to the new commit; it is created if there is none [default: the branch that
    /// `--onto` names; if it names none, no branch is moved]
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// Message of the commit [default: one that names the files]
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Author of the commit [default: the one that git would take]
    #[arg(long, value_name = "NAME <ADDRESS>")]
    pub(crate) author: Option<String>,
    /// When the branch has moved on from `--onto`: carry the hunks to its newest commit, where it
    /// is certain where they belong
    #[arg(long, conflicts_with_all = ["base", "base_rev"])]
    pub(crate) carry: bool,
    /// Move the branch even if it is checked out; the files that are checked out stay as they are
    #[arg(long)]
    pub(crate) allow_checked_out: bool,
    /// Print the diff; nothing is written
    #[arg(short = 'n', long, conflicts_with_all = ["events", "call_id", "batch"])]
    pub(crate) dry_run: bool,
    /// Explain what each hunk does, where it goes and why; nothing is written
    #[arg(long, conflicts_with_all = ["events", "call_id", "batch", "dry_run", "stat"])]
    pub(crate) explain: bool,
    /// Print how many lines change in each file
    #[arg(long, conflicts_with_all = ["events", "call_id", "batch"])]
    pub(crate) stat: bool,
    /// Read requests as JSON lines from standard input, and answer each with a line
    #[arg(
        long,
        conflicts_with_all = [
            "files", "clipboard", "from", "part", "strip", "skip_binary", "recount", "reverse", "directory",
            "include", "exclude", "events", "call_id",
        ],
    )]
    pub(crate) batch: bool,
    /// When to ask at the terminal before anything is changed [default: never]
    #[arg(
        long, value_name = "WHEN", value_parser = args::choice::<ApprovalPolicy>(),
        conflicts_with_all = ["dry_run", "explain"],
    )]
    pub(crate) approve: Option<ApprovalPolicy>,
    #[command(flatten)]
    pub(crate) rules: args::Rules,
    #[command(flatten)]
    pub(crate) writing: args::Writing,
    #[command(flatten)]
    pub(crate) reporting: args::Reporting,
}

impl GitArgs {
    fn request(&self) -> GitRequest {
        GitRequest {
            onto: self.onto.clone().unwrap_or_default(),
            branch: self.branch.clone(),
            message: self.message.clone(),
            author: self.author.clone(),
            carry: self.carry,
            allow_checked_out: self.allow_checked_out,
        }
    }
}

pub(crate) fn git(global: &Global, args: &GitArgs) -> Result<Exit, Failure> {
    let mut approvals = Approvals::new(if args.dry_run || args.explain {
        ApprovalPolicy::Never
    } else {
        global.settings.approve
    });
    let policy = approvals.take_guarded(global.settings.policy()?);
    let git_dir = args.git_dir.as_deref().unwrap_or(global.root());
    let audit = Audit::new(SessionName::cli(), None);
    let session = GitSession::open(git_dir, policy, audit, workspace::session_settings(global))
        .map_err(|error| Failure::Tool(Box::new(error)))?;
    let mut options = apply::options_without_base(&global.settings, &args.rules)?;
    options.base = match &args.rules.base_rev {
        Some(revision) => {
            Some(session.base(revision).map_err(|error| Failure::Tool(Box::new(error)))?)
        }
        None => workspace::base(global, &args.rules)?,
    };
    if args.batch {
        return batch(&session, args, &options, &mut approvals, global.settings.approve);
    }
    let mut events = None;
    let result = one(global, args, &session, &options, &mut approvals, &mut events);
    result.inspect_err(|failure| events::fail(&mut events, failure.error()))
}

fn one(
    global: &Global,
    args: &GitArgs,
    session: &GitSession,
    options: &Options,
    approvals: &mut Approvals,
    events: &mut Option<Events>,
) -> Result<Exit, Failure> {
    let sources = source::open_all(&args.input)?;
    let input = form::all_chosen(global, sources, &args.from, &options.parse)?;
    events::begin(events, global.root(), &args.reporting, input.bytes())?;
    let patch = &form::parsed(&input, options)?;
    if args.dry_run || args.explain {
        let planned = session
            .plan(patch, options, &args.request())
            .map_err(|error| failure(&input, error))?;
        preview(global, args, patch, options, &planned)?;
        return Ok(Exit::Done);
    }
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, events.as_mut(), global.quiet || global.json);
    let done = session.apply("git", patch, options, &args.request(), &mut approvals.ask(&mut host));
    match done {
        Ok(report) => {
            match events {
                Some(events) => events.end_call(&success(&report), None),
                None => print(global, args, &report)?,
            }
            Ok(Exit::Done)
        }
        Err(_) if prompt.instead() == Some(Instead::NoTerminal) => Err(apply::no_terminal()),
        Err(error) => Err(failure(&input, error)),
    }
}

/// The failure of a patch to a commit, with its rejects, if there are any.
fn failure(input: &Input, error: ToolError) -> Failure {
    match error.rejects {
        Some(rejects) => Failure::rejected(input, rejects),
        None => Failure::Tool(Box::new(error)),
    }
}

fn preview(
    global: &Global,
    args: &GitArgs,
    patch: &Patch,
    options: &Options,
    planned: &GitReport,
) -> Result<(), Failure> {
    let plan = &planned.report.plan;
    if args.explain {
        explain::print(global, patch, plan, options.placement.order, true);
    } else if global.json {
        let data = planned.data(true, DiffDetail::Full)?;
        json::print(&envelope::Success::new(
            format!("it applies: {}", render::summary(plan)),
            data,
        ));
    } else {
        let statistics = args::Statistics { stat: args.stat, ..args::Statistics::default() };
        workspace::preview(global, plan, &statistics)?;
    }
    Ok(())
}

fn success(report: &GitReport) -> impl Serialize + use<> {
    let data = report.data(false, DiffDetail::None).expect("what was committed is known");
    let output = match report.commit {
        Some(commit) => format!("{commit}: {}", render::summary(&report.report.plan)),
        None => "nothing changes; no commit was made".to_owned(),
    };
    envelope::Success::new(output, data)
}

fn print(global: &Global, args: &GitArgs, report: &GitReport) -> Result<(), Failure> {
    if global.json {
        json::print(&success(report));
        return Ok(());
    }
    if !global.quiet {
        render::notes(&report.report.plan);
    }
    match report.commit {
        Some(commit) => {
            if args.stat {
                render::stat(&FileStatistics::of_plan(report.report.images())?);
            }
            render::line(&commit.to_string());
            if report.branch.is_none() && !global.quiet {
                render::message("no branch was moved; `--branch NAME` moves or makes one");
            }
        }
        None => render::message("nothing changes; no commit was made"),
    }
    Ok(())
}

/// One line of `--batch`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
    #[serde(default)]
    id: Value,
    onto: Option<String>,
    branch: Option<String>,
    message: Option<String>,
    author: Option<String>,
    carry: Option<bool>,
    patch: String,
}

/// Asks at the terminal. A signal ends the program: the branch is unmoved, or moved.
struct BatchHost<'p>(&'p Prompt);

impl Host for BatchHost<'_> {
    fn approve(
        &mut self,
        request: &Request<'_>,
    ) -> Result<Decision, apply_patch_api::files::Error> {
        self.0.decide(request)
    }

    fn event(&mut self, event: &Event<'_>) {
        render::warning(event);
    }
}

/// A request, with its id; or why it is none.
type Requested = (Value, Result<(Patch, GitRequest), ToolError>);

/// How many bytes of requests were read and not taken yet.
#[derive(Default)]
struct Ahead {
    bytes: Mutex<usize>,
    taken: Condvar,
}

impl Ahead {
    fn bytes(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are not too many.
    fn wait(&self) {
        const MOST: usize = 8 << 20;
        drop(self.taken.wait_while(self.bytes(), |bytes| *bytes >= MOST));
    }

    fn took(&self, length: usize) {
        *self.bytes() -= length;
        self.taken.notify_one();
    }
}

/// Reads requests, each with its length, as long as somebody takes them.
fn read_requests(
    args: &GitArgs,
    options: &Options,
    ahead: &Ahead,
    requests: &SyncSender<(usize, Result<Requested, Failure>)>,
) {
    // A patch as JSON has up to six times as many bytes.
    const LONGEST: u64 = MAX_PATCH_SIZE * 6 + (1 << 20);
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        ahead.wait();
        line.clear();
        let length = std::io::Read::take(&mut input, LONGEST).read_until(b'\n', &mut line);
        let next = match length {
            Ok(0) => return,
            Ok(length) if length as u64 == LONGEST => Err(Failure::TooLong),
            Ok(_) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => Ok(request(args, options, &line)),
            Err(error) => Err(Failure::Input(format!("standard input: {error}"))),
        };
        let ends = next.is_err();
        *ahead.bytes() += line.len();
        if requests.send((line.len(), next)).is_err() || ends {
            return;
        }
    }
}

/// Answers requests, line by line. Waiting requests are committed together, unless somebody may
/// have to be asked: approved ones are then committed before the next question.
fn batch(
    session: &GitSession,
    args: &GitArgs,
    options: &Options,
    approvals: &mut Approvals,
    policy: ApprovalPolicy,
) -> Result<Exit, Failure> {
    let together = if policy == ApprovalPolicy::Never { TOGETHER } else { 1 };
    let mut landed = 0_usize;
    let mut failed = None;
    let prompt = Prompt::new(false);
    let mut host = BatchHost(&prompt);
    let mut host = approvals.ask(&mut host);
    let ahead = &Ahead::default();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(TOGETHER);
        // The thread ends with the input, or with an error of reading, and so does the loop.
        scope.spawn(move || read_requests(args, options, ahead, &sender));
        while let Ok(first) = receiver.recv() {
            let mut ids = Vec::new();
            let mut parsed = Vec::new();
            let mut unread = None;
            let more = receiver.try_iter().take(together - 1);
            for (length, next) in std::iter::once(first).chain(more) {
                ahead.took(length);
                match next {
                    Ok((id, request)) => ids.push((id, request.map(|one| parsed.push(one)))),
                    Err(failure) => unread = Some(failure),
                }
            }
            let mut results = session.apply_all("git", &parsed, options, &mut host).into_iter();
            for (id, request) in ids {
                let result =
                    request.and_then(|()| results.next().expect("BUG: there is a result for each"));
                landed += usize::from(result.is_ok());
                failed = failed.or(result.as_ref().err().map(|error| error.class));
                answer(id, result);
            }
            if let Some(failure) = unread {
                return Err(failure);
            }
        }
        Ok(match failed {
            None => Exit::Done,
            Some(_) if landed > 0 => Exit::Partial,
            Some(class) => class.into(),
        })
    })
}

fn answer(id: Value, result: Result<GitReport, ToolError>) {
    let answer = match result {
        Ok(report) => serde_json::to_value(success(&report)),
        Err(mut error) => {
            error.fit(apply_patch_api::tools::MAX_RESULT);
            serde_json::to_value(envelope::Failure::from(error))
        }
    };
    let mut answer = answer.expect("an answer has text for keys");
    answer["id"] = id;
    json::print(&answer);
}

fn usage(message: String) -> ToolError {
    ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
}

/// Reads the request of a line; with its id.
fn request(args: &GitArgs, options: &Options, line: &[u8]) -> Requested {
    let BatchLine { id, onto, branch, message, author, carry, patch } =
        match serde_json::from_slice(line) {
            Ok(line) => line,
            Err(error) => {
                let id = serde_json::from_slice::<Value>(line)
                    .ok()
                    .and_then(|mut line| Some(line.get_mut("id")?.take()));
                return (
                    id.unwrap_or_default(),
                    Err(usage(format!("the line is not a request: {error}"))),
                );
            }
        };
    let given = args.request();
    let request = GitRequest {
        onto: onto.unwrap_or(given.onto),
        branch: branch.or(given.branch),
        message: message.or(given.message),
        author: author.or(given.author),
        carry: carry.unwrap_or(given.carry),
        ..given
    };
    if request.onto.is_empty() {
        return (id, Err(usage("`onto` is missing, and there is no --onto".into())));
    }
    (id, PatchText::parsed(&patch, options).map(|(_, parsed)| (parsed, request)))
}
