//! `glob`: paths that match a pattern.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fs_guard::{FileKind, RelPath, Root, quoted, shortened};
use patch_engine::Host;

use crate::tools::file_tool::{About, FileTool};
use crate::tools::page::{Page, for_items, page, rest, skipped};
use crate::tools::walk::{
    DEFAULT_EXCLUDES, MAX_DEPTH, WalkEntry, WalkOptions, bad_glob, find_directory, glob, globs,
    relative, type_name, walk,
};
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::session::Session;
use patch_session::text::counted;

/// How many paths are given, unless the call asks for another number.
const MAX_RESULTS: usize = 1000;

/// No more are ever given.
pub(crate) const MOST_RESULTS: usize = 5000;

/// The arguments of `glob`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Glob {
    /// Pattern of paths beneath root; `*` stays in a directory, `**` does not.
    pub pattern: String,
    /// Directory to look in; the workspace root by default.
    #[serde(default, deserialize_with = "given")]
    pub root: Option<String>,
    /// Patterns of paths to leave out.
    #[serde(default, deserialize_with = "given")]
    pub exclude_globs: Option<Vec<String>>,
    /// Most results; 1000 by default, at most 5000.
    #[serde(default, deserialize_with = "given")]
    pub max_results: Option<u64>,
    /// nextCursor of the last answer.
    #[serde(default, deserialize_with = "given")]
    pub cursor: Option<String>,
    /// Most bytes of the answer.
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `glob`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GlobData {
    /// In order of paths.
    pub matches: Vec<GlobMatch>,
    /// There are more.
    pub truncated: bool,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A path that matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GlobMatch {
    /// The path beneath the workspace root.
    pub path: String,
    /// file, directory, symlink or other.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl FileTool for Glob {
    type Data = GlobData;

    const ABOUT: About = About {
        title: "Find paths",
        does: "Finds files by name, by a glob pattern: * within a name, ** over directories, {a,\
            b} either. Hidden names and folders like target match only if named; what \
            .gitignore lists does not.",
        errors: "Errors: command_failed: correct the pattern. not_found: check root. \
            outside_workspace, permission_denied: use another root.",
        example: "{\"pattern\":\"**/*.test.ts\",\"root\":\"packages\"}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.root.iter_mut().collect()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        let root = session.root();
        let excludes = globs("excludeGlobs", self.exclude_globs.as_deref().unwrap_or_default())?;
        let dir = find_directory(session, root, "root", self.root.as_deref())?;
        let pattern = beneath(&self.pattern, root, dir.as_ref())?;
        let (pattern, only_directories) = match pattern.strip_suffix('/') {
            Some(of_directories) => (of_directories, true),
            None => (&*pattern, false),
        };
        let matcher = glob("pattern", pattern)?;
        let names = beginnings(pattern);
        let hidden = names.iter().any(|name| name.starts_with('.'));
        let ignored = names.iter().any(|name| DEFAULT_EXCLUDES.contains(name));
        let options = WalkOptions { max_depth: MAX_DEPTH, hidden, ignored };
        let skip = skipped(self.cursor.as_deref())?;
        let limit = limit(self.max_results, MAX_RESULTS);
        let mut matches = Vec::new();
        let whole = walk(root, dir.clone(), &options, host, &mut |found: WalkEntry| {
            let path = relative(&found.path, dir.as_ref());
            let name = found.path.file_name();
            let is_usual_exclude = DEFAULT_EXCLUDES.contains(&name) && !names.contains(&name);
            if excludes.matches(path) || is_usual_exclude {
                return Some(false);
            }
            let is_meant = !only_directories || found.metadata.kind == FileKind::Directory;
            if is_meant && matcher.matches(path) {
                matches.push(GlobMatch {
                    path: found.path.to_string(),
                    kind: type_name(found.metadata.kind),
                });
            }
            (matches.len() <= skip + limit).then_some(true)
        })?;
        let Page { items: mut matches, truncated, next_cursor } =
            page(matches, skip, limit, for_items(session, self.max_result_bytes), whole);
        matches.sort_by(|one, other| one.path.cmp(&other.path));
        let more = rest(truncated, next_cursor.as_deref());
        // A pattern without a slash is more often meant for names in any directory than for names
        // in one.
        let hint = if matches.is_empty() && !pattern.contains('/') && !pattern.contains("**") {
            format!("; it looks in one directory only, `**/{}` in all", shortened(pattern))
        } else {
            String::new()
        };
        Ok(Success::new(
            counted(matches.len(), "path matches", "paths match") + &more + &hint,
            GlobData { matches, truncated, next_cursor },
        ))
    }
}

/// Makes a pattern relative to the directory that is searched. A pattern that can match nothing
/// there is an error.
fn beneath<'p>(
    pattern: &'p str,
    root: &Root,
    dir: Option<&RelPath>,
) -> Result<Cow<'p, str>, ToolError> {
    if let Some(whole) = root.relative(pattern) {
        let rest = match dir {
            Some(dir) => whole.strip_prefix(dir.as_str()).and_then(|rest| rest.strip_prefix('/')),
            None => Some(&*whole),
        };
        return match rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => Ok(rest.to_owned().into()),
            None => Err(refused(pattern, "is not beneath the directory that is looked in")),
        };
    }
    let below = pattern.strip_prefix("./").unwrap_or(pattern);
    if below.trim_end_matches('/').is_empty() {
        return Err(refused(pattern, "has no name"));
    }
    if below.starts_with('/') {
        let problem = "is absolute, and not beneath the directory that is looked in";
        return Err(refused(pattern, problem));
    }
    if below.split('/').any(|name| name == "..") {
        return Err(refused(pattern, "climbs out of its directory with `..`"));
    }
    Ok(below.into())
}

fn refused(pattern: &str, problem: &str) -> ToolError {
    let problem = format!("{} {problem}", quoted(pattern));
    bad_glob("pattern", problem, "a pattern such as `**/*.rs`")
}

/// Returns the beginnings of the names in a pattern, up to a brace: of `{.github,src}/*.{rs,md}`
/// they are `.github`, `src` and `*.`.
fn beginnings(pattern: &str) -> Vec<&str> {
    let mut names = Vec::new();
    // Whether a name begins here, and whether one began at each open brace.
    let mut begins = true;
    let mut open = Vec::new();
    for (at, c) in pattern.char_indices() {
        match c {
            '/' => begins = true,
            '{' => open.push(begins),
            ',' if !open.is_empty() => begins = open.last() == Some(&true),
            '}' => {
                open.pop();
                begins = false;
            }
            _ if begins => {
                let rest = &pattern[at..];
                names.push(rest.find(['/', ',', '{', '}']).map_or(rest, |end| &rest[..end]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// Returns the most results of a call.
pub(crate) fn limit(asked: Option<u64>, usual: usize) -> usize {
    asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(MOST_RESULTS)).min(MOST_RESULTS)
}
