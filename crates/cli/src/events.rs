//! `--events`: what happens as lines of JSON on standard output, instead of the summary.

use std::path::Path;

use file_tools::events::{EventForm, Events};

use crate::failure::Failure;
use crate::{args, json};

/// The events that the command line asks for, if it does.
pub(crate) fn of(root: &Path, session: &str, args: &args::Reporting) -> Option<Events<'static>> {
    let form = args.events?;
    let form = match form {
        args::Events::Jsonl => EventForm::Jsonl,
        args::Events::Codex => EventForm::Codex,
        args::Events::Acp => EventForm::AcpV1,
        args::Events::AcpV2 => EventForm::AcpV2,
    };
    Some(Events::new(form, session, root, json::line))
}

/// The id of the call: the one that was given, or a random one.
pub(crate) fn call_id(args: &args::Reporting) -> Result<String, Failure> {
    match &args.call_id {
        Some(id) => Ok(id.clone()),
        None => {
            let mut bytes = [0; 8];
            fs_guard::random(&mut bytes)?;
            Ok(format!("call-{:016x}", u64::from_ne_bytes(bytes)))
        }
    }
}
