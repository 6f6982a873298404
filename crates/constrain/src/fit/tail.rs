//! The end of a patch, behind the sections of the files: the listed paths, the new file, and the
//! last line.
//!
//! Listed paths are deleted in the order of their bytes, each once, and then there may be a new
//! file. Or one of the paths moves, and the others stay. Of [many](MANY) paths one is deleted at
//! most.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::new_path::NewPaths;
use super::quoted::quoted;
use patch_grammar::marker::{Marker, NO_NEWLINE};

/// From this many listed paths on, a patch deletes one of them at most: a grammar in which each may
/// follow each grows too large for the engines. llguidance reads all deletions as one word, and
/// gives up between 300 and 400 ("too many expressions constructed").
pub(super) const MANY: usize = 128;

/// The parts that may stand at the end of a patch.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The listed paths, in the order of their bytes.
    pub(super) paths: Vec<String>,
    /// Whether they may be deleted.
    pub(super) deletes: bool,
    /// Whether one of them may move.
    pub(super) moves: bool,
    /// Whether there may be a new file.
    pub(super) adds: bool,
}

/// The state of a patch in front of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TailKind {
    /// Whether there may be a new path: no file moved.
    pub(super) new_path: bool,
    /// Whether there was a section, so that the last line may follow.
    pub(super) may_end: bool,
}

impl TailKind {
    pub(super) const ALL: [Self; 3] = [
        Self { new_path: true, may_end: false },
        Self { new_path: true, may_end: true },
        Self { new_path: false, may_end: true },
    ];

    /// The number of the kind in [`ALL`](Self::ALL), and in the names of rules.
    pub(super) fn number(self) -> usize {
        Self::ALL.iter().position(|&kind| kind == self).unwrap_or_default()
    }
}

/// A section in the end of a patch.
#[derive(Debug, Clone, Copy)]
enum TailPart {
    End,
    Add,
    Move,
    Delete,
}

/// The beginning of a header, up to its path.
pub(super) fn opening(marker: Marker) -> String {
    format!("{marker} ")
}

fn line(marker: Marker) -> String {
    format!("{marker}\n")
}

impl Tail {
    /// Whether nothing but the last line may follow.
    pub(super) fn is_end(&self) -> bool {
        !self.adds && !self.has_paths()
    }

    /// Whether some listed path may be deleted or move.
    pub(super) fn has_paths(&self) -> bool {
        !self.paths.is_empty() && (self.deletes || self.moves)
    }

    /// How many folders are in each other.
    pub(super) fn depth(&self) -> usize {
        let paths = self.paths.iter().filter(|_| self.has_paths());
        paths.map(|path| path.matches('/').count()).max().unwrap_or(0)
    }

    /// Whether there are so many paths that one of them is deleted at most.
    pub(super) fn deletes_one_at_most(&self) -> bool {
        self.deletes && self.paths.len() >= MANY
    }

    fn has(&self, part: TailPart, kind: TailKind, deleted: usize) -> bool {
        match part {
            TailPart::End => kind.may_end || deleted > 0,
            TailPart::Add => self.adds && kind.new_path,
            TailPart::Move => self.moves && kind.new_path && deleted == 0 && !self.paths.is_empty(),
            TailPart::Delete => {
                self.deletes
                    && deleted < self.paths.len()
                    && (deleted == 0 || !self.deletes_one_at_most())
            }
        }
    }

    /// Whether a part may come first in the end of one of some kinds.
    fn any_has(&self, part: TailPart, kinds: &[TailKind]) -> bool {
        kinds.iter().any(|&kind| self.has(part, kind, 0))
    }

    /// Whether a text is the end of a patch.
    pub(super) fn is_tail(&self, kind: TailKind, mut text: &str, new_paths: &NewPaths) -> bool {
        let mut deleted = 0;
        while let Some(rest) = text.strip_prefix(&opening(Marker::Delete))
            && let Some((path, rest)) = rest.split_once('\n')
            && self.has(TailPart::Delete, kind, deleted)
            && let Ok(nth) = self.paths[deleted..].binary_search_by(|other| (**other).cmp(path))
        {
            deleted += nth + 1;
            text = rest;
        }
        if text == line(Marker::End) {
            return self.has(TailPart::End, kind, deleted);
        }
        if let Some(rest) = text.strip_prefix(&opening(Marker::Add)) {
            let lines = after_new_path(rest, new_paths);
            return self.has(TailPart::Add, kind, deleted) && lines.is_some_and(is_new_text);
        }
        let Some(rest) = text.strip_prefix(&opening(Marker::Update)) else { return false };
        let Some((path, rest)) = rest.split_once('\n') else { return false };
        let rest = rest.strip_prefix(&opening(Marker::MoveTo));
        let end = rest.and_then(|rest| after_new_path(rest, new_paths));
        self.has(TailPart::Move, kind, deleted)
            && self.paths.binary_search_by(|other| (**other).cmp(path)).is_ok()
            && end == Some(&*line(Marker::End))
    }

    /// Writes the end of a patch. The first of all choices leads to the last line.
    pub(super) fn sentence(
        &self,
        kind: TailKind,
        out: &mut String,
        new_paths: &NewPaths,
        choose: &mut impl FnMut(usize) -> usize,
        new_line: &mut impl FnMut() -> String,
    ) {
        let all = [TailPart::End, TailPart::Add, TailPart::Move, TailPart::Delete];
        let mut deleted = 0;
        loop {
            let parts: Vec<TailPart> =
                all.into_iter().filter(|&part| self.has(part, kind, deleted)).collect();
            match parts[choose(parts.len())] {
                TailPart::End => break,
                TailPart::Add => {
                    out.push_str(&opening(Marker::Add));
                    new_paths.write(out, &mut *choose);
                    while choose(2) == 1 {
                        let _ = writeln!(out, "+{}", new_line());
                    }
                    break;
                }
                TailPart::Move => {
                    out.push_str(&Marker::Update.header(&self.paths[choose(self.paths.len())]));
                    out.push_str(&opening(Marker::MoveTo));
                    new_paths.write(out, &mut *choose);
                    break;
                }
                TailPart::Delete => {
                    deleted += choose(self.paths.len() - deleted) + 1;
                    out.push_str(&Marker::Delete.header(&self.paths[deleted - 1]));
                }
            }
        }
        out.push_str(&line(Marker::End));
    }

    /// Writes the rules of some kinds for llguidance. Its lexer reads all deletions as one word, so
    /// that there is never a choice between many rules.
    pub(super) fn lark(&self, out: &mut String, kinds: &[TailKind]) {
        let end = quoted(&line(Marker::End));
        let deletes = self.deletes && !self.paths.is_empty();
        for &kind in kinds {
            let mut alternatives = Vec::new();
            match (deletes, kind.may_end) {
                (true, true) => alternatives.push("DELETED_END"),
                (true, false) => alternatives.push("SOME_DELETED_END"),
                (false, true) => alternatives.push("END"),
                (false, false) => {}
            }
            if self.has(TailPart::Add, kind, 0) {
                alternatives.push(if deletes { "DELETED_ADD added" } else { "ADD added" });
            }
            if self.has(TailPart::Move, kind, 0) {
                alternatives.push("MOVED NEW_PATH END");
            }
            let _ = writeln!(out, "t{}: {}", kind.number(), alternatives.join(" | "));
        }
        let _ = writeln!(out, "END: {end}");
        if self.any_has(TailPart::Add, kinds) {
            let no_newline = quoted(&format!("{NO_NEWLINE}\n"));
            let _ =
                writeln!(out, "added: NEW_PATH INSERTED? END | NEW_PATH INSERTED NO_NEWLINE END");
            let _ = writeln!(out, "NO_NEWLINE: {no_newline}");
            let _ = writeln!(out, "ADD: {}", quoted(&opening(Marker::Add)));
        }
        if self.any_has(TailPart::Move, kinds) {
            let before = quoted(&opening(Marker::Update));
            let after = quoted(&format!("\n{}", opening(Marker::MoveTo)));
            let _ = writeln!(out, "MOVED: {before} LISTED {after}");
        }
        if self.any_has(TailPart::Move, kinds) || self.deletes_one_at_most() {
            self.listed(out, ["F", "LISTED"], ": ");
        }
        if deletes {
            out.push_str("DELETED:");
            if self.deletes_one_at_most() {
                let _ = write!(out, " ({} LISTED \"\\n\")?", quoted(&opening(Marker::Delete)));
            } else {
                for path in &self.paths {
                    let _ = write!(out, " {}?", quoted(&Marker::Delete.header(path)));
                }
            }
            out.push_str("\nDELETED_END: DELETED END\nSOME_DELETED_END: DELETED_END & ~END\n");
            if self.any_has(TailPart::Add, kinds) {
                out.push_str("DELETED_ADD: DELETED ADD\n");
            }
        }
    }

    /// How many rules [`ebnf`](Self::ebnf) writes, but for those of folders.
    pub(super) fn ebnf_rules(&self, kinds: &[TailKind]) -> usize {
        let is_tree = self.deletes && !self.deletes_one_at_most();
        let deletes = if is_tree { 4 * self.paths.len() } else { 0 };
        let new_paths = kinds.iter().filter(|kind| kind.new_path).count().min(1);
        kinds.len() + (new_paths + usize::from(kinds.iter().any(|kind| !kind.new_path))) * deletes
    }

    /// Writes the rules of some kinds for XGrammar and llama.cpp.
    pub(super) fn ebnf(&self, out: &mut String, kinds: &[TailKind]) {
        let end = quoted(&line(Marker::End));
        let moved = quoted(&format!("\n{}", opening(Marker::MoveTo)));
        for &kind in kinds {
            let mut alternatives = self.alternatives(kind, 0);
            if self.has(TailPart::Move, kind, 0) {
                let before = quoted(&opening(Marker::Update));
                alternatives.push(format!("{before} listed {moved} p0 {end}"));
            }
            let _ = writeln!(out, "t{} ::= {}", kind.number(), alternatives.join(" | "));
        }
        if self.any_has(TailPart::Add, kinds) {
            let no_newline = quoted(&format!("{NO_NEWLINE}\n"));
            let _ = writeln!(out, "added ::= p0 any {end} | p0 \"+\" new {no_newline} {end}");
        }
        if self.any_has(TailPart::Move, kinds)
            || self.any_has(TailPart::Delete, kinds) && self.deletes_one_at_most()
        {
            self.listed(out, ["f", "listed"], " ::= ");
        }
        for new_path in [false, true] {
            let kind = TailKind { new_path, may_end: true };
            if kinds.iter().any(|kind| kind.new_path == new_path)
                && self.has(TailPart::Delete, kind, 0)
                && !self.deletes_one_at_most()
            {
                self.ebnf_deletes(out, kind);
            }
        }
    }

    /// Writes the rules behind each deletion, and a tree of the choice among those below.
    fn ebnf_deletes(&self, out: &mut String, kind: TailKind) {
        let new = u8::from(kind.new_path);
        for (nth, path) in self.paths.iter().enumerate() {
            let path = quoted(&format!("{path}\n"));
            let _ = writeln!(out, "d{new}x{nth}x1 ::= {path} u{new}x{nth}");
            let rest = self.alternatives(kind, nth + 1).join(" | ");
            let _ = writeln!(out, "u{new}x{nth} ::= {rest}");
        }
        let mut size = 2;
        while size / 2 < self.paths.len() {
            for first in (0..self.paths.len()).step_by(size) {
                let second = first + size / 2;
                let half = size / 2;
                if second < self.paths.len() {
                    let _ = writeln!(
                        out,
                        "d{new}x{first}x{size} ::= d{new}x{first}x{half} | d{new}x{second}x{half}"
                    );
                } else {
                    let _ = writeln!(out, "d{new}x{first}x{size} ::= d{new}x{first}x{half}");
                }
            }
            size *= 2;
        }
    }

    /// Writes the rules for one of the listed paths: one for each folder. Folders with the same
    /// paths share theirs.
    fn listed(&self, out: &mut String, [part, all]: [&str; 2], arrow: &str) {
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let mut rules = FolderRules { out, part, arrow, known: HashMap::new() };
        let body = rules.body(&paths);
        let _ = writeln!(out, "{all}{arrow}{body}");
    }

    /// The alternatives after `deleted` listed paths, without a move.
    fn alternatives(&self, kind: TailKind, deleted: usize) -> Vec<String> {
        let new = u8::from(kind.new_path);
        let mut alternatives = Vec::new();
        if self.has(TailPart::End, kind, deleted) {
            alternatives.push(quoted(&line(Marker::End)));
        }
        if self.has(TailPart::Add, kind, deleted) {
            alternatives.push(format!("{} added", quoted(&opening(Marker::Add))));
        }
        if self.has(TailPart::Delete, kind, deleted) && self.deletes_one_at_most() {
            let header = quoted(&opening(Marker::Delete));
            let rest = self.alternatives(TailKind { may_end: true, ..kind }, 1).join(" | ");
            alternatives.push(format!("{header} listed \"\\n\" ({rest})"));
        } else if self.has(TailPart::Delete, kind, deleted) {
            let header = quoted(&opening(Marker::Delete));
            let mut parts = Vec::new();
            let mut at = deleted;
            while at < self.paths.len() {
                // The largest part of the tree that begins here.
                let mut size = 1_usize;
                while at.is_multiple_of(2 * size) && size < self.paths.len() - at {
                    size *= 2;
                }
                parts.push(format!("d{new}x{at}x{size}"));
                at += size;
            }
            alternatives.push(format!("{header} ({})", parts.join(" | ")));
        }
        alternatives
    }
}

/// Writes rules for the paths in folders.
struct FolderRules<'o> {
    out: &'o mut String,
    part: &'o str,
    arrow: &'o str,
    /// The number of each rule by its right side.
    known: HashMap<String, usize>,
}

impl FolderRules<'_> {
    /// The right side of the rule for some paths, sorted; rules for their folders are written.
    fn body(&mut self, paths: &[&str]) -> String {
        let mut alternatives = Vec::new();
        for group in
            paths.chunk_by(|one, other| folder(one).is_some() && folder(one) == folder(other))
        {
            let Some(folder) = folder(group[0]) else {
                alternatives.push(quoted(group[0]));
                continue;
            };
            let below: Vec<&str> = group.iter().map(|path| &path[folder.len()..]).collect();
            let body = self.body(&below);
            let next = self.known.len();
            let number = *self.known.entry(body.clone()).or_insert(next);
            if number == next {
                let _ = writeln!(self.out, "{}{number}{}{body}", self.part, self.arrow);
            }
            alternatives.push(format!("{} {}{number}", quoted(folder), self.part));
        }
        alternatives.join(" | ")
    }
}

/// The first folder of a path, with its slash.
fn folder(path: &str) -> Option<&str> {
    path.find('/').map(|slash| &path[..=slash])
}

/// The text behind a new path and its line feed.
fn after_new_path<'t>(text: &'t str, new_paths: &NewPaths) -> Option<&'t str> {
    let (path, rest) = text.split_once('\n')?;
    new_paths.has(path).then_some(rest)
}

/// Whether a text is the lines of a new file and the last line.
fn is_new_text(text: &str) -> bool {
    let Some(lines) = text.strip_suffix(&line(Marker::End)) else { return false };
    let added = lines.strip_suffix(&format!("{NO_NEWLINE}\n")).unwrap_or(lines);
    let is_added =
        |line: &str| line.starts_with('+') && line.ends_with('\n') && !line.contains('\0');
    (added.len() == lines.len() || !added.is_empty()) && added.split_inclusive('\n').all(is_added)
}
