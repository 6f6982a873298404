//! The instructions for writing patches, for clients that offer them to a person or a model.

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

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
    let dialect = request.arguments.as_ref().and_then(|arguments| arguments.get("dialect"));
    let dialect = dialect.and_then(Value::as_str).filter(|dialect| !dialect.is_empty());
    let text = apply_patch_api::prompt(dialect.unwrap_or("whole"), "argument")
        .map_err(|error| ErrorData::invalid_params(error.message, None))?;
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description(ABOUT))
}
