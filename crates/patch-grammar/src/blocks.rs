//! Reads SEARCH/REPLACE blocks, and writes them as an envelope.
//!
//! ```
//! use patch_grammar::blocks;
//!
//! let text = b"greet.py\n<<<<<<< SEARCH\nhi\n=======\nhello\n>>>>>>> REPLACE\n";
//! let found = blocks::to_envelope(text)?;
//! let wanted = "*** Begin Patch\n*** Update File: greet.py\n@@\n-hi\n+hello\n*** End Patch\n";
//! assert_eq!(found.text, wanted.as_bytes());
//! # Ok::<(), patch_grammar::ParseError>(())
//! ```
//!
//! Each block is a hunk of the file named by a line above: the line before the block, or before the
//! fence around the block, the first line in the fence, the words after its language, or `<path>`
//! above `<diff>`. A block right after another one may lack such a line: the file is the same. A
//! block with an empty search makes a new file. Whoever applies the blocks must accept exact and
//! unique matches only: that is the meaning of a block. Blocks act in order, each on the result of
//! the blocks before: a block that removes lines inserted by an earlier one is a section of its
//! own.

use std::collections::HashSet;
use std::ops::Range;

use crate::ast::LineKind;
use crate::diagnose;
use crate::envelope::Writer;
use crate::error::{ParseError, ParseErrorKind};
use crate::fence::Fence;
use crate::lines::{Lines, left_out};
use crate::marker::{self, Marker};
use crate::outside::{self, BLOCK_SIGNS, is_block_marker, opens_block};
use crate::parse::decode;
use crate::path_line::{Says, named, named_above};

/// The envelope made from blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The envelope.
    pub text: Vec<u8>,
    /// Which line of the blocks each of its lines is, both from 1.
    pub lines: Vec<u32>,
    /// The line of the file that each hunk states, from 1, if it does. It may choose among places
    /// with the same text.
    pub starts: Vec<Option<u32>>,
    /// How many blocks there were, and what was left out.
    pub notes: Vec<String>,
}

/// One block; lines are counted from 0.
struct SearchReplaceBlock<'t> {
    /// From its first marker to its last, and the line with the name of the file.
    lines: Range<usize>,
    named_in: Option<usize>,
    path: String,
    /// The stated line of the file, from 1.
    start: Option<u32>,
    old: Vec<BlockLine<'t>>,
    new: Vec<BlockLine<'t>>,
}

impl SearchReplaceBlock<'_> {
    /// Returns the line with the name of the file, or else the first.
    fn opening(&self) -> usize {
        self.named_in.unwrap_or(self.lines.start)
    }
}

/// A line of a block; lines are counted from 0.
#[derive(Debug, Clone, Copy)]
struct BlockLine<'t> {
    text: &'t str,
    at: usize,
}

/// Returns whether any line of a text opens a block.
#[must_use]
pub fn are_in(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').any(opens_block)
}

/// Writes all blocks of a text as one envelope.
///
/// # Errors
///
/// Those of [`decode`]; [`ParseErrorKind::BadBlock`] if a marker is missing or stands there twice,
/// [`ParseErrorKind::NoBlockPath`] if no line names the file, [`ParseErrorKind::TextOutside`] if
/// there is a part of another patch around them.
pub fn to_envelope(text: &[u8]) -> Result<Converted, ParseError> {
    let text = decode(text)?;
    let lines = Lines::new(text.as_bytes(), 0..text.len());
    let mut blocks = BlockReader { text, lines: &lines, fence: None, last: None }.blocks()?;
    let mut taken: Vec<Range<usize>> = Vec::new();
    for block in &blocks {
        taken.extend(block.named_in.map(|line| line..line + 1));
        taken.push(block.lines.clone());
    }
    let mut around = Vec::new();
    let mut end = 0;
    for range in taken.iter().chain([&(lines.len()..lines.len())]) {
        around.push(end..range.start.max(end));
        end = range.end;
    }
    outside::check(text.as_bytes(), &lines, around.clone(), false)?;
    let mut notes = vec![match blocks.len() {
        1 => "read a SEARCH/REPLACE block".to_owned(),
        count => format!("read {count} SEARCH/REPLACE blocks"),
    }];
    notes.extend(left_out(
        around.into_iter().filter(|range| range.clone().any(|at| says_something(lines.get(at)))),
    ));
    let mut made: HashSet<(String, Vec<&str>)> = HashSet::new();
    blocks.retain(|block| {
        let new = block.new.iter().map(|line| line.text).collect();
        let is_first = !block.old.is_empty() || made.insert((block.path.clone(), new));
        if !is_first {
            let line = block.lines.start + 1;
            notes.push(format!("left out the block in line {line}: one above makes that file"));
        }
        is_first
    });
    let (text, lines) = written(&blocks);
    let lines = lines.into_iter().map(|at| u32::try_from(at + 1).unwrap_or(u32::MAX)).collect();
    let changes = blocks.iter().filter(|block| !block.old.is_empty());
    let starts = changes.map(|block| block.start).collect();
    Ok(Converted { text, lines, starts, notes })
}

/// Returns whether a line is neither empty nor a fence.
fn says_something(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !line.starts_with(b"```") && !line.starts_with(b"~~~")
}

/// Writes the lines of a hunk, prefixes included, as lines of a block. Returns `None` if one of
/// them would read as a marker.
#[must_use]
pub fn of_hunk(lines: &[String]) -> Option<Vec<String>> {
    let mut block = vec!["<<<<<<< SEARCH".to_owned()];
    block.extend(side(lines, '+'));
    block.push(RULE.to_owned());
    block.extend(side(lines, '-'));
    block.push(">>>>>>> REPLACE".to_owned());
    let is_marked = side(lines, '+').chain(side(lines, '-')).any(|line| marks(&line));
    (!is_marked).then_some(block)
}

const RULE: &str = "=======";

/// Returns the lines of one side of a hunk, without their signs.
fn side(lines: &[String], other: char) -> impl Iterator<Item = String> {
    let lines = lines.iter().filter(move |line| !line.starts_with(other));
    lines.map(|line| line.get(1..).unwrap_or_default().to_owned())
}

/// Returns whether a line would be read as a marker of a block.
fn marks(line: &str) -> bool {
    let closes = BLOCK_SIGNS.iter().any(|&(_, sign)| closes(line, sign));
    closes || opens_block(line.as_bytes()) || line.trim() == RULE
}

/// Returns whether a line closes a block, by this sign.
fn closes(line: &str, sign: u8) -> bool {
    is_block_marker(line.as_bytes(), sign, &["REPLACE", "UPDATED"])
}

/// Writes blocks as an envelope. Also returns from which line each of its lines is.
fn written(blocks: &[SearchReplaceBlock<'_>]) -> (Vec<u8>, Vec<usize>) {
    let mut out = Writer::default();
    let mut from: Vec<usize> = Vec::new();
    from.extend(blocks.first().map(SearchReplaceBlock::opening));
    // The file of the open section, and the lines inserted by its blocks: a block that removes one
    // of them is a section of its own, as each block acts on the result of the blocks before.
    let mut open: Option<(&str, HashSet<&str>)> = None;
    for block in blocks {
        let mut lines = String::new();
        if block.old.is_empty() {
            open = None;
            from.push(block.opening());
            out.header(Marker::Add, &block.path, None);
            block.new.iter().for_each(|line| marker::push_line(&mut lines, '+', line.text));
            from.extend(block.new.iter().map(|line| line.at));
        } else {
            let hunk = hunk(&block.old, &block.new);
            let goes_on = open.as_ref().is_some_and(|(path, inserted)| {
                *path == block.path
                    && !texts(&hunk, LineKind::Delete).any(|line| inserted.contains(line))
            });
            if !goes_on {
                out.header(Marker::Update, &block.path, None);
                from.push(block.opening());
                open = Some((&block.path, HashSet::new()));
            }
            if let Some((_, inserted)) = &mut open {
                inserted.extend(texts(&hunk, LineKind::Insert));
            }
            marker::push_header(&mut lines, None);
            from.push(block.lines.start);
            for &(kind, line) in &hunk {
                marker::push_line(&mut lines, kind.sign(), line.text);
                from.push(line.at);
            }
        }
        out.lines(lines.as_bytes());
    }
    from.extend(blocks.last().map(|block| block.lines.end - 1));
    (out.finish(), from)
}

/// Returns the texts of the lines of a kind.
fn texts<'h, 't>(
    hunk: &'h [(LineKind, BlockLine<'t>)],
    of: LineKind,
) -> impl Iterator<Item = &'t str> + use<'h, 't> {
    hunk.iter().filter(move |(kind, _)| *kind == of).map(|(_, line)| line.text)
}

/// Takes the common first and last lines as context.
fn hunk<'t>(old: &[BlockLine<'t>], new: &[BlockLine<'t>]) -> Vec<(LineKind, BlockLine<'t>)> {
    let above = common(old.iter(), new.iter());
    let old_rest = &old[above..];
    let new_rest = &new[above..];
    let below = common(old_rest.iter().rev(), new_rest.iter().rev());
    let (deleted, below) = old_rest.split_at(old_rest.len() - below);
    let inserted = &new_rest[..new_rest.len() - below.len()];
    let mut hunk = Vec::with_capacity(old.len() + inserted.len());
    hunk.extend(old[..above].iter().map(|line| (LineKind::Context, *line)));
    hunk.extend(deleted.iter().map(|line| (LineKind::Delete, *line)));
    hunk.extend(inserted.iter().map(|line| (LineKind::Insert, *line)));
    hunk.extend(below.iter().map(|line| (LineKind::Context, *line)));
    hunk
}

/// Returns how many lines are the same on both sides, up to the first difference.
fn common<'l, 't: 'l>(
    old: impl Iterator<Item = &'l BlockLine<'t>>,
    new: impl Iterator<Item = &'l BlockLine<'t>>,
) -> usize {
    old.zip(new).take_while(|(old, new)| old.text == new.text).count()
}

struct BlockReader<'l, 't> {
    text: &'t str,
    lines: &'l Lines<'t>,
    fence: Option<(usize, Fence)>,
    last: Option<String>,
}

impl<'t> BlockReader<'_, 't> {
    fn get(&self, at: usize) -> &'t str {
        let range = self.lines.range(at);
        self.text[range].trim_end_matches(['\n', '\r'])
    }

    fn failure(&self, at: usize, kind: ParseErrorKind, expected: &'static str) -> ParseError {
        let start = self.lines.range(at).start;
        diagnose::at(self.text, start, kind, vec![expected])
    }

    fn blocks(mut self) -> Result<Vec<SearchReplaceBlock<'t>>, ParseError> {
        let mut blocks: Vec<SearchReplaceBlock<'t>> = Vec::new();
        let mut at = 0;
        let mut end = 0;
        while at < self.lines.len() {
            let line = self.get(at);
            if opens_block(line.as_bytes()) {
                let block = self.block(at, end)?;
                at = block.lines.end;
                end = block.lines.end;
                self.last = Some(block.path.clone());
                blocks.push(block);
                continue;
            }
            match &self.fence {
                Some((_, fence)) if fence.is_closed_by(line) => self.fence = None,
                Some(_) => {}
                None => self.fence = Fence::opened_by(line).map(|fence| (at, fence)),
            }
            at += 1;
        }
        Ok(blocks)
    }

    /// Reads the block that opens in line `at`; the block before ended above line `floor`.
    fn block(&self, at: usize, floor: usize) -> Result<SearchReplaceBlock<'t>, ParseError> {
        let opening = BlockOpening::of(self.get(at));
        let BlockBounds { rule, end } = self.bounds(at, &opening)?;
        let first = self.below_numbers(at, rule)?;
        let old = self.side(first..rule, opening.indent)?;
        let new = self.side(rule + 1..end, opening.indent)?;
        // Text between two blocks may be about another file.
        let last = self.last.as_ref().filter(|_| (floor..at).all(|at| self.says_nothing(at)));
        let (path, named_in) = match (self.path(at, floor, old.is_empty()), last) {
            (Some((path, at)), _) => (path, Some(at)),
            (None, Some(last)) => (last.clone(), None),
            (None, None) => {
                let expected = "the path of the file, and nothing else, in the line above (`File: \
                                NAME` if it has neither `/` nor `.`, in backticks if it has blanks)";
                let meant = self.meant(at, floor);
                return Err(self.failure(at, ParseErrorKind::NoBlockPath { meant }, expected));
            }
        };
        let start = (at + 1..first).find_map(|at| stated_line(self.get(at)));
        Ok(SearchReplaceBlock { lines: at..end + 1, named_in, path, start, old, new })
    }

    fn bad(&self, at: usize, expected: &'static str) -> ParseError {
        self.failure(at, ParseErrorKind::BadBlock, expected)
    }

    /// Finds the rule and the closing line of the block that opens in line `at`.
    fn bounds(&self, at: usize, opening: &BlockOpening) -> Result<BlockBounds, ParseError> {
        let mut rule = None;
        // The lines that would close a block of the other tool.
        let mut mixed = Vec::new();
        let mut end = at + 1;
        loop {
            let line = self.get(end);
            if end >= self.lines.len() || opens_block(line.as_bytes()) {
                end = self.mixed_end(opening, rule, &mixed, end)?;
                break;
            }
            if closes(line, opening.close) {
                break;
            }
            if rule.is_some() && BLOCK_SIGNS.iter().any(|&(_, sign)| closes(line, sign)) {
                mixed.push(end);
            }
            if opening.is_rule(line) && rule.replace(end).is_some() {
                let is_last =
                    end + 1 < self.lines.len() && closes(self.get(end + 1), opening.close);
                let expected = if is_last {
                    "one line `=======` in the block: leave this one out, which has nothing below it"
                } else {
                    "one line `=======` in the block; this is another"
                };
                return Err(self.bad(end, expected));
            }
            end += 1;
        }
        let rule = rule.ok_or_else(|| self.bad(end, "`=======` before this line"))?;
        Ok(BlockBounds { rule, end })
    }

    /// Returns the line that closes a block with the sign of the other tool: models mix the two. No
    /// line before `end` has the block's own sign.
    ///
    /// Where more text follows the last such line, the line may be text, and the block cut off.
    fn mixed_end(
        &self,
        opening: &BlockOpening,
        rule: Option<usize>,
        mixed: &[usize],
        end: usize,
    ) -> Result<usize, ParseError> {
        match mixed {
            &[mixed] if end < self.lines.len() || self.is_last(mixed) => Ok(mixed),
            [] | [_] => {
                let mut below = rule.map_or(end..end, |rule| rule + 1..end).rev();
                Err(match below.find(|&at| self.nearly_closes(at, opening.close)) {
                    Some(at) => self.bad(at, "`>>>>>>> REPLACE` here, with this word"),
                    None => self.bad(end, "`=======` and `>>>>>>> REPLACE` before this line"),
                })
            }
            &[_, other, ..] => {
                Err(self.bad(other, "one line that closes the block; this is another"))
            }
        }
    }

    /// Returns whether only empty lines and fences follow a line.
    fn is_last(&self, at: usize) -> bool {
        let mut rest = (at + 1..self.lines.len()).map(|at| self.get(at).trim());
        rest.all(|line| line.is_empty() || line.starts_with("```"))
    }

    /// Returns whether a line has five signs or more, but not the word; a last line may be cut off
    /// before the word.
    fn nearly_closes(&self, at: usize, close: u8) -> bool {
        let line = self.get(at).trim();
        let is_cut_off = self.lines.range(at).end == self.text.len()
            && !self.text.ends_with('\n')
            && [">>>>>>> REPLACE", "+++++++ REPLACE"].iter().any(|whole| whole.starts_with(line));
        !is_cut_off && (5..=9).contains(&line.bytes().take_while(|&byte| byte == close).count())
    }

    /// Returns the first line of the old side: some tools have line numbers above, and a rule of
    /// their own.
    fn below_numbers(&self, at: usize, rule: usize) -> Result<usize, ParseError> {
        let first = at + 1;
        let numbers = (first..rule).take_while(|&at| is_line_number(self.get(at))).count();
        if numbers == 0 {
            return Ok(first);
        }
        if is_line_number(self.get(rule + 1)) {
            return Err(self.bad(rule + 1, "no line number below `=======`"));
        }
        let first = first + numbers;
        Ok(first + usize::from(self.get(first).trim() == "-------"))
    }

    /// Returns the lines of a side without the indentation of the block.
    fn side(&self, range: Range<usize>, indent: usize) -> Result<Vec<BlockLine<'t>>, ParseError> {
        let mut side = Vec::with_capacity(range.len());
        for at in range {
            let line = self.get(at);
            let blanks = line.len() - line.trim_start_matches(' ').len();
            if blanks < indent && !line.trim().is_empty() {
                return Err(self.bad(at, "the indentation of the line `<<<<<<< SEARCH`"));
            }
            side.push(BlockLine { text: &line[blanks.min(indent)..], at });
        }
        Ok(side)
    }

    /// Returns the line between the two fences above the block in line `at`: a fence around the
    /// path, or an open one, and the fence of the block.
    fn between_fences(&self, at: usize, floor: usize) -> Option<usize> {
        let second = self.near_above(at, floor).filter(|&at| self.is_fence(at))?;
        let line = self.near_above(second, floor).filter(|&at| !self.is_fence(at))?;
        self.near_above(line, floor).filter(|&at| self.is_fence(at)).map(|_| line)
    }

    /// Returns the line above, past one empty line.
    fn near_above(&self, from: usize, floor: usize) -> Option<usize> {
        (floor..from).rev().take(2).find(|&at| !self.get(at).trim().is_empty())
    }

    fn is_fence(&self, at: usize) -> bool {
        Fence::opened_by(self.get(at)).is_some()
    }

    /// Returns the one word of the line above a block that looks like the path of its file.
    fn meant(&self, at: usize, floor: usize) -> Option<String> {
        let line = self.get((floor..at).rev().take(4).find(|at| !self.says_nothing(*at))?);
        let mut paths = line.split_whitespace().filter_map(|word| {
            let word =
                word.trim_matches(['`', '*', '"', '\'', '(', ')', ':', ',', ';', '.', '!', '?']);
            // A name with an ending, or one in a directory.
            let (_, name) = word.rsplit_once('/').unwrap_or(("", word));
            let ends = name.rsplit_once('.').is_some_and(|(stem, ending)| {
                !stem.is_empty()
                    && !ending.is_empty()
                    && ending.chars().all(|c| c.is_ascii_alphanumeric())
                    && !ending.chars().all(|c| c.is_ascii_digit())
            });
            (ends && !["e.g", "i.e"].contains(&word)).then(|| word.to_owned())
        });
        paths.next().filter(|_| paths.next().is_none())
    }

    /// Returns whether a line is empty, a tag around blocks, or a fence without more than a
    /// language.
    fn says_nothing(&self, at: usize) -> bool {
        let line = self.get(at).trim();
        line.is_empty()
            || is_tag(line)
            || (Fence::opened_by(line).is_some() && !line.contains([' ', '=', ':']))
    }

    /// Returns the line above, past tags and one empty line.
    fn past_tags(&self, from: usize, floor: usize) -> Option<usize> {
        let lines = (floor..from).rev().filter(|&at| !is_tag(self.get(at)));
        lines.take(2).find(|&at| !self.get(at).trim().is_empty())
    }

    /// Finds the line with the name of the file for the block in line `at`; `is_new` says whether
    /// the block makes the file.
    fn path(&self, at: usize, floor: usize, is_new: bool) -> Option<(String, usize)> {
        let line = self.past_tags(at, floor);
        if let Some(between) = self.between_fences(at, floor)
            && let Some(path) = named_above(self.get(between), is_new)
        {
            return Some((path, between));
        }
        match &self.fence {
            Some((fence, _)) if *fence >= floor => {
                if let Some(line) = line.filter(|line| line > fence) {
                    return named(self.get(line), Says::Named, is_new).map(|path| (path, line));
                }
                let info = self.get(*fence).trim_start().trim_start_matches(['`', '~']);
                let words = info.split_once(' ').map_or(info, |(_, path)| path);
                if let Some(path) = named(words, Says::Nothing, is_new) {
                    return Some((path, *fence));
                }
                let line = self.past_tags(*fence, floor)?;
                named_above(self.get(line), is_new).map(|path| (path, line))
            }
            _ => {
                let line = line?;
                named_above(self.get(line), is_new).map(|path| (path, line))
            }
        }
    }
}

/// The opening line of a block.
struct BlockOpening {
    indent: usize,
    /// How many signs the line has, and so the rule.
    signs: usize,
    /// The sign of the closing line.
    close: u8,
}

impl BlockOpening {
    fn of(line: &str) -> Self {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = line.trim().as_bytes();
        let sign = line[0];
        let signs = line.iter().take_while(|&&byte| byte == sign).count();
        let close = BLOCK_SIGNS.into_iter().find(|&(open, _)| open == sign);
        Self { indent, signs, close: close.map_or(b'>', |(_, close)| close) }
    }

    fn is_rule(&self, line: &str) -> bool {
        let line = line.trim_end().trim_start_matches(' ');
        line.len() == self.signs && line.bytes().all(|byte| byte == b'=')
    }
}

/// The rule and the last line of a block.
struct BlockBounds {
    rule: usize,
    end: usize,
}

/// Returns the line of the file that a line states as the first of the block.
fn stated_line(line: &str) -> Option<u32> {
    let number = line.trim().strip_prefix(":start_line:")?.trim().parse().ok()?;
    (number > 0).then_some(number)
}

fn is_line_number(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(":start_line:") || line.starts_with(":end_line:")
}

/// Returns whether a line is a tag around blocks, alone or followed by a language: part of a call
/// in XML, or the fence of some tools.
fn is_tag(line: &str) -> bool {
    const TAGS: [&str; 11] = [
        "diff",
        "content",
        "source",
        "code",
        "pre",
        "codeblock",
        "sourcecode",
        "replace_in_file",
        "apply_diff",
        "args",
        "file",
    ];
    let Some(rest) = line.trim().strip_prefix('<') else { return false };
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    rest.split_once('>').is_some_and(|(name, language)| {
        TAGS.contains(&name)
            && language.chars().all(|c| c.is_ascii_alphanumeric() || "+#-".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(body: &str) -> Vec<u8> {
        format!("*** Begin Patch\n{body}*** End Patch\n").into_bytes()
    }

    const BLOCK: &str = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n";

    #[test]
    fn what_may_be_the_path_is_named() {
        for (line, wanted) in [
            ("## Add the helper util.py", Some("util.py")),
            ("### 1. `src/util.py` (new)", Some("src/util.py")),
            ("Create src/a.py and src/b.py", None),
            ("Version 1.2 is out now", None),
            ("Like this, e.g.", None),
        ] {
            let text = format!("{line}\n```python\n{}```\n", BLOCK.replace("x = 1\n", ""));
            let error = to_envelope(text.as_bytes()).expect_err(line);
            let ParseErrorKind::NoBlockPath { meant } = error.kind else { panic!("{line}") };
            assert_eq!(meant.as_deref(), wanted, "{line}");
        }
    }

    #[test]
    fn blocks_follow_one_another() {
        let (update, hunk) = ("*** Update File: a.py\n", "@@\n-x = 1\n+x = 2\n");
        let text = format!("a.py\n{BLOCK}{BLOCK}");
        let found = to_envelope(text.as_bytes()).expect("two blocks");
        assert_eq!(found.text, envelope(&format!("{update}{hunk}{hunk}")));
        // The second removes what the first inserted.
        let text = format!("a.py\n{BLOCK}{}", BLOCK.replace("= 2", "= 3").replace("= 1", "= 2"));
        let found = to_envelope(text.as_bytes()).expect("two blocks");
        let second = "@@\n-x = 2\n+x = 3\n";
        assert_eq!(found.text, envelope(&format!("{update}{hunk}{update}{second}")));
        assert_eq!(found.lines, [1, 1, 2, 3, 5, 7, 7, 8, 10, 11]);
        let new = BLOCK.replace("x = 1\n", "");
        let text = format!("a.py\n{new}\nb.py\n{new}\na.py\n{new}");
        let found = to_envelope(text.as_bytes()).expect("three blocks");
        let add = "*** Add File: a.py\n+x = 2\n";
        assert_eq!(found.text, envelope(&(add.to_owned() + &add.replace("a.py", "b.py"))));
        assert_eq!(found.notes[1..], ["left out the block in line 14: one above makes that file"]);
    }

    #[test]
    fn a_stated_line_is_kept() {
        let numbered = |number: &str| BLOCK.replace("SEARCH\n", &format!("SEARCH\n{number}\n"));
        for (number, wanted) in [
            (":start_line:7\n-------", Some(7)),
            (":start_line: 7\n:end_line: 9\n-------", Some(7)),
            (":start_line:7", Some(7)),
            (":start_line:0", None),
            (":start_line:x", None),
            (":end_line:9", None),
        ] {
            let text = format!("a.py\n{BLOCK}{}", numbered(number));
            let found = to_envelope(text.as_bytes()).expect(number);
            assert_eq!(found.starts, [None, wanted], "{number}");
        }
        for name in ["configure", "LICENSE", "BUILD", "License", "go_mod", "gradlew"] {
            let found = to_envelope(format!("{name}\n{BLOCK}").as_bytes()).expect(name);
            let wanted = format!("*** Begin Patch\n*** Update File: {name}\n");
            assert!(found.text.starts_with(wanted.as_bytes()), "{name}");
        }
        for word in ["Then", "Before", "Replace:", "now:", "-", "..."] {
            to_envelope(format!("{word}\n{BLOCK}").as_bytes()).expect_err(word);
        }
    }

    #[test]
    fn a_rule_too_many_is_pointed_out() {
        let text = format!("a.py\n{}", BLOCK.replace(">>>>>>>", "=======\n>>>>>>>"));
        let error = to_envelope(text.as_bytes()).expect_err("two rules");
        assert_eq!((error.line, error.kind.as_str()), (6, "bad_block"), "{text}");
        assert!(error.expected[0].contains("leave this one out"), "{error}");
    }

    #[test]
    fn the_file_is_named_in_the_usual_places() {
        let wanted = envelope("*** Update File: a.py\n@@\n-x = 1\n+x = 2\n");
        for text in [
            format!("a.py\n{BLOCK}"),
            format!("a.py\n```python\n{BLOCK}```\n"),
            format!("a.py\n\n```python\n{BLOCK}```\nDone.\n"),
            format!("So:\n```python\na.py\n{BLOCK}```\n"),
            format!("So:\n```python a.py\n{BLOCK}```\n"),
            format!("So:\n```a.py\n{BLOCK}```\n"),
            format!("**a.py**\n{BLOCK}"),
            format!("```python\na.py\n```\n{BLOCK}"),
            format!("```\na.py\n```python\n{BLOCK}```\n"),
            format!("a.py\n<source>python\n{BLOCK}</source>\n"),
            format!("So:\n\na.py\n<pre>\n{BLOCK}</pre>\nDone.\n"),
            format!("### `a.py`\n```\n{BLOCK}```\n"),
            format!("File: a.py\n~~~~\n{BLOCK}~~~~\n"),
            format!("`a.py`:\n{BLOCK}"),
            format!("a.py\n{}", BLOCK.replace('\n', "\r\n")),
            format!(
                "a.py\n{}",
                BLOCK.replace("<<<<<<< SEARCH", "------- SEARCH").replace(">>>>>>>", "+++++++")
            ),
            format!("a.py\n{}", BLOCK.replace("<<<<<<<", "-------")),
            format!("a.py\n{}", BLOCK.replace(">>>>>>>", "+++++++")),
            format!("a.py\n{}", BLOCK.replace("SEARCH", "ORIGINAL").replace("REPLACE", "UPDATED")),
            format!("a.py\n{}", BLOCK.replace("SEARCH\n", "SEARCH\n:start_line:3\n-------\n")),
            format!("- a.py\n\n  a.py\n  {}", BLOCK.trim_end().replace('\n', "\n  ")),
            format!("```js\n// a.py\n{BLOCK}```\n"),
            format!("```\n\"\\141.py\"\n{BLOCK}```\n"),
            format!("<apply_diff>\n<path>a.py</path>\n<diff>\n{BLOCK}</diff>\n</apply_diff>\n"),
            format!("<path>a.py</path>\n<diff>\n<content>\n{BLOCK}</content>\n</diff>\n"),
        ] {
            let found =
                to_envelope(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                String::from_utf8_lossy(&found.text),
                String::from_utf8_lossy(&wanted),
                "{text}"
            );
        }
    }

    #[test]
    fn blocks_become_hunks_and_new_files() {
        for (text, wanted) in [
            (
                format!("a\n{BLOCK}").replace("a\n<", "a.py\n<")
                    + "\n```\n<<<<<<< SEARCH\ny\nz\n=======\ny\n>>>>>>> REPLACE\n",
                "*** Update File: a.py\n@@\n-x = 1\n+x = 2\n@@\n y\n-z\n",
            ),
            (
                format!("a.py\n{BLOCK}b.py\n{BLOCK}"),
                "*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** Update File: b.py\n@@\n-x = 1\n\
                 +x = 2\n",
            ),
            (
                "n/new.py\n<<<<<<< SEARCH\n=======\n1\n\n2\n>>>>>>> REPLACE\n".into(),
                "*** Add File: n/new.py\n+1\n+\n+2\n",
            ),
            // The block's own signs close the block, so the other tool's signs are its text.
            (
                "a.md\n------- SEARCH\na\n=======\n>>>>>>> REPLACE\n>>>>>>> REPLACE\n+++++++ \
                 REPLACE\n"
                    .into(),
                "*** Update File: a.md\n@@\n-a\n+>>>>>>> REPLACE\n+>>>>>>> REPLACE\n",
            ),
            (
                "a.py\n<<<<<<< SEARCH\n a\n\n b\n=======\n a\n\n c\n b\n>>>>>>> REPLACE\n".into(),
                "*** Update File: a.py\n@@\n  a\n \n+ c\n  b\n",
            ),
        ] {
            let found =
                to_envelope(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                String::from_utf8_lossy(&found.text),
                String::from_utf8_lossy(&envelope(wanted))
            );
        }
    }

    #[test]
    fn a_line_with_more_than_a_path_names_no_file() {
        let new = BLOCK.replace("x = 1\n", "");
        for line in [
            "## Add the helper util.py",
            "### 1. util.py (new)",
            "## Create the new helper in src/util.py",
            "**Create src/util.py**",
            "**util.py (new)**",
            "*The helper util.py*",
            "__util.py, new__",
            "- Add util.py",
            "- **src/util.py** (new)",
            "1. src/util.py",
            "// Add the helper util.py",
            "# Add the helper util.py",
            "File: util.py (new)",
            "**File: the helper util.py**",
            "## Add `util.py`",
            "## `util.py` (new)",
            "Add the helper util.py",
            "util.py (new)",
        ] {
            for block in [BLOCK, &new] {
                for text in [
                    format!("{line}\n{block}"),
                    format!("{line}\n\n```python\n{block}```\n"),
                    format!("```python\n{line}\n{block}```\n"),
                    format!("```\nx\n```\n{line}\n```\n{block}```\n"),
                ] {
                    let error = to_envelope(text.as_bytes()).expect_err(&text);
                    assert_eq!(error.kind.as_str(), "no_path", "{text}");
                }
            }
        }
        // A word alone may be the name of an existing file, not of a new one.
        for line in ["## Makefile", "**Makefile**", "# Makefile", "Makefile", "Makefile\n```make"] {
            let named = to_envelope(format!("{line}\n{BLOCK}").as_bytes()).expect(line);
            assert!(named.text.starts_with(b"*** Begin Patch\n*** Update File: Makefile\n"));
            to_envelope(format!("{line}\n{new}").as_bytes()).expect_err(line);
        }
        for line in ["File: Makefile", "`Makefile`", "## `Makefile`", "**File: Makefile**"] {
            let named = to_envelope(format!("{line}\n{new}").as_bytes()).expect(line);
            assert!(named.text.starts_with(b"*** Begin Patch\n*** Add File: Makefile\n"), "{line}");
        }
        for line in ["`my file.py`", "## `my file.py`", "<path>my file.py</path>"] {
            let named = to_envelope(format!("{line}\n{new}").as_bytes()).expect(line);
            assert!(named.text.starts_with(b"*** Begin Patch\n*** Add File: my file.py\n"));
        }
    }

    #[test]
    fn what_is_not_a_block_is_refused() {
        let rst = "a.rst\n<<<<<<< SEARCH\nTitle\n=======\n=======\nTitel\n>>>>>>> REPLACE\n";
        for (text, line, reason) in [
            (BLOCK.to_owned(), 1, "no_path"),
            (format!("```\nfoo bar\n```\n{BLOCK}"), 4, "no_path"),
            (format!("Change it like this:\n{BLOCK}"), 2, "no_path"),
            // The file may be another one than that of the block before.
            (format!("a.py\n{BLOCK}Now in `b.py`:\n\n{BLOCK}"), 9, "no_path"),
            (format!("a.py\n{BLOCK}\nThen\n{BLOCK}"), 9, "no_path"),
            (format!("a.py\n{BLOCK}\nMakefile:\n{BLOCK}"), 9, "no_path"),
            (format!("a.py\n{BLOCK}b.py\n\n\n\n{BLOCK}"), 11, "no_path"),
            (format!("a.py\n{BLOCK}```py title=\"b.py\"\n{BLOCK}```\n"), 8, "no_path"),
            (format!("Then\n```\n{BLOCK}```\n"), 3, "no_path"),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n".into(), 6, "bad_block"),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>>\n".into(), 6, "bad_block"),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n+++++++ REPLACE\nz\n".into(), 8, "bad_block"),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> END\n\n".into(), 6, "bad_block"),
            ("a.py\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n".into(), 4, "bad_block"),
            (format!("a.py\n<<<<<<< SEARCH\n{BLOCK}"), 3, "bad_block"),
            (rst.into(), 5, "bad_block"),
            (
                "a.py\n------- SEARCH\nx\n=======\n>>>>>>> REPLACE\n>>>>>>> REPLACE\n".into(),
                6,
                "bad_block",
            ),
            (format!("a.py\n{BLOCK}*** Update File: b.txt\n@@\n-x\n+y\n"), 7, "text_outside"),
            (format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\na.py\n{BLOCK}"), 1, "text_outside"),
        ] {
            let error = to_envelope(text.as_bytes()).expect_err(&text);
            assert_eq!(error.line, line, "{text}");
            assert_eq!(error.kind.as_str(), reason, "{text}");
        }
    }
}
