//! Patches that a formatter made stale: a file was read, formatted, and then patched for what was
//! read.
//!
//! Every line of the formatted file is known to be a line of the file that was read, or a new one.
//! So what the patch has to come to is known too, without comparing any texts: its lines go where
//! the lines went that it removes, or between the two that it inserts between.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use patch_engine::{
    Edit, Expected, MemoryTree, Options, Profile, RelPath, Sha256, Snapshots, apply_in_memory,
    edit, is_binary, parse,
};
use testutils::write::{Style, write_hunks};

use super::merges::{Fared, merge_file};

/// The ways that are compared.
pub(crate) const WAYS: [&str; 3] = ["carry, strict", "carry, codex", "codex alone"];

/// What a formatter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formatter {
    /// Blanks at line ends, runs of empty lines, a line at the top.
    Tidy,
    /// The indentation of some blocks.
    Indent,
    /// Both, and the order of imports, empty lines before what begins a block, quotes, long lines.
    All,
}

impl Formatter {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Tidy, Self::Indent, Self::All];
}

/// A line of a formatted file.
#[derive(Debug, Clone)]
struct Line<'b> {
    /// The line of the file before that it is, unchanged.
    from: Option<usize>,
    text: Cow<'b, [u8]>,
}

impl Line<'_> {
    fn new(text: Vec<u8>) -> Self {
        Self { from: None, text: text.into() }
    }

    /// The line without its line feed.
    fn body(&self) -> &[u8] {
        self.text.strip_suffix(b"\n").unwrap_or(&self.text)
    }

    fn is_empty(&self) -> bool {
        self.body().is_empty()
    }
}

/// A number that a text has, whatever is around it.
fn number(text: &[u8]) -> u8 {
    Sha256::of(text).0[0]
}

fn format<'b>(base: &'b [u8], how: Formatter) -> Vec<Line<'b>> {
    let lines = base.split_inclusive(|&byte| byte == b'\n').enumerate();
    let mut lines: Vec<Line<'b>> =
        lines.map(|(at, text)| Line { from: Some(at), text: text.into() }).collect();
    if how != Formatter::Tidy {
        indent(&mut lines);
    }
    if how == Formatter::All {
        sort_imports(&mut lines);
        lines = lines.into_iter().flat_map(wrapped).collect();
        lines = before_blocks(lines);
    }
    if how != Formatter::Indent {
        lines = tidy(lines);
    }
    lines
}

/// Indents one block in three: lines between empty ones.
fn indent(lines: &mut [Line<'_>]) {
    for block in lines.split_mut(Line::is_empty) {
        if block.first().is_some_and(|first| number(&first.text).is_multiple_of(3)) {
            block.iter_mut().for_each(|line| *line = Line::new([b"  ", &*line.text].concat()));
        }
    }
}

fn sort_imports(lines: &mut [Line<'_>]) {
    let imports = |line: &Line<'_>| {
        ["import ", "use ", "#include ", "from "]
            .iter()
            .any(|word| line.text.starts_with(word.as_bytes()))
    };
    for run in lines.chunk_by_mut(|one, other| imports(one) && imports(other)) {
        run.sort_by(|one, other| one.text.cmp(&other.text));
    }
}

/// Breaks a long line, and changes quotes.
fn wrapped(line: Line<'_>) -> Vec<Line<'_>> {
    let comma = (line.text.len() > 80)
        .then(|| line.text.windows(2).skip(40).position(|pair| pair == b", "))
        .flatten();
    if let Some(comma) = comma {
        let (one, other) = line.text.split_at(comma + 41);
        return vec![
            Line::new([one, b"\n"].concat()),
            Line::new([b"    ", other.trim_ascii_start()].concat()),
        ];
    }
    if line.text.contains(&b'\'')
        && !line.text.contains(&b'"')
        && number(&line.text).is_multiple_of(2)
    {
        return vec![Line::new(
            line.text.iter().map(|&byte| if byte == b'\'' { b'"' } else { byte }).collect(),
        )];
    }
    vec![line]
}

/// Puts an empty line before one that is not indented and opens a block.
fn before_blocks(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let mut out: Vec<Line<'_>> = Vec::with_capacity(lines.len());
    for line in lines {
        let opens = line.text.first().is_some_and(u8::is_ascii_alphabetic)
            && [b'{', b':'].iter().any(|end| line.body().ends_with(&[*end]));
        if opens && out.last().is_some_and(|last| !last.is_empty()) {
            out.push(Line::new(b"\n".to_vec()));
        }
        out.push(line);
    }
    out
}

fn tidy(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let mut out = vec![Line::new(b"formatted\n".to_vec())];
    for line in lines {
        let trimmed = line.body().trim_ascii_end();
        let line = if trimmed.len() < line.body().len() && line.text.ends_with(b"\n") {
            Line::new([trimmed, b"\n"].concat())
        } else {
            line
        };
        match out.last_mut().filter(|last| last.is_empty() && line.is_empty()) {
            // Of two lines that are the same, the one stays that was so before: no text tells which
            // it was.
            Some(last) if last.from.is_none() => *last = line,
            Some(_) => {}
            None => out.push(line),
        }
    }
    out
}

/// What the edit comes to in the formatted file, if its lines are all there and nothing was put
/// between them.
fn truth(base: &[u8], now: &[Line<'_>], edit: &Edit) -> Option<Vec<u8>> {
    let starts: Vec<usize> = base
        .split_inclusive(|&byte| byte == b'\n')
        .scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())))
        .collect();
    let count = starts.len();
    let start_of = |line: usize| starts.get(line).copied().unwrap_or(base.len());
    let ended = base.is_empty() || base.ends_with(b"\n");
    // The line that a byte is in, and the first one that begins at it or after it.
    let first = |at: usize| match starts.binary_search(&at) {
        Err(line) if at < base.len() || !ended => line - 1,
        Ok(line) | Err(line) => line,
    };
    let behind = |at: usize| starts.partition_point(|&start| start < at);
    let mut went = vec![None; count];
    now.iter()
        .enumerate()
        .for_each(|(at, line)| line.from.into_iter().for_each(|from| went[from] = Some(at)));
    // Whole lines of the base, and what becomes of them.
    let mut changes: Vec<(usize, usize, Vec<u8>, usize)> = Vec::new();
    for splice in edit.splices.as_slice() {
        let from = first(splice.start);
        let to = behind(splice.end).max(from);
        match changes.last_mut().filter(|last| from < last.1) {
            Some((_, end, text, at)) => {
                text.extend_from_slice(&base[*at..splice.start]);
                text.extend_from_slice(&splice.text);
                (*end, *at) = (to.max(*end), splice.end);
            }
            None => {
                let text = [&base[start_of(from)..splice.start], &splice.text].concat();
                changes.push((from, to, text, splice.end));
            }
        }
    }
    let (mut out, mut at) = (Vec::new(), 0);
    for (from, to, mut text, byte) in changes {
        text.extend_from_slice(&base[byte..start_of(to).max(byte)]);
        let place = match (from == to, from) {
            (true, 0) if count == 0 => Some(0).filter(|_| now.is_empty()),
            (true, 0) => went[0].filter(|&place| place == 0),
            (true, from) if from == count => {
                went[count - 1].map(|last| last + 1).filter(|&end| end == now.len())
            }
            (true, from) => {
                went[from].filter(|&place| went[from - 1].is_some_and(|above| above + 1 == place))
            }
            (false, from) => went[from]
                .filter(|&place| (from..to).all(|line| went[line] == Some(place + line - from))),
        };
        // The formatter did the same: what is between the lines above and below is what the patch
        // puts there.
        let is_there = || {
            let above = from.checked_sub(1).map_or(Some(0), |above| Some(went[above]? + 1))?;
            let below = if to == count { now.len() } else { went[to]? };
            let there: Vec<u8> =
                now.get(above..below)?.iter().flat_map(|line| line.text.iter().copied()).collect();
            (there == text).then_some((above, below))
        };
        let (place, end) = place.map(|place| (place, place + to - from)).or_else(is_there)?;
        now.get(at..place)?.iter().for_each(|line| out.extend_from_slice(&line.text));
        out.extend_from_slice(&text);
        at = end;
    }
    now.get(at..)?.iter().for_each(|line| out.extend_from_slice(&line.text));
    Some(out)
}

/// The one version that was read.
#[derive(Debug)]
struct Read(Arc<Vec<u8>>);

impl Snapshots for Read {
    fn bytes(&self, _: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
        (Sha256::of(&self.0) == sha256).then(|| self.0.clone())
    }
}

/// Tries all ways; `None` where there is nothing to format, or no patch can be written. The files
/// for git are made in `dir`.
pub(crate) fn fared(
    before: &[u8],
    after: &[u8],
    how: Formatter,
    dir: &Path,
) -> Option<[Fared; WAYS.len()]> {
    if is_binary(before) || is_binary(after) {
        return None;
    }
    let lines = format(before, how);
    let now: Vec<u8> = lines.iter().flat_map(|line| line.text.iter().copied()).collect();
    if now == before {
        return None;
    }
    let fared = |dialect: Profile, carried: bool| {
        let hunks = write_hunks(before, after, &Style::new(dialect)).ok()?;
        let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
        let options = Options::new(dialect);
        let patch = parse(&text, &options.parse).expect("we wrote it");
        let hunks = patch.sections()[0].hunks();
        let placed = edit(before, hunks, &options.placement, options.final_newline).ok()?;
        let result = if carried {
            carry(before, &now, &text, options)
        } else {
            alone(&now, hunks, &options)
        };
        Some(match (result, truth(before, &lines, &placed)) {
            (Err("conflict"), Some(_)) => Fared::Refused("conflict with what is beside it"),
            (Err(why), _) => Fared::Refused(why),
            (Ok(result), Some(truth)) if result == truth => Fared::Right,
            (Ok(result), _) if merge_file([&now, before, after], dir).as_ref() == Some(&result) => {
                Fared::Alike
            }
            (Ok(_), _) => Fared::Wrong,
        })
    };
    Some([
        fared(Profile::Strict, true)?,
        fared(Profile::Codex, true)?,
        fared(Profile::Codex, false)?,
    ])
}

/// As the tools do it: the hash of what was read is expected, and its bytes are at hand.
fn carry(before: &[u8], now: &[u8], text: &str, options: Options) -> Result<Vec<u8>, &'static str> {
    let mut tree = MemoryTree::default();
    tree.insert("f", now.to_vec());
    let options = Options {
        expected: [("f".to_owned(), Expected::Hash(Sha256::of(before)))].into(),
        snapshots: Some(Arc::new(Read(Arc::new(before.to_vec())))),
        ..options
    };
    match apply_in_memory(&tree, text, &options) {
        Ok(changed) => {
            tree.commit(&changed.plan).expect("it was planned for this tree");
            Ok(tree.get("f").expect("it was updated").to_vec())
        }
        Err(patch_engine::commit::Error::Rejected(rejects)) => Err(rejects[0].reason()),
        Err(_) => Err("no patch"),
    }
}

/// The patch without any base.
fn alone(
    now: &[u8],
    hunks: &[patch_grammar::Hunk<'_>],
    options: &Options,
) -> Result<Vec<u8>, &'static str> {
    let edit = edit(now, hunks, &options.placement, options.final_newline);
    edit.map(|edit| edit.apply(now)).map_err(|rejects| rejects[0].reason.as_str())
}
