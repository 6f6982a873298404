//! The file as the hunks leave it: the pre-image's lines and the inserted ones, as a linked list.
//!
//! The links of the pre-image are implied (line 3 follows line 2); only broken links are stored. So
//! the cost of applying a hunk is its length, wherever in the file it stands.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use patch_grammar::LineKind;

use super::hunk_lines::{of_kind, runs};
use super::needle::Needle;
use crate::text::lines::Lines;

/// A line of the draft: of the pre-image below `len`, an inserted one above; `len` itself is the
/// end of the file, and `len + 1` the place before the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node(pub(crate) usize);

/// A line that a hunk inserted.
#[derive(Debug, Clone)]
pub(crate) struct Inserted<'p> {
    pub(crate) text: Cow<'p, [u8]>,
    pub(crate) hunk: usize,
    /// The terminator, if the patch states one.
    pub(crate) terminator: Option<&'static [u8]>,
    /// The pre-image line with the terminator to use otherwise.
    model: Option<usize>,
    /// Whether a marker says that the line has no line feed.
    pub(crate) no_newline: bool,
    /// The 1-based line of the patch.
    pub(crate) patch_line: u32,
}

/// A changed stretch: the last unchanged line above, the inserted lines, and the first unchanged
/// line below (or the end).
pub(crate) type Change = (Option<usize>, Vec<Node>, usize);

/// The post-state.
#[derive(Debug)]
pub(crate) struct Draft<'f, 'p> {
    pub(crate) lines: &'f Lines<'f>,
    next: HashMap<usize, usize, foldhash::fast::RandomState>,
    previous: HashMap<usize, usize, foldhash::fast::RandomState>,
    inserted: Vec<Inserted<'p>>,
    /// Deleted pre-image lines, and the hunks that deleted them.
    deleted: BTreeMap<usize, usize>,
    /// Pre-image lines that are no longer followed by the next one, and the last hunks that changed
    /// the line below.
    broken: BTreeMap<usize, usize>,
    /// Whether the byte-order mark stays with the first line, wherever the line goes.
    pub(crate) takes_bom: bool,
}

impl<'f, 'p> Draft<'f, 'p> {
    pub(crate) fn new(lines: &'f Lines<'f>) -> Self {
        Self {
            lines,
            next: HashMap::default(),
            previous: HashMap::default(),
            inserted: Vec::new(),
            deleted: BTreeMap::new(),
            broken: BTreeMap::new(),
            takes_bom: false,
        }
    }

    /// The place before the first line.
    pub(crate) fn before_all(&self) -> Node {
        Node(self.lines.len() + 1)
    }

    /// The place after the last line.
    pub(crate) fn end(&self) -> Node {
        Node(self.lines.len())
    }

    pub(crate) fn next(&self, node: Node) -> Node {
        Node(match self.next.get(&node.0) {
            Some(&next) => next,
            None if node == self.before_all() => 0,
            None => node.0 + 1,
        })
    }

    pub(crate) fn previous(&self, node: Node) -> Node {
        Node(match self.previous.get(&node.0) {
            Some(&previous) => previous,
            None if node.0 == 0 => self.lines.len() + 1,
            None => node.0 - 1,
        })
    }

    /// The pre-image line of a node.
    pub(crate) fn old(&self, node: Node) -> Option<usize> {
        (node.0 < self.lines.len()).then_some(node.0)
    }

    /// The 1-based pre-image line of a node; for an inserted line, the number of the next pre-image
    /// line.
    pub(crate) fn line_number(&self, mut node: Node) -> usize {
        while self.inserted(node).is_some() {
            node = self.next(node);
        }
        node.0 + 1
    }

    /// The inserted line of a node.
    pub(crate) fn inserted(&self, node: Node) -> Option<&Inserted<'p>> {
        self.inserted.get(node.0.checked_sub(self.lines.len() + 2)?)
    }

    /// The text of a line.
    pub(crate) fn text(&self, node: Node) -> &[u8] {
        match self.inserted(node) {
            Some(inserted) => &inserted.text,
            None => self.lines.content(node.0),
        }
    }

    /// The terminator of a line.
    pub(crate) fn terminator(&self, node: Node) -> &[u8] {
        match self.inserted(node) {
            Some(inserted) => {
                inserted.terminator.unwrap_or_else(|| self.terminator_near(inserted.model))
            }
            None => self.lines.terminator(node.0),
        }
    }

    /// The terminator of a pre-image line; if it has none, of the line before, or else of most
    /// lines.
    pub(crate) fn terminator_near(&self, line: Option<usize>) -> &'f [u8] {
        let lines = self.lines;
        let own = line.map(|line| lines.terminator(line)).filter(|own| !own.is_empty());
        own.or_else(|| Some(lines.terminator(line?.checked_sub(1)?)))
            .unwrap_or_else(|| lines.dominant_terminator())
    }

    /// Whether `len` lines from `first` to `last` stand as they did in the pre-image.
    pub(crate) fn is_untouched(&self, first: Node, last: Node, len: usize) -> bool {
        self.old(first).is_some() && last.0 == first.0 + len - 1 && self.is_intact(first.0, len)
    }

    pub(crate) fn is_deleted(&self, line: usize) -> bool {
        self.deleted.contains_key(&line)
    }

    /// Whether the pre-image lines `start..start + len` still stand, one after the other.
    pub(crate) fn is_intact(&self, start: usize, len: usize) -> bool {
        let end = start + len;
        self.deleted.range(start..end).next().is_none()
            && self.broken.range(start..end.saturating_sub(1).max(start)).next().is_none()
    }

    /// The last of the pre-image lines `start..start + len` that is deleted, or no longer followed
    /// by the next one.
    pub(crate) fn last_change(&self, start: usize, len: usize) -> Option<usize> {
        let end = start + len;
        let deleted = self.deleted.range(start..end).next_back();
        let broken = self.broken.range(start..end.saturating_sub(1).max(start)).next_back();
        deleted.max(broken).map(|(&line, _)| line)
    }

    /// The hunk that changed the pre-image lines `start..start + len`, if one did.
    pub(crate) fn changed_by(&self, start: usize, len: usize) -> Option<usize> {
        let end = start + len;
        let deleted = self.deleted.range(start..end).next();
        deleted
            .or_else(|| self.broken.range(start..end.saturating_sub(1).max(start)).next())
            .map(|(_, &hunk)| hunk)
    }

    fn link(&mut self, hunk: usize, left: usize, right: usize) {
        self.next.insert(left, right);
        self.previous.insert(right, left);
        // No change is taken back: a new link is none of the pre-image.
        if let Some(line) = self.old(Node(left)) {
            self.broken.insert(line, hunk);
        }
    }

    /// Takes lines of the pre-image out.
    fn unlink(&mut self, hunk: usize, gone: &[usize]) {
        let mut rest = gone;
        while let Some(&first) = rest.first() {
            // Only the neighbours of a run of consecutive lines are linked anew.
            let following = rest
                .windows(2)
                .take_while(|pair| self.next(Node(pair[0])) == Node(pair[1]))
                .count();
            let (run, more) = rest.split_at(1 + following);
            let left = self.previous(Node(first));
            let right = self.next(Node(run[run.len() - 1]));
            self.link(hunk, left.0, right.0);
            for &line in run {
                self.deleted.insert(line, hunk);
                self.broken.remove(&line);
            }
            rest = more;
        }
    }

    /// Applies a hunk whose old lines are `matched`; a hunk without old lines goes below `after`.
    /// `written` has the texts of the inserted lines where they differ from the patch. Returns the
    /// lines of the hunk as they now stand.
    pub(crate) fn apply(
        &mut self,
        needle: &Needle<'p>,
        dropped: usize,
        matched: &[Node],
        after: Node,
        written: Vec<Cow<'p, [u8]>>,
    ) -> Vec<Node> {
        let hunk = needle.index;
        let hunk_lines = needle.lines(dropped);
        let mut cursor = match matched.first() {
            Some(&first) => self.previous(first),
            None => after,
        };
        let ignores_carriage = self.ignores_carriage(needle, matched);
        let mut matched = matched.iter().copied();
        let mut written = written.into_iter();
        // About as many links are new.
        let inserted = of_kind(hunk_lines, LineKind::Insert).count();
        self.next.reserve(inserted + 1);
        self.previous.reserve(inserted + 1);
        self.inserted.reserve(inserted);
        let mut result = Vec::with_capacity(hunk_lines.len());
        for run in runs(hunk_lines) {
            if run[0].kind == LineKind::Context {
                for _ in run {
                    cursor = matched.next().expect("every old line was matched");
                    result.push(cursor);
                }
                continue;
            }
            let deletions = of_kind(run, LineKind::Delete).count();
            let gone: Vec<usize> = matched
                .by_ref()
                .take(deletions)
                .map(|node| self.old(node).expect("insertions are not deleted"))
                .collect();
            self.unlink(hunk, &gone);
            // The hunk's own lines are the nearest neighbours.
            let own = matched.clone().next().filter(|_| result.is_empty() && gone.is_empty());
            let before = own
                .map(|node| self.model(node))
                .unwrap_or_else(|| self.model(cursor))
                .or_else(|| self.old(self.next(cursor)));
            let left = cursor;
            let right = self.next(cursor);
            for (nth, line) in of_kind(run, LineKind::Insert).enumerate() {
                let node = self.lines.len() + 2 + self.inserted.len();
                self.inserted.push(Inserted {
                    text: written.next().unwrap_or(Cow::Borrowed(line.text)),
                    hunk,
                    terminator: needle.terminator(line).filter(|_| !ignores_carriage),
                    model: gone.get(nth).or(gone.last()).copied().or(before),
                    no_newline: line.no_newline,
                    patch_line: line.line,
                });
                self.link(hunk, cursor.0, node);
                cursor = Node(node);
                result.push(cursor);
            }
            if cursor != left {
                self.link(hunk, cursor.0, right.0);
            }
        }
        result
    }

    /// Returns whether every old line of a hunk ends in CRLF, and none of the matched lines does: a
    /// pass with fuzz took them. The hunk was then written with CRLF throughout, and does not mean
    /// to change the line ends of the file.
    fn ignores_carriage(&self, needle: &Needle<'p>, matched: &[Node]) -> bool {
        !matched.is_empty()
            && needle.hunk.old_lines().all(|line| line.crlf)
            && matched.iter().all(|&node| self.terminator(node) != b"\r\n")
    }

    /// The pre-image line that a line inserted after `node` resembles.
    fn model(&self, node: Node) -> Option<usize> {
        match self.inserted(node) {
            Some(inserted) => inserted.model,
            None => self.old(node),
        }
    }

    /// The stretches that changed, in file order.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let start = self.before_all();
        let first = (self.next(start) != Node(0)).then_some(start);
        let broken = self.broken.keys().copied().map(Node);
        let mut changes = Vec::new();
        for left in first.into_iter().chain(broken) {
            let mut inserted = Vec::new();
            let mut right = self.next(left);
            while right.0 > self.lines.len() {
                inserted.push(right);
                right = self.next(right);
            }
            changes.push((self.old(left), inserted, right.0));
        }
        changes
    }

    /// The hunks that made one of the [changes](Self::changes), ascending.
    pub(crate) fn hunks_of(
        &self,
        before: Option<usize>,
        inserted: &[Node],
        after: usize,
    ) -> Vec<usize> {
        // The line before is not deleted.
        let deleted = self.deleted.range(before.unwrap_or(0)..after).map(|(_, &hunk)| hunk);
        let inserted =
            inserted.iter().filter_map(|&node| self.inserted(node)).map(|line| line.hunk);
        let mut hunks: Vec<usize> = deleted.chain(inserted).collect();
        hunks.sort_unstable();
        hunks.dedup();
        hunks
    }
}
