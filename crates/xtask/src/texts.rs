//! Sentences to try the grammars on, and llguidance as a recogniser.

use std::collections::BTreeSet;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};
use patch_constrain::fit::Fit;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use testutils::holds::holds;
use testutils::share::whole;

use super::charset::CharSet;
use super::language::Language;

/// Characters that engines are known to treat specially: line separators of other worlds, false
/// blanks, marks of notations, everything but NUL, which no patch may contain.
const ODD: &str = "\u{1}\t\u{b}\u{c}\r\u{1b}\u{1c}\u{1d}\u{1e}\u{7f}\u{80}\u{85}\u{a0}é\u{300}\u{3b1}\u{200b}\u{2028}\u{2029}\u{fb01}\u{feff}\u{fffd}\u{ffff}😀\u{10ffff}\"'`\\/[](){}^$|?#&~<>";

/// One choice of a random walk; what there is to choose from is known on the way.
#[derive(Debug, Clone)]
pub struct Step {
    /// Ends here, if possible.
    pub stop: bool,
    /// Ends the line, if possible: without such a push lines would be endless.
    pub line_feed: bool,
    /// Takes an odd character, where one is possible.
    odd: bool,
    /// Which way to go.
    pub which: Index,
    /// Which of the odd characters.
    character: Index,
}

/// The choices of a walk that heads for the end after at most so many.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (weighted(0.25), weighted(0.2), weighted(0.33), any::<Index>(), any::<Index>());
    let step = step.prop_map(|(stop, line_feed, odd, which, character)| Step {
        stop,
        line_feed,
        odd,
        which,
        character,
    });
    vec(step, 1..=most)
}

/// The values of a strategy, the same ones for the same seed.
pub fn values<S: Strategy>(strategy: S, seed: u64) -> impl Iterator<Item = S::Value> {
    let config =
        Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    std::iter::repeat_with(move || strategy.new_tree(&mut runner).expect("a value").current())
}

/// A character of `set`.
fn character(set: &CharSet, step: &Step) -> char {
    let odd: Vec<_> = ODD.chars().filter(|&c| step.odd && set.contains(c)).collect();
    if odd.is_empty() {
        set.sample().expect("no class is empty")
    } else {
        *step.character.get(&odd)
    }
}

/// A sentence from a walk through the automaton. After the last step the walk heads for the end.
fn sentence(language: &Language, steps: &[Step]) -> String {
    let mut text = String::new();
    let mut state = 0;
    for (nth, step) in steps.iter().cycle().enumerate() {
        let late = nth >= steps.len();
        if language.is_accepting(state) && (late || step.stop) {
            break;
        }
        let all: Vec<_> = language.moves(state).collect();
        let line_feed = all.iter().find(|(set, _)| set.contains('\n'));
        let closer: Vec<_> = all
            .iter()
            .filter(|(_, target)| language.distance(*target) < language.distance(state))
            .collect();
        let (set, target) = match line_feed {
            _ if all.is_empty() => break,
            _ if late && !closer.is_empty() => **step.which.get(&closer),
            Some(end) if step.line_feed => *end,
            _ => *step.which.get(&all),
        };
        text.push(character(set, step));
        state = target;
    }
    text
}

/// A small change of a text, which often leaves it a sentence.
#[derive(Debug, Clone)]
struct Damage {
    kind: u8,
    line: Index,
    other: Index,
    at: Index,
    /// Which of several things comes in, or how many.
    what: Index,
}

impl Damage {
    fn apply(&self, text: &str) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let chars: Vec<char> = text.chars().collect();
        if lines.is_empty() {
            return String::new();
        }
        let a = self.line.index(lines.len());
        let b = self.other.index(lines.len());
        let at = self.at.index(chars.len());
        match self.kind {
            0 => lines.iter().enumerate().filter(|(n, _)| *n != a).map(|(_, line)| *line).collect(),
            1 => lines
                .iter()
                .enumerate()
                .flat_map(|(n, line)| vec![*line; 1 + usize::from(n == a)])
                .collect(),
            2 => {
                let mut lines = lines.clone();
                lines.swap(a, b);
                lines.concat()
            }
            3 => chars[..at].iter().chain(&chars[at + 1..]).collect(),
            4 => {
                let extra = char::from(*self.what.get(b" \t\r\n+-@*>\\"));
                chars[..at].iter().chain(&[extra]).chain(&chars[at..]).collect()
            }
            5 => {
                let odd: Vec<char> = ODD.chars().collect();
                let extra = *self.what.get(&odd);
                chars[..at].iter().chain(&[extra]).chain(&chars[at + 1..]).collect()
            }
            6 => {
                let c = chars[at];
                let other = if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                };
                chars[..at].iter().chain(&[other]).chain(&chars[at + 1..]).collect()
            }
            7 => chars[..at].iter().collect(),
            8 => text.replacen('\n', "\r\n", 1 + self.what.index(3)),
            9 => text.strip_suffix('\n').unwrap_or(text).to_owned(),
            10 => text.repeat(2),
            11 => {
                let headers = [
                    "*** Add File: a\n",
                    "*** Delete File: a\n",
                    "*** Update File: a\n",
                    "*** Move to: a\n",
                    "*** Move File: a -> b\n",
                    "*** End of File\n",
                    "*** End Patch\n",
                    "*** Begin Patch\n",
                    "@@\n",
                    "@@ x\n",
                    "@@x\n",
                    " x\n",
                    "+x\n",
                    "-x\n",
                    "\n",
                    "\\ No newline at end of file\n",
                ];
                let header = *self.what.get(&headers);
                lines[..a]
                    .iter()
                    .copied()
                    .chain([header])
                    .chain(lines[a..].iter().copied())
                    .collect()
            }
            _ => {
                let arrow: &&str = self.what.get(&["->", " ->", " -> -> ", " => "]);
                text.replacen(" -> ", arrow, 1)
            }
        }
    }
}

/// No damage, or twice as often one to three.
fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let damage = (0..13_u8, any::<(Index, Index)>(), any::<Index>(), any::<Index>());
    let damage =
        damage.prop_map(|(kind, (line, other), at, what)| Damage { kind, line, other, at, what });
    prop_oneof![1 => Just(Vec::new()), 2 => vec(damage, 1..=3)]
}

/// The choices of a sentence of a fitted grammar: the way, and the inserted lines.
type Way = (Vec<Index>, Vec<Vec<Index>>);

fn ways() -> impl Strategy<Value = Way> {
    let line = vec(any::<Index>(), 0..4);
    (vec(any::<Index>(), 0..90), vec(line, 1..9))
}

/// A sentence of a fitted grammar; inserted lines have odd characters.
fn fitted_sentence(fit: &Fit, (way, lines): &Way) -> String {
    let odd: Vec<char> = ODD.chars().collect();
    let mut way = way.iter();
    let mut lines = lines.iter().cycle();
    fit.sentence(
        |count| way.next().map_or(0, |index| index.index(count)),
        || lines.next().into_iter().flatten().map(|index| *index.get(&odd)).collect(),
    )
}

/// Sentences of a fitted grammar.
pub fn fitted_sentences(fit: &Fit, seed: u64) -> impl Iterator<Item = String> + '_ {
    values(ways(), seed).map(|way| fitted_sentence(fit, &way))
}

/// Sentences of a fitted grammar, and twice as many texts with one to three damages.
pub fn fitted(fit: &Fit, seed: u64) -> impl Iterator<Item = String> + '_ {
    let texts = values((ways(), damages()), seed).map(|(way, damages)| {
        damages.iter().fold(fitted_sentence(fit, &way), |text, damage| damage.apply(&text))
    });
    texts.filter(|text| !text.contains('\0'))
}

/// Sentences, and twice as many texts with one to three damages.
fn texts(language: &Language) -> impl Strategy<Value = String> {
    let text = (steps(400), damages()).prop_map(|(steps, damages)| {
        damages.iter().fold(sentence(language, &steps), |text, damage| damage.apply(&text))
    });
    text.prop_filter("no patch may contain NUL", |text| !text.contains('\0'))
}

/// Texts that lead over every transition of the automaton.
fn cover(language: &Language) -> Vec<String> {
    let cover = language.transition_cover().into_iter().map(|(text, right)| {
        assert_eq!(
            language.accepts(&text),
            right,
            "the automaton disagrees with its own cover: {text:?}"
        );
        text
    });
    cover.filter(|text| !text.contains('\0')).collect()
}

/// Tries a property on the transition cover and on `count` random texts, or on a tenth of both,
/// each with a value of `more`.
pub fn each_text<M: Strategy>(
    language: &Language,
    count: u32,
    more: M,
    property: impl Fn(&str, M::Value),
) {
    let every = if whole() { 1 } else { 10 };
    for (text, more) in cover(language).iter().step_by(every).zip(values(&more, 1)) {
        property(text, more);
    }
    // Fewer would be lopsided now and then.
    holds(count / every as u32, &(texts(language), &more), |(text, more)| property(&text, more));
}

/// Distinct texts: the transition cover and random ones, at least `count`.
#[must_use]
pub fn samples(language: &Language, count: usize, seed: u64) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut samples = cover(language);
    samples.retain(|text| seen.insert(text.clone()));
    let missing = count.saturating_sub(samples.len());
    samples.extend(
        values(texts(language), seed).filter(|text| seen.insert(text.clone())).take(missing),
    );
    samples
}

/// llguidance with one token a byte.
pub struct Engine {
    start: Matcher,
    env: TokEnv,
}

impl Engine {
    /// The engine that is held to `grammar`.
    ///
    /// # Panics
    ///
    /// When llguidance refuses the grammar, or warns of it.
    #[must_use]
    pub fn new(grammar: TopLevelGrammar) -> Self {
        let env = ApproximateTokEnv::single_byte_env();
        let mut factory = ParserFactory::new_simple(&env).expect("a factory");
        factory.quiet();
        let mut start = Matcher::new(factory.create_parser(grammar));
        assert_eq!(start.get_error(), None, "llguidance refuses the grammar");
        assert_eq!(start.grammar_warnings(), Vec::<String>::new());
        Self { start, env }
    }

    /// Whether `text` is a sentence.
    ///
    /// # Panics
    ///
    /// When the engine fails inside.
    #[must_use]
    pub fn accepts(&self, text: &str) -> bool {
        let tokens = self.env.tokenize_bytes(text.as_bytes());
        assert_eq!(tokens.len(), text.len(), "one token a byte");
        let mut matcher = self.start.deep_clone();
        let taken = matcher.try_consume_tokens(&tokens).expect("no failure inside");
        taken == tokens.len() && matcher.is_accepting().expect("no failure inside")
    }
}
