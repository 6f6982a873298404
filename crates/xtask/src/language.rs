//! The language of a grammar as an automaton: to ask, to walk through and to cover.

use super::automaton::{self, Alphabet, Dfa};
use super::charset::CharSet;
use super::grammar::Grammar;

/// The sentences of a [`Grammar`], as the smallest automaton that accepts them.
///
/// The states are numbers; every sentence begins at 0.
#[derive(Debug, Clone)]
pub struct Language {
    alphabet: Alphabet,
    dfa: Dfa,
}

impl Grammar {
    /// Builds the automaton of the grammar's sentences.
    #[must_use]
    pub fn language(&self) -> Language {
        Language::new(self, automaton::of_grammar)
    }

    /// Builds the automaton of the texts accepted by pest's parser, with its order of choice and
    /// its greed. If [`check`](Grammar::check) finds nothing the two are the same.
    #[must_use]
    pub fn peg_language(&self) -> Language {
        Language::new(self, automaton::of_peg)
    }
}

impl Language {
    fn new(grammar: &Grammar, automaton: fn(&Grammar, &Alphabet) -> Dfa) -> Self {
        let alphabet = Alphabet::new(automaton::sets_of(grammar));
        let dfa = automaton(grammar, &alphabet);
        Self { alphabet, dfa }
    }

    /// The shortest sentence missing from `other`; `None` if there is none.
    ///
    /// # Panics
    ///
    /// When the two come from different pest files, which may have other classes of characters.
    #[must_use]
    pub fn first_sentence_not_in(&self, other: &Self) -> Option<String> {
        assert_eq!(self.alphabet, other.alphabet, "languages of different pest files");
        self.dfa.first_word_not_in(&other.dfa).map(|word| spell(&self.alphabet, &word))
    }

    /// How many states the automaton has.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.dfa.len()
    }

    /// The number of classes of characters.
    #[must_use]
    pub fn class_count(&self) -> usize {
        self.alphabet.classes.len()
    }

    /// Whether `text` is a sentence.
    #[must_use]
    pub fn accepts(&self, text: &str) -> bool {
        self.is_accepting(
            text.chars().fold(0, |state, c| self.dfa.next[state][self.alphabet.class_of(c)]),
        )
    }

    /// Whether a text that leads to `state` is a sentence.
    #[must_use]
    pub fn is_accepting(&self, state: usize) -> bool {
        self.dfa.accepting[state]
    }

    /// The least number of characters missing in `state`; `None` if no sentence goes through the
    /// state.
    #[must_use]
    pub fn distance(&self, state: usize) -> Option<usize> {
        self.dfa.distances[state]
    }

    /// The possible next classes of characters, and the state after each.
    pub fn moves(&self, state: usize) -> impl Iterator<Item = (&CharSet, usize)> {
        self.alphabet
            .classes
            .iter()
            .zip(self.dfa.next[state].iter().copied())
            .filter(|(_, target)| self.dfa.distances[*target].is_some())
    }

    /// One text for each move of the automaton, and whether the text is a sentence: the shortest
    /// way to the state, a character of the class, and the shortest way on; after a wrong
    /// character, the way on that would have been right without the character.
    #[must_use]
    pub fn transition_cover(&self) -> Vec<(String, bool)> {
        let mut cover = Vec::new();
        for (state, access) in self.dfa.accesses().iter().enumerate() {
            let Some(access) = access else { continue };
            if self.dfa.distances[state].is_none() {
                continue;
            }
            for (class, &target) in self.dfa.next[state].iter().enumerate() {
                let right = self.dfa.distances[target].is_some();
                let on = self.dfa.completion(if right { target } else { state });
                let word: Vec<_> =
                    access.iter().copied().chain([class]).chain(on.unwrap_or_default()).collect();
                cover.push((spell(&self.alphabet, &word), right));
            }
            // The text that stops short in this state.
            cover.push((spell(&self.alphabet, access), self.dfa.accepting[state]));
        }
        cover
    }
}

/// A text for a sequence of classes.
pub(crate) fn spell(alphabet: &Alphabet, word: &[usize]) -> String {
    word.iter().map(|&class| alphabet.classes[class].sample().expect("no class is empty")).collect()
}
