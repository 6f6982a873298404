//! Parses a line as a message of the protocol. The frame is parsed first, and the rest only once:
//! rmcp would try every kind of message in turn, at many times the memory, and would take a request
//! with an unknown kind of id for a notification, which gets no answer.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorData,
    GetExtensions as _, InputResponses, JsonRpcMessage, MetaObject, RequestId, RequestMetaObject,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::backlog::Backlog;

/// JSON-RPC: the text is not JSON.
const PARSE_ERROR: i32 = -32_700;
/// JSON-RPC: the JSON is not a message.
pub(crate) const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC: the method is known, and cannot be called so.
const INVALID_PARAMS: i32 = -32_602;
/// This server has no room for the request now.
const BUSY: i32 = -32_000;

const NO_REQUEST: &str = "the message is not a request of this protocol";

const BATCH: &str = "a batch is not taken: send each message by itself, on a line of its own";

/// The methods with mandatory parameters, besides `tools/call`.
const METHODS: [&str; 5] =
    ["initialize", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe"];

/// Only calls of tools are longer.
const MAX_OTHER: usize = 1 << 20;

/// Longer ids are not repeated in the error.
const MAX_ID: usize = 256;

/// The arguments of a call, unchecked: the tool reads them.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentsText(pub(crate) Arc<RawValue>);

/// The answer to a line that is not passed on.
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    jsonrpc: &'static str,
    id: Option<Box<RawValue>>,
    error: Value,
}

impl Refused {
    pub(crate) fn new(id: Option<Value>, code: i32, message: String) -> Self {
        let id = id.and_then(|id| RawValue::from_string(id.to_string()).ok());
        Self { jsonrpc: "2.0", id, error: json!({ "code": code, "message": message }) }
    }
}

/// The frame of a message.
#[derive(Deserialize)]
struct Frame<'l> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'l RawValue>,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// Counts a `null` as present.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams {
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
    name: String,
    arguments: Option<Box<RawValue>>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

/// Parses a message; `None` for an ignored one. A request waits here until there is room.
pub(crate) fn read(
    line: &[u8],
    backlog: &Backlog,
) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    if line.trim_ascii_start().starts_with(b"[")
        && serde_json::from_slice::<IgnoredAny>(line).is_ok()
    {
        return Err(Refused::new(None, INVALID_REQUEST, BATCH.into()));
    }
    let frame: Frame<'_> = serde_json::from_slice(line).map_err(|error| {
        if error.is_data() {
            Refused::new(None, INVALID_REQUEST, NO_REQUEST.into())
        } else {
            Refused::new(None, PARSE_ERROR, format!("the message is not JSON: {error}"))
        }
    })?;
    let answers = frame.result.is_some() || frame.error.is_some();
    let (id, method) = match (frame.id, frame.method) {
        (Some(id), Some(method)) => (id, method),
        (None, None) if !answers => return Err(frame.refused(INVALID_REQUEST, NO_REQUEST)),
        // A notification that is not understood is not answered. An answer is one all the same:
        // whoever asked would wait for ever.
        (id, _) => {
            let id = id.filter(|_| answers).and_then(|id| serde_json::from_str(id.get()).ok());
            return Ok(small(line).or_else(|| {
                let error = ErrorData::invalid_request("the answer is not understood", None);
                Some(ClientJsonRpcMessage::error(error, Some(id?)))
            }));
        }
    };
    let Ok(id) = serde_json::from_str::<RequestId>(id.get()) else {
        return Err(frame.refused(INVALID_REQUEST, "an id is a string or an integer of 64 bits"));
    };
    let version = frame.jsonrpc.is_some_and(|version| version.get() == "\"2.0\"");
    let Some(method) =
        serde_json::from_str::<String>(method.get()).ok().filter(|_| version && !answers)
    else {
        return Err(frame.refused(INVALID_REQUEST, NO_REQUEST));
    };
    let Some(mut held) = backlog.admit(line.len()) else {
        return Err(frame.refused(
            BUSY,
            "too much is under way; answer the questions that are open, and call again",
        ));
    };
    if !held.is_the_only(&id) {
        return Err(frame.refused(INVALID_REQUEST, "a request with this id has no answer yet"));
    }
    let mut request = match (method.as_str(), frame.params) {
        ("tools/call", params) => ClientRequest::CallToolRequest(
            call(params).map_err(|message| frame.refused(INVALID_PARAMS, &message))?,
        ),
        (method, _) => match small(line) {
            // For rmcp there is no such method then.
            Some(JsonRpcMessage::Request(request))
                if METHODS.contains(&method)
                    && matches!(request.request, ClientRequest::CustomRequest(_)) =>
            {
                let message = format!("the parameters of {method} do not fit");
                return Err(frame.refused(INVALID_PARAMS, &message));
            }
            Some(JsonRpcMessage::Request(request)) => request.request,
            _ => return Err(frame.refused(INVALID_REQUEST, NO_REQUEST)),
        },
    };
    request.extensions_mut().insert(Arc::new(held));
    Ok(Some(ClientJsonRpcMessage::request(request, id)))
}

impl Frame<'_> {
    /// Makes the error, with the id as the client wrote it, if it is a text or a number.
    fn refused(&self, code: i32, message: &str) -> Refused {
        let text = self.id.map(RawValue::get).filter(|text| text.len() <= MAX_ID);
        let id =
            text.filter(|text| text.starts_with(|first| matches!(first, '"' | '-' | '0'..='9')));
        let id = id.and_then(|id| RawValue::from_string(id.to_owned()).ok());
        Refused { id, ..Refused::new(None, code, message.to_owned()) }
    }
}

/// Parses a message that does not call a tool.
fn small(line: &[u8]) -> Option<ClientJsonRpcMessage> {
    if line.len() > MAX_OTHER { None } else { serde_json::from_slice(line).ok() }
}

/// Parses a call. Its arguments are not checked here: the tool reports bad arguments in its result,
/// where a model sees them.
fn call(params: Option<&RawValue>) -> Result<CallToolRequest, String> {
    let text = params.map(RawValue::get).filter(|text| text.starts_with('{'));
    let text = text.ok_or("tools/call has the name of a tool and its arguments as an object")?;
    let params: CallParams = serde_json::from_str(text)
        .map_err(|error| format!("the parameters of tools/call do not fit: {error}"))?;
    let mut known = CallToolRequestParams::new(params.name);
    known.input_responses = params.input_responses;
    known.request_state = params.request_state;
    let mut request = CallToolRequest::new(known);
    let arguments =
        params.arguments.unwrap_or_else(|| RawValue::from_string("{}".into()).expect("it is JSON"));
    request.extensions.insert(ArgumentsText(arguments.into()));
    if let Some(meta) = params.meta {
        request.extensions.insert(RequestMetaObject(meta));
    }
    Ok(request)
}
