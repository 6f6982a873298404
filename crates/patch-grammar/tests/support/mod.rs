//! Sentences to try the grammars on, and llguidance as a recogniser. Shared by tests and examples.

// Each user needs a part of it.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod decode;

use std::collections::BTreeSet;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};
use patch_grammar::export::{CharSet, Grammar, Language, start_rule};
use patch_grammar::{Dialect, GRAMMAR};

/// Characters that engines are known to treat specially: line separators of other worlds, blanks
/// that are none, marks of notations, everything but NUL, which no patch may contain.
const ODD: &str = "\u{1}\t\u{b}\u{c}\r\u{1b}\u{1c}\u{1d}\u{1e}\u{7f}\u{80}\u{85}\u{a0}é\u{300}\u{3b1}\u{200b}\u{2028}\u{2029}\u{fb01}\u{feff}\u{fffd}\u{ffff}😀\u{10ffff}\"'`\\/[](){}^$|?#&~<>";

/// A small random number generator (splitmix64), so that a seed means the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

pub fn grammar(dialect: Dialect) -> Grammar {
    Grammar::read(GRAMMAR, start_rule(dialect)).expect("the grammar can be exported")
}

/// A character of `set`; an odd one now and then.
fn character(set: &CharSet, random: &mut Random) -> char {
    if random.one_in(3) {
        let odd: Vec<_> = ODD.chars().filter(|&c| set.contains(c)).collect();
        if !odd.is_empty() {
            return odd[random.below(odd.len())];
        }
    }
    set.sample().expect("no class is empty")
}

/// A sentence from a random walk through the automaton. After `budget` steps the walk heads for the
/// end.
pub fn random_sentence(language: &Language, budget: usize, random: &mut Random) -> String {
    let mut text = String::new();
    let mut state = 0;
    for step in 0.. {
        let late = step > budget;
        if language.is_accepting(state) && (late || random.one_in(4)) {
            break;
        }
        let all: Vec<_> = language.moves(state).collect();
        // A line feed ends a free text; without a push towards it lines would be endless.
        let line_feed = all.iter().find(|(set, _)| set.contains('\n'));
        let closer: Vec<_> =
            all.iter().filter(|(_, target)| language.distance(*target) < language.distance(state)).collect();
        let (set, target) = match line_feed {
            _ if all.is_empty() => break,
            _ if late && !closer.is_empty() => *closer[random.below(closer.len())],
            Some(end) if random.one_in(6) => *end,
            _ => all[random.below(all.len())],
        };
        text.push(character(set, random));
        state = target;
    }
    text
}

/// `text` with one to three small damages, many of which leave it a sentence.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let chars: Vec<char> = text.chars().collect();
        if lines.is_empty() {
            return text;
        }
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        let at = random.below(chars.len());
        text = match random.below(13) {
            0 => lines.iter().enumerate().filter(|(n, _)| *n != a).map(|(_, line)| *line).collect(),
            1 => lines.iter().enumerate().flat_map(|(n, line)| vec![*line; 1 + usize::from(n == a)]).collect(),
            2 => {
                let mut lines = lines.clone();
                lines.swap(a, b);
                lines.concat()
            }
            3 => chars[..at].iter().chain(&chars[at + 1..]).collect(),
            4 => {
                let extra = *b" \t\r\n+-@*>\\\0".get(random.below(10)).expect("in range") as char;
                chars[..at].iter().chain(&[extra]).chain(&chars[at..]).collect()
            }
            5 => {
                let odd: Vec<char> = ODD.chars().collect();
                let extra = odd[random.below(odd.len())];
                chars[..at].iter().chain(&[extra]).chain(&chars[at + 1..]).collect()
            }
            6 => {
                let c = chars[at];
                let other = if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
                chars[..at].iter().chain(&[other]).chain(&chars[at + 1..]).collect()
            }
            7 => chars[..at].iter().collect(),
            8 => text.replacen('\n', "\r\n", 1 + random.below(3)),
            9 => text.strip_suffix('\n').unwrap_or(&text).to_owned(),
            10 => text.clone() + &text,
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
                let header = headers[random.below(headers.len())];
                lines[..a].iter().copied().chain([header]).chain(lines[a..].iter().copied()).collect()
            }
            _ => text.replacen(" -> ", ["->", " ->", " -> -> ", " => "][random.below(4)], 1),
        };
    }
    text
}

/// Distinct texts to try: the transition cover, random sentences, and damaged ones, at least `count`.
pub fn samples(language: &Language, count: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut seen = BTreeSet::new();
    let mut samples: Vec<String> = Vec::new();
    for (text, right) in language.transition_cover() {
        assert_eq!(language.accepts(&text), right, "the automaton disagrees with its own cover: {text:?}");
        if !text.contains('\0') && seen.insert(text.clone()) {
            samples.push(text);
        }
    }
    let mut kept: Vec<String> = Vec::new();
    while samples.len() < count {
        let text = if kept.is_empty() || random.one_in(3) {
            let budget = random.below(400);
            let text = random_sentence(language, budget, &mut random);
            kept.push(text.clone());
            text
        } else {
            let base = random.below(kept.len());
            mutate(&kept[base], &mut random)
        };
        if !text.contains('\0') && seen.insert(text.clone()) {
            samples.push(text);
        }
    }
    samples
}

/// llguidance with one token a byte.
pub struct Engine {
    start: Matcher,
    env: TokEnv,
}

impl Engine {
    pub fn new(grammar: TopLevelGrammar) -> Self {
        let env = ApproximateTokEnv::single_byte_env();
        let mut factory = ParserFactory::new_simple(&env).expect("a factory");
        factory.quiet();
        let mut start = Matcher::new(factory.create_parser(grammar));
        assert_eq!(start.get_error(), None, "llguidance refuses the grammar");
        assert_eq!(start.grammar_warnings(), Vec::<String>::new());
        Self { start, env }
    }

    pub fn accepts(&self, text: &str) -> bool {
        let tokens = self.env.tokenize_bytes(text.as_bytes());
        assert_eq!(tokens.len(), text.len(), "one token a byte");
        let mut matcher = self.start.deep_clone();
        let taken = matcher.try_consume_tokens(&tokens).expect("no failure inside");
        taken == tokens.len() && matcher.is_accepting().expect("no failure inside")
    }
}
