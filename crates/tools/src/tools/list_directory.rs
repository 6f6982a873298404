//! `list_directory`: the entries of a directory.

use std::cmp::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use fs_guard::FileKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use patch_engine::Host;

use crate::tools::file_tool::{About, FileTool};
use crate::tools::page::{Page, cursor_at, for_items, page, rest, skipped};
use crate::tools::walk::{
    DEFAULT_EXCLUDES, MAX_DEPTH, WalkEntry, WalkOptions, find_directory, type_name, walk,
};
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::session::Session;
use patch_session::text::counted;

/// No more entries are listed.
const MAX_ENTRIES: usize = 5000;

/// The arguments of `list_directory`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListDirectory {
    /// Directory; the workspace root by default.
    #[serde(default, deserialize_with = "given")]
    pub path: Option<String>,
    /// List what is beneath too.
    pub recursive: Option<bool>,
    /// How deep, recursively; at most 32.
    #[serde(default, deserialize_with = "given")]
    pub max_depth: Option<u64>,
    /// List hidden and ignored names too.
    pub include_hidden: Option<bool>,
    /// nextCursor of the last answer.
    #[serde(default, deserialize_with = "given")]
    pub cursor: Option<String>,
    /// Most bytes of the answer.
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `list_directory`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListDirectoryData {
    /// By depth, then directories, files and links, then by name.
    pub entries: Vec<Entry>,
    /// There is more.
    pub truncated: bool,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An entry of a directory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its path beneath the workspace root.
    pub relative_path: String,
    /// file, directory, symlink or other.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Bytes.
    pub size: u64,
    /// When its bytes changed last: RFC 3339, UTC.
    pub mtime: String,
    /// 1 for the directory's own entries.
    pub depth: usize,
}

impl FileTool for ListDirectory {
    type Data = ListDirectoryData;

    const ABOUT: About = About {
        title: "List a directory",
        does: "Lists a directory (folder, ls), or with recursive all beneath it, nearest first. \
            Hidden names, and in recursive lists what .gitignore leaves out, need includeHidden. \
            If truncated, ask again with cursor.",
        errors: "Errors: not_found: check the path, list its parent. outside_workspace, \
            permission_denied: use another path.",
        example: "{\"path\":\"src\",\"recursive\":true,\"maxDepth\":2}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.path.iter_mut().collect()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        let root = session.root();
        let dir = find_directory(session, root, "path", self.path.as_deref())?;
        let skip = skipped(self.cursor.as_deref())?;
        let hidden = self.include_hidden == Some(true);
        // A depth alone asks for a recursive list, too.
        let deep = self.max_depth.is_some_and(|depth| depth > 1);
        let recursive = self.recursive.unwrap_or(deep);
        let asked =
            self.max_depth.map_or(MAX_DEPTH, |depth| usize::try_from(depth).unwrap_or(MAX_DEPTH));
        let options = WalkOptions {
            max_depth: if recursive { asked.clamp(1, MAX_DEPTH) } else { 1 },
            hidden,
            // A single directory is listed with ignored files.
            ignored: hidden || !recursive,
        };
        let mut found: Vec<WalkEntry> = Vec::new();
        let whole = walk(root, dir.clone(), &options, host, &mut |entry: WalkEntry| {
            let name = entry.path.file_name();
            let beneath = recursive && (hidden || !DEFAULT_EXCLUDES.contains(&name));
            found.push(entry);
            // Nearer entries come first, so the walk has to be complete before the first is known.
            (found.len() <= 40 * MAX_ENTRIES).then_some(beneath)
        })?;
        found.sort_by(nearer);
        let entries = found.iter().skip(skip).take(MAX_ENTRIES + 1).map(entry).collect();
        let Page { items: entries, truncated, next_cursor } =
            page(entries, 0, MAX_ENTRIES, for_items(session, self.max_result_bytes), whole);
        let next_cursor = next_cursor.and_then(|_| cursor_at(skip + entries.len()));
        let place = dir.as_ref().map_or(".", |dir| dir.as_str());
        let more = rest(truncated, next_cursor.as_deref());
        Ok(Success::new(
            format!("{place}: {}{more}", counted(entries.len(), "entry", "entries")),
            ListDirectoryData { entries, truncated, next_cursor },
        ))
    }
}

/// Compares entries by depth, then by kind, then by name.
fn nearer(one: &WalkEntry, other: &WalkEntry) -> Ordering {
    one.depth
        .cmp(&other.depth)
        .then_with(|| rank(one.metadata.kind).cmp(&rank(other.metadata.kind)))
        .then_with(|| one.path.file_name().cmp(other.path.file_name()))
        .then_with(|| one.path.cmp(&other.path))
}

fn rank(kind: FileKind) -> u8 {
    match kind {
        FileKind::Directory => 0,
        FileKind::File => 1,
        FileKind::Symlink => 2,
        FileKind::Submodule | FileKind::Other => 3,
    }
}

fn entry(found: &WalkEntry) -> Entry {
    let (seconds, nanos) = found.metadata.mtime;
    let mtime = UNIX_EPOCH + Duration::new(u64::try_from(seconds).unwrap_or(0), nanos);
    Entry {
        name: found.path.file_name().to_owned(),
        relative_path: found.path.to_string(),
        kind: type_name(found.metadata.kind),
        size: found.metadata.size,
        mtime: workspace_trash::format_time(mtime),
        depth: found.depth,
    }
}
