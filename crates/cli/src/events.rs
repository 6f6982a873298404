//! `--events`: what happens as lines of JSON on standard output, instead of the summary.

use std::collections::BTreeMap;
use std::path::Path;

use apply_patch_api::tools::events::EventForm;
use apply_patch_api::tools::{SessionName, ToolError, envelope};

use crate::failure::Failure;
use crate::{args, json};

pub(crate) type Events = apply_patch_api::tools::events::Events<'static>;

/// The events wanted on the command line, if any.
pub(crate) fn of(root: &Path, session: &str, args: &args::Reporting) -> Option<Events> {
    let form = args.events?;
    let form = match form {
        args::EventsArg::Jsonl => EventForm::Jsonl,
        args::EventsArg::Codex => EventForm::Codex,
        args::EventsArg::Acp => EventForm::AcpV1,
        args::EventsArg::AcpV2 => EventForm::AcpV2,
    };
    Some(Events::new(form, session, root, json::line))
}

/// Begins the events of a patch, if the command line asks for them.
pub(crate) fn begin(
    events: &mut Option<Events>,
    root: &Path,
    args: &args::Reporting,
    patch: &[u8],
) -> Result<(), Failure> {
    if let Some(of) = of(root, SessionName::cli().as_str(), args) {
        let call = BTreeMap::from([("patch", String::from_utf8_lossy(patch))]);
        events.insert(of).begin_call(&call_id(args)?, "apply_patch", &call);
    }
    Ok(())
}

/// Ends the events of a call that failed.
pub(crate) fn fail(events: &mut Option<Events>, error: ToolError) {
    if let Some(events) = events {
        let message = error.message.clone();
        events.end_call(&envelope::Failure::from(error), Some(&message));
    }
}

/// The id of the call: the given one, or a random one.
pub(crate) fn call_id(args: &args::Reporting) -> Result<String, Failure> {
    match &args.call_id {
        Some(id) => Ok(id.clone()),
        None => {
            let mut bytes = [0; 8];
            apply_patch_api::files::random(&mut bytes)?;
            Ok(format!("call-{:016x}", u64::from_ne_bytes(bytes)))
        }
    }
}
