//! The limits of the engines: how large a grammar each takes.

use std::collections::BTreeSet;

use super::note::{FitError, TooMany};
use super::rules::{Reached, Symbol};
use super::sections::Fitted;
use patch_grammar::export::Format;

/// An engine and what it takes.
struct EngineLimits {
    name: &'static str,
    /// How many rules.
    rules: usize,
    /// How many rules, alternatives and words together.
    parts: usize,
    /// The most alternatives open at once.
    choices: usize,
    /// The deepest nesting of rules for a reader that follows each name at once.
    depth: usize,
    /// How many states the names of new files have, each of which is a rule.
    names: usize,
    /// How many paths may be listed.
    paths: usize,
    /// How deep folders may be in each other where paths are listed.
    folders: usize,
}

/// The most of anything where an engine has no limit.
const ANY: usize = usize::MAX;

/// The reader of Lark. llguidance numbers symbols with 16 bits, and panics at 65 525 of them
/// (`grammar.symbols.len() < u16::MAX - 10`): grammars of 57 700 parts were taken, and of 62 900
/// not. Its compiler follows rules by recursion, and a stack of 8 MB is used up beyond a depth of
/// about 1 000. Its parser stops where more than 2 000 items are open at once ("Too many items").
/// Its regular expressions nest 250 deep at most.
const LLGUIDANCE: EngineLimits = EngineLimits {
    name: "llguidance",
    rules: ANY,
    parts: 57_000,
    choices: 1_900,
    depth: 200,
    names: ANY,
    paths: 10_000,
    folders: 100,
};

/// The reader of EBNF. XGrammar has no such limits, but its compile time grows faster than the
/// grammar: 1 000 lines with one hunk, or 500 with several, take 2 to 3 seconds on a busy machine,
/// and 1 000 with several took a minute. The names of new files among 1 000 listed paths took 10
/// seconds.
const XGRAMMAR: EngineLimits = EngineLimits {
    name: "XGrammar",
    rules: 5_000,
    parts: ANY,
    choices: 2_100,
    depth: ANY,
    names: 20_000,
    paths: 10_000,
    folders: ANY,
};

/// The reader of GBNF. llama.cpp follows every alternative for itself: many of them cost time.
const LLAMA_CPP: EngineLimits = EngineLimits {
    name: "llama.cpp",
    rules: 100_000,
    parts: ANY,
    choices: 100_000,
    depth: ANY,
    names: 50_000,
    paths: 10_000,
    folders: ANY,
};

/// Refuses a grammar that the engine of a notation would refuse, or die of.
pub(super) fn check(fit: &Fitted, format: Format) -> Result<(), FitError> {
    let reached = fit.rules.reached(fit.start);
    let Some(mut error) = exceeded(fit, &reached, format)? else { return Ok(()) };
    let others = [Format::Lark, Format::Ebnf, Format::Gbnf].into_iter();
    let mut others = others.filter(|&other| other != format);
    error.instead = others.find(|&other| matches!(exceeded(fit, &reached, other), Ok(None)));
    Err(FitError::TooLarge(Box::new(error)))
}

/// Finds the first limit that a grammar exceeds.
fn exceeded(fit: &Fitted, reached: &Reached, format: Format) -> Result<Option<TooMany>, FitError> {
    let engine = match format {
        Format::Lark => LLGUIDANCE,
        Format::Ebnf => XGRAMMAR,
        Format::Gbnf => LLAMA_CPP,
        Format::Pest | Format::Regex => return Err(FitError::Format { format }),
    };
    let paths = fit.tail.paths.len();
    let listed = if fit.tail.has_paths() { paths } else { fit.new_paths.listed() };
    let too_many = |cause: Cause, what, count, limit| {
        (count > limit).then(|| TooMany {
            engine: engine.name,
            what,
            count,
            limit,
            cause: cause.of(fit, listed),
            instead: None,
        })
    };
    let folders = fit.tail.depth().max(fit.new_paths.depth());
    let found = too_many(Cause::Paths, "listed paths", listed, engine.paths)
        .or_else(|| too_many(Cause::Paths, "folders in each other", folders, engine.folders))
        .or_else(|| too_many(Cause::Files, "rules", reached.rules.len(), engine.rules))
        .or_else(|| too_many(Cause::Files, "parts", parts(fit, reached), engine.parts))
        .or_else(|| {
            let cause = if fit.choices > fit.section_choices { Cause::Lines } else { Cause::Files };
            let choices = fit.choices.max(fit.section_choices);
            too_many(cause, "alternatives at once", choices, engine.choices)
        })
        .or_else(|| too_many(Cause::Lines, "rules within each other", reached.depth, engine.depth));
    if found.is_some() || format == Format::Lark {
        return Ok(found);
    }
    // The automaton is made only now: it takes long for many paths.
    let names = fit.new_paths.automaton().states.len() + fit.tail.ebnf_rules(&reached.tails);
    Ok(too_many(Cause::Names, "rules for the names of new files", names, engine.names))
}

/// The part of the call that has to be smaller.
#[derive(Debug, Clone, Copy)]
enum Cause {
    /// The lines of a file.
    Lines,
    /// The number of files, or the lines of the largest.
    Files,
    /// The listed paths.
    Paths,
    /// The listed paths, because of new files.
    Names,
}

impl Cause {
    fn of(self, fit: &Fitted, listed: usize) -> super::note::Cause {
        let largest = fit.largest.clone();
        match self {
            Self::Files if fit.files > largest.lines => {
                super::note::Cause::Files { files: fit.files }
            }
            Self::Lines | Self::Files => {
                super::note::Cause::Lines { path: largest.path, lines: largest.lines }
            }
            Self::Paths => super::note::Cause::Paths { paths: listed },
            Self::Names => super::note::Cause::Names { paths: listed },
        }
    }
}

/// About the symbols that llguidance makes of a grammar.
fn parts(fit: &Fitted, reached: &Reached) -> usize {
    let mut words = BTreeSet::new();
    let mut alternatives = 0;
    for &rule in &reached.rules {
        for alternative in fit.rules.alternatives(rule) {
            alternatives += 1;
            words.extend(alternative.filter_map(|symbol| match symbol {
                Symbol::Text(text) => Some((None, text)),
                Symbol::Old(sign, text) => Some((Some(sign), text)),
                _ => None,
            }));
        }
    }
    reached.rules.len() + alternatives + words.len()
}
