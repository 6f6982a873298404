//! Called as `apply_patch` or `applypatch`, the program keeps the contract of the tool the models
//! know: one argument or standard input, profile `codex`, `A|M|D` lines on success. It stays atomic.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use file_tools::audit::Audit;
use file_tools::{Session, SessionName};
use patch_engine::approval::Approvals;
use patch_engine::transaction::Workspace;
use patch_engine::{ApplyError, ChangeKind, MAX_PATCH_SIZE, Plan};

use crate::approve::{self, Prompt};
use crate::args::{self, Rules};
use crate::commands::{options, session_settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::TerminalHost;
use crate::input::{self, Input};
use crate::settings::{Layer, Sources};
use crate::{json, render};

/// Whether the program was called by the name of that tool.
pub(crate) fn is_called(args: &[OsString]) -> bool {
    let name = args.first().and_then(|name| Path::new(name).file_stem()?.to_str());
    matches!(name, Some("apply_patch" | "applypatch"))
}

/// Applies the patch that is the only argument, or stands on standard input.
pub(crate) fn run(args: &[OsString]) -> Exit {
    let bytes = match args {
        [_] => match input::stdin() {
            Ok(bytes) if bytes.is_empty() => {
                render::message("give the patch as the only argument, or on standard input");
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
            render::message("give the patch as the only argument, or on standard input");
            return Exit::Usage;
        }
    };
    if bytes.len() as u64 > MAX_PATCH_SIZE {
        render::message(&format!("the patch is longer than {} MiB", MAX_PATCH_SIZE >> 20));
        return Exit::DoesNotApply;
    }
    let input = Input::new(bytes, "patch");
    match apply(input) {
        Ok(()) => Exit::Done,
        Err((failure, session)) => {
            render::failure(&failure, session.as_deref().map(Session::workspace));
            // The tool knows two codes for failures; a half-changed workspace is worth a third.
            match json::JsonFailure::new(&failure).exit {
                Exit::Partial => Exit::Partial,
                _ => Exit::DoesNotApply,
            }
        }
    }
}

type Failed = (Failure, Option<Box<Session>>);

fn apply(input: Input) -> Result<(), Failed> {
    let configured = Sources::load(Path::new(".")).and_then(|sources| {
        // The profile is this tool's own; only the workspace can make it stricter.
        let profile = args::Profile::Codex;
        let flags = Layer { profile: Some(profile), ..Layer::default() };
        let (settings, notes) = sources.resolve(flags, profile, args::Approve::Never);
        notes.iter().for_each(|note| render::message(&note.to_string()));
        Ok((options(&settings, &Rules::default())?, settings))
    });
    let (options, settings) = configured.map_err(|failure| (failure, None))?;
    let parsed = patch_engine::decode(&input.bytes).and_then(|text| patch_engine::parse(text, &options.parse));
    let patch = match parsed {
        Ok(patch) => patch,
        Err(error) => return Err((Failure::Parse(Box::new((input, error))), None)),
    };
    let opened = settings.policy().and_then(|policy| Ok(Workspace::open(Path::new("."), policy)?));
    let workspace = opened.map_err(|failure| (failure, None))?;
    let session = Session::new(workspace, Audit::new(SessionName::cli(), None), session_settings(&settings));
    let prompt = Prompt::new(false);
    let mut host = TerminalHost::new(&prompt, None, false);
    // What is guarded stays refused: a program names what it allows.
    let mut approvals = Approvals::new(approve::policy(settings.approve));
    let applied = session.apply("apply_patch", &patch, options, true, &mut approvals.ask(&mut host));
    drop(patch);
    match applied {
        Ok(reports) => {
            for report in &reports {
                render::notes(&report.plan);
                success(&report.plan);
            }
            Ok(())
        }
        Err(failed) => {
            let failure = match failed.error {
                ApplyError::Rejected(rejects) => Failure::Rejected(Box::new((input, rejects))),
                _ => Failure::Failed(Box::new((input, failed))),
            };
            Err((failure, Some(Box::new(session))))
        }
    }
}

/// Prints what changed, in that tool's order: added, modified, deleted.
fn success(plan: &Plan) {
    let mut out = String::from("Success. Updated the following files:\n");
    for (letter, operations) in
        [('A', &[ChangeKind::Create][..]), ('M', &[ChangeKind::Update, ChangeKind::Move]), ('D', &[ChangeKind::Delete])]
    {
        for change in plan.changes().iter().filter(|change| operations.contains(&change.operation)) {
            let path = change.to_path.as_ref().unwrap_or(&change.path);
            out += &format!("{letter} {}\n", render::sanitize(path.as_str()));
        }
    }
    // A broken pipe is a quiet end.
    let _ = std::io::stdout().write_all(out.as_bytes());
}
