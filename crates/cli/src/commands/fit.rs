//! Reads the files that a grammar is made for.

use std::collections::BTreeMap;

use apply_patch_api::FitRequest;
pub(super) use apply_patch_api::FittedGrammar;
use apply_patch_api::engine::MAX_PATCH_SIZE;
use apply_patch_api::files::Access;
use apply_patch_api::grammar::export::Format;

use super::workspace;
use crate::args::fit::FileLines;
use crate::failure::Failure;
use crate::global::Global;
use crate::{args, source};

/// Makes the grammar for files of the workspace, in a notation.
pub(super) fn fitted(
    global: &Global,
    args: &args::Fit,
    format: Format,
) -> Result<FittedGrammar, Failure> {
    let workspace = workspace::open(global)?;
    let root = workspace.root();
    let mut files = Vec::with_capacity(args.fit.len());
    for name in &args.fit {
        let path = root.check(name, Access::Read)?;
        let (bytes, _) = root.read(&path, MAX_PATCH_SIZE)?;
        files.push((path.to_string(), bytes));
    }
    let mut shown: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for FileLines { file, first, last } in &args.lines {
        let path = root.check(file, Access::Read)?.to_string();
        shown.entry(path).or_default().push((*first, *last));
    }
    let request = FitRequest {
        lines: shown,
        paths: paths(args)?,
        operations: args.operations.clone(),
        profile: args.profile.map(|profile| profile.as_str().to_owned()),
        format: Some(format.as_str().to_owned()),
    };
    apply_patch_api::fit(&files, &request).map_err(|error| Failure::Tool(Box::new(error)))
}

/// Reads the list of paths that exist.
fn paths(args: &args::Fit) -> Result<Vec<String>, Failure> {
    let Some(list) = &args.paths_from else { return Ok(Vec::new()) };
    let list = source::open(Some(list))?.read()?;
    let text = std::str::from_utf8(list.bytes())
        .map_err(|_| Failure::Unreadable(format!("{}: it is not UTF-8", list.name)))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}
