//! `review` and `undo -i`: a person at the terminal keeps or reverts each hunk of what was changed.

use apply_patch_api::engine::ChangeKind;
use apply_patch_api::review::{
    Choice, Choices, Decision, HunkKind, HunkState, Kept, Review, ReviewFile, ReviewHunk,
};

use super::asking::{Asker, HunkPiece, Questions, excerpt};
use super::hunk_text::{HunkText, PartDecision, after_change, reversed};
use crate::failure::Failure;
use crate::render;

/// Which hunks stay?
const KEEP: Questions = Questions {
    hunk: "Keep this hunk",
    decided: ["kept", "reverted"],
    answers: [
        "yes, keep it",
        "no, revert it",
        "stop here: what is decided is kept, and `review` goes on with the rest",
        "keep this hunk and all that follow in this file",
        "revert this hunk and all that follow in this file",
    ],
    edit: "edit it in $VISUAL or $EDITOR: what comes out takes its place",
    is_review: true,
};

/// Which hunks are undone?
const UNDO: Questions = Questions {
    hunk: "Undo this hunk",
    decided: ["undone", "kept"],
    answers: [
        "yes, undo it",
        "no, keep it",
        "keep this hunk and all that are undecided, and undo what was chosen",
        "undo this hunk and all that follow in this file",
        "keep this hunk and all that follow in this file",
    ],
    edit: "edit it in $VISUAL or $EDITOR, and apply what comes out",
    is_review: false,
};

/// Asks about every hunk that is not decided yet, and keeps what is decided with `save`, after each
/// file and when the terminal goes away. Returns whether all are decided.
pub(crate) fn review(
    review: &Review,
    kept: &mut Kept,
    save: &mut dyn FnMut(&mut Kept) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let mut asker = Asker::open(&KEEP, "a review")?;
    asker.say(overview(review, kept).trim_end())?;
    for file in &review.files {
        let asked = asker.review_file(file, kept);
        save(kept)?;
        asked?;
        if asker.quit {
            break;
        }
    }
    Ok(review.standing().all(|hunk| kept.decisions.contains_key(&hunk.id)))
}

/// Asks which hunks are undone.
pub(crate) fn undo(review: &Review) -> Result<Choices, Failure> {
    let mut asker = Asker::open(&UNDO, "undo -i")?;
    let mut choices = Choices::default();
    for file in &review.files {
        asker.undo_file(file, &mut choices)?;
    }
    Ok(choices)
}

/// The files, each with how many hunks it has and what is decided about them.
fn overview(review: &Review, kept: &Kept) -> String {
    let mut text = String::new();
    for file in &review.files {
        let standing = standing(file);
        let decided = standing.clone().filter_map(|hunk| kept.decisions.get(&hunk.id));
        let kept_count = decided.clone().filter(|one| **one == Decision::Keep).count();
        let decided = decided.count();
        let mut line = format!("{}, {}", title(file), render::count(standing.count(), "hunk"));
        if decided > 0 {
            line += &format!(": {kept_count} kept, {} reverted", decided - kept_count);
        }
        text += &render::sanitize(&line);
        text.push('\n');
    }
    text
}

/// The letter and the paths of a file.
pub(crate) fn title(file: &ReviewFile) -> String {
    let (letter, _) = operation_words(file);
    let to = file.to_path.as_ref().map(|to| format!(" -> {to}"));
    format!("{letter} {}{}", file.path, to.unwrap_or_default())
}

/// The letter of what was done to a file, and its word.
pub(crate) fn operation_words(file: &ReviewFile) -> (char, &'static str) {
    match file.operation {
        ChangeKind::Create => ('A', "created"),
        ChangeKind::Delete => ('D', "deleted"),
        ChangeKind::Move => ('R', "moved"),
        _ => ('M', "updated"),
    }
}

/// The words for a hunk that cannot be reverted, if it is to be told.
pub(crate) fn left_alone(hunk: &ReviewHunk) -> Option<String> {
    let lines = hunk.conflict.as_ref().map(|conflict| {
        let lines = &conflict.current.lines;
        match lines.len() {
            0 => format!("what stood at line {} ", lines.start),
            1 => format!("line {} ", lines.start),
            _ => format!("lines {}-{} ", lines.start, lines.end - 1),
        }
    });
    match hunk.state {
        HunkState::Standing | HunkState::Reverted => None,
        HunkState::Changed => {
            let what = lines.unwrap_or_else(|| "the file ".to_owned());
            Some(format!("{}: {what}changed since; it is left alone", hunk.id))
        }
        HunkState::Unknown => Some(format!(
            "{}: the file cannot be read, or its bytes are not kept any more; it is left alone",
            hunk.id
        )),
    }
}

/// The question about a change of a file as a whole, and the words for the change.
fn of_whole(kind: HunkKind) -> (&'static str, &'static str) {
    match kind {
        HunkKind::Create => ("this new file", "new file"),
        HunkKind::Delete => ("the deletion of this file", "deleted"),
        HunkKind::Move => ("this move", "moved"),
        HunkKind::Mode => ("this mode", "mode"),
        HunkKind::Bytes | HunkKind::Lines => ("these bytes", "binary"),
    }
}

/// The state of a hunk, printed beside its lines.
pub(crate) fn kind_words(kind: HunkKind) -> String {
    match kind {
        HunkKind::Lines => String::new(),
        kind => format!("({})", of_whole(kind).1),
    }
}

impl Asker {
    fn tell_left_alone(&mut self, file: &ReviewFile) -> Result<(), Failure> {
        for told in file.hunks.iter().filter_map(left_alone) {
            self.say(&render::sanitize(&format!("! {}: {told}", title(file))))?;
        }
        Ok(())
    }

    fn review_file(&mut self, file: &ReviewFile, kept: &mut Kept) -> Result<(), Failure> {
        self.tell_left_alone(file)?;
        for hunk in whole(file) {
            if self.quit || kept.decisions.contains_key(&hunk.id) {
                continue;
            }
            if let Some(keeps) = self.whole_hunk(file, hunk, "Keep", &['y', 'n', 'q', 'c'])? {
                let decision = if keeps { Decision::Keep } else { Decision::Revert };
                kept.decisions.insert(hunk.id.clone(), decision);
            }
            for (_, words) in std::mem::take(&mut self.comments) {
                kept.note(&hunk.id, &file.path, &hunk.diff, &words);
            }
        }
        self.review_lines(file, kept)
    }

    fn review_lines(&mut self, file: &ReviewFile, kept: &mut Kept) -> Result<(), Failure> {
        let hunks: Vec<&ReviewHunk> = lines(file)
            .filter(|hunk| !matches!(kept.decisions.get(&hunk.id), Some(Decision::Replace(_))))
            .collect();
        if self.quit || hunks.is_empty() {
            return Ok(());
        }
        let texts: Vec<_> = hunks.iter().map(|hunk| HunkText::of_diff(&hunk.diff)).collect();
        let mut pieces = pieces(file, &texts);
        for (piece, hunk) in pieces.iter_mut().zip(&hunks) {
            piece.decided = kept.decisions.get(&hunk.id).map(|decision| match decision {
                Decision::Keep => PartDecision::Taken,
                Decision::Revert | Decision::Replace(_) => PartDecision::Left,
            });
        }
        let asked = self.decide(&texts, &mut pieces);
        for (nth, hunk) in hunks.iter().enumerate() {
            if let Some(parts) = decided(&pieces, nth) {
                let decision = match outcome(&texts[nth], &parts) {
                    Outcome::Taken => Decision::Keep,
                    Outcome::Left => Decision::Revert,
                    Outcome::Text(text) => Decision::Replace(text),
                };
                kept.decisions.insert(hunk.id.clone(), decision);
            }
        }
        for (nth, words) in std::mem::take(&mut self.comments) {
            kept.note(&hunks[nth].id, &file.path, &hunks[nth].diff, &words);
        }
        asked
    }

    fn undo_file(&mut self, file: &ReviewFile, choices: &mut Choices) -> Result<(), Failure> {
        self.tell_left_alone(file)?;
        for hunk in whole(file) {
            if !self.quit && self.whole_hunk(file, hunk, "Undo", &['y', 'n', 'q'])? == Some(true) {
                choices.set(&hunk.id, Choice::Revert);
            }
        }
        let hunks: Vec<&ReviewHunk> = lines(file).collect();
        if self.quit || hunks.is_empty() {
            return Ok(());
        }
        let texts = hunks.iter().map(|hunk| HunkText::of_diff(&reversed(&hunk.diff)));
        let texts: Vec<_> = texts.collect();
        let mut pieces = pieces(file, &texts);
        self.decide(&texts, &mut pieces)?;
        for (nth, hunk) in hunks.iter().enumerate() {
            let parts = decided(&pieces, nth).unwrap_or_default();
            match outcome(&texts[nth], &parts) {
                Outcome::Taken => choices.set(&hunk.id, Choice::Revert),
                Outcome::Left => {}
                Outcome::Text(text) => choices.set(&hunk.id, Choice::Replace(text)),
            }
        }
        Ok(())
    }

    /// Asks about a change of a file as a whole; `None` for no answer yet.
    fn whole_hunk(
        &mut self,
        file: &ReviewFile,
        hunk: &ReviewHunk,
        verb: &str,
        keys: &[char],
    ) -> Result<Option<bool>, Failure> {
        let (what, state) = of_whole(hunk.kind);
        let body = hunk.diff.iter().position(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
        let shown = excerpt(&hunk.diff[body..]);
        loop {
            let name = format!("{}, {state}", title(file));
            let (key, rest) = self.ask(&shown, &name, &format!("{verb} {what}"), keys)?;
            match key {
                'c' => self.comment(0, rest)?,
                'q' => return Ok(None),
                key => return Ok(Some(key == 'y')),
            }
        }
    }
}

/// The hunks of a file that are decided as a whole.
fn whole(file: &ReviewFile) -> impl Iterator<Item = &ReviewHunk> {
    standing(file).filter(|hunk| hunk.kind != HunkKind::Lines)
}

/// The hunks of its lines.
fn lines(file: &ReviewFile) -> impl Iterator<Item = &ReviewHunk> {
    standing(file).filter(|hunk| hunk.kind == HunkKind::Lines)
}

fn standing(file: &ReviewFile) -> impl Iterator<Item = &ReviewHunk> + Clone {
    file.hunks.iter().filter(|hunk| hunk.state == HunkState::Standing)
}

fn pieces(file: &ReviewFile, texts: &[HunkText]) -> Vec<HunkPiece> {
    let path = file.to_path.as_ref().unwrap_or(&file.path);
    let pieces = texts.iter().enumerate();
    let pieces = pieces.map(|(nth, text)| HunkPiece::whole(path, nth, texts.len(), text));
    pieces.collect()
}

/// The decision about the parts of a hunk; `None` unless all are decided.
fn decided(pieces: &[HunkPiece], hunk: usize) -> Option<Vec<PartDecision>> {
    pieces.iter().filter(|piece| piece.hunk == hunk).map(|piece| piece.decided.clone()).collect()
}

/// The result of asking about a hunk.
enum Outcome {
    Taken,
    Left,
    /// The lines in its place.
    Text(Vec<u8>),
}

fn outcome(text: &HunkText, parts: &[PartDecision]) -> Outcome {
    if parts.iter().all(|part| *part == PartDecision::Taken) {
        return Outcome::Taken;
    }
    if parts.iter().all(|part| *part == PartDecision::Left) {
        return Outcome::Left;
    }
    Outcome::Text(after_change(&text.lines(parts)))
}
