//! Called as `apply_patch` or `applypatch`, the program keeps the contract of the tool the models
//! know: one argument or standard input, profile `codex`, `A|M|D` lines on success. It stays
//! atomic.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use apply_patch_api::engine::commit::approval::{ApprovalPolicy, Approvals};
use apply_patch_api::engine::{Atomicity, MAX_PATCH_SIZE, Profile, commit};
use apply_patch_api::tools::changes::success;
use apply_patch_api::tools::hints::Caller;
use apply_patch_api::tools::input::ReadAs;
use apply_patch_api::tools::settings::{Layer, Layers, Settings};

use crate::approve::Prompt;
use crate::args::Rules;
use crate::commands::{options_without_base, session};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::form;
use crate::global::Global;
use crate::host::TerminalHost;
use crate::input::Input;
use crate::settings::Sources;
use crate::{interrupt, render, source};

/// How a patch is given.
const HOW: &str = if cfg!(windows) {
    "give the patch on standard input, or as the only argument; a command line has at most 32767 \
     characters on Windows"
} else {
    "give the patch as the only argument, or on standard input"
};

/// Whether a patch that was an argument may have lost its end on the way: the patch does not parse,
/// and has the length at which some shells cut.
fn may_be_cut(failure: &Failure, length: usize) -> bool {
    cfg!(windows) && length >= 8000 && matches!(failure, Failure::Parse(_))
}

/// Whether the program was called by the name of the other tool.
pub(crate) fn is_called(args: &[OsString]) -> bool {
    let name = args.first().and_then(|name| Path::new(name).file_stem()?.to_str());
    matches!(name, Some("apply_patch" | "applypatch"))
}

/// Applies the patch in the only argument, or on standard input.
pub(crate) fn run(args: &[OsString]) -> Exit {
    if args.len() == 1 && source::is_terminal() {
        render::message(source::READS_TERMINAL);
    }
    let bytes = match args {
        [_] => match source::stdin() {
            Ok(bytes) if bytes.is_empty() => {
                render::message(HOW);
                return Exit::Usage;
            }
            Ok(bytes) => bytes,
            Err(error) => {
                render::message(&format!("cannot read standard input: {error}"));
                return Exit::DoesNotApply;
            }
        },
        [_, patch] => match patch.to_str() {
            Some(patch) => patch.as_bytes().to_vec(),
            None => {
                render::message("the patch is not UTF-8");
                return Exit::DoesNotApply;
            }
        },
        _ => {
            render::message(HOW);
            return Exit::Usage;
        }
    };
    if bytes.len() as u64 > MAX_PATCH_SIZE {
        render::message(&format!("the patch is longer than {} MiB", MAX_PATCH_SIZE >> 20));
        return Exit::DoesNotApply;
    }
    let mut global = Global {
        root: None,
        color: None,
        no_pager: false,
        json: false,
        quiet: false,
        verbose: false,
        caller: Caller::Link,
        settings: Settings::preset(Profile::Codex, ApprovalPolicy::Never),
        layers: Layers::default(),
        read: Mutex::default(),
        is_below: false,
        opened: Mutex::default(),
    };
    match apply(&mut global, Input::new(bytes, "patch")) {
        Ok(()) => Exit::Done,
        Err(failure) => {
            let error = failure.error().addressed(Caller::Link);
            render::failure(&failure, &error, &global);
            if args.len() == 2 && may_be_cut(&failure, args[1].len()) {
                render::message(
                    "note: a command line has at most 32767 characters on Windows, and 8191 where \
                     cmd passes it on: this one may have been cut. Give the patch on standard \
                     input",
                );
            }
            // The tool knows two codes for failures; a half-changed workspace is worth a third. A
            // signal ends every program in the same way.
            match interrupt::exit_of(&error) {
                exit @ (Exit::Partial | Exit::Interrupted | Exit::Terminated | Exit::HungUp) => {
                    exit
                }
                _ => Exit::DoesNotApply,
            }
        }
    }
}

fn apply(global: &mut Global, input: Input) -> Result<(), Failure> {
    // The profile is this tool's own; only the workspace can be stricter.
    let profile = Profile::Codex;
    let flags = Layer { profile: Some(profile), ..Layer::default() };
    let sources = Sources::load(global.root())?.checked()?;
    global.layers = sources.layers(flags);
    let (settings, notes) = global.layers.resolve(profile, ApprovalPolicy::Never);
    global.opened = sources.into_root().into();
    notes.iter().for_each(|note| render::message(&format!("note: {note}")));
    let options = options_without_base(&settings, &Rules::default())?;
    global.settings = settings;
    let input = form::of(input, &ReadAs::default(), &options.parse)?;
    let patch = form::parsed(&input, &options)?;
    let session = session(global)?;
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, false);
    // Guarded files stay refused: a program names the allowed ones.
    let mut approvals = Approvals::new(global.settings.approve);
    let applied = session.apply(
        "apply_patch",
        &patch,
        options,
        Atomicity::Whole,
        &mut approvals.ask(&mut host),
    );
    drop(patch);
    match applied {
        Ok(reports) => {
            if reports.iter().any(|report| report.already_done) {
                render::hint(&reports);
            }
            for report in &reports {
                render::notes(&report.plan);
                let changes = report.plan.changes().iter();
                let changed = changes.map(|change| {
                    (change.operation, render::sanitize(change.last_path().as_str()))
                });
                let answer = success(changed);
                render::written_or(std::io::stdout().write_all(answer.as_bytes()), || {
                    Some(answer.trim_end().replace('\n', " "))
                });
            }
            Ok(())
        }
        Err(failed) => Err(match failed.error {
            commit::Error::Rejected(rejects) => {
                Failure::Rejected(Box::new((input, rejects.into())))
            }
            _ => Failure::Failed(Box::new((input, failed))),
        }),
    }
}
