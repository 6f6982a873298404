//! A model that copies and slips.

use std::collections::HashMap;

use patch_constrain::{Matcher, has};

/// The part of the probability that the mask may take within old lines before the model gives up.
const TAKEN: f64 = 0.9;
/// The most tokens of an output beyond twice the wanted patch.
const LONGER: usize = 400;

/// All bytes, the most frequent words of a text, and an end.
pub(crate) struct Tokens {
    texts: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    longest: usize,
}

impl Tokens {
    /// Collects the most frequent words of a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        const WORDS: usize = 8_000;
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        let mut frequent: Vec<_> = counts.into_iter().filter(|(word, _)| word.len() > 1).collect();
        frequent.sort_unstable_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        let mut texts: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        texts.extend(frequent.into_iter().take(WORDS).map(|(word, _)| word.to_vec()));
        let numbers = texts.iter().cloned().zip(0..).collect();
        let longest = texts.iter().map(Vec::len).max().unwrap_or(1);
        texts.push(Vec::new());
        Self { texts, numbers, longest }
    }

    pub(crate) fn texts(&self) -> Vec<Vec<u8>> {
        self.texts.clone()
    }

    /// The token that ends an output.
    pub(crate) fn end(&self) -> u32 {
        self.texts.len() as u32 - 1
    }

    /// Splits a text into tokens, each word into the longest.
    pub(crate) fn split(&self, text: &[u8]) -> Vec<u32> {
        let mut out = Vec::new();
        for mut word in words(text) {
            while !word.is_empty() {
                let most = word.len().min(self.longest);
                let (length, token) = (1..=most)
                    .rev()
                    .find_map(|length| Some((length, *self.numbers.get(&word[..length])?)))
                    .expect("each byte is a token");
                out.push(token);
                word = &word[length..];
            }
        }
        out
    }
}

/// Runs of letters with the blank before them, runs of blanks, line feeds, and single signs.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (&first, others) = rest.split_first()?;
        let length = match first {
            b' ' if others.first().is_some_and(is_letter) => run(others, is_letter),
            b' ' | b'\t' => run(others, |&byte| byte == first),
            _ if is_letter(&first) => run(others, is_letter),
            _ => 0,
        };
        let (word, after) = rest.split_at(1 + length);
        rest = after;
        Some(word)
    })
}

fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// The number of leading bytes of a text that pass a test.
fn run(text: &[u8], holds: impl Fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| holds(byte)).count()
}

/// The number of times that a token follows one or two others in a text.
pub(crate) struct Text {
    after_two: HashMap<(u32, u32), Vec<(u32, u32)>>,
    after_one: HashMap<u32, Vec<(u32, u32)>>,
}

impl Text {
    pub(crate) fn of(tokens: &Tokens, text: &[u8]) -> Self {
        let split = tokens.split(text);
        let mut two: HashMap<(u32, u32), HashMap<u32, u32>> = HashMap::new();
        let mut one: HashMap<u32, HashMap<u32, u32>> = HashMap::new();
        for window in split.windows(3) {
            *two.entry((window[0], window[1])).or_default().entry(window[2]).or_default() += 1;
            *one.entry(window[1]).or_default().entry(window[2]).or_default() += 1;
        }
        Self {
            after_two: two.into_iter().map(|(key, counts)| (key, sorted(counts))).collect(),
            after_one: one.into_iter().map(|(key, counts)| (key, sorted(counts))).collect(),
        }
    }

    /// Adds the shares of the possible next tokens, `weight` in all.
    fn add(&self, last: &[u32], weight: f64, scores: &mut HashMap<u32, f64>) {
        let [.., before, last] = last else { return };
        let found = self.after_two.get(&(*before, *last)).or_else(|| self.after_one.get(last));
        let Some(found) = found else { return };
        let total: u32 = found.iter().map(|(_, count)| count).sum();
        for (token, count) in found {
            *scores.entry(*token).or_default() += weight * f64::from(*count) / f64::from(total);
        }
    }
}

fn sorted(counts: HashMap<u32, u32>) -> Vec<(u32, u32)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}

pub(crate) struct Model<'m> {
    tokens: &'m Tokens,
    grams: &'m Text,
    /// The n-grams of the file itself.
    file: Text,
    wanted: Vec<u32>,
}

impl<'m> Model<'m> {
    pub(crate) fn new(tokens: &'m Tokens, grams: &'m Text, file: &[u8], wanted: &str) -> Self {
        let file = Text::of(tokens, file);
        Self { tokens, grams, file, wanted: tokens.split(wanted.as_bytes()) }
    }

    /// Writes the wanted patch, with a slip at each token with probability `slip`; `None` if the
    /// model gives up or comes to no end.
    pub(crate) fn write(
        &mut self,
        slip: f64,
        seed: u64,
        mut matcher: Option<&mut Matcher>,
        stops: bool,
    ) -> Option<String> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut out: Vec<u32> = Vec::new();
        let mut at = 0;
        let mut text: Vec<u8> = Vec::new();
        while out.len() < self.wanted.len() * 2 + LONGER {
            let scores = self.scores(&out, at, slip);
            let token = match &mut matcher {
                None => draw(&scores, &mut random)?,
                Some(matcher) => {
                    let mut mask = vec![0; matcher.vocabulary().mask_len()];
                    matcher.allowed(&mut mask);
                    let kept: HashMap<u32, f64> = scores
                        .iter()
                        .filter(|(token, _)| has(&mask, **token))
                        .map(|(token, score)| (*token, *score))
                        .collect();
                    let least = sum(&scores) * (1.0 - TAKEN);
                    if stops && matcher.is_in_old_line() && sum(&kept) < least {
                        return None;
                    }
                    let token = draw(&kept, &mut random).or_else(|| any(&mask, &mut random))?;
                    matcher.accept(token).expect("the mask allows it");
                    token
                }
            };
            if token == self.tokens.end() {
                return String::from_utf8(text).ok();
            }
            text.extend_from_slice(&self.tokens.texts[token as usize]);
            at = self.follow(at, token);
            out.push(token);
        }
        None
    }

    fn scores(&self, out: &[u32], at: usize, slip: f64) -> HashMap<u32, f64> {
        /// The least score, for a choice under a mask even without known next tokens.
        const FLOOR: f64 = 1e-9;
        let wanted = self.wanted.get(at).copied().unwrap_or(self.tokens.end());
        let mut scores = HashMap::from([(wanted, (1.0 - slip).max(FLOOR))]);
        self.file.add(out, slip.max(FLOOR) / 2.0, &mut scores);
        self.grams.add(out, slip.max(FLOOR) / 2.0, &mut scores);
        scores
    }

    /// Returns the place in the wanted patch after a token; the model keeps in step line by line.
    fn follow(&self, at: usize, token: u32) -> usize {
        let Some(&wanted) = self.wanted.get(at) else { return at };
        match (self.has_feed(token), self.has_feed(wanted)) {
            _ if token == wanted => at + 1,
            (true, true) | (false, false) => at + 1,
            (false, true) => at,
            (true, false) => {
                let rest = self.wanted[at..].iter().position(|&token| self.has_feed(token));
                rest.map_or(self.wanted.len(), |rest| at + rest + 1)
            }
        }
    }

    fn has_feed(&self, token: u32) -> bool {
        self.tokens.texts[token as usize].contains(&b'\n')
    }
}

fn sum(scores: &HashMap<u32, f64>) -> f64 {
    scores.values().sum()
}

fn draw(scores: &HashMap<u32, f64>, random: &mut fastrand::Rng) -> Option<u32> {
    let mut sorted: Vec<_> = scores.iter().map(|(token, score)| (*token, *score)).collect();
    sorted.sort_unstable_by_key(|(token, _)| *token);
    let mut left = random.f64() * sum(scores);
    for (token, score) in &sorted {
        left -= score;
        if left <= 0.0 {
            return Some(*token);
        }
    }
    sorted.last().map(|(token, _)| *token)
}

/// Any token of a mask.
fn any(mask: &[u32], random: &mut fastrand::Rng) -> Option<u32> {
    let set: Vec<u32> = (0..mask.len() as u32 * 32).filter(|&token| has(mask, token)).collect();
    random.choice(set)
}
