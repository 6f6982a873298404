//! `search_files`: lines, or paths, with a text or a regular expression in them.

use fs_guard::FileKind;
use patch_engine::remedy::Action;
use patch_engine::{Host, Remedy, Sha256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::glob::limit;
use crate::tools::file_tool::{About, FileTool};
use crate::tools::page::{Page, for_items, page, rest, skipped};
use crate::tools::query::Query;
use crate::tools::walk::{
    DEFAULT_EXCLUDES, MAX_DEPTH, WalkEntry, WalkOptions, find_directory, globs, relative, walk,
};
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;
use patch_session::line_tags::LineTags;
use patch_session::session::Session;
use patch_session::text::{counted, prefix, split_terminator, without_bom};

/// How many matches are given, unless the call asks for another number.
const MAX_RESULTS: usize = 100;

/// Larger files are skipped.
const MAX_SEARCHED: u64 = 4 << 20;

/// Longer lines are cut in previews.
const MAX_LINE: usize = 400;

/// The longest query, in bytes.
const MAX_QUERY: usize = 4096;

/// More lines of context are not given.
const MAX_CONTEXT: u64 = 20;

/// The arguments of `search_files`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchFiles {
    /// What to look for.
    pub query: String,
    /// text (default), or regex, as Rust has it: in lines; path: in paths.
    pub mode: Option<SearchMode>,
    /// Directory to look in; the workspace root by default.
    #[serde(default, deserialize_with = "given")]
    pub root: Option<String>,
    /// Look only at paths like these.
    #[serde(default, deserialize_with = "given")]
    pub include_globs: Option<Vec<String>>,
    /// Leave out paths like these.
    #[serde(default, deserialize_with = "given")]
    pub exclude_globs: Option<Vec<String>>,
    /// Most results (100), at most 5000.
    #[serde(default, deserialize_with = "given")]
    pub max_results: Option<u64>,
    /// Lines around each match (0), at most 20.
    pub context_lines: Option<u64>,
    /// Put tags before lines, as in read_file.
    pub tags: Option<bool>,
    /// nextCursor of the last answer.
    #[serde(default, deserialize_with = "given")]
    pub cursor: Option<String>,
    /// Most bytes of the answer.
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "docs on variants split the schema; the field has them")]
pub enum SearchMode {
    Path,
    Text,
    Regex,
}

/// The data of an answer of `search_files`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchFilesData {
    /// In order of paths, then lines.
    pub matches: Vec<SearchMatch>,
    /// There are more.
    pub truncated: bool,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A line, or a path, that matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchMatch {
    /// The path beneath the workspace root.
    pub path: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The character in the line where the first match begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The line with its context, or the path.
    pub preview: String,
    /// The first line of the preview.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) first_line: usize,
    /// If the lines of the preview have tags, the version of the file, and the numbers of the lines
    /// that are not cut.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) tagged: Option<(Sha256, Vec<usize>)>,
}

impl SearchMatch {
    /// Returns the lines of the preview without their tags.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.preview.split('\n').map(|line| match line.split_once('|') {
            Some((_, line)) if self.tagged.is_some() => line,
            _ => line,
        })
    }
}

impl FileTool for SearchFiles {
    type Data = SearchFilesData;

    const ABOUT: About = About {
        title: "Search files",
        does: "Searches code like grep: finds text by text or regex, or paths by a part of them (mode). \
            Skips binary files, files over 4 MiB, what .gitignore leaves out (unless includeGlobs \
            names it), and folders like node_modules. If truncated, go on with cursor.",
        errors: "Errors: command_failed: correct the regex or pattern. not_found: check root. \
            cancelled: narrow it. outside_workspace, permission_denied: use another root.",
        example: "{\"query\":\"fn main\",\"mode\":\"text\",\"includeGlobs\":[\"**/*.rs\"]}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.root.iter_mut().collect()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        let root = session.root();
        if self.query.is_empty() {
            let root = self.root.as_deref().unwrap_or(".");
            return Err(ToolError::arguments(Reason::BadQuery, "the query is empty").remedies([
                Remedy::give("query", "a text to look for"),
                Remedy::act(Action::Find, root),
            ]));
        }
        let query = query(self)?;
        let includes = self
            .include_globs
            .as_deref()
            .filter(|patterns| patterns.iter().any(|pattern| !pattern.is_empty()))
            .map(|patterns| globs("includeGlobs", patterns))
            .transpose()?;
        let excludes = globs("excludeGlobs", self.exclude_globs.as_deref().unwrap_or_default())?;
        let dir = find_directory(session, root, "root", self.root.as_deref())?;
        // As in ripgrep, a file that is included by name is searched even if .gitignore leaves it
        // out.
        let options =
            WalkOptions { max_depth: MAX_DEPTH, hidden: true, ignored: includes.is_some() };
        let skip = skipped(self.cursor.as_deref())?;
        let limit = limit(self.max_results, MAX_RESULTS);
        let context =
            usize::try_from(self.context_lines.unwrap_or(0).min(MAX_CONTEXT)).unwrap_or(0);
        let tags = self.tags == Some(true);
        let mut search =
            Search { query: &query, context, tags, limit: skip + limit, matches: Vec::new() };
        let cancellation = host.cancellation();
        let whole = walk(root, dir.clone(), &options, host, &mut |found: WalkEntry| {
            let path = relative(&found.path, dir.as_ref());
            if excludes.matches(path) || DEFAULT_EXCLUDES.contains(&found.path.file_name()) {
                return Some(false);
            }
            if includes.as_ref().is_some_and(|includes| !includes.matches(path)) {
                return Some(true);
            }
            if cancellation.is_cancelled() {
                return None;
            }
            if self.mode() == SearchMode::Path {
                search.look_at_path(found.path.as_str(), path);
            } else if found.metadata.kind == FileKind::File && found.metadata.size <= MAX_SEARCHED {
                // Files that cannot be read are skipped.
                if let Ok((bytes, _)) = root.read(&found.path, MAX_SEARCHED) {
                    let encodings = &session.settings().encodings;
                    if let Some(text) = encodings.text_of(root, &found.path, &bytes, false) {
                        search.look_at(found.path.as_str(), &bytes, text.bytes());
                    }
                }
            }
            (search.matches.len() <= skip + limit).then_some(true)
        })?;
        cancellation.check()?;
        let Page { items: mut matches, truncated, next_cursor } =
            page(search.matches, skip, limit, for_items(session, self.max_result_bytes), whole);
        matches.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        let more = rest(truncated, next_cursor.as_deref());
        Ok(Success::new(
            counted(matches.len(), "match", "matches") + &more,
            SearchFilesData { matches, truncated, next_cursor },
        ))
    }
}

impl SearchFiles {
    fn mode(&self) -> SearchMode {
        self.mode.unwrap_or(SearchMode::Text)
    }
}

fn query(args: &SearchFiles) -> Result<Query, ToolError> {
    if args.query.len() > MAX_QUERY {
        let message = format!("the query has {} bytes, more than {MAX_QUERY}", args.query.len());
        let wanted = "a part of the text that is enough to find it";
        return Err(ToolError::arguments(Reason::BadQuery, message)
            .remedies([Remedy::give("query", wanted)]));
    }
    let is_regex = args.mode() == SearchMode::Regex;
    // A query for paths in lower case matches any case.
    Query::new(&args.query, is_regex, args.mode() == SearchMode::Path).map_err(|error| {
        // Two lines are no text to look for either.
        let is_text = is_regex && Query::new(&args.query, false, false).is_ok();
        let as_text = is_text.then(|| Remedy::set("mode", "text"));
        let wanted = match args.mode() {
            SearchMode::Regex => "one line, a Rust regular expression",
            _ => "one line",
        };
        ToolError::arguments(Reason::BadQuery, format!("the query cannot be searched for: {error}"))
            .remedies(std::iter::once(Remedy::give("query", wanted)).chain(as_text))
    })
}

struct Search<'s> {
    query: &'s Query,
    context: usize,
    /// Whether to put tags before lines.
    tags: bool,
    limit: usize,
    matches: Vec<SearchMatch>,
}

impl Search<'_> {
    fn look_at_path(&mut self, whole: &str, path: &str) {
        if self.query.find(path.as_bytes()).is_some() {
            let preview = whole.to_owned();
            self.matches.push(SearchMatch {
                path: whole.to_owned(),
                line: None,
                column: None,
                preview,
                first_line: 0,
                tagged: None,
            });
        }
    }

    /// Looks at a file: its bytes, and the text that they stand for.
    fn look_at(&mut self, path: &str, file: &[u8], bytes: &[u8]) {
        let text = without_bom(bytes);
        let most = self.limit + 1 - self.matches.len();
        let numbers = self.query.lines(text, most);
        if numbers.is_empty() {
            return;
        }
        let lines: Vec<&[u8]> = text
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| split_terminator(line).0)
            .collect();
        let sha256 = self.tags.then(|| Sha256::of(file));
        for number in numbers {
            let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
            let Some(line) = lines.get(at) else { continue };
            let column = self
                .query
                .find(line)
                .map(|start| String::from_utf8_lossy(&line[..start]).chars().count() as u64 + 1);
            let first = at.saturating_sub(self.context);
            let shown = &lines[first..(at + self.context + 1).min(lines.len())];
            let tags =
                self.tags.then(|| LineTags::of_lines(&lines, first + 1..=first + shown.len()));
            let preview = (first + 1..).zip(shown).map(|(number, line)| {
                let before = tags.as_ref().map(|tags| tags.before(number)).unwrap_or_default();
                before + &cut(&String::from_utf8_lossy(line))
            });
            let preview: Vec<_> = preview.collect();
            let whole = (first + 1..).zip(shown).filter(|(_, line)| line.len() <= MAX_LINE);
            let whole = whole.map(|(number, _)| number);
            let tagged = sha256.map(|sha256| (sha256, whole.collect()));
            self.matches.push(SearchMatch {
                path: path.to_owned(),
                line: Some(number),
                column,
                preview: preview.join("\n"),
                first_line: first + 1,
                tagged,
            });
        }
    }
}

fn cut(line: &str) -> String {
    if line.len() <= MAX_LINE { line.to_owned() } else { format!("{}…", prefix(line, MAX_LINE)) }
}
