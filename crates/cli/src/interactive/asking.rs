//! Questions at the terminal about hunks.

use std::io::{BufReader, Write as _};
use std::ops::Range;

use super::form::ended;
use super::hunk_text::{HunkText, PartDecision, is_change};
use crate::approve;
use crate::failure::Failure;
use crate::input::Input;
use crate::outside::{self, Terminal};
use crate::render;

/// How many lines are shown of a new file.
const SHOWN: usize = 60;

/// How hunks are asked about. The answers are those of `git add -p`.
pub(super) struct Questions {
    /// The question, without its mark.
    pub(super) hunk: &'static str,
    /// The words for a hunk that is taken, and for one that is not.
    pub(super) decided: [&'static str; 2],
    /// The effects of the answers `y`, `n`, `q`, `a` and `d`.
    pub(super) answers: [&'static str; 5],
    /// The effect of editing a hunk.
    pub(super) edit: &'static str,
    /// Whether comments are taken, and the hunks that are undecided stay so after `q`.
    pub(super) is_review: bool,
}

/// Which parts of a patch are applied?
pub(super) const APPLY: Questions = Questions {
    hunk: "Apply this hunk",
    decided: ["taken", "left out"],
    answers: [
        "yes, take it",
        "no, leave it out",
        "leave out this hunk and all that are undecided, and apply what was taken",
        "take this hunk and all that follow in this file",
        "leave out this hunk and all that follow in this file",
    ],
    edit: "edit it in $VISUAL or $EDITOR, and take what comes out",
    is_review: false,
};

/// The answers that go elsewhere, and `s`.
const GO: [(char, &str); 7] = [
    ('k', "leave it undecided, and go back to the previous undecided hunk"),
    ('K', "leave it undecided, and go back to the previous hunk"),
    ('j', "leave it undecided, and go on to the next undecided hunk"),
    ('J', "leave it undecided, and go on to the next hunk"),
    ('g', "go to a hunk by its number, as in `g2`; alone, list the hunks first"),
    ('/', "go to the next hunk that matches a regular expression, as in `/foo`"),
    ('s', "split it where lines between its changes stay, and ask about each part"),
];

const COMMENT: (char, &str) =
    ('c', "comment on it, as in `c why twice?`; `review --notes` prints the comments");

impl Questions {
    /// Returns the answers, each with what it does.
    fn keys(&self) -> impl Iterator<Item = (char, &'static str)> {
        let answers = ['y', 'n', 'q', 'a', 'd'].into_iter().zip(self.answers);
        let comment = Some(COMMENT).filter(|_| self.is_review);
        answers.chain(GO).chain([('e', self.edit)]).chain(comment)
    }
}

/// A hunk, or a part of a split one, with the person's decision.
#[derive(Debug)]
pub(super) struct HunkPiece {
    pub(super) hunk: usize,
    pub(super) parts: Range<usize>,
    pub(super) name: String,
    pub(super) decided: Option<PartDecision>,
}

impl HunkPiece {
    /// A hunk of a file, of so many, with all its parts.
    pub(super) fn whole(path: &str, nth: usize, count: usize, text: &HunkText) -> Self {
        Self {
            hunk: nth,
            parts: 0..text.parts.len(),
            name: format!("{path}, hunk {} of {count}", nth + 1),
            decided: None,
        }
    }

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

/// Asks a person at the terminal.
pub(super) struct Asker {
    terminal: BufReader<Terminal>,
    questions: &'static Questions,
    /// Nothing more is asked.
    pub(super) quit: bool,
    /// The comments on hunks, by their numbers in the list that is asked about.
    pub(super) comments: Vec<(usize, String)>,
}

impl Asker {
    /// Opens the terminal; `what` needs it.
    pub(super) fn open(questions: &'static Questions, what: &str) -> Result<Self, Failure> {
        let terminal = outside::terminal()
            .map_err(|_| Failure::Usage(format!("{what} needs a terminal to ask at")))?;
        let terminal = BufReader::new(terminal);
        Ok(Self { terminal, questions, quit: false, comments: Vec::new() })
    }

    /// Asks about each piece until all are decided.
    pub(super) fn decide(
        &mut self,
        texts: &[HunkText],
        pieces: &mut Vec<HunkPiece>,
    ) -> Result<(), Failure> {
        let mut at = pieces.iter().position(HunkPiece::is_undecided).unwrap_or(0);
        while pieces.iter().any(HunkPiece::is_undecided) {
            if self.quit {
                if !self.questions.is_review {
                    let open = pieces.iter_mut().filter(|piece| piece.is_undecided());
                    open.for_each(HunkPiece::leave);
                }
                break;
            }
            let piece = &pieces[at];
            let text = &texts[piece.hunk];
            let name = match &piece.decided {
                None => format!("M {}", piece.name),
                Some(PartDecision::Left) => {
                    format!("M {} ({})", piece.name, self.questions.decided[1])
                }
                Some(_) => format!("M {} ({})", piece.name, self.questions.decided[0]),
            };
            let keys = offered_keys(self.questions, pieces, at);
            let shown = text.shown(piece.parts.clone());
            let (key, rest) = self.ask(&shown, &name, self.questions.hunk, &keys)?;
            if key == 'q' && self.questions.is_review {
                continue;
            }
            if key == 'c' {
                self.comment(piece.hunk, rest)?;
                continue;
            }
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
                'e' => match edited_piece(text, piece)? {
                    Some(edited) => PartDecision::Edited(edited),
                    None => {
                        self.say("The edited hunk is empty: it is as it was")?;
                        continue;
                    }
                },
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

    /// Takes the person's words about a hunk.
    pub(super) fn comment(&mut self, hunk: usize, mut words: String) -> Result<(), Failure> {
        if words.is_empty() {
            words = self.line("Comment: ")?;
        }
        if !words.is_empty() {
            self.comments.push((hunk, words));
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

    /// Shows what a question is about, in colour, and asks until there is an answer: one of `keys`,
    /// and the text after. If the terminal goes away, nothing is accepted.
    pub(super) fn ask(
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
                Some(key) if rest.is_empty() || matches!(key, 'g' | '/' | 'c') => {
                    self.quit = key == 'q';
                    return Ok((key, rest.to_owned()));
                }
                _ => {
                    let known = self.questions.keys().filter(|(key, _)| keys.contains(key));
                    let help: String =
                        known.map(|(key, what)| format!("{key} - {what}\n")).collect();
                    self.say(&format!("{help}? - show this help"))?;
                }
            }
        }
    }

    pub(super) fn line(&mut self, prompt: &str) -> Result<String, Failure> {
        approve::line(&mut self.terminal, prompt).map_err(no_answer)
    }

    pub(super) fn say(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.terminal.get_mut(), "{text}").map_err(no_answer)
    }
}

fn no_answer(error: std::io::Error) -> Failure {
    Failure::Refused(approve::no_answer(error.kind()))
}

fn undecided_before(pieces: &[HunkPiece], at: usize) -> Option<usize> {
    pieces[..at].iter().rposition(HunkPiece::is_undecided)
}

fn undecided_after(pieces: &[HunkPiece], at: usize) -> Option<usize> {
    pieces[at + 1..].iter().position(HunkPiece::is_undecided).map(|nth| at + 1 + nth)
}

/// Cuts what is shown of a whole file.
pub(super) fn excerpt(shown: &[u8]) -> Vec<u8> {
    let count = shown.iter().filter(|&&byte| byte == b'\n').count();
    let cut: Vec<u8> =
        shown.split_inclusive(|&byte| byte == b'\n').take(SHOWN).flatten().copied().collect();
    let mut diff = Vec::new();
    if !cut.is_empty() {
        // Writing to memory never fails.
        let _ = render::write_diff(&mut diff, &[b"@@\n", &cut[..]].concat());
    }
    if count > SHOWN {
        let _ = writeln!(diff, "… {} more lines", count - SHOWN);
    }
    diff
}

/// The answers that make sense for the piece at `at`.
fn offered_keys(questions: &Questions, pieces: &[HunkPiece], at: usize) -> Vec<char> {
    questions
        .keys()
        .map(|(key, _)| key)
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

/// Whether a line of an edited hunk is one of the file.
fn is_line(line: &[u8]) -> bool {
    line.first().is_some_and(|&sign| matches!(sign, b' ' | b'+' | b'-'))
}

fn edited(text: Vec<u8>) -> Result<Vec<u8>, Failure> {
    Ok(ended(approve::edit(&Input::new(text, "the hunk"))?.bytes()))
}

/// Lets a person edit a piece of a hunk; `None` if they deleted all of it, which gives the editing
/// up, as in git.
fn edited_piece(text: &HunkText, piece: &HunkPiece) -> Result<Option<Vec<u8>>, Failure> {
    let edited = if text.parts.len() == piece.parts.len() {
        edited(text.whole.clone())?
    } else {
        let lines = text.parts[piece.parts.clone()].concat().concat();
        edited([b"@@\n", &lines[..]].concat())?
    };
    Ok(edited.split(|&byte| byte == b'\n').any(is_line).then_some(edited))
}
