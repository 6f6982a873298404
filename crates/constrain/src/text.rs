//! A file for the matcher: its lines, and its sorted suffixes.

use std::ops::Range;
use std::sync::OnceLock;

use crate::costs::{Costs, LETTERS};
use crate::cut::Cuts;
use crate::error::BindError;
use crate::suffixes;

/// The byte-order mark of UTF-8.
const BOM: &str = "\u{feff}";

/// The lines of a file.
#[derive(Debug)]
pub(crate) struct FileText {
    text: Box<str>,
    /// The beginning and the end of each line, without its terminator.
    lines: Vec<(u32, u32)>,
    /// For each line the number of its text; texts are numbered in the order of their bytes.
    pub(crate) ids: Vec<u32>,
    /// For each text the first line with it.
    pub(crate) firsts: Vec<u32>,
    /// The first lines of the suffixes, sorted by the suffixes.
    pub(crate) order: Vec<u32>,
    /// From each line above this one, and from no other, some block stands once in the file.
    pub(crate) limit: u32,
    /// The beginnings of texts that git writes as headings.
    cuts: OnceLock<Cuts>,
    /// What hunks cost, for outputs of limited length.
    costs: OnceLock<Costs>,
    /// A tree of maxima over `order`: the last line above `limit` in each stretch.
    last: Vec<i32>,
}

impl FileText {
    /// Reads a file.
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, BindError> {
        if bytes.len() > i32::MAX as usize {
            return Err(BindError::TooLarge);
        }
        let text = String::from_utf8(bytes).map_err(|_| BindError::NotUtf8)?;
        if text.contains('\0') {
            return Err(BindError::Binary);
        }
        let text = text.into_boxed_str();
        let lines = line_ranges(&text)?;
        let mut sorted: Vec<(&[u8], u32)> = lines
            .iter()
            .map(|&(start, end)| &text.as_bytes()[start as usize..end as usize])
            .zip(0..)
            .collect();
        sorted.sort_unstable();
        let mut ids = vec![0; lines.len()];
        let mut firsts = Vec::new();
        let mut before = None;
        for &(content, line) in &sorted {
            if before != Some(content) {
                firsts.push(line);
                before = Some(content);
            }
            ids[line as usize] = firsts.len() as u32 - 1;
        }
        drop(sorted);
        let order = suffixes::sorted(&ids);
        let limit = (ids.len() - suffixes::repeated_end(&ids, &order)) as u32;
        let last = maxima(&order, limit);
        let costs = OnceLock::new();
        let cuts = OnceLock::new();
        Ok(Self { text, lines, ids, firsts, order, limit, cuts, costs, last })
    }

    /// The whole file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The number of lines.
    pub(crate) fn len(&self) -> u32 {
        self.lines.len() as u32
    }

    /// The text of a line.
    #[inline]
    pub(crate) fn line(&self, line: u32) -> &[u8] {
        let (start, end) = self.lines[line as usize];
        &self.text.as_bytes()[start as usize..end as usize]
    }

    /// What hunks of the file cost.
    pub(crate) fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| {
            let lines = self.lines.iter().map(|(start, end)| end - start);
            Costs::new(lines, &self.ids, &self.order, self.firsts.len(), self.limit)
        })
    }

    /// The fewest bytes to be added to a text until it is not a line of the file.
    pub(crate) fn to_new(&self, text: &[u8]) -> u32 {
        let mut longer = text.to_vec();
        let farthest = self.costs().farthest;
        (0..farthest).find(|&len| self.can_be_new(&mut longer, len)).unwrap_or(farthest)
    }

    /// Whether a text with `len` more letters may be no line of the file.
    fn can_be_new(&self, text: &mut Vec<u8>, len: u32) -> bool {
        if len == 0 {
            return self.id_of(text.strip_suffix(b"\r").unwrap_or(text)).is_none();
        }
        LETTERS.iter().any(|&letter| {
            text.push(letter);
            let can = self.can_be_new(text, len - 1);
            text.pop();
            can
        })
    }

    /// The text of a line, as a string.
    pub(crate) fn str(&self, line: u32) -> &str {
        let (start, end) = self.lines[line as usize];
        &self.text[start as usize..end as usize]
    }

    /// The headings that git cuts.
    pub(crate) fn cuts(&self) -> &Cuts {
        self.cuts.get_or_init(|| Cuts::new(self.firsts.iter().map(|&line| self.str(line))))
    }

    /// The byte of a line at a place; none at the end of the line.
    #[inline]
    pub(crate) fn byte(&self, line: u32, at: u32) -> Option<u8> {
        self.line(line).get(at as usize).copied()
    }

    /// The number of a text.
    pub(crate) fn id_of(&self, text: &[u8]) -> Option<u32> {
        let found = self.firsts.binary_search_by(|&line| self.line(line).cmp(text));
        found.ok().map(|id| id as u32)
    }

    /// Whether some suffix of `range` in the order begins in `lines`.
    pub(crate) fn any_start(&self, range: Range<u32>, lines: Range<u32>) -> bool {
        if range.len() <= 16 || lines.end != self.limit {
            let starts = &self.order[range.start as usize..range.end as usize];
            return starts.iter().any(|start| lines.contains(start));
        }
        let size = self.order.len();
        let mut from = range.start as usize + size;
        let mut to = range.end as usize + size;
        let mut last = -1;
        while from < to {
            if from % 2 == 1 {
                last = last.max(self.last[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                last = last.max(self.last[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        last >= lines.start as i32
    }

    /// Whether a line is in the scope of a line with the text of `header`. The scope reaches down
    /// to the next line that is indented no deeper and begins with a letter, `_` or `$`.
    pub(crate) fn in_scope(&self, header: u32, line: u32) -> bool {
        let id = self.ids[header as usize];
        let indent = self.indent(header);
        for above in (0..=line).rev() {
            if self.ids[above as usize] == id {
                return true;
            }
            if self.opens_scope(above) && self.indent(above) <= indent {
                return false;
            }
        }
        false
    }

    /// The number of blanks and tabs in front of a line.
    fn indent(&self, line: u32) -> usize {
        self.line(line).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Whether a line begins with a letter, `_` or `$` after its indentation.
    fn opens_scope(&self, line: u32) -> bool {
        let first = self.line(line).get(self.indent(line));
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
    }
}

/// The lines of a text, without a byte-order mark.
fn line_ranges(text: &str) -> Result<Vec<(u32, u32)>, BindError> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let mut at = text.len() - body.len();
    let mut lines = Vec::with_capacity(body.len() / 24);
    for line in body.split_inclusive('\n') {
        let content =
            line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        if content.ends_with('\r') {
            return Err(BindError::CarriageReturn);
        }
        // In front of a hunk's first line, the engine takes such a mark for the mark of the file.
        if body.len() < text.len() && content.starts_with(BOM) {
            return Err(BindError::ByteOrderMark);
        }
        lines.push((at as u32, (at + content.len()) as u32));
        at += line.len();
    }
    Ok(lines)
}

/// A tree of maxima over the starts in `order` that are above `limit`.
fn maxima(order: &[u32], limit: u32) -> Vec<i32> {
    let size = order.len();
    let mut last = vec![-1; size];
    last.extend(order.iter().map(|&start| if start < limit { start as i32 } else { -1 }));
    for at in (1..size).rev() {
        last[at] = last[2 * at].max(last[2 * at + 1]);
    }
    last
}
