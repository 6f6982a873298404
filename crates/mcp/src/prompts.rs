//! The instructions for writing patches, for clients that offer them to a person or a model.

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

const NAME: &str = "write_patches";
const TITLE: &str = "How to write patches";
const ABOUT: &str = "Instructions for writing the patches that apply_patch takes, with examples";

/// Lists the prompts.
pub(crate) fn listed() -> Vec<Prompt> {
    let dialect = PromptArgument::new("dialect").with_title("Dialect").with_description(
        "whole (default): all that is taken; codex: what codex-trained models write; tight: whole, \
         without what is refused whatever the files are",
    );
    vec![Prompt::new(NAME, Some(ABOUT), Some(vec![dialect])).with_title(TITLE)]
}

/// Returns the text of a prompt.
pub(crate) fn text(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    if request.name != NAME {
        let message = format!("there is one prompt, {NAME}");
        return Err(ErrorData::invalid_params(message, None));
    }
    let mut dialect = "whole";
    for (name, value) in request.arguments.iter().flatten() {
        match value.as_str().filter(|_| name == "dialect") {
            Some("") => {}
            Some(given) => dialect = given,
            None => {
                let message = format!("{NAME} has one argument, `dialect`, which is a text");
                return Err(ErrorData::invalid_params(message, None));
            }
        }
    }
    let text = apply_patch_api::prompt(dialect, "argument")
        .map_err(|error| ErrorData::invalid_params(error.message, None))?;
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description(ABOUT))
}
