//! A patch while it arrives.

use patch_grammar::{PatchStream, StreamEvent, StreamOperation};
use patch_session::ToolError;
use patch_session::input::{InputForm, ReadAs};
use patch_session::settings::Layers;
use serde_json::{Value, json};

use crate::error::argument;
use crate::options::PatchOptions;

/// Takes the text of a patch in the envelope, in chunks of any size, and returns events about the
/// part so far.
#[derive(Debug)]
pub struct JsonStream(PatchStream);

impl JsonStream {
    /// Makes a stream without text.
    ///
    /// # Errors
    ///
    /// If an option makes no sense, or is for another form or for a part of the patch.
    pub fn new(options: &PatchOptions) -> Result<Self, ToolError> {
        let how = options.read_as().map_err(|error| error.tool_error(b""))?;
        let whole = [InputForm::Auto, InputForm::Envelope];
        if !whole.map(|form| ReadAs { form, ..ReadAs::default() }).contains(&how) {
            let message = "a stream is a patch in the envelope, and the whole of it";
            return Err(argument("form", message, "`envelope`, and no other way to read it"));
        }
        Ok(Self(PatchStream::new(options.engine(&Layers::default())?.parse)))
    }

    /// Adds a chunk of the text. Returns the events that it completes, as objects with a `type`.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Value> {
        self.0.push(chunk).iter().map(event).collect()
    }

    /// Ends the text. Returns the last events: `ended` or `failed`, unless one came before.
    pub fn end(&mut self) -> Vec<Value> {
        self.0.end().iter().map(event).collect()
    }

    /// Returns the text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text()
    }
}

fn event(event: &StreamEvent) -> Value {
    match event {
        StreamEvent::Begun { section, operation, path, move_to, line } => {
            let operation = match operation {
                StreamOperation::Add => "add",
                StreamOperation::Delete => "delete",
                StreamOperation::Update => "update",
                StreamOperation::Move => "move",
            };
            let mut value = json!({
                "type": "begun", "section": section, "operation": operation, "path": path,
                "line": line,
            });
            if let Some(to) = move_to {
                value["toPath"] = to.as_str().into();
            }
            value
        }
        StreamEvent::MoveTo { section, path } => {
            json!({ "type": "move_to", "section": section, "toPath": path })
        }
        StreamEvent::Lines { section, inserted, deleted } => {
            json!({ "type": "lines", "section": section, "inserted": inserted, "deleted": deleted })
        }
        StreamEvent::Finished { section, inserted, deleted } => {
            json!({
                "type": "finished", "section": section, "inserted": inserted, "deleted": deleted,
            })
        }
        StreamEvent::Ended { line } => json!({ "type": "ended", "line": line }),
        StreamEvent::Failed(error) => json!({ "type": "failed", "error": ToolError::parse(error) }),
        other => json!({ "type": "other", "debug": format!("{other:?}") }),
    }
}
