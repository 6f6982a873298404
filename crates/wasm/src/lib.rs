//! Patches in a browser, a worker or an edge function, over files in memory.
//!
//! ```js
//! import init, { applyInMemory } from "apply-patch-wasm";
//!
//! await init();
//! const { files, diff } = applyInMemory({ "a.txt": "one\n" }, patch);
//! ```
//!
//! Options and answers are as in the package for Node. A failed call throws a `PatchError`, an
//! `Error` with `kind`, `path`, `details` and `hints`; an argument of the wrong kind is a
//! `TypeError`.

use apply_patch_api as api;
use apply_patch_api::{MemoryTree, ReadOptions as _, ToolError};
use js_sys::{Array, Error, Object, Reflect, Uint8Array};
use serde::Serialize;
use serde_json::Value;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

type Result<T> = std::result::Result<T, JsValue>;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Text, or bytes; text counts as UTF-8. */
export type Text = string | Uint8Array;

/** The error of a failed call. docs/reference/errors.md describes each kind. */
export interface PatchError extends Error {
  kind: string;
  path?: string;
  details?: Record<string, unknown>;
  hints?: ({ hint: string } & Record<string, unknown>)[];
  recoverable: boolean;
  suggestedNextAction?: string;
}

/** The rules of planning; made of the table of settings by crates/api/tests/types.rs. */
export interface PatchSettings {
  /** The preset of the rules of planning. */
  profile?: "strict" | "standard" | "codex";
  /** What may differ when a hunk is located. */
  fuzz?: "none" | "trailing" | "blanks" | "unicode";
  /** What to do with a hunk that fits in several places. */
  ambiguous?: "reject" | "first";
  /** Whether hunks and sections that are applied already are left out. */
  skipApplied?: boolean;
  /** Whether the line numbers of a diff without context decide. */
  unidiffZero?: boolean;
  /** Whether missing directories are made. */
  createParents?: boolean;
  /** Whether added and moved files may replace others. */
  overwrite?: boolean;
  /** Whether files may be deleted. */
  allowDelete?: boolean;
  /** Whether files may be moved. */
  allowMove?: boolean;
  /** Whether lines may be written that stand for lines that are left out, as `# ... existing code ...`. */
  allowPlaceholders?: boolean;
  /** What is done about whitespace errors in inserted lines. */
  whitespace?: "error" | "fix" | "warn" | "nowarn";
  /** What is a whitespace error, as in git's `core.whitespace`. */
  whitespaceRules?: string;
  /** What is done about a JSON, TOML or YAML file that does not parse any more. */
  syntax?: "refuse" | "warn" | "off";
  /** The charsets of files, each as `GLOB=LABEL`. */
  encoding?: string[];
  /** The largest file that is read or written. In bytes. */
  maxFileSize?: number;
  /** How many file operations a patch may have. */
  maxOperations?: number;
}

/** Options of a patch: how it is read and planned, as in the package for Node. */
export interface PatchOptions extends PatchSettings {
  from?: "auto" | "envelope" | "unified" | "openai";
  part?: number | "all";
  strip?: number;
  skipBinary?: boolean;
  /** Whether the line counts in the hunk headers of a diff are ignored if they are wrong. */
  recount?: boolean;
  reverse?: boolean;
  directory?: string;
  include?: string[];
  exclude?: string[];
  environment?: string;
  expectedSha256ByPath?: Record<string, string>;
  base?: Record<string, string>;
}

export interface Changed {
  /** The new content of each changed path; null for a file that is gone. Text if all files were given as text and the content is UTF-8, else bytes. */
  files: Record<string, any>;
  /** The changes, file by file. */
  changes: { path: string; toPath?: string; operation: "create" | "update" | "delete" | "move" }[];
  /** Notes for a reader, as of hunks that were placed with tolerance. */
  notes: string[];
  /** The changes as a git diff. */
  diff: string;
  /** A hash of the plan, 64 hexadecimal digits: equal plans have equal hashes. */
  digest: string;
}
"#;

#[wasm_bindgen]
extern "C" {
    /// Text, or bytes.
    #[wasm_bindgen(typescript_type = "Text")]
    pub type Text;
    /// The options of a patch.
    #[wasm_bindgen(typescript_type = "PatchOptions | undefined")]
    pub type Options;
    /// Files by their paths.
    #[wasm_bindgen(typescript_type = "Record<string, Text>")]
    pub type Files;
    /// Files by their paths, or none.
    #[wasm_bindgen(typescript_type = "Record<string, Text> | undefined")]
    pub type MaybeFiles;
    /// The new files of a patch.
    #[wasm_bindgen(typescript_type = "Changed")]
    pub type Changed;
}

fn to_js(value: &impl Serialize) -> Result<JsValue> {
    Ok(value.serialize(&Serializer::json_compatible())?)
}

/// The language whose options errors name.
const LANGUAGE: api::Language = api::Language::JavaScript;

/// Makes an `Error` with the fields of an error.
fn failed(error: ToolError) -> JsValue {
    let error = api::told(error, LANGUAGE);
    let thrown = Error::new(&error.message);
    thrown.set_name("PatchError");
    if let Ok(fields) = to_js(&error) {
        Object::assign(&thrown, fields.unchecked_ref());
    }
    thrown.into()
}

fn read(options: &JsValue) -> Result<api::PatchOptions> {
    let value = if options.is_undefined() {
        Value::Null
    } else {
        serde_wasm_bindgen::from_value(options.clone())?
    };
    api::PatchOptions::read_for(LANGUAGE, value).map_err(|bad| match bad {
        api::BadOptions::Wrong(error) => failed(*error),
        unknown => js_sys::TypeError::new(&ToolError::from(unknown).message).into(),
    })
}

/// Returns the bytes of a text or of a `Uint8Array`, and whether it is a text.
fn bytes(text: &JsValue) -> Result<(Vec<u8>, bool)> {
    match unicode(text)? {
        Some(text) => Ok((text.into_bytes(), true)),
        None if text.is_instance_of::<Uint8Array>() => Ok((Uint8Array::new(text).to_vec(), false)),
        None => Err(js_sys::TypeError::new("a text or a Uint8Array is wanted").into()),
    }
}

/// Returns the text, if a value is one.
fn unicode(text: &JsValue) -> Result<Option<String>> {
    match text.as_string() {
        // The conversion replaces half a character.
        Some(unicode) if JsValue::from_str(&unicode) != *text => {
            Err(js_sys::TypeError::new("the text has half a character in it").into())
        }
        unicode => Ok(unicode),
    }
}

/// Returns a text if `is_text` and the bytes are UTF-8, else a `Uint8Array`.
fn given(bytes: &[u8], is_text: bool) -> JsValue {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text => text.into(),
        _ => Uint8Array::from(bytes).into(),
    }
}

/// Returns whether an object is a plain one. A `Map`, for one, would seem to have no files.
fn is_plain(object: &Object) -> bool {
    let prototype = Object::get_prototype_of(object);
    prototype.is_null() || Object::get_prototype_of(&prototype).is_null()
}

/// Reads files, and whether all of them are text.
fn tree(files: &JsValue) -> Result<(MemoryTree, bool)> {
    let mut tree = MemoryTree::new();
    let mut all_text = true;
    let files: &Object = files.dyn_ref().filter(|files| is_plain(files)).ok_or_else(|| {
        js_sys::TypeError::new("the files must be an object with a content for each path")
    })?;
    for entry in Object::entries(files).iter() {
        let entry: Array = entry.unchecked_into();
        let (content, is_text) = bytes(&entry.get(1))?;
        tree.insert(&unicode(&entry.get(0))?.unwrap_or_default(), content);
        all_text &= is_text;
    }
    Ok((tree, all_text))
}

/// Applies a patch to files in memory. Returns the new files and the plan; `files` stays as it is.
/// Throws if the patch does not parse or does not apply.
#[wasm_bindgen(js_name = applyInMemory)]
pub fn apply_in_memory(files: &Files, patch: &Text, options: &Options) -> Result<Changed> {
    let (tree, all_text) = tree(files)?;
    let options = read(options)?;
    let (changed, plan) =
        api::apply_in_memory(&tree, &bytes(patch)?.0, &options).map_err(failed)?;
    let diff = plan.diff().map_err(failed)?;
    let after = Object::new();
    for file in changed {
        let content = file.after.map_or(JsValue::NULL, |content| given(&content.bytes, all_text));
        Reflect::set(&after, &file.path.as_str().into(), &content)?;
    }
    let done = Object::new();
    for (name, value) in [
        ("files", after.into()),
        ("changes", to_js(&plan.changes())?),
        ("notes", to_js(&plan.notes())?),
        ("diff", String::from_utf8_lossy(&diff).as_ref().into()),
        ("digest", plan.digest().into()),
    ] {
        Reflect::set(&done, &name.into(), &value)?;
    }
    Ok(done.unchecked_into())
}

/// Applies a diff without headers, as in the operations of the Responses API, to a text. Returns
/// the new text. `mode` is `default` for a change, and `create` for a new text. Throws if the diff
/// does not parse or does not apply.
#[wasm_bindgen(js_name = applyDiff)]
pub fn apply_diff(input: &Text, diff: &Text, mode: Option<String>) -> Result<JsValue> {
    let (input, is_text) = bytes(input)?;
    let (diff, _) = bytes(diff)?;
    let mode = mode.as_deref().unwrap_or("default");
    let output = api::unicode(&diff).and_then(|diff| api::apply_diff(&input, diff, mode));
    let output = output.map_err(failed)?;
    Ok(given(&output, is_text))
}

/// Returns the tree of a patch. Throws if the text is not a patch.
#[wasm_bindgen]
pub fn parse(patch: &Text, options: &Options) -> Result<JsValue> {
    let options = read(options)?;
    to_js(&api::parse(&bytes(patch)?.0, &options).map_err(failed)?)
}

/// Converts a patch to another form. Returns `text` and `warnings`. A diff needs the files of the
/// patch. Throws if the patch does not parse or does not apply, or if the form cannot express it.
#[wasm_bindgen]
pub fn convert(patch: &Text, to: &str, options: &Options, files: &MaybeFiles) -> Result<JsValue> {
    let options = read(options)?;
    let files = if files.is_undefined() { None } else { Some(tree(files)?.0) };
    let done = api::convert(&bytes(patch)?.0, to, &options, files.as_ref()).map_err(failed)?;
    let text = api::unicode(&done.text).map_err(failed)?;
    to_js(&serde_json::json!({ "text": text, "warnings": done.warnings }))
}

/// Returns the grammar for constrained decoding: `lark` (by default), `gbnf`, `ebnf` or `regex`, of
/// the dialect `whole` (by default), `codex` or `tight`.
#[wasm_bindgen]
pub fn grammar(format: Option<String>, dialect: Option<String>) -> Result<String> {
    let format = format.as_deref().unwrap_or("lark");
    let dialect = dialect.as_deref().unwrap_or("whole");
    api::grammar(format, dialect).map(ToOwned::to_owned).map_err(failed)
}

/// Returns the instructions for a model. `channel` is `tool` (by default), `argument` or `message`:
/// the whole input of a tool, a string among its arguments, or the whole message.
#[wasm_bindgen]
pub fn prompt(dialect: Option<String>, channel: Option<String>) -> Result<String> {
    let dialect = dialect.as_deref().unwrap_or("whole");
    let channel = channel.as_deref().unwrap_or("tool");
    api::prompt(dialect, channel).map_err(failed)
}

/// A patch while it arrives.
#[wasm_bindgen(js_name = PatchStream)]
pub struct JsPatchStream(api::JsonStream);

#[wasm_bindgen(js_class = PatchStream)]
impl JsPatchStream {
    /// Makes a stream without text.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &Options) -> Result<Self> {
        let stream = api::JsonStream::new(&read(options)?);
        Ok(Self(stream.map_err(failed)?))
    }

    /// Adds a chunk of the text. Returns the events that it completes, objects with a `type`.
    pub fn push(&mut self, chunk: &Text) -> Result<JsValue> {
        // Two chunks may share a character, so half a character is no error here.
        let text = chunk.as_string();
        to_js(&match &text {
            Some(text) => self.0.push(text.as_bytes()),
            None => self.0.push(&bytes(chunk)?.0),
        })
    }

    /// Ends the text. Returns the last events: `ended` or `failed`, unless one came before.
    pub fn end(&mut self) -> Result<JsValue> {
        to_js(&self.0.end())
    }
}
