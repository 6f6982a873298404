//! Asking a person: what is shown, and how the answer is tied to it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use apply_patch_api::engine::commit::approval::Reason;
use apply_patch_api::engine::{ChangeKind, Plan};
use apply_patch_api::files::{Hasher, Sha256};
use apply_patch_api::tools::changes::{summary, warnings};
use apply_patch_api::tools::shown::is_unsafe;
use apply_patch_api::tools::{Arguments, Tool};
use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, RequestStateCodec, SealOptions,
    StringSchema,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::ServeError;
use crate::resources::proposal_uri;

/// How many lines of the diff are shown.
const MAX_DIFF_LINES: usize = 40;
/// The most bytes of file names to show. An unnamed file cannot be approved.
const MAX_NAMES: usize = 32 << 10;
/// The most bytes of the whole diff.
const MAX_DIFF: usize = 1 << 20;
/// The longest note of a person, in characters.
const MAX_NOTE: u32 = 500;
/// The names of the fields of the form.
const NOTE: &str = "note";
const REST: &str = "restOfTurn";
/// Longer lines of the diff are cut.
const MAX_LINE: usize = 200;
/// How long to wait for an answer in the protocol without sessions.
const TTL: Duration = Duration::from_secs(10 * 60);
/// The name of the question.
const QUESTION: &str = "approve";

/// A plan as a person is asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    /// The plan that the preview shows.
    pub(crate) digest: Sha256,
    text: String,
    /// The diff, if the text has only its beginning.
    pub(crate) whole_diff: Option<String>,
}

impl Preview {
    /// Makes the preview of a plan; `None` for a plan with too many files to name them all.
    ///
    /// Fails if a file has changed since the plan was made.
    pub(crate) fn of(
        plan: &Plan,
        reasons: &[Reason],
    ) -> Result<Option<Self>, apply_patch_api::files::Error> {
        let mut names = Vec::new();
        let mut size = 0;
        let mut inserted = 0;
        let mut deleted = 0;
        for change in plan.changes() {
            let (plus, minus) = plan.images().line_counts(change)?;
            inserted += plus;
            deleted += minus;
            let letter = match change.operation {
                ChangeKind::Create => 'A',
                ChangeKind::Update => 'M',
                ChangeKind::Delete => 'D',
                ChangeKind::Move => 'R',
            };
            let to = change.to_path.as_ref().map(|to| format!(" -> {to}")).unwrap_or_default();
            let name =
                visible(&format!("{letter} {}{to} (+{plus} -{minus})", change.path), usize::MAX);
            size += name.len();
            if size > MAX_NAMES {
                return Ok(None);
            }
            names.push(name);
        }
        let head = format!("{}: {inserted} lines inserted, {deleted} deleted", summary(plan));
        let mut lines = vec![head];
        // Deleted and replaced files show in the list below.
        let others = reasons
            .iter()
            .filter(|reason| !matches!(reason, Reason::Deletes { .. } | Reason::Replaces { .. }));
        lines.extend(others.map(|reason| visible(&reason.to_string(), usize::MAX)));
        lines.extend(warnings(plan).map(|warning| visible(&warning, MAX_LINE)));
        lines.append(&mut names);
        lines.push(String::new());
        let mut diff = String::new();
        let mut cut = false;
        let mut shown = 0;
        let mut hidden = 0;
        for change in plan.changes() {
            for line in String::from_utf8_lossy(&plan.images().diff(change)?).lines() {
                let line = visible(line, MAX_LINE);
                cut |= diff.len() + line.len() > MAX_DIFF;
                if !cut {
                    diff = diff + &line + "\n";
                }
                if shown < MAX_DIFF_LINES {
                    lines.push(line);
                    shown += 1;
                } else {
                    hidden += 1;
                }
            }
        }
        let digest = plan.digest();
        if hidden > 0 {
            let uri = proposal_uri(digest);
            lines.push(format!("… {hidden} more lines of the diff; all of it is {uri}"));
        }
        if cut {
            diff += "… the rest is left out\n";
        }
        let whole_diff = (hidden > 0).then_some(diff);
        Ok(Some(Self { digest, text: lines.join("\n"), whole_diff }))
    }
}

/// Escapes everything in a line that moves the cursor, hides, or changes the direction of text, and
/// cuts the line after `max` bytes.
fn visible(line: &str, max: usize) -> String {
    let mut text = String::new();
    for character in line.chars() {
        if text.len() > max {
            text.push('…');
            break;
        }
        if character == '\n' || is_unsafe(character) {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    text
}

/// A call as an answer is tied to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenQuestion<'c> {
    pub(crate) tool: Tool,
    pub(crate) args: &'c RawValue,
    /// The workspace.
    pub(crate) root: &'c str,
    /// Whether an answer may be good for the rest of a turn.
    pub(crate) in_turn: bool,
}

impl OpenQuestion<'_> {
    /// Returns whether the change cannot be undone.
    pub(crate) fn is_permanent(&self) -> bool {
        Arguments::from(self.args).flag(self.tool, "permanent") == Some(true)
    }

    /// Makes the question.
    pub(crate) fn question(&self, preview: &Preview) -> ElicitRequestParams {
        let (warning, why) = if self.is_permanent() {
            ("THIS CANNOT BE UNDONE. ", "")
        } else {
            ("", " (every change is asked about)")
        };
        let (summary, rest) = preview.text.split_once('\n').unwrap_or((&preview.text, ""));
        let tool = self.tool.as_str();
        let root = visible(self.root, MAX_LINE);
        let message = format!("{warning}{tool} in {root}: {summary}{why}\n{rest}");
        // The person accepts or declines; what is in the form is for the model.
        let note = StringSchema::new().title("Note for the model").max_length(MAX_NOTE);
        let mut fields =
            BTreeMap::from([(NOTE.to_owned(), PrimitiveSchemaDefinition::String(note))]);
        if self.in_turn {
            let rest = BooleanSchema::new()
                .title("For the rest of the turn, too")
                .description("Changes for other reasons, such as deletions, are still asked about")
                .with_default(false);
            fields.insert(REST.to_owned(), PrimitiveSchemaDefinition::Boolean(rest));
        }
        let requested_schema = ElicitationSchema::new(fields);
        ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
    }

    /// Returns what a seal is bound to: the tool, the arguments, the workspace.
    fn bytes(&self) -> Vec<u8> {
        // A client that repeats the call may write the same arguments in another way.
        let args = serde_json::from_str::<Value>(self.args.get()).map(|mut args| {
            // Another crate of the build may have switched on that objects keep their order.
            args.sort_all_objects();
            args.to_string()
        });
        let mut hasher = Hasher::new();
        for part in [self.tool.as_str(), args.as_deref().unwrap_or(self.args.get()), self.root] {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finish().0.to_vec()
    }
}

/// The entries of a person in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// The note for the model, in one line.
    pub(crate) note: Option<String>,
    /// The answer is also good for the rest of the turn.
    pub(crate) rest: bool,
}

impl Form {
    /// Reads the form as the client sent it.
    pub(crate) fn read(form: Option<&Value>) -> Self {
        let note = form.and_then(|form| form.get(NOTE)).and_then(Value::as_str);
        let words = note.unwrap_or_default().split_whitespace();
        let note = words.collect::<Vec<_>>().join(" ");
        let note: String = note.chars().take(MAX_NOTE as usize).collect();
        Self {
            note: (!note.is_empty()).then(|| visible(&note, usize::MAX)),
            rest: form.and_then(|form| form.get(REST)).and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// The answer of the client, to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Response {
    /// No answer counts: ask.
    Nothing,
    /// Yes.
    Yes(Sha256, Form),
    /// No.
    No(Sha256, Form),
    /// The question was closed without an answer.
    Cancelled(Sha256),
}

/// Seals questions, for the protocol in which the client keeps them, and opens the answers.
pub(crate) struct Seals {
    codec: RequestStateCodec,
    /// The seals answered with yes; each counts once. They are forgotten once expired.
    used: Mutex<Vec<(Instant, Vec<u8>)>>,
}

impl Seals {
    /// Makes a key for the seals, which lasts as long as the process.
    pub(crate) fn new() -> Result<Self, ServeError> {
        let mut key = [0; 32];
        apply_patch_api::files::random(&mut key).map_err(ServeError::system)?;
        let codec = RequestStateCodec::try_new(&key[..]).map_err(ServeError::system)?;
        Ok(Self { codec, used: Mutex::default() })
    }

    /// Makes the answer that asks, for clients that repeat the call with the person's answer.
    pub(crate) fn ask(
        &self,
        asked: OpenQuestion<'_>,
        preview: &Preview,
    ) -> Result<InputRequiredResult, apply_patch_api::files::Error> {
        let mut payload = preview.digest.0.to_vec();
        let mut nonce = [0; 16];
        apply_patch_api::files::random(&mut nonce)?;
        payload.extend_from_slice(&nonce);
        let bound = asked.bytes();
        let state =
            self.codec.seal_with(&payload, &SealOptions::new().associated_data(&bound).ttl(TTL));
        let question = InputRequest::Elicitation(ElicitRequest::new(asked.question(preview)));
        Ok(InputRequiredResult::new(Some([(QUESTION.to_owned(), question)].into()), Some(state)))
    }

    /// Reads the client's answer to a question. Only a seal of this server for this very call
    /// counts.
    pub(crate) fn response(
        &self,
        asked: OpenQuestion<'_>,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Response {
        let Some(state) = state else { return Response::Nothing };
        let Some(responses) = responses else { return Response::Nothing };
        let Ok(payload) = self.codec.open_with(state, &asked.bytes()) else {
            return Response::Nothing;
        };
        let Some((digest, _)) = payload.split_first_chunk::<32>() else { return Response::Nothing };
        let answer = responses.get(QUESTION);
        let form = Form::read(answer.and_then(|answer| answer.get("content")));
        match answer.and_then(|answer| answer.get("action")).and_then(Value::as_str) {
            Some("accept") if self.use_up(&payload) => Response::Yes(Sha256(*digest), form),
            // Who has not said yes is not taken to have said yes to the same question.
            Some("decline") => {
                self.use_up(&payload);
                Response::No(Sha256(*digest), form)
            }
            Some("cancel") => {
                self.use_up(&payload);
                Response::Cancelled(Sha256(*digest))
            }
            _ => Response::Nothing,
        }
    }

    fn use_up(&self, payload: &[u8]) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|(when, _)| when.elapsed() <= TTL);
        let fresh = used.iter().all(|(_, other)| other != payload);
        if fresh {
            used.push((Instant::now(), payload.to_owned()));
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn yes() -> InputResponses {
        [(QUESTION.to_owned(), json!({ "action": "accept" }))].into()
    }

    #[test]
    fn an_answer_counts_once_and_for_its_question_only() {
        let (seals, others) = (Seals::new().unwrap(), Seals::new().unwrap());
        let args =
            serde_json::value::to_raw_value(&json!({ "path": "a", "content": "x" })).unwrap();
        let other_args =
            serde_json::value::to_raw_value(&json!({ "path": "b", "content": "x" })).unwrap();
        let asked =
            OpenQuestion { tool: Tool::CreateFile, args: &args, root: "/w", in_turn: false };
        let preview = Preview { digest: Sha256([7; 32]), text: "shown".into(), whole_diff: None };
        let seal = || seals.ask(asked, &preview).unwrap().request_state.unwrap();
        let state = seal();
        let middle = state.len() / 2;
        let other = if &state[middle..=middle] == "A" { "B" } else { "A" };
        let forged = format!("{}{other}{}", &state[..middle], &state[middle + 1..]);
        for (what, response) in [
            (
                "other arguments",
                seals.response(
                    OpenQuestion { args: &other_args, ..asked },
                    Some(&state),
                    Some(&yes()),
                ),
            ),
            (
                "another tool",
                seals.response(
                    OpenQuestion { tool: Tool::WriteFile, ..asked },
                    Some(&state),
                    Some(&yes()),
                ),
            ),
            (
                "another workspace",
                seals.response(OpenQuestion { root: "/v", ..asked }, Some(&state), Some(&yes())),
            ),
            ("another server", others.response(asked, Some(&state), Some(&yes()))),
            ("a forged state", seals.response(asked, Some(&forged), Some(&yes()))),
            ("no answer", seals.response(asked, Some(&state), None)),
            ("no state", seals.response(asked, None, Some(&yes()))),
            (
                "another question",
                seals.response(asked, Some(&state), Some(&[("x".to_owned(), json!({}))].into())),
            ),
        ] {
            assert_eq!(response, Response::Nothing, "{what}");
        }
        let rewritten =
            RawValue::from_string(r#"{ "content":"\u0078", "path":"a" }"#.to_owned()).unwrap();
        let same = OpenQuestion { args: &rewritten, ..asked };
        assert_eq!(
            seals.response(same, Some(&state), Some(&yes())),
            Response::Yes(preview.digest, Form::default())
        );
        assert_eq!(seals.response(asked, Some(&state), Some(&yes())), Response::Nothing, "used up");
        for word in ["decline", "cancel"] {
            let form = json!({ "note": " use\ntabs\u{1b} " });
            let no = json!({ "action": word, "content": form });
            let no = [(QUESTION.to_owned(), no)].into();
            let said = Form { note: Some("use tabs\\u{1b}".to_owned()), rest: false };
            let wanted = match word {
                "decline" => Response::No(preview.digest, said),
                _ => Response::Cancelled(preview.digest),
            };
            let state = seal();
            let response = seals.response(asked, Some(&state), Some(&no));
            assert_eq!(response, wanted);
            let then_yes = seals.response(asked, Some(&state), Some(&yes()));
            assert_eq!(then_yes, Response::Nothing, "{word} was the answer");
            let again = seals.response(asked, Some(&state), Some(&no));
            assert_eq!(again, wanted);
        }
    }

    #[test]
    fn nothing_in_a_question_hides() {
        for (line, shown) in [
            ("a\tb", "a\tb"),
            ("a\u{1b}[2Kb", "a\\u{1b}[2Kb"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
            ("ä 漢", "ä 漢"),
        ] {
            assert_eq!(visible(line, MAX_LINE), shown);
        }
        assert!(visible(&"x".repeat(1000), MAX_LINE).chars().count() < 210);
    }
}
