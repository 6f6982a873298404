//! Patches in a browser, over files in memory.

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

/** What the functions here throw: an `Error` with the fields of a failed call. docs/reference/errors.md tells what each kind means. */
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

/** How a patch is read and planned; the options of the package for Node. */
export interface PatchOptions extends PatchSettings {
  from?: "auto" | "envelope" | "unified" | "openai";
  part?: number | "all";
  strip?: number;
  skipBinary?: boolean;
  /** Take the hunks of a diff as they stand, whatever their numbers promise. */
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
  /** What is at each path that changes: text for text, bytes as soon as one file is given as bytes, or for what is not UTF-8; null where a file is gone. */
  files: Record<string, any>;
  /** The changes, file by file. */
  changes: { path: string; toPath?: string; operation: "create" | "update" | "delete" | "move" }[];
  /** What was not taken literally, in words. */
  notes: string[];
  /** The changes as a git diff. */
  diff: string;
  /** 64 hexadecimal digits that name exactly this change. */
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
    /// What a patch makes of files.
    #[wasm_bindgen(typescript_type = "Changed")]
    pub type Changed;
}

fn to_js(value: &impl Serialize) -> Result<JsValue> {
    Ok(value.serialize(&Serializer::json_compatible())?)
}

/// The language that errors are told in.
const LANGUAGE: api::Language = api::Language::JavaScript;

/// An `Error` with the fields of the answer of a failed call.
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

/// The bytes of text or bytes, and whether it is text.
fn bytes(text: &JsValue) -> Result<(Vec<u8>, bool)> {
    match unicode(text)? {
        Some(text) => Ok((text.into_bytes(), true)),
        None if text.is_instance_of::<Uint8Array>() => Ok((Uint8Array::new(text).to_vec(), false)),
        None => Err(js_sys::TypeError::new("a text or a Uint8Array is wanted").into()),
    }
}

/// Text, if a value is text.
fn unicode(text: &JsValue) -> Result<Option<String>> {
    match text.as_string() {
        // It is not the same where half a character is in it.
        Some(unicode) if JsValue::from_str(&unicode) != *text => {
            Err(js_sys::TypeError::new("the text has half a character in it").into())
        }
        unicode => Ok(unicode),
    }
}

/// Text for text, and bytes for bytes and for what is not UTF-8.
fn given(bytes: &[u8], is_text: bool) -> JsValue {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text => text.into(),
        _ => Uint8Array::from(bytes).into(),
    }
}

/// The files, and whether all of them are text.
fn tree(files: &JsValue) -> Result<(MemoryTree, bool)> {
    let (mut tree, mut all_text) = (MemoryTree::new(), true);
    // A Map, for one, would seem to have none.
    let is_plain = |files: &&Object| {
        let prototype = Object::get_prototype_of(files);
        prototype.is_null() || Object::get_prototype_of(&prototype).is_null()
    };
    let files: &Object = files.dyn_ref().filter(is_plain).ok_or_else(|| {
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

/// Applies a patch to files in memory, which stay as they are.
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

/// Applies a diff without headers, as the operations of the Responses API have them, to a text;
/// `mode` is `default` or `create`.
#[wasm_bindgen(js_name = applyDiff)]
pub fn apply_diff(input: &Text, diff: &Text, mode: Option<String>) -> Result<JsValue> {
    let (input, is_text) = bytes(input)?;
    let (diff, _) = bytes(diff)?;
    let mode = mode.as_deref().unwrap_or("default");
    let output = api::unicode(&diff).and_then(|diff| api::apply_diff(&input, diff, mode));
    let output = output.map_err(failed)?;
    Ok(given(&output, is_text))
}

/// The tree of a patch.
#[wasm_bindgen]
pub fn parse(patch: &Text, options: &Options) -> Result<JsValue> {
    let options = read(options)?;
    to_js(&api::parse(&bytes(patch)?.0, &options).map_err(failed)?)
}

/// A patch in another form: `text` and `warnings`. A diff needs the files that the patch is for.
#[wasm_bindgen]
pub fn convert(patch: &Text, to: &str, options: &Options, files: &MaybeFiles) -> Result<JsValue> {
    let options = read(options)?;
    let files = if files.is_undefined() { None } else { Some(tree(files)?.0) };
    let done = api::convert(&bytes(patch)?.0, to, &options, files.as_ref()).map_err(failed)?;
    let text = api::unicode(&done.text).map_err(failed)?;
    to_js(&serde_json::json!({ "text": text, "warnings": done.warnings }))
}

/// The grammar for constrained decoding: `lark`, `gbnf`, `ebnf` or `regex`, of the dialect `whole`,
/// `codex` or `tight`.
#[wasm_bindgen]
pub fn grammar(format: Option<String>, dialect: Option<String>) -> Result<String> {
    let (format, dialect) =
        (format.as_deref().unwrap_or("lark"), dialect.as_deref().unwrap_or("whole"));
    api::grammar(format, dialect).map(ToOwned::to_owned).map_err(failed)
}

/// What a model has to know of patches.
#[wasm_bindgen]
pub fn prompt(dialect: Option<String>, channel: Option<String>) -> Result<String> {
    let (dialect, channel) =
        (dialect.as_deref().unwrap_or("whole"), channel.as_deref().unwrap_or("tool"));
    api::prompt(dialect, channel).map_err(failed)
}

/// A patch that is still arriving.
#[wasm_bindgen(js_name = PatchStream)]
pub struct JsPatchStream(api::JsonStream);

#[wasm_bindgen(js_class = PatchStream)]
impl JsPatchStream {
    /// Nothing of it yet.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &Options) -> Result<Self> {
        let stream = api::JsonStream::new(&read(options)?);
        Ok(Self(stream.map_err(failed)?))
    }

    /// What the next part says.
    pub fn push(&mut self, chunk: &Text) -> Result<JsValue> {
        // A character may be in two chunks.
        let text = chunk.as_string();
        to_js(&match &text {
            Some(text) => self.0.push(text.as_bytes()),
            None => self.0.push(&bytes(chunk)?.0),
        })
    }

    /// What its end says.
    pub fn end(&mut self) -> Result<JsValue> {
        to_js(&self.0.end())
    }
}
