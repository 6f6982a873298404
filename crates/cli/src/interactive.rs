//! `-i`: a person at the terminal takes or leaves each file and each hunk; what is taken becomes a
//! patch of its own.

use std::collections::HashMap;
use std::io::{BufReader, Write as _};
use std::ops::Range;

use apply_patch_api::engine::{Plan, Rejects};
use apply_patch_api::grammar::binary::Binary;
use apply_patch_api::grammar::diff::{DiffOptions, NEXT_DIFF, are_parted, push_quoted};
use apply_patch_api::grammar::envelope::Writer;
use apply_patch_api::grammar::marker::NO_NEWLINE;
use apply_patch_api::grammar::{
    AddedLines, Hunk, LineKind, Marker, Patch, Section, SectionOperation,
};
use apply_patch_api::tools::input::PatchText;

use crate::approve;
use crate::failure::Failure;
use crate::input::Input;
use crate::outside::{self, Terminal};
use crate::render;

/// How many lines are shown of a new file.
const SHOWN: usize = 60;

/// The parts of a patch that the person took.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The patch of the accepted parts, in the form of the whole; `None` for no parts.
    pub(crate) patch: Option<Input>,
    /// The names of the omitted parts.
    pub(crate) left_out: Vec<String>,
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchForm {
    Envelope,
    Diff,
}

impl PatchForm {
    pub(crate) fn of(input: &Input) -> Self {
        if input.sent.diff.is_some() { Self::Diff } else { Self::Envelope }
    }

    /// The header of a section of which this is taken: that it goes elsewhere, or has another mode.
    fn header(
        self,
        section: &Section<'_>,
        moves: bool,
        mode: Option<bool>,
        has_hunks: bool,
    ) -> Vec<u8> {
        let from = &*section.path.text;
        let to = section.destination().filter(|_| moves).map_or(from, |to| &*to.text);
        match self {
            Self::Envelope => {
                let mut header = operation_marker(section).header(from);
                if moves {
                    header += &Marker::MoveTo.header(to);
                }
                header.into_bytes()
            }
            Self::Diff => {
                let mut out = Vec::new();
                push_git_line(&mut out, from, to);
                push_modes(&mut out, section, mode);
                if moves {
                    push_move(&mut out, section, from, to);
                }
                if has_hunks {
                    push_file_lines(&mut out, section, from, to);
                }
                out
            }
        }
    }

    /// The lines of a new file.
    fn added(self, added: &AddedLines<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        if self == Self::Diff && !added.text.is_empty() {
            out.extend_from_slice(format!("@@ -0,0 +1,{} @@\n", added.lines().count()).as_bytes());
        }
        out.extend_from_slice(&ended(added.text));
        if added.no_newline {
            out.extend_from_slice(NO_NEWLINE.as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// The section of a binary file: its bytes are unchanged text.
    fn binary(self, patch: &Patch, section: &Section<'_>, binary: &Binary<'_>) -> Vec<u8> {
        let moves = section.destination().is_some();
        let mut out = self.header(section, moves, section.executable, false);
        if let Some(old) = binary.old_id
            && let Some(new) = binary.new_id
        {
            out.extend_from_slice(format!("index {old}..{new}\n").as_bytes());
        }
        let lines = patch.bytes(section.span.clone()).split_inclusive(|&byte| byte == b'\n');
        let parts = lines.skip_while(|line| !line.starts_with(b"GIT binary patch"));
        out.extend(parts.flatten());
        out.push(b'\n');
        out
    }

    /// The sections as a patch.
    fn whole(self, patch: &Patch, sections: Vec<u8>) -> Input {
        const NAME: &str = "the chosen part";
        match self {
            Self::Diff => {
                let sent = PatchText::new(sections, Some(DiffOptions::default()));
                Input::of(sent, NAME)
            }
            Self::Envelope => {
                let mut out = Writer::default();
                out.lines_of(patch, &sections);
                let mut input = Input::new(out.finish(), NAME);
                input.sent.exact = patch.exact;
                input.sent.whole_files = patch.whole_files;
                input
            }
        }
    }
}

fn operation_marker(section: &Section<'_>) -> Marker {
    match section.operation {
        SectionOperation::Add(_) => Marker::Add,
        SectionOperation::Delete(_) => Marker::Delete,
        SectionOperation::Update { .. } | SectionOperation::Copy { .. } => Marker::Update,
    }
}

fn push_git_line(out: &mut Vec<u8>, from: &str, to: &str) {
    out.extend_from_slice(b"diff --git ");
    push_quoted(out, "a/", from);
    out.push(b' ');
    push_quoted(out, "b/", to);
    out.push(b'\n');
}

/// Writes the modes of a file to make, to delete or to make executable.
fn push_modes(out: &mut Vec<u8>, section: &Section<'_>, mode: Option<bool>) {
    let lines = match (&section.operation, mode) {
        (SectionOperation::Delete(_), _) => {
            let ids =
                section.deleted_id.map(|id| format!("index {id}..{}\n", "0".repeat(id.len())));
            format!("deleted file mode 100644\n{}", ids.unwrap_or_default())
        }
        (SectionOperation::Add(_), mode) => {
            format!("new file mode {}\n", mode_text(mode.unwrap_or(false)))
        }
        (_, Some(mode)) => {
            format!("old mode {}\nnew mode {}\n", mode_text(!mode), mode_text(mode))
        }
        (_, None) => return,
    };
    out.extend_from_slice(lines.as_bytes());
}

fn mode_text(is_executable: bool) -> &'static str {
    if is_executable { "100755" } else { "100644" }
}

fn push_move(out: &mut Vec<u8>, section: &Section<'_>, from: &str, to: &str) {
    let is_copy = matches!(section.operation, SectionOperation::Copy { .. });
    let verb = if is_copy { "copy" } else { "rename" };
    for (word, name) in [("from", from), ("to", to)] {
        out.extend_from_slice(format!("{verb} {word} ").as_bytes());
        push_quoted(out, "", name);
        out.push(b'\n');
    }
}

/// Writes the lines `---` and `+++`.
fn push_file_lines(out: &mut Vec<u8>, section: &Section<'_>, from: &str, to: &str) {
    match section.operation {
        SectionOperation::Add(_) => out.extend_from_slice(b"--- /dev/null\n"),
        _ => push_file_line(out, "--- ", "a/", from),
    }
    match section.operation {
        SectionOperation::Delete(_) => out.extend_from_slice(b"+++ /dev/null\n"),
        _ => push_file_line(out, "+++ ", "b/", to),
    }
}

fn push_file_line(out: &mut Vec<u8>, sign: &str, prefix: &str, name: &str) {
    out.extend_from_slice(sign.as_bytes());
    push_quoted(out, prefix, name);
    // Git, too, ends a name with blanks by a tab.
    out.extend_from_slice(if name.contains(' ') { b"\t\n" } else { b"\n" });
}

/// The answers, as in `git add -p`.
const KEYS: &[(char, &str)] = &[
    ('y', "yes, take it"),
    ('n', "no, leave it out"),
    ('q', "leave out this hunk and all that are undecided, and apply what was taken"),
    ('a', "take this hunk and all that follow in this file"),
    ('d', "leave out this hunk and all that follow in this file"),
    ('k', "leave it undecided, and go back to the previous undecided hunk"),
    ('K', "leave it undecided, and go back to the previous hunk"),
    ('j', "leave it undecided, and go on to the next undecided hunk"),
    ('J', "leave it undecided, and go on to the next hunk"),
    ('g', "go to a hunk by its number, as in `g2`; alone, list the hunks first"),
    ('/', "go to the next hunk that matches a regular expression, as in `/foo`"),
    ('s', "split it where lines between its changes stay, and ask about each part"),
    ('e', "edit it in $VISUAL or $EDITOR, and take what comes out"),
];

/// Asks about every part of `patch`, in its form. `plan` tells the places of the hunks.
pub(crate) fn choose(
    patch: &Patch,
    form: PatchForm,
    plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>,
) -> Result<Chosen, Failure> {
    let terminal =
        outside::terminal().map_err(|_| Failure::Usage("-i needs a terminal to ask at".into()))?;
    let terminal = BufReader::new(terminal);
    let mut person =
        Person { terminal, form, places: places(patch, plan), quit: false, left_out: Vec::new() };
    let mut text = Vec::new();
    let mut last = None;
    for (index, section) in patch.sections().iter().enumerate() {
        // A mail reads the files as those before it left them.
        let is_parted = last.is_some_and(|last| are_parted(patch, last, section));
        if is_parted && form == PatchForm::Diff && !text.is_empty() {
            text.extend_from_slice(NEXT_DIFF);
        }
        last = Some(section);
        text.extend(person.section(patch, index)?);
    }
    Ok(Chosen {
        patch: (!text.is_empty()).then(|| form.whole(patch, text)),
        left_out: person.left_out,
    })
}

struct Person {
    terminal: BufReader<Terminal>,
    form: PatchForm,
    places: Places,
    /// Nothing more is taken, and nothing asked.
    quit: bool,
    /// The names of the omitted parts.
    left_out: Vec<String>,
}

impl Person {
    /// Returns the accepted part of a section, as text.
    fn section(&mut self, patch: &Patch, index: usize) -> Result<Vec<u8>, Failure> {
        let section = &patch.sections()[index];
        let path = &section.path.text;
        let form = self.form;
        // The one line of a link is taken or left with the link.
        if section.link {
            let taken = self.takes(b"", format!("L {path}"), "Change this symbolic link")?;
            let text = patch.bytes(section.span.clone());
            return Ok(if taken { text.to_vec() } else { Vec::new() });
        }
        if section.submodule.is_some() {
            let taken = self.takes(b"", format!("M {path}, submodule"), "Change this submodule")?;
            let text = patch.bytes(section.span.clone());
            return Ok(if taken { text.to_vec() } else { Vec::new() });
        }
        let mode = section.executable;
        if let Some(binary) = &section.binary {
            let to = section.destination().map(|to| format!(" -> {}", to.text));
            let name = format!("M {path}{}, binary", to.unwrap_or_default());
            if !self.takes(b"", name, "Apply this binary change")? {
                return Ok(Vec::new());
            }
            return Ok(form.binary(patch, section, binary));
        }
        let mut takes_move = false;
        match &section.operation {
            SectionOperation::Add(added) => {
                let lines = form.added(added);
                if !self.takes(&lines, format!("A {path}"), "Add this file")? {
                    return Ok(Vec::new());
                }
                return Ok([form.header(section, false, mode, !lines.is_empty()), lines].concat());
            }
            SectionOperation::Delete(hunks) => {
                if !self.takes(b"", format!("D {path}"), "Delete this file")? {
                    return Ok(Vec::new());
                }
                let lines: Vec<_> =
                    hunks.iter().flatten().flat_map(|hunk| hunk_text(patch, hunk)).collect();
                return Ok([form.header(section, false, None, !lines.is_empty()), lines].concat());
            }
            SectionOperation::Copy { to, .. } => {
                let name = format!("C {path} -> {}", to.text);
                if !self.takes(b"", name, "Copy this file")? {
                    return Ok(Vec::new());
                }
                takes_move = true;
            }
            SectionOperation::Update { move_to: Some(to), .. } => {
                let name = format!("R {path} -> {}", to.text);
                takes_move = self.takes(b"", name, "Move this file")?;
            }
            SectionOperation::Update { move_to: None, .. } => {}
        }
        let mut takes_mode = None;
        if let Some(executable) = mode {
            let name = format!("M {path}, mode {}", mode_text(executable));
            let taken = self.takes(b"", name, "Change the mode of this file")?;
            takes_mode = mode.filter(|_| taken);
        }
        let body = self.hunks(patch, index)?;
        if body.is_empty() && !takes_move && takes_mode.is_none() {
            return Ok(body);
        }
        Ok([form.header(section, takes_move, takes_mode, !body.is_empty()), body].concat())
    }

    /// Returns what is taken of the hunks of a section, as text.
    fn hunks(&mut self, patch: &Patch, index: usize) -> Result<Vec<u8>, Failure> {
        let section = &patch.sections()[index];
        let path = &section.path.text;
        let hunks = section.hunks();
        let mut texts = Vec::with_capacity(hunks.len());
        let mut pieces = Vec::with_capacity(hunks.len());
        for (nth, hunk) in hunks.iter().enumerate() {
            let place = self.places.remove(&(index, nth));
            let place = place.unwrap_or_else(|| Err("its place is not known".into()));
            let text = HunkText::of(patch, hunk, place);
            pieces.push(HunkPiece {
                hunk: nth,
                parts: 0..text.parts.len(),
                name: format!("{path}, hunk {} of {}", nth + 1, hunks.len()),
                decided: None,
            });
            texts.push(text);
        }
        self.decide(&texts, &mut pieces)?;
        let left_out = pieces.iter().filter(|piece| piece.decided == Some(PartDecision::Left));
        self.left_out.extend(left_out.map(|piece| piece.name.clone()));
        let mut body = Vec::new();
        for (nth, text) in texts.iter().enumerate() {
            let parts = pieces.iter().filter(|piece| piece.hunk == nth);
            let parts: Vec<_> = parts.filter_map(|piece| piece.decided.clone()).collect();
            body.extend(match &parts[..] {
                [PartDecision::Taken] => text.whole.clone(),
                [PartDecision::Left] => Vec::new(),
                [PartDecision::Edited(text)] => counted(text.clone(), self.form),
                parts => text.text(parts, self.form),
            });
        }
        Ok(body)
    }

    /// Asks about each piece until all are decided.
    fn decide(&mut self, texts: &[HunkText], pieces: &mut Vec<HunkPiece>) -> Result<(), Failure> {
        let mut at = 0;
        while pieces.iter().any(HunkPiece::is_undecided) {
            if self.quit {
                pieces.iter_mut().filter(|piece| piece.is_undecided()).for_each(HunkPiece::leave);
                break;
            }
            let piece = &pieces[at];
            let text = &texts[piece.hunk];
            let name = match &piece.decided {
                None => format!("M {}", piece.name),
                Some(PartDecision::Left) => format!("M {} (left out)", piece.name),
                Some(_) => format!("M {} (taken)", piece.name),
            };
            let keys = offered_keys(pieces, at);
            let shown = text.shown(piece.parts.clone());
            let (key, rest) = self.ask(&shown, &name, "Apply this hunk", &keys)?;
            let goes = match key {
                'k' => Some(undecided_before(pieces, at)),
                'j' => Some(undecided_after(pieces, at)),
                'K' => Some(at.checked_sub(1)),
                'J' => Some(Some(at + 1)),
                'g' => Some(self.numbered(texts, pieces, &rest)?),
                '/' => Some(self.found(texts, pieces, at, &rest)?),
                _ => None,
            };
            if let Some(to) = goes {
                at = to.unwrap_or(at);
                continue;
            }
            let decided = match key {
                's' => {
                    let split = piece.split();
                    pieces.splice(at..=at, split);
                    continue;
                }
                'e' if text.parts.len() == piece.parts.len() => {
                    PartDecision::Edited(edited(text.whole.clone())?)
                }
                'e' => {
                    let lines = text.parts[piece.parts.clone()].concat().concat();
                    PartDecision::Edited(edited([b"@@\n", &lines[..]].concat())?)
                }
                'y' | 'a' => PartDecision::Taken,
                _ => PartDecision::Left,
            };
            if matches!(key, 'a' | 'd') {
                let rest = pieces[at + 1..].iter_mut().filter(|piece| piece.is_undecided());
                rest.for_each(|piece| piece.decided = Some(decided.clone()));
            }
            if key != 'q' || pieces[at].is_undecided() {
                pieces[at].decided = Some(decided);
            }
            let later = pieces[at..].iter().position(HunkPiece::is_undecided).map(|nth| at + nth);
            at = later.or(pieces.iter().position(HunkPiece::is_undecided)).unwrap_or(at);
        }
        Ok(())
    }

    /// The hunk that the person names by its number.
    fn numbered(
        &mut self,
        texts: &[HunkText],
        pieces: &[HunkPiece],
        number: &str,
    ) -> Result<Option<usize>, Failure> {
        let mut number = number.to_owned();
        if number.is_empty() {
            let mut list = String::new();
            for (nth, piece) in pieces.iter().enumerate() {
                let sign = match piece.decided {
                    None => ' ',
                    Some(PartDecision::Left) => '-',
                    Some(_) => '+',
                };
                let text = &texts[piece.hunk];
                let mut lines = text.parts[piece.parts.clone()].iter().flatten();
                let first = lines.find(|line| is_change(line)).map(Vec::as_slice);
                let first = String::from_utf8_lossy(first.unwrap_or_default());
                let first = render::cut(render::sanitize(first.trim_end()).as_ref(), Some(60));
                list += &format!("{sign} {}: {first}\n", nth + 1);
            }
            number = self.line(&format!("{list}Go to which hunk? "))?;
        }
        let nth = number.parse().ok().and_then(|nth: usize| nth.checked_sub(1));
        let nth = nth.filter(|&nth| nth < pieces.len());
        if nth.is_none() {
            self.say(&format!("There is no hunk {number:?}; there are {}", pieces.len()))?;
        }
        Ok(nth)
    }

    /// The first match from this hunk on, and then from the first.
    fn found(
        &mut self,
        texts: &[HunkText],
        pieces: &[HunkPiece],
        at: usize,
        pattern: &str,
    ) -> Result<Option<usize>, Failure> {
        let mut pattern = pattern.to_owned();
        if pattern.is_empty() {
            pattern = self.line("Search for which regular expression? ")?;
        }
        // Bytes are searched: a hunk need not be UTF-8.
        let mut regex = regex::bytes::RegexBuilder::new(&pattern);
        let regex = match regex.unicode(false).multi_line(true).build() {
            Ok(regex) => regex,
            Err(error) => {
                self.say(&format!("This is not a regular expression: {error}"))?;
                return Ok(None);
            }
        };
        let found = (at..pieces.len()).chain(0..at).find(|&nth| {
            let piece = &pieces[nth];
            let text = &texts[piece.hunk];
            let lines = text.parts[piece.parts.clone()].concat().concat();
            regex.is_match(&lines) || regex.is_match(text.header.as_bytes())
        });
        if found.is_none() {
            self.say("No hunk matches")?;
        }
        Ok(found)
    }

    /// Asks about a change that is taken or left as a whole.
    fn takes(&mut self, shown: &[u8], name: String, question: &str) -> Result<bool, Failure> {
        let lines: Vec<_> = shown
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.starts_with(b"+"))
            .collect();
        let mut diff = Vec::new();
        if !lines.is_empty() {
            let cut: Vec<u8> = lines.iter().take(SHOWN).flat_map(|line| *line).copied().collect();
            // Writing to memory never fails, here and below.
            let _ = render::write_diff(&mut diff, &[b"@@\n", &cut[..]].concat());
        }
        if lines.len() > SHOWN {
            let _ = writeln!(diff, "… {} more lines", lines.len() - SHOWN);
        }
        let taken = !self.quit && self.ask(&diff, &name, question, &['y', 'n', 'q'])?.0 == 'y';
        if !taken {
            self.left_out.push(name);
        }
        Ok(taken)
    }

    /// Shows what a question is about, in colour, and asks until there is an answer: one of `keys`,
    /// and the text after. If the terminal goes away, nothing is accepted.
    fn ask(
        &mut self,
        shown: &[u8],
        name: &str,
        question: &str,
        keys: &[char],
    ) -> Result<(char, String), Failure> {
        let text = [format!("{}\n", render::sanitize(name)).as_bytes(), shown].concat();
        approve::write_coloured(self.terminal.get_mut(), &text).map_err(no_answer)?;
        let offered: String = keys.iter().flat_map(|&key| [key, ',']).collect();
        loop {
            let answer = self.line(&format!("{question}? [{offered}?] "))?;
            let mut rest = answer.chars();
            let key = rest.next().filter(|key| keys.contains(key));
            let rest = rest.as_str().trim();
            match key {
                Some(key) if rest.is_empty() || matches!(key, 'g' | '/') => {
                    self.quit = key == 'q';
                    return Ok((key, rest.to_owned()));
                }
                _ => {
                    let known = KEYS.iter().filter(|(key, _)| keys.contains(key));
                    let help: String =
                        known.map(|(key, what)| format!("{key} - {what}\n")).collect();
                    self.say(&format!("{help}? - show this help"))?;
                }
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Result<String, Failure> {
        approve::line(&mut self.terminal, prompt).map_err(no_answer)
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.terminal.get_mut(), "{text}").map_err(no_answer)
    }
}

fn no_answer(error: std::io::Error) -> Failure {
    Failure::Refused(approve::no_answer(error.kind()))
}

/// A hunk, or a part of a split one, with the person's decision.
#[derive(Debug)]
struct HunkPiece {
    hunk: usize,
    parts: Range<usize>,
    name: String,
    decided: Option<PartDecision>,
}

impl HunkPiece {
    fn is_undecided(&self) -> bool {
        self.decided.is_none()
    }

    fn leave(&mut self) {
        self.decided = Some(PartDecision::Left);
    }

    /// Each of its parts as a piece.
    fn split(&self) -> Vec<Self> {
        self.parts
            .clone()
            .map(|nth| Self {
                hunk: self.hunk,
                parts: nth..nth + 1,
                name: format!("{}, part {} of {}", self.name, nth + 1, self.parts.len()),
                decided: None,
            })
            .collect()
    }
}

fn undecided_before(pieces: &[HunkPiece], at: usize) -> Option<usize> {
    pieces[..at].iter().rposition(HunkPiece::is_undecided)
}

fn undecided_after(pieces: &[HunkPiece], at: usize) -> Option<usize> {
    pieces[at + 1..].iter().position(HunkPiece::is_undecided).map(|nth| at + 1 + nth)
}

/// The answers that make sense for the piece at `at`.
fn offered_keys(pieces: &[HunkPiece], at: usize) -> Vec<char> {
    KEYS.iter()
        .map(|(key, _)| *key)
        .filter(|key| match key {
            'k' => undecided_before(pieces, at).is_some(),
            'K' => at > 0,
            'j' => undecided_after(pieces, at).is_some(),
            'J' => at + 1 < pieces.len(),
            'g' | '/' => pieces.len() > 1,
            's' => pieces[at].parts.len() > 1,
            _ => true,
        })
        .collect()
}

/// How many lines of the file stand around a hunk without context of its own.
const AROUND: usize = 3;

/// The place of a hunk: its lines in the file, and its first line after the hunks before.
#[derive(Debug, Clone)]
struct HunkPlace {
    old: usize,
    new: usize,
    /// The lines of the file before and after the hunk, as context.
    around: [Vec<Vec<u8>>; 2],
}

/// The place of each hunk, by section and hunk, or the reason for none.
type Places = HashMap<(usize, usize), Result<HunkPlace, String>>;

/// Finds the places of hunks. If the whole patch does not fit, each file is planned alone, without
/// its unfit hunks.
fn places(patch: &Patch, plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>) -> Places {
    let mut places = Places::new();
    if let Ok(plan) = plan(patch) {
        for index in 0..patch.sections().len() {
            let kept: Vec<_> = (0..patch.sections()[index].hunks().len()).collect();
            placed(&mut places, patch, index, &kept, &plan, index);
        }
        // Of a file with several sections, the later ones see other lines.
        for ((index, _), place) in &mut places {
            let path = &patch.sections()[*index].path.text;
            let same = patch.sections().iter().filter(|section| section.path.text == *path);
            if same.count() > 1
                && let Ok(place) = place
            {
                place.around = Default::default();
            }
        }
        return places;
    }
    for (index, section) in patch.sections().iter().enumerate() {
        let mut kept: Vec<_> = (0..section.hunks().len()).collect();
        while !kept.is_empty() {
            let alone = patch.map_sections(|all| vec![with_hunks(&all[index], &kept)]);
            let rejects = match plan(&alone) {
                Ok(plan) => {
                    placed(&mut places, patch, index, &kept, &plan, 0);
                    break;
                }
                Err(rejects) => rejects,
            };
            let bad: Vec<_> = rejects
                .iter()
                .filter_map(|reject| Some((reject.hunk?, reject.problem.to_string())))
                .collect();
            if bad.is_empty() {
                let why = rejects
                    .iter()
                    .map(|reject| reject.problem.to_string())
                    .next()
                    .unwrap_or_default();
                places.extend(kept.iter().map(|&hunk| ((index, hunk), Err(why.clone()))));
                break;
            }
            places.extend(bad.iter().map(|(hunk, why)| ((index, kept[*hunk]), Err(why.clone()))));
            let mut nth = 0..;
            kept.retain(|_| {
                nth.next().is_some_and(|nth| !bad.iter().any(|(hunk, _)| *hunk == nth))
            });
        }
    }
    places
}

/// The section with some of its hunks.
fn with_hunks<'p>(section: &Section<'p>, kept: &[usize]) -> Section<'p> {
    let mut section = section.clone();
    match &mut section.operation {
        SectionOperation::Update { hunks, .. }
        | SectionOperation::Copy { hunks, .. }
        | SectionOperation::Delete(Some(hunks)) => {
            *hunks = kept.iter().map(|&hunk| hunks[hunk].clone()).collect();
        }
        SectionOperation::Add(_) | SectionOperation::Delete(None) => {}
    }
    section
}

/// Adds the places of the kept hunks of a section, number `in_plan` of the plan.
fn placed(
    places: &mut Places,
    patch: &Patch,
    index: usize,
    kept: &[usize],
    plan: &Plan,
    in_plan: usize,
) {
    let section = &patch.sections()[index];
    let mut changes = plan.changes().iter();
    let change = changes.find(|change| change.path.as_str() == section.path.text);
    let file = change.and_then(|change| plan.images().old_bytes(change).ok());
    // A file of another charset than UTF-8 has no lines here.
    let file = file.filter(|bytes| !bytes.contains(&0));
    let lines: Vec<&[u8]> = file
        .as_deref()
        .map(|bytes| bytes.split_inclusive(|&byte| byte == b'\n').collect())
        .unwrap_or_default();
    let mut all: Vec<_> = plan.placed_in(in_plan).collect();
    all.sort_by_key(|placed| placed.first_line);
    let mut shift = 0;
    for placed in all {
        let nth = kept[placed.hunk];
        let hunk = &section.hunks()[nth];
        let deleted = count_of(hunk, LineKind::Delete);
        let new = placed.first_line.saturating_add_signed(shift);
        let first = placed.first_line.saturating_sub(1);
        let end = first + count_of(hunk, LineKind::Context) + deleted;
        let around = [
            context(&lines, first.saturating_sub(AROUND)..first),
            context(&lines, end..end + AROUND),
        ];
        places.insert((index, nth), Ok(HunkPlace { old: placed.first_line, new, around }));
        shift += count_of(hunk, LineKind::Insert) as isize - deleted as isize;
    }
}

fn count_of(hunk: &Hunk<'_>, kind: LineKind) -> usize {
    hunk.lines.iter().filter(|line| line.kind == kind).count()
}

/// Lines of a file as the context of a hunk, as far as the file has them.
fn context(lines: &[&[u8]], range: Range<usize>) -> Vec<Vec<u8>> {
    let range = range.start.min(lines.len())..range.end.min(lines.len());
    lines[range].iter().map(|line| [b" ", without_end(line), b"\n"].concat()).collect()
}

/// A hunk as text, taken apart: a part is a run of changed lines with the unchanged ones after, and
/// before in the first part.
#[derive(Debug)]
struct HunkText {
    /// Where the hunk goes, or why it has no place.
    place: Result<HunkPlace, String>,
    whole: Vec<u8>,
    /// The opening lines.
    head: Vec<u8>,
    /// The header, without line numbers.
    header: String,
    /// Lines, each with a marker of its missing line feed.
    parts: Vec<Vec<Vec<u8>>>,
    /// The marker of the end of the file.
    tail: Vec<u8>,
}

/// The decision of the person about a part of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PartDecision {
    Taken,
    Left,
    Edited(Vec<u8>),
}

impl HunkText {
    fn of(patch: &Patch, hunk: &Hunk<'_>, place: Result<HunkPlace, String>) -> Self {
        let text = hunk_text(patch, hunk);
        let mut head = Vec::new();
        let mut tail = Vec::new();
        let mut parts = vec![Vec::<Vec<u8>>::new()];
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let part = parts.last_mut().expect("there is one at least");
            match line[0] {
                b'@' if part.is_empty() => head.extend_from_slice(line),
                b'*' => tail.extend_from_slice(line),
                b'\\' if !part.is_empty() => {
                    part.last_mut().expect("it has lines").extend_from_slice(line)
                }
                // Empty lines after the last marker are not lines of the file.
                _ if !tail.is_empty() => tail.extend_from_slice(line),
                b'+' | b'-'
                    if part.last().is_some_and(|last| !is_change(last))
                        && part.iter().any(|it| is_change(it)) =>
                {
                    parts.push(vec![line.to_vec()]);
                }
                _ => part.push(line.to_vec()),
            }
        }
        let first =
            String::from_utf8_lossy(head.split(|&byte| byte == b'\n').next().unwrap_or_default())
                .into_owned();
        let named = hunk.headers.iter().map(|header| &*header.text).collect::<Vec<_>>().join(", ");
        // That of a diff stands after its numbers.
        let header = first.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"));
        let header = header.map_or(named, |(_, rest)| rest.trim().to_owned());
        Self { place, whole: text, head, header, parts, tail }
    }

    /// Parts in colour, with the unchanged lines before, and their place. A hunk without unchanged
    /// lines at its beginning or end gets lines of the file there.
    fn shown(&self, parts: Range<usize>) -> Vec<u8> {
        let before = self.parts[..parts.start].iter().flatten();
        let mut context: Vec<&Vec<u8>> = match parts.start.checked_sub(1) {
            Some(last) => self.parts[last]
                .iter()
                .skip_while(|line| !is_change(line))
                .filter(|line| !is_change(line))
                .collect(),
            None => Vec::new(),
        };
        let own = context.len();
        let mut lines: Vec<&Vec<u8>> = self.parts[parts.clone()].iter().flatten().collect();
        let mut added = 0;
        if let Ok(HunkPlace { around: [first, last], .. }) = &self.place {
            if parts.start == 0 && lines.first().is_some_and(|line| is_change(line)) {
                context.extend(first);
                added = first.len();
            }
            if parts.end == self.parts.len() && lines.last().is_some_and(|line| is_change(line)) {
                lines.extend(last);
            }
        }
        let lines = [context, lines].concat();
        // Writing to memory never fails.
        let mut shown = Vec::new();
        let header = match &self.place {
            Ok(place) => {
                let above = own + added;
                let old = place.old + count_without(before.clone(), b'+');
                let old = range(old.saturating_sub(above), count_without(lines.iter(), b'+'));
                let new = place.new + count_without(before, b'-');
                let new = range(new.saturating_sub(above), count_without(lines.iter(), b'-'));
                format!("@@ -{old} +{new} @@ {}", self.header)
            }
            Err(why) => {
                let _ = writeln!(shown, "! {}", render::sanitize(why));
                format!("@@ {}", self.header)
            }
        };
        let text: Vec<u8> = lines.into_iter().flatten().copied().collect();
        let _ = render::write_diff(
            &mut shown,
            &[header.trim_end().as_bytes(), b"\n", &text[..]].concat(),
        );
        shown
    }

    /// The hunk of the accepted parts; empty for none.
    ///
    /// In an omitted part, the lines to delete become context, so that the place of the hunk stays
    /// the same.
    fn text(&self, parts: &[PartDecision], form: PatchForm) -> Vec<u8> {
        let mut lines: Vec<u8> = Vec::new();
        for (part, of) in parts.iter().zip(&self.parts) {
            match part {
                PartDecision::Taken => lines.extend(of.concat()),
                PartDecision::Left => {
                    for line in of.iter().filter(|line| line[0] != b'+') {
                        let sign = if line[0] == b'-' { b' ' } else { line[0] };
                        lines.extend([&[sign], &line[1..]].concat());
                    }
                }
                PartDecision::Edited(text) => {
                    let own =
                        text.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] != b'@');
                    lines.extend(own.flatten());
                }
            }
        }
        if !lines.split_inclusive(|&byte| byte == b'\n').any(is_change) {
            return Vec::new();
        }
        counted([&self.head[..], &lines, &self.tail].concat(), form)
    }
}

/// How many lines do not begin with a sign.
fn count_without(lines: impl Iterator<Item: AsRef<[u8]>>, sign: u8) -> usize {
    lines.filter(|line| line.as_ref()[0] != sign).count()
}

/// A range of lines as a hunk has it.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", first.saturating_sub(1)),
        1 => first.to_string(),
        _ => format!("{first},{count}"),
    }
}

/// The line without its line end.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_change(line: &[u8]) -> bool {
    matches!(line[0], b'+' | b'-')
}

/// A hunk of a diff with the numbers of its lines; one of an envelope has none.
fn counted(text: Vec<u8>, form: PatchForm) -> Vec<u8> {
    match form {
        PatchForm::Envelope => text,
        PatchForm::Diff => renumbered(&text).unwrap_or(text),
    }
}

/// The hunk of a diff with the right counts in its header; `None` without a header.
fn renumbered(text: &[u8]) -> Option<Vec<u8>> {
    let first = text.split_inclusive(|&byte| byte == b'\n').next()?;
    let header = std::str::from_utf8(first).ok()?.strip_prefix("@@ -")?;
    let (numbers, rest) = header.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    let body = &text[first.len()..];
    let lines = body.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] != b'\\');
    let header = format!(
        "@@ -{},{} +{},{} @@{rest}",
        range_start(old),
        count_without(lines.clone(), b'+'),
        range_start(new),
        count_without(lines, b'-')
    );
    Some([header.as_bytes(), body].concat())
}

fn range_start(range: &str) -> &str {
    range.split(',').next().unwrap_or_default()
}

/// The text of a hunk, with all of its lines ended.
fn hunk_text(patch: &Patch, hunk: &Hunk<'_>) -> Vec<u8> {
    const END: &[u8] = Marker::EndOfFile.as_str().as_bytes();
    let mut text = ended(patch.bytes(hunk.span.clone()));
    if hunk.end_of_file
        && !text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end() == END)
    {
        text.extend_from_slice(END);
        text.push(b'\n');
    }
    text
}

fn ended(text: &[u8]) -> Vec<u8> {
    let end: &[u8] = if text.ends_with(b"\n") || text.is_empty() { b"" } else { b"\n" };
    [text, end].concat()
}

fn edited(text: Vec<u8>) -> Result<Vec<u8>, Failure> {
    Ok(ended(approve::edit(&Input::new(text, "the hunk"))?.bytes()))
}
