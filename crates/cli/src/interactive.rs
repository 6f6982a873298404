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
    /// The patch of what was taken, in the form of the whole; `None` when that is nothing.
    pub(crate) patch: Option<Input>,
    /// What was left out, in words.
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
        let is = |operation: fn(&SectionOperation<'_>) -> bool| operation(&section.operation);
        let (added, deleted) = (
            is(|it| matches!(it, SectionOperation::Add(_))),
            is(|it| matches!(it, SectionOperation::Delete(_))),
        );
        if self == Self::Envelope {
            let marker = match () {
                () if added => Marker::Add,
                () if deleted => Marker::Delete,
                () => Marker::Update,
            };
            let to = if moves { Marker::MoveTo.header(to) } else { String::new() };
            return (marker.header(from) + &to).into_bytes();
        }
        let mut out = Vec::new();
        let mut line = |names: &[(&str, &str, &str)]| {
            for (words, prefix, name) in names {
                out.extend_from_slice(words.as_bytes());
                if !name.is_empty() {
                    push_quoted(&mut out, prefix, name);
                }
            }
            // After a name with blanks as git has it.
            let blank = names[0].0.starts_with(['-', '+']) && names[0].2.contains(' ');
            out.extend_from_slice(if blank { b"\t\n" } else { b"\n" });
        };
        line(&[("diff --git ", "a/", from), (" ", "b/", to)]);
        let named = |executable: bool| if executable { "100755" } else { "100644" };
        match mode {
            _ if deleted => line(&[("deleted file mode 100644", "", "")]),
            mode if added => {
                line(&[("new file mode ", "", ""), (named(mode.unwrap_or(false)), "", "")])
            }
            Some(mode) => {
                line(&[("old mode ", "", ""), (named(!mode), "", "")]);
                line(&[("new mode ", "", ""), (named(mode), "", "")]);
            }
            None => {}
        }
        if moves {
            let copies = is(|it| matches!(it, SectionOperation::Copy { .. }));
            line(&[(if copies { "copy from " } else { "rename from " }, "", from)]);
            line(&[(if copies { "copy to " } else { "rename to " }, "", to)]);
        }
        if has_hunks {
            line(
                &[("--- ", "a/", from)]
                    .map(|name| if added { ("--- /dev/null", "", "") } else { name }),
            );
            line(
                &[("+++ ", "b/", to)]
                    .map(|name| if deleted { ("+++ /dev/null", "", "") } else { name }),
            );
        }
        out
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

    /// The section of a binary file: its bytes are text that is taken as it is.
    fn binary(self, patch: &Patch, section: &Section<'_>, binary: &Binary<'_>) -> Vec<u8> {
        let moves = section.destination().is_some();
        let mut out = self.header(section, moves, section.executable, false);
        if let (Some(old), Some(new)) = (binary.old_id, binary.new_id) {
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
                Input::new(out.finish(), NAME)
            }
        }
    }
}

/// What can be answered, as in `git add -p`.
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

/// Asks about every part of `patch`, which is of this form. `plan` says where its hunks go.
pub(crate) fn choose(
    patch: &Patch,
    form: PatchForm,
    plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>,
) -> Result<Chosen, Failure> {
    let refused = |_| Failure::Usage("-i needs a terminal to ask at".into());
    let terminal = BufReader::new(outside::terminal().map_err(refused)?);
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
        text.extend(person.section(patch, (index, section))?);
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
    /// What was left out, in words.
    left_out: Vec<String>,
}

impl Person {
    /// Returns the part of a section that is taken, as text.
    fn section(
        &mut self,
        patch: &Patch,
        (index, section): (usize, &Section<'_>),
    ) -> Result<Vec<u8>, Failure> {
        let (form, path) = (self.form, &section.path.text);
        // The one line of a link is taken or left with it.
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
        let (mut takes_move, mut takes_mode) = (false, None);
        if let Some(binary) = &section.binary {
            let to = section.destination().map(|to| format!(" -> {}", to.text));
            let name = format!("M {path}{}, binary", to.unwrap_or_default());
            if !self.takes(b"", name, "Apply this binary change")? {
                return Ok(Vec::new());
            }
            return Ok(form.binary(patch, section, binary));
        }
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
        if let Some(executable) = mode {
            let name = format!("M {path}, mode {}", if executable { "100755" } else { "100644" });
            let taken = self.takes(b"", name, "Change the mode of this file")?;
            takes_mode = mode.filter(|_| taken);
        }
        let body = self.hunks(patch, (index, section))?;
        if body.is_empty() && !takes_move && takes_mode.is_none() {
            return Ok(body);
        }
        Ok([form.header(section, takes_move, takes_mode, !body.is_empty()), body].concat())
    }

    /// Returns what is taken of the hunks of a section, as text.
    fn hunks(
        &mut self,
        patch: &Patch,
        (index, section): (usize, &Section<'_>),
    ) -> Result<Vec<u8>, Failure> {
        let (path, hunks) = (&section.path.text, section.hunks());
        let unknown = || Err("its place is not known".into());
        let of = |(nth, hunk)| {
            let place = self.places.remove(&(index, nth)).unwrap_or_else(unknown);
            HunkText::of(patch, hunk, place)
        };
        let texts: Vec<HunkText> = hunks.iter().enumerate().map(of).collect();
        let whole = |(nth, text): (usize, &HunkText)| HunkPiece {
            hunk: nth,
            parts: 0..text.parts.len(),
            name: format!("{path}, hunk {} of {}", nth + 1, hunks.len()),
            decided: None,
        };
        let mut pieces: Vec<HunkPiece> = texts.iter().enumerate().map(whole).collect();
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
            let (piece, text) = (&pieces[at], &texts[pieces[at].hunk]);
            let name = match &piece.decided {
                None => format!("M {}", piece.name),
                Some(PartDecision::Left) => format!("M {} (left out)", piece.name),
                Some(_) => format!("M {} (taken)", piece.name),
            };
            let before = pieces[..at].iter().rposition(HunkPiece::is_undecided);
            let after =
                pieces[at + 1..].iter().position(HunkPiece::is_undecided).map(|nth| at + 1 + nth);
            let is_offered = |key: &char| match key {
                'k' => before.is_some(),
                'K' => at > 0,
                'j' => after.is_some(),
                'J' => at + 1 < pieces.len(),
                'g' | '/' => pieces.len() > 1,
                's' => piece.parts.len() > 1,
                _ => true,
            };
            let keys: Vec<char> = KEYS.iter().map(|(key, _)| *key).filter(is_offered).collect();
            let shown = text.shown(piece.parts.clone());
            let (key, rest) = self.ask(&shown, &name, "Apply this hunk", &keys)?;
            let goes = match key {
                'k' => Some(before),
                'j' => Some(after),
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
                    let (hunk, parts) = (piece.hunk, piece.parts.clone());
                    let part = |nth: usize| HunkPiece {
                        hunk,
                        parts: nth..nth + 1,
                        name: format!("{}, part {} of {}", piece.name, nth + 1, parts.len()),
                        decided: None,
                    };
                    let split: Vec<_> = parts.clone().map(part).collect();
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

    /// The first hunk from this one on, and then from the first, that matches.
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
        let is_match = |piece: &HunkPiece| {
            let text = &texts[piece.hunk];
            let lines = text.parts[piece.parts.clone()].concat().concat();
            regex.is_match(&lines) || regex.is_match(text.header.as_bytes())
        };
        let found = (at..pieces.len()).chain(0..at).find(|&nth| is_match(&pieces[nth]));
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
            // Memory takes all that is written, here and below.
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
    /// and what follows it. Where the terminal goes away, nothing is taken.
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

/// A hunk, or a part of one that was split, and what the person did with it.
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
}

/// How many lines of the file are shown around a hunk that has none of its own there.
const AROUND: usize = 3;

/// Where a hunk goes: its lines in the file, and the first of them when the hunks before it are
/// applied.
#[derive(Debug, Clone)]
struct HunkPlace {
    old: usize,
    new: usize,
    /// The lines of the file before and after it, as context.
    around: [Vec<Vec<u8>>; 2],
}

/// The place of each hunk, by section and hunk, or why it has none.
type Places = HashMap<(usize, usize), Result<HunkPlace, String>>;

/// Finds where hunks go. Where the whole patch does not fit, each file is looked at for itself,
/// without what does not fit in it.
fn places(patch: &Patch, plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>) -> Places {
    let mut places = Places::new();
    if let Ok(plan) = plan(patch) {
        for index in 0..patch.sections().len() {
            let kept: Vec<_> = (0..patch.sections()[index].hunks().len()).collect();
            placed(&mut places, (index, &patch.sections()[index]), &kept, &plan, index);
        }
        // Where a file has several sections, its lines are not those that the later ones see.
        let path = |index: usize| &patch.sections()[index].path.text;
        for ((index, _), place) in &mut places {
            let same = patch.sections().iter().filter(|section| section.path.text == *path(*index));
            if let (Ok(place), true) = (place, same.count() > 1) {
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
                    placed(&mut places, (index, section), &kept, &plan, 0);
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

/// Adds the places of the hunks of a section that is the one of this index in the plan.
fn placed(
    places: &mut Places,
    (index, section): (usize, &Section<'_>),
    kept: &[usize],
    plan: &Plan,
    in_plan: usize,
) {
    let mut changes = plan.changes().iter();
    let change = changes.find(|change| change.path.as_str() == section.path.text);
    let file = change.and_then(|change| plan.images().old_bytes(change).ok());
    // A file of another charset than UTF-8 has no lines here.
    let file = file.filter(|bytes| !bytes.contains(&0));
    let lines: Vec<&[u8]> = file
        .as_deref()
        .map(|bytes| bytes.split_inclusive(|&byte| byte == b'\n').collect())
        .unwrap_or_default();
    let context = |range: Range<usize>| {
        let range = range.start.min(lines.len())..range.end.min(lines.len());
        lines[range]
            .iter()
            .map(|line| [b" ", without_end(line), b"\n"].concat())
            .collect::<Vec<_>>()
    };
    let mut all: Vec<_> = plan.placed_in(in_plan).collect();
    all.sort_by_key(|placed| placed.first_line);
    let mut shift = 0;
    for placed in all {
        let hunk = kept[placed.hunk];
        let count =
            |kind| section.hunks()[hunk].lines.iter().filter(|line| line.kind == kind).count();
        let new = placed.first_line.saturating_add_signed(shift);
        let first = placed.first_line.saturating_sub(1);
        let end = first + count(LineKind::Context) + count(LineKind::Delete);
        let around = [context(first.saturating_sub(AROUND)..first), context(end..end + AROUND)];
        places.insert((index, hunk), Ok(HunkPlace { old: placed.first_line, new, around }));
        shift += count(LineKind::Insert) as isize - count(LineKind::Delete) as isize;
    }
}

/// A hunk as text, taken apart: a part is a run of changed lines with the unchanged ones after it,
/// and before it for the first.
#[derive(Debug)]
struct HunkText {
    /// Where it goes, or why it has no place.
    place: Result<HunkPlace, String>,
    whole: Vec<u8>,
    /// The lines that open it.
    head: Vec<u8>,
    /// What it says about its place, apart from line numbers.
    header: String,
    /// Lines, each with a marker of its missing line feed.
    parts: Vec<Vec<Vec<u8>>>,
    /// The marker of the end of the file.
    tail: Vec<u8>,
}

/// What the person did with a part of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PartDecision {
    Taken,
    Left,
    Edited(Vec<u8>),
}

impl HunkText {
    fn of(patch: &Patch, hunk: &Hunk<'_>, place: Result<HunkPlace, String>) -> Self {
        let text = hunk_text(patch, hunk);
        let (mut head, mut tail, mut parts) = (Vec::new(), Vec::new(), vec![Vec::<Vec<u8>>::new()]);
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

    /// Parts in colour, with the unchanged lines before them, and where they go. Where the hunk has
    /// no unchanged lines at its beginning or end, those of the file are shown.
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
        let count = |lines: &mut dyn Iterator<Item = &Vec<u8>>, sign: u8| {
            lines.filter(|line| line[0] != sign).count()
        };
        // Memory takes all that is written.
        let mut shown = Vec::new();
        let header = match &self.place {
            Ok(place) => {
                let first = |first: usize, sign| {
                    (first + count(&mut before.clone(), sign)).saturating_sub(own + added)
                };
                let range = |first: usize, count: usize| match count {
                    0 => format!("{},0", first.saturating_sub(1)),
                    1 => first.to_string(),
                    _ => format!("{first},{count}"),
                };
                let all = |sign| count(&mut lines.iter().copied(), sign);
                let old = range(first(place.old, b'+'), all(b'+'));
                let new = range(first(place.new, b'-'), all(b'-'));
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

    /// The hunk of what was taken of its parts; empty when that is nothing.
    ///
    /// Of a part that is left out the lines to delete become context, so that the hunk has the
    /// place of the whole.
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
    let numbered = || {
        let first = text.split_inclusive(|&byte| byte == b'\n').next()?;
        let header = std::str::from_utf8(first).ok()?.strip_prefix("@@ -")?;
        let (numbers, rest) = header.split_once(" @@")?;
        let (old, new) = numbers.split_once(" +")?;
        let start = |range: &str| range.split(',').next().unwrap_or_default().to_owned();
        let lines = || {
            text[first.len()..]
                .split_inclusive(|&byte| byte == b'\n')
                .filter(|line| line[0] != b'\\')
        };
        let count = |sign: u8| lines().filter(|line| line[0] != sign).count();
        let header =
            format!("@@ -{},{} +{},{} @@{rest}", start(old), count(b'+'), start(new), count(b'-'));
        Some([header.as_bytes(), &text[first.len()..]].concat())
    };
    if form == PatchForm::Envelope { text } else { numbered().unwrap_or(text) }
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
