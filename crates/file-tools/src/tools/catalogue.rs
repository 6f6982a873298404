//! The tools as they are described to models: descriptions and plain JSON schemas.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::changes::PatchData;
use crate::tools::tool::Tool;
use crate::tools::{
    apply_patch, create_file, delete_file, edit_file, edit_patch, glob, list_directory, move_file,
    read_file, restore_file, search_files, undo, write_file,
};

/// A tool as a client lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For models.
    pub description: String,
    /// Its arguments.
    pub input_schema: Value,
    /// Its answer: the envelope with its data; null if it is left out.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub output_schema: Value,
    /// What a client may assume.
    pub annotations: Annotations,
}

/// What a client may assume of a tool, in the words of the Model Context Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It changes or removes what is there.
    pub destructive_hint: bool,
    /// Calling it twice has the same effect as calling it once.
    pub idempotent_hint: bool,
    /// It reaches beyond the workspace.
    pub open_world_hint: bool,
}

/// Describes all tools, in a fixed order.
#[must_use]
pub fn catalogue() -> Vec<ToolInfo> {
    Tool::ALL.into_iter().map(Tool::info).collect()
}

/// Describes all tools in a third of the size: what each does, an example, and its arguments by
/// name. Errors explain themselves.
#[must_use]
pub fn brief_catalogue() -> Vec<ToolInfo> {
    Tool::ALL.into_iter().map(Tool::brief_info).collect()
}

impl Tool {
    /// Describes the tool as [`brief_catalogue`] does.
    #[must_use]
    pub fn brief_info(self) -> ToolInfo {
        let info = self.info();
        let (what, rest) =
            info.description.split_once("\nErrors").expect("every description has them");
        let example = rest.split_once("\nExample:").map_or("", |(_, example)| example);
        let mut input_schema = bare(info.input_schema);
        // An answer that is cut names this argument, or a cursor to go on from.
        if let Some(properties) = input_schema["properties"].as_object_mut() {
            properties.remove("maxResultBytes");
        }
        ToolInfo {
            description: format!("{what}\nExample:{example}"),
            input_schema,
            output_schema: Value::Null,
            ..info
        }
    }

    /// Describes the tool as a client lists it.
    #[must_use]
    pub fn info(self) -> ToolInfo {
        let (title, description) = words(self);
        let (input_schema, output_schema) = self.schemas();
        // Programs check answers with it, and few models see it, so it has no descriptions.
        let output_schema = without_rare(bare(output_schema));
        let reads = self.is_read_only();
        let adds = matches!(self, Self::CreateFile | Self::RestoreFile);
        let annotations = Annotations {
            read_only_hint: reads,
            destructive_hint: !reads && !adds,
            idempotent_hint: reads || self == Self::WriteFile,
            open_world_hint: false,
        };
        ToolInfo {
            name: self.as_str(),
            title,
            description: description.into(),
            input_schema,
            output_schema,
            annotations,
        }
    }

    /// Returns the schemas of its arguments and of its answer, with a description of each field.
    #[must_use]
    pub fn schemas(self) -> (Value, Value) {
        match self {
            Self::ReadFile => schemas::<read_file::ReadFile, read_file::ReadFileData>(),
            Self::ListDirectory => {
                schemas::<list_directory::ListDirectory, list_directory::ListDirectoryData>()
            }
            Self::SearchFiles => {
                schemas::<search_files::SearchFiles, search_files::SearchFilesData>()
            }
            Self::Glob => schemas::<glob::Glob, glob::GlobData>(),
            Self::CreateFile => schemas::<create_file::CreateFile, create_file::CreateFileData>(),
            Self::WriteFile => schemas::<write_file::WriteFile, write_file::WriteFileData>(),
            Self::EditFile => schemas::<edit_file::EditFile, edit_file::EditFileData>(),
            Self::DeleteFile => schemas::<delete_file::DeleteFile, delete_file::DeleteFileData>(),
            Self::RestoreFile => {
                schemas::<restore_file::RestoreFile, restore_file::RestoreFileData>()
            }
            Self::MoveFile => schemas::<move_file::MoveFile, move_file::MoveFileData>(),
            Self::ApplyPatch => schemas::<apply_patch::ApplyPatch, PatchData>(),
            Self::Undo => schemas::<undo::Undo, undo::UndoData>(),
            Self::EditPatch => {
                (schema::<edit_patch::EditPatch>(), schema::<edit_patch::EditPatchResult>())
            }
        }
    }
}

fn schemas<A: JsonSchema, D: JsonSchema>() -> (Value, Value) {
    (schema::<A>(), schema::<Envelope<D>>())
}

/// Removes the descriptions from a schema.
fn bare(mut schema: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, part| key != "description" || !part.is_string());
                object.values_mut().for_each(strip);
            }
            Value::Array(parts) => parts.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut schema);
    schema
}

/// Removes the fields of carried hunks from a schema: few answers have them, and docs/results.md
/// describes them.
fn without_rare(mut schema: Value) -> Value {
    for at in ["/properties/carried/items", "/properties/data/properties/carried/items"] {
        if let Some(items) = schema.pointer_mut(at) {
            *items = serde_json::json!({ "type": "object" });
        }
    }
    schema
}

/// The result envelope, for its schema. Errors have the same shape in all tools, so it is not
/// repeated for each.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Envelope<D> {
    ok: bool,
    #[schemars(with = "String", default)]
    output: (),
    #[schemars(with = "D", default)]
    data: std::marker::PhantomData<D>,
    #[schemars(with = "Map<String, Value>", default)]
    error: (),
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    plain(&mut value);
    value
}

/// Removes what is of no use to a model, and what some clients reject.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for word in ["$schema", "title", "format", "minimum", "default"] {
                object.remove(word);
            }
            // This is the description of a type; a field has one of its own.
            if object.contains_key("properties") {
                object.remove("description");
            }
            // The lines of a comment are wrapped for whoever reads the code.
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            // An optional field is not required, so it need not be null.
            if let Some(kind) = object.get_mut("type")
                && let Value::Array(types) = kind
            {
                types.retain(|name| name != "null");
                if types.len() == 1 {
                    *kind = types.remove(0);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            // Unknown fields are refused in any case, by an error that names them; some clients
            // cannot convert this keyword.
            if object.get("additionalProperties").is_some_and(Value::is_boolean) {
                object.remove("additionalProperties");
            }
            for (key, part) in object {
                match part {
                    // These names are arguments, not keywords of the schema.
                    Value::Object(properties) if key == "properties" => {
                        properties.values_mut().for_each(plain);
                    }
                    part => plain(part),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Returns the title and the description: purpose, inputs, outputs, errors with what to do, one
/// example.
fn words(tool: Tool) -> (&'static str, &'static str) {
    match tool {
        Tool::ReadFile => (
            "Read a file",
            "Reads, opens a file: shows its contents, or lines startLine to endLine of it (from 1, both included). Lines are read with LF ends and \
without BOM; sha256 is of the whole file on disk: change the file with it as expectedSha256, or without in the same session. If truncated, \
read on with cursor. lineNumbers puts numbers before the lines.\n\
Errors: not_found: check the path with glob. binary_file: leave it, or set allowBinary. file_too_large: give up. \
outside_workspace, permission_denied: use another path. command_failed: correct the arguments.\n\
Example: {\"path\":\"src/main.rs\",\"startLine\":1,\"endLine\":80}",
        ),
        Tool::ListDirectory => (
            "List a directory",
            "Lists a directory (folder, ls), or with recursive all beneath it, nearest first. Hidden names, and in recursive lists \
what .gitignore leaves out, need includeHidden. If truncated, ask again with cursor.\n\
Errors: not_found: check the path, list its parent. outside_workspace, permission_denied: use another path.\n\
Example: {\"path\":\"src\",\"recursive\":true,\"maxDepth\":2}",
        ),
        Tool::SearchFiles => (
            "Search files",
            "Searches code like grep: finds text by text or regex, or paths by a part of them (mode). Skips binary files, files over 4 MiB, what \
.gitignore leaves out (unless includeGlobs names it), and folders like node_modules or target. If truncated, narrow it or ask again with cursor.\n\
Errors: command_failed: correct the regex or pattern. not_found: check root. timeout: narrow the search. \
outside_workspace, permission_denied: use another root.\n\
Example: {\"query\":\"fn main\",\"mode\":\"text\",\"includeGlobs\":[\"**/*.rs\"],\"contextLines\":2}",
        ),
        Tool::Glob => (
            "Find paths",
            "Finds files by name, by a glob pattern: * within a name, ** over directories, {a,b} either. Hidden names and \
folders like node_modules or target match only if the pattern names them.\n\
Errors: command_failed: correct the pattern. not_found: check root. outside_workspace, permission_denied: use another \
root.\n\
Example: {\"pattern\":\"**/*.test.ts\",\"root\":\"packages\"}",
        ),
        Tool::CreateFile => (
            "Create a file",
            "Creates (makes) a new text file; never overwrites. Gives sha256 and transactionId (for undo).\n\
Errors: already_exists: use edit_file or write_file. not_found: a directory is missing, set createParentDirectories. \
permission_denied: ask. outside_workspace, command_failed: correct the path.\n\
Example: {\"path\":\"docs/notes.md\",\"content\":\"# Notes\\n\",\"createParentDirectories\":true}",
        ),
        Tool::WriteFile => (
            "Write a file",
            "Overwrites a file: writes its whole content; CRLF and BOM are kept. For small changes use edit_file.\n\
Errors: stale_file: the file changed, read it again. binary_file: leave it. patch_apply_error: the file is not UTF-8, \
write ASCII. not_found: the directory is missing. already_exists: a name differs only by case. permission_denied: ask. \
outside_workspace, command_failed: correct the arguments.\n\
Example: {\"path\":\"a.txt\",\"content\":\"new\\n\",\"expectedSha256\":\"<sha256 from read_file>\"}",
        ),
        Tool::EditFile => (
            "Edit a file",
            "Edits one file: replaces strings in it (find and replace), all or none. Each oldText must be in the file as you read it, exactly once (or \
replaceAll, or expectedOccurrences times), and edits may not overlap. Line ends are kept.\n\
Errors: old_text_not_found: details.nearest tells where it nearly is; read there and copy. multiple_matches: add \
surrounding lines. overlapping_edits: join details.conflictingEditIndices. stale_file: read again. binary_file: leave \
it. patch_apply_error: not UTF-8, insert ASCII. not_found: check the path. permission_denied: ask. outside_workspace, \
command_failed: correct the arguments.\n\
Example: {\"path\":\"a.rs\",\"expectedSha256\":\"<sha256>\",\"edits\":[{\"oldText\":\"let x = 1;\",\"newText\":\"let x = 2;\"}]}",
        ),
        Tool::DeleteFile => (
            "Delete a file",
            "Deletes (removes) a file, link, or (recursive) directory: it goes to the trash; trashedTo is for restore_file.\n\
Errors: not_found: check the path. stale_file: it changed, read it again. command_failed: to delete a directory, set recursive. \
permission_denied: ask. outside_workspace: use another path.\n\
Example: {\"path\":\"old.txt\",\"expectedSha256\":\"<sha256>\"}",
        ),
        Tool::RestoreFile => (
            "Restore a file",
            "Restores a deleted file from the trash: brings it back, to its old path or targetPath; never over a file.\n\
Errors: not_found: it is not in the trash. already_exists: give another targetPath. command_failed: give trashedPath \
as you got it. permission_denied, outside_workspace: use another targetPath.\n\
Example: {\"trashedPath\":\"<trashedTo from delete_file>\"}",
        ),
        Tool::MoveFile => (
            "Move a file",
            "Renames a file or moves it to another directory; with overwrite a file at toPath goes to the trash.\n\
Errors: stale_file: read it again. already_exists: choose another toPath or set overwrite. not_found: check fromPath \
and the directory of toPath. permission_denied: ask. outside_workspace, command_failed: correct the paths.\n\
Example: {\"fromPath\":\"a.txt\",\"toPath\":\"b.txt\",\"expectedSha256\":\"<sha256>\"}",
        ),
        Tool::ApplyPatch => (
            "Apply a patch",
            "Edits code: apply a patch (diff) that modifies source files, one or several, all or none. For multi-file changes and refactors. Sections of the patch: *** Add File: P (+ lines), *** Delete File: P, \
*** Update File: P (optional *** Move to: Q, then hunks), *** Move File: P -> Q. A hunk: @@, then lines with a blank \
(context), - or +; give 3 lines of context. Gives changedFiles with hashes, and transactionId.\n\
Errors (details.rejects has all): patch_parse_error: correct details.line. patch_apply_error: details.nearest tells \
where the lines nearly are; read there. multiple_matches: add context. overlapping_edits: join the hunks. stale_file: \
read again. not_found, already_exists, binary_file, file_too_large, outside_workspace, command_failed: correct that \
section of the patch. permission_denied: leave it out, ask. timeout: try again.\n\
Example: {\"patch\":\"*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-old\\n+new\\n*** End Patch\"}",
        ),
        Tool::Undo => (
            "Undo a change",
            "Undo: reverts (rolls back) what one call changed, by its transactionId, or some paths of it. Undo its own \
transactionId to have the change again.\n\
Errors: stale_file: the files changed since, edit them instead. not_found: no such transaction, or it did not touch \
these paths. command_failed: name the transaction; details.transactions has the newest. permission_denied: ask. \
outside_workspace: correct the path.\n\
Example: {\"transactionId\":\"<transactionId from edit_file>\"}",
        ),
        Tool::EditPatch => (
            "Apply a patch, briefly",
            "The same patches by strict rules, with a brief answer: {ok, summary} with counts of files, or \
{ok, error} with one line that begins with the error's kind. allow_delete lets it remove files.\n\
Errors: patch_parse_error: correct it. patch_apply_error, multiple_matches, overlapping_edits, stale_file: read the \
file, then correct the hunk. permission_denied: not allowed, or guarded; ask. binary_file, not_found, already_exists, \
outside_workspace: correct the path.\n\
Example: {\"patch\":\"*** Begin Patch\\n*** Add File: a.txt\\n+hi\\n*** End Patch\"}",
        ),
    }
}
