//! Walking a directory as far as the guard permits.

use std::collections::VecDeque;
use std::sync::Arc;

use fs_guard::{
    Access, DirEntry, FileKind, GlobError, GlobSet, MAX_GLOBS, Metadata, RelPath, Root, bounded,
};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use patch_engine::remedy::Action;
use patch_engine::{ErrorKind, Host, Remedy};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;
use patch_session::session::Session;

/// The deepest level that is visited.
pub(crate) const MAX_DEPTH: usize = 32;

/// The largest `.gitignore` that is read.
const MAX_IGNORE_FILE: u64 = 1 << 20;

/// The most lines of a `.gitignore` that are taken as rules.
const MAX_IGNORE_RULES: usize = 4096;

/// The most entries that one call visits.
const MAX_VISITED: usize = 1_000_000;

/// Folders that searches leave out, unless they are asked for by name.
pub(crate) const DEFAULT_EXCLUDES: &[&str] =
    &["node_modules", ".git", "dist", "build", ".next", ".turbo", "coverage", "target"];

/// An entry that was found.
#[derive(Debug, Clone)]
pub(crate) struct WalkEntry {
    pub(crate) path: RelPath,
    pub(crate) metadata: Metadata,
    /// How far beneath the directory that is walked, from 1.
    pub(crate) depth: usize,
}

/// The choice of entries that a walk visits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkOptions {
    pub(crate) max_depth: usize,
    /// Names that begin with a dot.
    pub(crate) hidden: bool,
    /// Entries that `.gitignore` files of the workspace ignore.
    pub(crate) ignored: bool,
}

/// A directory that a walk has yet to visit.
struct PendingDirectory {
    dir: Option<RelPath>,
    depth: usize,
    ignores: Vec<std::rc::Rc<Gitignore>>,
}

/// Calls `visit` with every visible entry, in order of names, all entries of a directory before
/// those beneath it. `visit` returns whether to enter a directory, or `None` to stop. Returns
/// whether everything was visited.
pub(crate) fn walk(
    root: &Root,
    dir: Option<RelPath>,
    options: &WalkOptions,
    host: &dyn Host,
    visit: &mut dyn FnMut(WalkEntry) -> Option<bool>,
) -> Result<bool, ToolError> {
    let cancellation = host.cancellation();
    let mut whole = true;
    let mut visited = 0;
    let ignores = if options.ignored { Vec::new() } else { ignores_above(root, dir.as_ref()) };
    let mut pending = VecDeque::from([PendingDirectory { dir, depth: 0, ignores }]);
    while let Some(PendingDirectory { dir, depth, mut ignores }) = pending.pop_front() {
        cancellation.check()?;
        let mut entries = match root.read_dir(dir.as_ref()) {
            Ok(entries) => entries,
            // A directory that cannot be read is skipped, unless the caller named it.
            Err(error) if depth == 0 => return Err(error.into()),
            Err(_) => continue,
        };
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        if !options.ignored && entries.iter().any(|entry| entry.name == b".gitignore") {
            ignores.extend(ignore_file(root, dir.as_ref()));
        }
        let mut beneath = Vec::new();
        for DirEntry { name, metadata, .. } in entries {
            visited += 1;
            if visited > MAX_VISITED {
                return Ok(false);
            }
            if !options.hidden && name.starts_with(b".") {
                continue;
            }
            let Some(path) = visible(root, dir.as_ref(), &name) else { continue };
            let is_dir = metadata.kind == FileKind::Directory;
            if ignored(&ignores, &path, is_dir) {
                continue;
            }
            let found = WalkEntry { path: path.clone(), metadata, depth: depth + 1 };
            match visit(found) {
                None => return Ok(false),
                Some(true) if is_dir && depth + 1 < options.max_depth => beneath.push(path),
                Some(true) if is_dir => whole &= options.max_depth < MAX_DEPTH,
                Some(_) => {}
            }
        }
        for path in beneath.into_iter().rev() {
            pending.push_front(PendingDirectory {
                dir: Some(path),
                depth: depth + 1,
                ignores: ignores.clone(),
            });
        }
    }
    Ok(whole)
}

/// Returns the path of an entry, unless it is forbidden or has a name that no tool accepts.
fn visible(root: &Root, dir: Option<&RelPath>, name: &[u8]) -> Option<RelPath> {
    let path = match dir {
        Some(dir) => [dir.as_str().as_bytes(), b"/", name].concat(),
        None => name.to_vec(),
    };
    root.check_bytes(&path, Access::Read).ok()
}

/// Returns whether a path is ignored, by the innermost `.gitignore` that has a rule for it.
fn ignored(ignores: &[std::rc::Rc<Gitignore>], path: &RelPath, is_dir: bool) -> bool {
    let mut rules = ignores.iter().rev().map(|file| file.matched(path.as_str(), is_dir));
    rules.find(|rule| !rule.is_none()).is_some_and(|rule| rule.is_ignore())
}

/// Reads the `.gitignore` files of the directories above `dir`.
fn ignores_above(root: &Root, dir: Option<&RelPath>) -> Vec<std::rc::Rc<Gitignore>> {
    let Some(dir) = dir else { return Vec::new() };
    let above: Vec<_> = std::iter::once(None).chain(dir.ancestors().map(Some)).collect();
    above.iter().filter_map(|above| ignore_file(root, above.as_ref())).collect()
}

/// Reads the rules of one `.gitignore`, relative to the root like the paths.
fn ignore_file(root: &Root, dir: Option<&RelPath>) -> Option<std::rc::Rc<Gitignore>> {
    let name = dir.map_or_else(|| ".gitignore".to_owned(), |dir| format!("{dir}/.gitignore"));
    let path = root.check(&name, Access::Read).ok()?;
    let (bytes, _) = root.read(&path, MAX_IGNORE_FILE).ok()?;
    let mut builder = GitignoreBuilder::new(dir.map_or("", RelPath::as_str));
    // Like git, skip a line that is not a rule.
    let text = String::from_utf8_lossy(&bytes);
    for line in text.lines().filter(|line| bounded(line).is_ok()).take(MAX_IGNORE_RULES) {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().map(std::rc::Rc::new)
}

/// Finds the directory that an argument names; `None` is the root itself.
pub(crate) fn find_directory(
    session: &Session,
    root: &Arc<Root>,
    argument: &str,
    path: Option<&str>,
) -> Result<Option<RelPath>, ToolError> {
    let path = path.unwrap_or_default();
    let path = path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path);
    if matches!(path, "" | "." | "./") {
        return Ok(None);
    }
    let (found, seen) = session.find(root, path)?;
    if seen.kind != FileKind::Directory {
        let message = "it is a file, not a directory";
        let read = (argument != "workspace_root").then(|| Remedy::act(Action::Read, path));
        return Err(ToolError::about(ErrorKind::NotFound, path, Reason::NotADirectory, message)
            .remedies(read.into_iter().chain([Remedy::give(argument, "a directory")])));
    }
    Ok(Some(found))
}

/// Compiles patterns as ripgrep does with `--glob`: one without a slash matches a name anywhere, and
/// an empty one matches nothing.
pub(crate) fn globs(argument: &str, patterns: &[String]) -> Result<GlobSet, ToolError> {
    if patterns.len() > MAX_GLOBS {
        let problem =
            format!("`{argument}` has {} patterns, more than {MAX_GLOBS}", patterns.len());
        return Err(bad_glob(argument, problem, "fewer patterns"));
    }
    let both = patterns.iter().filter(|pattern| !pattern.is_empty()).flat_map(|pattern| {
        let whole = match pattern.strip_prefix('/') {
            Some(anchored) => anchored.to_owned(),
            None if pattern.trim_end_matches('/').contains('/') => pattern.clone(),
            None => format!("**/{pattern}"),
        };
        let whole = whole.trim_end_matches('/').to_owned();
        [format!("{whole}/**"), whole]
    });
    compiled(argument, GlobSet::new(both))
}

/// Compiles one pattern; `*` does not match `/`.
pub(crate) fn glob(argument: &str, pattern: &str) -> Result<GlobSet, ToolError> {
    compiled(argument, GlobSet::new([pattern]))
}

fn compiled(argument: &str, built: Result<GlobSet, GlobError>) -> Result<GlobSet, ToolError> {
    built.map_err(|error| bad_glob(argument, error.to_string(), "a pattern such as `**/*.rs`"))
}

pub(crate) fn bad_glob(argument: &str, problem: String, wanted: &str) -> ToolError {
    ToolError::arguments(Reason::BadGlob, problem).remedies([Remedy::give(argument, wanted)])
}

/// Makes a path relative to the directory that is searched, as patterns match it.
pub(crate) fn relative<'p>(path: &'p RelPath, dir: Option<&RelPath>) -> &'p str {
    match dir {
        Some(dir) => &path.as_str()[dir.as_str().len() + 1..],
        None => path.as_str(),
    }
}

/// Returns the word for a kind of entry.
pub(crate) fn type_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Submodule | FileKind::Other => "other",
    }
}
