//! The changes of a call, and their links in the result.

use std::collections::BTreeSet;
use std::path::Path;

use apply_patch_api::engine::Report;
use apply_patch_api::engine::commit::TransactionId;
use apply_patch_api::file_uri;
use apply_patch_api::files::RelPath;
use rmcp::model::{Annotations, ContentBlock, Resource, Role};

use crate::resources;

/// The most files that are linked. A result names them all.
const MAX_FILES: usize = 8;

/// The types of files that clients show in their own way, by the end of the name.
const TYPES: [(&str, &str); 18] = [
    ("c", "text/x-c"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("go", "text/x-go"),
    ("html", "text/html"),
    ("java", "text/x-java"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "text/x-shellscript"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("ts", "text/x-typescript"),
    ("txt", "text/plain"),
    ("xml", "text/xml"),
    ("yaml", "application/yaml"),
];

/// The changes of a call.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    transactions: Vec<TransactionId>,
    undone: Vec<TransactionId>,
    /// The files that are there afterwards.
    files: BTreeSet<RelPath>,
}

impl Changed {
    /// Adds what was committed.
    pub(crate) fn add(&mut self, report: &Report) {
        self.transactions.extend(report.transaction);
        self.undone.extend(report.plan.undo_of());
        self.undone.extend(report.plan.also_undone());
        for change in report.plan.changes() {
            self.files.remove(&change.path);
            if change.after.is_some() {
                self.files.insert(change.last_path().clone());
            }
        }
    }

    /// Returns the changed resources; none without a commit.
    pub(crate) fn uris(&self) -> Vec<String> {
        if self.transactions.is_empty() {
            return Vec::new();
        }
        resources::changed_uris(&self.undone)
    }

    /// Makes links for the client to show: a model has the same in the data.
    pub(crate) fn links(&self, root: &Path) -> Vec<ContentBlock> {
        let transactions = self.transactions.iter().map(|id| resources::transaction_link(*id));
        let files = self.files.iter().filter_map(|path| {
            let path = path.as_str();
            let name = path.rsplit('/').next().unwrap_or(path);
            let mut link = Resource::new(file_uri(&root.join(path))?, name).with_title(path);
            link.mime_type = mime_type(name).map(str::to_owned);
            Some(link)
        });
        let for_person = Annotations::default().with_audience(vec![Role::User]);
        let links = transactions.take(1).chain(files.take(MAX_FILES));
        links
            .map(|link| ContentBlock::resource_link(link.with_annotations(for_person.clone())))
            .collect()
    }
}

fn mime_type(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    TYPES.iter().find(|(known, _)| end.eq_ignore_ascii_case(known)).map(|(_, mime)| *mime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_types_are_named() {
        let types = [("a.md", Some("text/markdown")), ("A.JSON", Some("application/json"))];
        for (name, mime) in types.into_iter().chain([("a.odd", None), ("md", None), ("", None)]) {
            assert_eq!(mime_type(name), mime, "{name}");
        }
        assert!(TYPES.is_sorted());
    }
}
