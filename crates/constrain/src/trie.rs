//! Token texts as a trie.
//!
//! The children of a node stand together, in the order of their bytes, because the matcher looks
//! up one child at a time along a known text. `toktrie`, the trie of other engines of constrained
//! decoding, keeps them in a list instead.

use std::ops::Range;

/// A trie of byte strings, each with the numbers of the tokens that spell it.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    /// The last byte of each node.
    bytes: Vec<u8>,
    /// The index of each node's first child; the children of the next node follow.
    children: Vec<u32>,
    /// The index of each node's first token; the tokens of the next node follow.
    first_token: Vec<u32>,
    tokens: Vec<u32>,
}

/// A node of a [`Trie`].
pub(crate) type Node = u32;

impl Trie {
    /// The node of the empty string.
    pub(crate) const ROOT: Node = 0;

    /// Makes a trie of strings, each with a token; the empty string is left out.
    pub(crate) fn new(mut entries: Vec<(&[u8], u32)>) -> Self {
        entries.retain(|(text, _)| !text.is_empty());
        entries.sort_unstable();
        let mut trie = Self { bytes: vec![0], ..Self::default() };
        // Breadth first: the entries below each node of the present depth.
        let mut level: Vec<Range<usize>> = std::iter::once(0..entries.len()).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let mut below = Vec::new();
            for range in level {
                trie.children.push(trie.bytes.len() as u32);
                trie.first_token.push(trie.tokens.len() as u32);
                let mut from = range.start;
                while from < range.end && entries[from].0.len() == depth {
                    trie.tokens.push(entries[from].1);
                    from += 1;
                }
                while from < range.end {
                    let byte = entries[from].0[depth];
                    let len =
                        entries[from..range.end].partition_point(|(text, _)| text[depth] == byte);
                    trie.bytes.push(byte);
                    below.push(from..from + len);
                    from += len;
                }
            }
            level = below;
            depth += 1;
        }
        trie.children.push(trie.bytes.len() as u32);
        trie.first_token.push(trie.tokens.len() as u32);
        trie
    }

    /// The children of a node.
    pub(crate) fn children(&self, node: Node) -> impl Iterator<Item = (u8, Node)> + '_ {
        let range = self.children[node as usize]..self.children[node as usize + 1];
        range.map(|child| (self.bytes[child as usize], child))
    }

    /// The child of a node with one more byte.
    #[inline]
    pub(crate) fn child(&self, node: Node, byte: u8) -> Option<Node> {
        let from = self.children[node as usize] as usize;
        let bytes = &self.bytes[from..self.children[node as usize + 1] as usize];
        let at = if bytes.len() <= 8 {
            bytes.iter().position(|&other| other == byte)?
        } else {
            bytes.binary_search(&byte).ok()?
        };
        Some((from + at) as Node)
    }

    /// The tokens that spell the string of a node.
    #[inline]
    pub(crate) fn tokens(&self, node: Node) -> &[u32] {
        let from = self.first_token[node as usize] as usize;
        &self.tokens[from..self.first_token[node as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(trie: &Trie, text: &[u8]) -> Option<Vec<u32>> {
        let node = text.iter().try_fold(Trie::ROOT, |node, &byte| trie.child(node, byte))?;
        Some(trie.tokens(node).to_vec())
    }

    #[test]
    fn finds_each_string_and_nothing_else() {
        let texts: [&[u8]; 7] = [b"a", b"ab", b"abc", b"b", b"", b"\xff\x00", b"ab"];
        let entries = texts.iter().zip(0..).map(|(text, id)| (*text, id)).collect();
        let trie = Trie::new(entries);
        for (text, wanted) in [
            (&b"a"[..], Some(vec![0])),
            (b"ab", Some(vec![1, 6])),
            (b"abc", Some(vec![2])),
            (b"abcd", None),
            (b"b", Some(vec![3])),
            (b"", Some(vec![])),
            (b"\xff", Some(vec![])),
            (b"\xff\x00", Some(vec![5])),
        ] {
            assert_eq!(find(&trie, text), wanted, "{text:?}");
        }
    }
}
