//! The tokens that may follow in an old line, where many lines of the file may be meant.

use crate::text::FileText;
use crate::trie::{Node, Trie};

/// Tokens, each with the last line at which a block that has it may begin; descending by it.
#[derive(Debug)]
pub(crate) struct Wide(Vec<(u32, u32)>);

/// Suffixes of a file, and a place in a line of theirs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suffixes<'a> {
    pub(crate) file: &'a FileText,
    /// They are in the order of their texts.
    pub(crate) starts: &'a [u32],
    pub(crate) depth: u32,
    pub(crate) at: u32,
}

impl Suffixes<'_> {
    /// Walks a trie below `root` along the rest of each line, with the line feed at its end. Calls
    /// `visit` for each suffix that is wanted, with the nodes from `root` on.
    fn walk(
        &self,
        trie: &Trie,
        root: Node,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(&[Node], u32),
    ) {
        let rest = |start: u32| {
            let line = self.file.line(start + self.depth);
            &line[self.at as usize..]
        };
        let mut path: Vec<Node> = vec![root];
        let mut last: Option<(u32, &[u8])> = None;
        for &start in self.starts.iter().filter(|&&start| wanted(start)) {
            let id = self.file.ids[(start + self.depth) as usize];
            if last.is_none_or(|(before, _)| before != id) {
                let text = rest(start);
                let shared = last.map_or(0, |(_, before)| {
                    let most = path.len() - 1;
                    before
                        .iter()
                        .zip(text)
                        .take(most)
                        .take_while(|(one, other)| one == other)
                        .count()
                });
                path.truncate(shared + 1);
                let feed = [b'\n'];
                for &byte in text[shared..].iter().chain(&feed) {
                    let Some(child) = trie.child(path[path.len() - 1], byte) else { break };
                    path.push(child);
                }
                last = Some((id, text));
            }
            visit(&path, start);
        }
    }

    /// Calls `take` for each token that may follow, where blocks begin at lines that are wanted.
    pub(crate) fn tokens(
        &self,
        trie: &Trie,
        root: Node,
        wanted: impl Fn(u32) -> bool,
        mut take: impl FnMut(u32),
    ) {
        let mut known: Vec<Node> = Vec::new();
        self.walk(trie, root, wanted, |path, _| {
            let shared =
                known.iter().zip(&path[1..]).take_while(|(one, other)| one == other).count();
            known.truncate(shared);
            for &node in &path[1 + shared..] {
                trie.tokens(node).iter().for_each(|&token| take(token));
                known.push(node);
            }
        });
    }
}

impl Wide {
    /// Finds the tokens below `root`, for blocks that begin at lines that are wanted.
    pub(crate) fn new(
        suffixes: Suffixes<'_>,
        trie: &Trie,
        root: Node,
        wanted: impl Fn(u32) -> bool,
    ) -> Self {
        let mut found = Vec::new();
        // The nodes on the way, each with the last line below it.
        let mut open: Vec<(Node, u32)> = Vec::new();
        let mut close = |(node, last): (Node, u32)| {
            found.extend(trie.tokens(node).iter().map(|&token| (last, token)));
            last
        };
        suffixes.walk(trie, root, wanted, |path, start| {
            let shared =
                open.iter().zip(&path[1..]).take_while(|(one, other)| one.0 == **other).count();
            while open.len() > shared {
                let last = open.pop().map_or(0, &mut close);
                if let Some(above) = open.last_mut() {
                    above.1 = above.1.max(last);
                }
            }
            open.extend(path[1 + shared..].iter().map(|&node| (node, 0)));
            if let Some(leaf) = open.last_mut() {
                leaf.1 = leaf.1.max(start);
            }
        });
        while let Some(node) = open.pop() {
            let last = close(node);
            if let Some(above) = open.last_mut() {
                above.1 = above.1.max(last);
            }
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        Self(found)
    }

    /// The tokens of blocks that begin at a line or below it.
    pub(crate) fn from(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().take_while(move |(last, _)| *last >= line).map(|(_, token)| *token)
    }
}
