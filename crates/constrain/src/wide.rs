//! The tokens that may follow in an old line, where many lines of the file are possible.

use crate::text::FileText;
use crate::trie::{Node, Trie};

/// Tokens, each after the last line at which a block with the token may begin; descending.
#[derive(Debug)]
pub(crate) struct Wide(Vec<(u32, u32)>);

/// Suffixes of a file, and a place in one of their lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suffixes<'a> {
    pub(crate) file: &'a FileText,
    /// The first lines of the suffixes, in the order of the suffixes.
    pub(crate) starts: &'a [u32],
    /// The number of the line in each suffix.
    pub(crate) depth: u32,
    /// The number of bytes before the place in the line.
    pub(crate) at: u32,
}

impl Suffixes<'_> {
    /// Walks a trie below `root` along the rest of each line and a line feed. Calls `visit` for
    /// each wanted suffix, with the nodes from `root` on.
    fn walk(
        &self,
        trie: &Trie,
        root: Node,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(&[Node], u32),
    ) {
        let mut path: Vec<Node> = vec![root];
        let mut last: Option<(u32, &[u8])> = None;
        for &start in self.starts.iter().filter(|&&start| wanted(start)) {
            let line = start + self.depth;
            let id = self.file.ids[line as usize];
            if last.is_none_or(|(before, _)| before != id) {
                let text = &self.file.line(line)[self.at as usize..];
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

    /// Calls `take` for each possible next token in a block at a wanted line.
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
    /// Some tokens, each after a number of its own.
    pub(crate) fn of(mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable_by(|one, other| other.cmp(one));
        Self(pairs)
    }

    /// All tokens, each after its number.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// Finds the possible next tokens below `root` in a block at a wanted line.
    pub(crate) fn new(
        suffixes: Suffixes<'_>,
        trie: &Trie,
        root: Node,
        wanted: impl Fn(u32) -> bool,
    ) -> Self {
        let mut branch = Branch { trie, open: Vec::new(), found: Vec::new() };
        suffixes.walk(trie, root, wanted, |path, start| {
            let shared = branch
                .open
                .iter()
                .zip(&path[1..])
                .take_while(|(one, other)| one.0 == **other)
                .count();
            branch.close_to(shared);
            branch.open.extend(path[1 + shared..].iter().map(|&node| (node, 0)));
            if let Some(leaf) = branch.open.last_mut() {
                leaf.1 = leaf.1.max(start);
            }
        });
        branch.close_to(0);
        Self::of(branch.found)
    }

    /// The tokens of blocks at a line or below.
    pub(crate) fn from(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().take_while(move |(last, _)| *last >= line).map(|(_, token)| *token)
    }
}

/// A walk through a trie.
struct Branch<'t> {
    trie: &'t Trie,
    /// The nodes on the way, each with the last line below the node.
    open: Vec<(Node, u32)>,
    /// The tokens of the finished nodes, each after the last line.
    found: Vec<(u32, u32)>,
}

impl Branch<'_> {
    /// Goes back up until `shared` nodes are left.
    fn close_to(&mut self, shared: usize) {
        while self.open.len() > shared
            && let Some((node, last)) = self.open.pop()
        {
            self.found.extend(self.trie.tokens(node).iter().map(|&token| (last, token)));
            if let Some(above) = self.open.last_mut() {
                above.1 = above.1.max(last);
            }
        }
    }
}
