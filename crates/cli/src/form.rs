//! The form of the input: a patch in the envelope, a diff, operations as JSON, or SEARCH/REPLACE
//! blocks.

use apply_patch_api::engine::commit::approval::ApprovalPolicy;
use apply_patch_api::engine::{Options, Patch};
use apply_patch_api::grammar::ParseOptions;
use apply_patch_api::tools::ToolError;
use apply_patch_api::tools::input::{InputError, PatchText, ReadAs};
use apply_patch_api::tools::received::{NotReceived, Part};

use crate::approve;
use crate::args::From;
use crate::failure::Failure;
use crate::global::Global;
use crate::input::{Input, names};
use crate::source::Source;

/// Finds the patch in the input, with notes on the search. `options` are for the parser. Of several
/// patches a person chooses one, if there is a terminal.
pub(crate) fn chosen(
    global: &Global,
    input: Input,
    from: &From,
    options: &ParseOptions,
) -> Result<Input, Failure> {
    let how = from.how().map_err(|error| failure(&input, error))?;
    match PatchText::read(&input.sent.text, &how, options) {
        Err(several @ InputError::NotReceived(NotReceived::Several { .. }))
            if how.part.is_none() && !global.json && approve::preset() != ApprovalPolicy::Never =>
        {
            let part = approve::which(&tool_error(&input, &several).to_string())?;
            of(input, &ReadAs { part: Some(part), ..how }, options)
        }
        sent => found(input, sent),
    }
}

/// The same for all named inputs; several are joined to one patch, in their order.
pub(crate) fn all_chosen(
    global: &Global,
    inputs: Vec<Source>,
    from: &From,
    options: &ParseOptions,
) -> Result<Input, Failure> {
    if inputs.len() > 1 && matches!(from.part, Some(Part::Nth(_))) {
        return Err(Failure::Usage("`--part N` is for one FILE, and several are named".into()));
    }
    let mut read = inputs
        .into_iter()
        .map(|input| chosen(global, input.read()?, from, options))
        .collect::<Result<Vec<_>, _>>()?;
    let mut input = match read.pop() {
        Some(only) if read.is_empty() => only,
        last => {
            read.extend(last);
            let named = names(&read);
            Input::join(read).map_err(|error| {
                Failure::Usage(format!("{named}: {error}: apply one after the other"))
            })?
        }
    };
    if global.is_below {
        let top = global.root().display();
        input.sent.notes.push(format!("the paths begin at the top of the work tree, {top}"));
    }
    Ok(input)
}

/// The same, but nobody is asked.
pub(crate) fn of(input: Input, how: &ReadAs, options: &ParseOptions) -> Result<Input, Failure> {
    let sent = PatchText::read(&input.sent.text, how, options);
    found(input, sent)
}

fn found(input: Input, sent: Result<PatchText, InputError>) -> Result<Input, Failure> {
    let sent = sent.map_err(|error| failure(&input, error))?;
    Ok(Input::of(sent, input.name))
}

/// Parses the patch of an input, and reverses the patch on request.
pub(crate) fn parsed(input: &Input, options: &Options) -> Result<Patch, Failure> {
    input.sent.parse(options).map_err(|error| failure(input, error))
}

pub(crate) fn failure(input: &Input, error: InputError) -> Failure {
    match error {
        InputError::Usage(message) => Failure::Usage(message),
        InputError::Parse(error) => Failure::parse(input, error),
        InputError::NotReceived(NotReceived::Parse { text, error }) => {
            let sent = input.sent.with_text(text);
            Failure::parse(&Input { sent, ..input.clone() }, *error)
        }
        InputError::Rejected(rejects) => Failure::rejected(input, rejects),
        InputError::Inexpressible(message) => Failure::Input(message),
        InputError::Files(error) => Failure::Tool(error),
        error => Failure::Tool(Box::new(tool_error(input, &error))),
    }
}

/// The error as programs see it, with the name of the input.
fn tool_error(input: &Input, error: &InputError) -> ToolError {
    let mut error = error.tool_error(input.bytes());
    error.message = format!("{}: {}", input.name, error.message);
    error
}
