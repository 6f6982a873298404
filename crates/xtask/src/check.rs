//! Shows that nothing was lost on the way out of pest.
//!
//! A PEG takes the first fitting choice and the longest run, and never comes back; a context-free
//! grammar takes any. The two have the same sentences only if no choice was ever decided by its
//! place. And an engine with a lexer in front cuts the text before knowing the rules, at the
//! longest match, so no terminal may be able to run on into the text after, or be mistaken for
//! another one allowed in its place. All of this is decided here, not tried out: the language is
//! regular.

use std::collections::{HashMap, VecDeque};

use super::automaton::{self, Alphabet, Dfa};
use super::bnf::LookAhead;
use super::error::Finding;
use super::grammar::{Chars, Grammar, Symbol, Tree};
use super::language::spell;
use super::read_bnf;

impl Grammar {
    /// Decides whether every engine will read the grammar alike.
    ///
    /// # Errors
    ///
    /// The first [`Finding`], with a sentence that shows it.
    pub fn check(&self) -> Result<(), Finding> {
        let alphabet = Alphabet::new(automaton::sets_of(self));
        let open = automaton::of_grammar(self, &alphabet);
        let peg = automaton::of_peg(self, &alphabet);
        for (left, right, pest_accepts) in [(&peg, &open, true), (&open, &peg, false)] {
            if let Some(word) = left.first_word_not_in(right) {
                return Err(Finding::Differs { sentence: spell(&alphabet, &word), pest_accepts });
            }
        }
        Tokens::new(self, &alphabet).check()
    }

    /// Decides whether `text`, a file in BNF, has the sentences of this grammar, whether or not an
    /// engine obeys its look-aheads: then none excludes a sentence.
    ///
    /// # Errors
    ///
    /// The shortest sentence of only one of them, or the unreadable part of the text.
    pub fn check_bnf(&self, text: &str) -> Result<(), Finding> {
        let bnf = read_bnf::read(text).map_err(|message| Finding::Unreadable { message })?;
        bnf.check_recursion().map_err(|message| Finding::Unreadable { message })?;
        let alphabet = Alphabet::new(automaton::sets_of(self).into_iter().chain(bnf.sets()));
        let open = automaton::of_grammar(self, &alphabet);
        for look_ahead in [LookAhead::Ignored, LookAhead::Obeyed] {
            let file = bnf.automaton(&alphabet, look_ahead);
            for (left, right, file_accepts) in [(&file, &open, true), (&open, &file, false)] {
                if let Some(word) = left.first_word_not_in(right) {
                    return Err(Finding::FileDiffers {
                        sentence: spell(&alphabet, &word),
                        file_accepts,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The grammar as a lexer and a parser over tokens see it.
struct Tokens<'g> {
    alphabet: &'g Alphabet,
    names: Vec<String>,
    lexers: Vec<Dfa>,
    parser: Dfa,
}

impl<'g> Tokens<'g> {
    fn new(grammar: &'g Grammar, alphabet: &'g Alphabet) -> Self {
        let mut literals: Vec<String> = Vec::new();
        grammar.expanded().expand(&mut |leaf| {
            if let Symbol::Literal(text) = leaf
                && !literals.contains(text)
            {
                literals.push(text.clone());
            }
            Tree::Leaf(())
        });
        let names = grammar.terminals.iter().map(|terminal| format!("`{}`", terminal.name));
        let named =
            grammar.terminals.iter().map(|terminal| automaton::of_regex(&terminal.right, alphabet));
        let unnamed = literals.iter().map(|text| Tree::Leaf(Chars::Literal(text.clone())));
        let lexers: Vec<_> =
            named.chain(unnamed.map(|literal| automaton::of_regex(&literal, alphabet))).collect();
        Self {
            alphabet,
            names: names.chain(literals.iter().map(|text| format!("{text:?}"))).collect(),
            lexers,
            parser: automaton::of_tokens(grammar, &literals),
        }
    }

    fn check(&self) -> Result<(), Finding> {
        for (state, access) in self.parser.accesses().iter().enumerate() {
            let Some(access) = access else { continue };
            self.check_state(state, access)?;
        }
        Ok(())
    }

    /// Runs the lexers of all tokens allowed in a state side by side.
    fn check_state(&self, state: usize, access: &[usize]) -> Result<(), Finding> {
        let may_stand =
            |&token: &usize| self.parser.distances[self.parser.next[state][token]].is_some();
        // The state of each live lexer, and another token that has matched already.
        type Place = (Vec<(usize, usize)>, Option<usize>);
        let first: Place =
            ((0..self.names.len()).filter(may_stand).map(|token| (token, 0)).collect(), None);
        let mut words: HashMap<Place, Vec<usize>> = HashMap::from([(first.clone(), Vec::new())]);
        let mut queue = VecDeque::from([first]);
        while let Some(place) = queue.pop_front() {
            let word = words[&place].clone();
            let (alive, mut matched) = place;
            let matching: Vec<_> = alive
                .iter()
                .filter(|&&(token, at)| self.lexers[token].accepting[at])
                .map(|&(token, _)| token)
                .collect();
            for &token in &matching {
                let after = self.parser.next[state][token];
                let other = matching.iter().copied().chain(matched).find(|&other| other != token);
                if let Some(shorter) = other {
                    return Err(Finding::Overlaps {
                        longer: self.names[token].clone(),
                        shorter: self.names[shorter].clone(),
                        sentence: self.sentence(access, &word, &[], after),
                    });
                }
                self.check_followers(access, &word, token, after, &alive)?;
            }
            matched = matched.or(matching.first().copied());
            for class in 0..self.alphabet.classes.len() {
                let alive = self.step(&alive, class);
                let next = (alive, matched);
                if !next.0.is_empty() && !words.contains_key(&next) {
                    let word = word.iter().copied().chain([class]).collect();
                    words.insert(next.clone(), word);
                    queue.push_back(next);
                }
            }
        }
        Ok(())
    }

    /// Whether a lexer that has just matched `token` stops at the first character of the text
    /// after.
    fn check_followers(
        &self,
        access: &[usize],
        word: &[usize],
        token: usize,
        after: usize,
        alive: &[(usize, usize)],
    ) -> Result<(), Finding> {
        for follower in 0..self.names.len() {
            let beyond = self.parser.next[after][follower];
            if self.parser.distances[beyond].is_none() {
                continue;
            }
            for class in 0..self.alphabet.classes.len() {
                let begun = self.lexers[follower].next[0][class];
                let Some(rest) = self.lexers[follower].completion(begun) else { continue };
                if let Some(&(into, _)) = self.step(alive, class).first() {
                    let text: Vec<_> = [class].into_iter().chain(rest).collect();
                    return Err(Finding::RunsOn {
                        terminal: self.names[token].clone(),
                        into: self.names[into].clone(),
                        follower: self.names[follower].clone(),
                        sentence: self.sentence(access, word, &text, beyond),
                    });
                }
            }
        }
        Ok(())
    }

    fn step(&self, alive: &[(usize, usize)], class: usize) -> Vec<(usize, usize)> {
        let next = alive.iter().map(|&(token, at)| (token, self.lexers[token].next[at][class]));
        next.filter(|&(token, at)| self.lexers[token].distances[at].is_some()).collect()
    }

    /// A whole sentence: tokens, text, text, and the shortest way to the end.
    fn sentence(
        &self,
        access: &[usize],
        word: &[usize],
        follower: &[usize],
        state: usize,
    ) -> String {
        let shortest = |&token: &usize| self.lexers[token].completion(0).unwrap_or_default();
        let mut classes: Vec<usize> = access.iter().flat_map(shortest).collect();
        classes.extend(word);
        classes.extend(follower);
        classes.extend(self.parser.completion(state).unwrap_or_default().iter().flat_map(shortest));
        spell(self.alphabet, &classes)
    }
}
