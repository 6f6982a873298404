//! Finite automata over small alphabets, and the two ways to build one: from a grammar, with every
//! choice open, and from a PEG, with the first fitting choice as the only one.
//!
//! A PEG looks at the rest of the text before going on: the second alternative is taken only where
//! the first fails, and a loop ends only where the body fails. Such a condition on the rest is
//! itself an automaton, so an edge may carry one as a [guard](Edge::Guard), and the subset
//! construction runs the active guards beside the states.
//!
//! The crate `regex-automata` can neither look ahead nor build a complement, and does not find the
//! shortest word of one language missing from another. Nor does its subset construction serve in
//! place of ours: a subset has an order, which stands for preference, so the same states in another
//! order are another subset. For the largest grammar of the tests the crate makes 414 627 subsets
//! in four minutes, and ours 8 568 in seconds.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use pest_meta::ast::Expr as Peg;

use super::charset::CharSet;
use super::grammar::{Chars, Grammar, Regex, Symbol, Times, Tree};
use super::read;

/// Characters without a difference in the grammar are one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alphabet {
    pub(crate) classes: Vec<CharSet>,
    /// The class of each ASCII character.
    ascii: Vec<usize>,
}

impl Alphabet {
    /// The coarsest classes that `sets` are unions of.
    pub(crate) fn new(sets: impl IntoIterator<Item = CharSet>) -> Self {
        let mut classes = vec![CharSet::all()];
        for set in sets {
            classes = classes
                .iter()
                .flat_map(|class| [class.intersection(&set), class.difference(&set)])
                .filter(|class| !class.is_empty())
                .collect();
        }
        classes.sort_by_key(|class| class.ranges().next());
        let ascii = (0..128_u8).map(|byte| class_of(&classes, char::from(byte))).collect();
        Self { classes, ascii }
    }

    pub(crate) fn class_of(&self, c: char) -> usize {
        match self.ascii.get(c as usize) {
            Some(&class) => class,
            None => class_of(&self.classes, c),
        }
    }

    pub(crate) fn classes_in(&self, set: &CharSet) -> Vec<usize> {
        (0..self.classes.len())
            .filter(|&class| !self.classes[class].intersection(set).is_empty())
            .collect()
    }
}

fn class_of(classes: &[CharSet], c: char) -> usize {
    classes.iter().position(|class| class.contains(c)).expect("every character has a class")
}

/// All sets of characters that a grammar names, in either of its forms.
pub(crate) fn sets_of(grammar: &Grammar) -> Vec<CharSet> {
    fn text(text: &str, out: &mut Vec<CharSet>) {
        out.extend(text.chars().flat_map(|c| [CharSet::single(c), read::either_case(c)]));
    }
    fn visit(peg: &Peg, out: &mut Vec<CharSet>) {
        if let Some(set) = read::flat_set(peg) {
            return out.push(set);
        }
        match peg {
            Peg::Str(literal) | Peg::Insens(literal) => text(literal, out),
            Peg::Ident(name) if name == "NEWLINE" => text("\r\n", out),
            Peg::Seq(left, right) | Peg::Choice(left, right) => {
                visit(left, out);
                visit(right, out);
            }
            Peg::PosPred(inner)
            | Peg::NegPred(inner)
            | Peg::Opt(inner)
            | Peg::Rep(inner)
            | Peg::RepOnce(inner)
            | Peg::RepExact(inner, _)
            | Peg::RepMin(inner, _)
            | Peg::RepMax(inner, _)
            | Peg::RepMinMax(inner, ..)
            | Peg::Push(inner) => visit(inner, out),
            _ => {}
        }
    }
    let mut out = Vec::new();
    for peg in grammar.peg.values() {
        visit(peg, &mut out);
    }
    out
}

/// A complete automaton without choice; 0 is the start state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dfa {
    /// The next state for each state and symbol.
    pub(crate) next: Vec<Vec<usize>>,
    pub(crate) accepting: Vec<bool>,
    /// How many symbols lead from each state to acceptance at least; `None` where none do.
    pub(crate) distances: Vec<Option<usize>>,
}

impl Dfa {
    pub(crate) fn len(&self) -> usize {
        self.next.len()
    }

    fn complement(&self) -> Self {
        Self::new(self.next.clone(), self.accepting.iter().map(|accepting| !accepting).collect())
    }

    fn new(next: Vec<Vec<usize>>, accepting: Vec<bool>) -> Self {
        let mut before = vec![Vec::new(); next.len()];
        for (state, next) in next.iter().enumerate() {
            for &target in next {
                before[target].push(state);
            }
        }
        let mut distances = vec![None; next.len()];
        let mut queue: VecDeque<_> = (0..next.len()).filter(|&state| accepting[state]).collect();
        for &state in &queue {
            distances[state] = Some(0);
        }
        while let Some(state) = queue.pop_front() {
            let distance = distances[state].map(|distance: usize| distance + 1);
            for &source in &before[state] {
                if distances[source].is_none() {
                    distances[source] = distance;
                    queue.push_back(source);
                }
            }
        }
        Self { next, accepting, distances }
    }

    /// Whether the automaton, which is the smallest, accepts whatever follows.
    fn accepts_all(&self, state: usize) -> bool {
        self.accepting[state] && self.next[state].iter().all(|&target| target == state)
    }

    /// The shortest word from `state` to acceptance.
    pub(crate) fn completion(&self, mut state: usize) -> Option<Vec<usize>> {
        let mut word = Vec::new();
        let mut distance = self.distances[state]?;
        while distance > 0 {
            distance -= 1;
            let symbol = self.next[state]
                .iter()
                .position(|&target| self.distances[target] == Some(distance))?;
            state = self.next[state][symbol];
            word.push(symbol);
        }
        Some(word)
    }

    /// The shortest word to each state.
    pub(crate) fn accesses(&self) -> Vec<Option<Vec<usize>>> {
        let mut words = vec![None; self.len()];
        words[0] = Some(Vec::new());
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            for (symbol, &target) in self.next[state].iter().enumerate() {
                if words[target].is_none() {
                    let mut word: Vec<usize> = words[state].clone().unwrap_or_default();
                    word.push(symbol);
                    words[target] = Some(word);
                    queue.push_back(target);
                }
            }
        }
        words
    }

    /// The shortest word that this automaton accepts and the other does not.
    pub(crate) fn first_word_not_in(&self, other: &Self) -> Option<Vec<usize>> {
        type Pair = (usize, usize);
        // The pair before and the symbol between, to find the way back.
        let mut came: HashMap<Pair, Option<(Pair, usize)>> = HashMap::from([((0, 0), None)]);
        let mut queue = VecDeque::from([(0, 0)]);
        while let Some(pair) = queue.pop_front() {
            if self.accepting[pair.0] && !other.accepting[pair.1] {
                let mut word = Vec::new();
                let mut at = pair;
                while let Some(Some((before, symbol))) = came.get(&at) {
                    word.push(*symbol);
                    at = *before;
                }
                word.reverse();
                return Some(word);
            }
            for (symbol, (&left, &right)) in
                self.next[pair.0].iter().zip(&other.next[pair.1]).enumerate()
            {
                came.entry((left, right)).or_insert_with(|| {
                    queue.push_back((left, right));
                    Some((pair, symbol))
                });
            }
        }
        None
    }

    /// The automaton with these moves and as few states as possible, numbered in the order of a
    /// walk.
    fn minimal(next: &[Vec<usize>], accepting: &[bool]) -> Self {
        let mut block: Vec<usize> =
            accepting.iter().map(|&accepting| usize::from(accepting)).collect();
        let mut count = 0;
        loop {
            let mut seen: HashMap<(usize, Vec<usize>), usize> = HashMap::new();
            block = (0..next.len())
                .map(|state| {
                    let targets = next[state].iter().map(|&target| block[target]).collect();
                    let fresh = seen.len();
                    *seen.entry((block[state], targets)).or_insert(fresh)
                })
                .collect();
            if seen.len() == count {
                break;
            }
            count = seen.len();
        }
        let mut member = vec![0; count];
        for (state, &block) in block.iter().enumerate().rev() {
            member[block] = state;
        }
        let mut order = vec![block[0]];
        let mut number = vec![usize::MAX; count];
        number[block[0]] = 0;
        let mut at = 0;
        while at < order.len() {
            for &target in &next[member[order[at]]] {
                if number[block[target]] == usize::MAX {
                    number[block[target]] = order.len();
                    order.push(block[target]);
                }
            }
            at += 1;
        }
        Self::new(
            order
                .iter()
                .map(|&b| next[member[b]].iter().map(|&target| number[block[target]]).collect())
                .collect(),
            order.iter().map(|&b| accepting[member[b]]).collect(),
        )
    }
}

/// A way out of a state.
#[derive(Debug, Clone)]
pub(crate) enum Edge {
    /// Takes one of these symbols.
    On(Vec<usize>, usize),
    /// Takes nothing.
    Free(usize),
    /// Takes nothing, and only where the automaton of this number accepts the whole rest.
    Guard(usize, usize),
}

/// An automaton with choice, built backwards: each part is given the state after.
#[derive(Debug, Default)]
pub(crate) struct Nfa {
    edges: Vec<Vec<Edge>>,
    guards: Vec<Rc<Dfa>>,
}

/// Active guards, each as (its number, its state).
type Guards = BTreeSet<(usize, usize)>;

/// A state in a subset, and the guards on the rest from there.
type Member = (usize, Guards);

/// The accepting state of an [`Nfa`].
pub(crate) const END: usize = 0;

impl Nfa {
    pub(crate) fn new() -> Self {
        Self { edges: vec![Vec::new()], guards: Vec::new() }
    }

    pub(crate) fn state(&mut self, edges: Vec<Edge>) -> usize {
        self.edges.push(edges);
        self.edges.len() - 1
    }

    /// Lets `state` go on in the state `to` as well.
    pub(crate) fn also(&mut self, state: usize, to: usize) {
        self.edges[state].push(Edge::Free(to));
    }

    fn guard(&mut self, dfa: Rc<Dfa>, then: usize) -> Edge {
        self.guards.push(dfa);
        Edge::Guard(self.guards.len() - 1, then)
    }

    /// Adds a state that leads to `then` if `dfa` accepts the rest of the text.
    pub(crate) fn guarded(&mut self, dfa: Rc<Dfa>, then: usize) -> usize {
        let guard = self.guard(dfa, then);
        self.state(vec![guard])
    }

    /// Adds a tree before the state `then`, and returns its first state.
    pub(crate) fn add<L>(
        &mut self,
        tree: &Tree<L>,
        then: usize,
        leaf: &mut dyn FnMut(&mut Self, &L, usize) -> usize,
    ) -> usize {
        match tree {
            Tree::Leaf(it) => leaf(self, it, then),
            Tree::Sequence(parts) => {
                parts.iter().rev().fold(then, |then, part| self.add(part, then, leaf))
            }
            Tree::Choice(parts) => {
                let firsts =
                    parts.iter().map(|part| Edge::Free(self.add(part, then, leaf))).collect();
                self.state(firsts)
            }
            Tree::Repeat(inner, Times::Optional) => {
                let first = self.add(inner, then, leaf);
                self.state(vec![Edge::Free(first), Edge::Free(then)])
            }
            Tree::Repeat(inner, times) => {
                let again = self.state(Vec::new());
                let first = self.add(inner, again, leaf);
                self.edges[again] = vec![Edge::Free(first), Edge::Free(then)];
                if *times == Times::Some { first } else { again }
            }
        }
    }

    /// The subset construction.
    pub(crate) fn determinise(&self, start: usize, symbols: usize) -> Dfa {
        let first = self.closure([(start, Guards::new())]);
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        // Most symbols lead from a subset to what was closed before.
        let mut closed: HashMap<BTreeSet<Member>, usize> = HashMap::new();
        let mut subsets = vec![first];
        let mut next: Vec<Vec<usize>> = Vec::new();
        while let Some(subset) = subsets.get(next.len()).cloned() {
            let row = (0..symbols).map(|symbol| {
                let open = subset.iter().flat_map(|member| self.step(member, symbol)).collect();
                if let Some(&number) = closed.get(&open) {
                    return number;
                }
                let number =
                    *numbers.entry(self.closure(open.clone())).or_insert_with_key(|fresh| {
                        subsets.push(fresh.clone());
                        subsets.len() - 1
                    });
                closed.insert(open, number);
                number
            });
            next.push(row.collect());
        }
        let accepting: Vec<_> =
            subsets.iter().map(|subset| subset.iter().any(|member| self.accepts(member))).collect();
        Dfa::minimal(&next, &accepting)
    }

    fn accepts(&self, (state, guards): &Member) -> bool {
        *state == END && guards.iter().all(|&(guard, at)| self.guards[guard].accepting[at])
    }

    /// Where `open` leads without a symbol.
    fn closure(&self, open: impl IntoIterator<Item = Member>) -> BTreeSet<Member> {
        let mut open = Vec::from_iter(open);
        let mut members = BTreeSet::new();
        while let Some(member) = open.pop() {
            if !members.insert(member.clone()) {
                continue;
            }
            let (state, guards) = member;
            for edge in &self.edges[state] {
                match edge {
                    Edge::On(..) => {}
                    Edge::Free(to) => open.push((*to, guards.clone())),
                    Edge::Guard(guard, to) => {
                        let more = guards.iter().copied().chain([(*guard, 0)]);
                        open.extend(self.under_way(more).map(|guards| (*to, guards)));
                    }
                }
            }
        }
        members
    }

    /// Where a symbol leads.
    fn step(&self, (state, guards): &Member, symbol: usize) -> Vec<Member> {
        let next = guards.iter().map(|&(guard, at)| (guard, self.guards[guard].next[at][symbol]));
        let Some(guards) = self.under_way(next) else { return Vec::new() };
        self.edges[*state]
            .iter()
            .filter_map(|edge| match edge {
                Edge::On(on, to) if on.contains(&symbol) => Some((*to, guards.clone())),
                _ => None,
            })
            .collect()
    }

    /// The guards not settled yet; `None` if one accepts no rest of the text.
    fn under_way(&self, guards: impl Iterator<Item = (usize, usize)>) -> Option<Guards> {
        let mut left = Guards::new();
        for (guard, at) in guards {
            self.guards[guard].distances[at]?;
            if !self.guards[guard].accepts_all(at) {
                left.insert((guard, at));
            }
        }
        Some(left)
    }
}

/// The language of a grammar with all its choices open.
pub(crate) fn of_grammar(grammar: &Grammar, alphabet: &Alphabet) -> Dfa {
    of_regex(&grammar.regex(), alphabet)
}

/// The language of a regex.
pub(crate) fn of_regex(regex: &Regex, alphabet: &Alphabet) -> Dfa {
    let mut nfa = Nfa::new();
    let start = nfa.add(regex, END, &mut |nfa, leaf, then| add_chars(nfa, leaf, then, alphabet));
    nfa.determinise(start, alphabet.classes.len())
}

/// Adds characters before the state `then`.
pub(crate) fn add_chars(nfa: &mut Nfa, chars: &Chars, then: usize, alphabet: &Alphabet) -> usize {
    match chars {
        Chars::Literal(text) => add_text(nfa, text, then, alphabet),
        Chars::Set(set) => nfa.state(vec![Edge::On(alphabet.classes_in(set), then)]),
    }
}

/// The language of a grammar over its tokens: the terminals in their order, then its literals.
pub(crate) fn of_tokens(grammar: &Grammar, literals: &[String]) -> Dfa {
    let mut nfa = Nfa::new();
    let named = grammar.terminals.len();
    let start = nfa.add(&grammar.expanded(), END, &mut |nfa, leaf, then| {
        let symbol = match leaf {
            Symbol::Terminal(index) => *index,
            Symbol::Literal(text) => {
                named + literals.iter().position(|literal| literal == text).expect("collected")
            }
            Symbol::Rule(_) => unreachable!("BUG: every rule is expanded"),
        };
        nfa.state(vec![Edge::On(vec![symbol], then)])
    });
    nfa.determinise(start, named + literals.len())
}

fn add_text(nfa: &mut Nfa, text: &str, then: usize, alphabet: &Alphabet) -> usize {
    text.chars().rev().fold(then, |then, c| {
        let class = alphabet.class_of(c);
        nfa.state(vec![Edge::On(vec![class], then)])
    })
}

/// The language of a PEG, exactly as a PEG parser decides it.
///
/// The grammar must have been [read](Grammar::read): then no rule recurses and nothing touches the
/// stack.
pub(crate) fn of_peg(grammar: &Grammar, alphabet: &Alphabet) -> Dfa {
    let mut builder = PegBuilder { peg: &grammar.peg, alphabet, succeeds: BTreeMap::new() };
    let mut nfa = Nfa::new();
    let start = builder.add(&mut nfa, &grammar.peg[&grammar.start], END);
    nfa.determinise(start, alphabet.classes.len())
}

struct PegBuilder<'g> {
    peg: &'g BTreeMap<String, Peg>,
    alphabet: &'g Alphabet,
    /// The texts in whose beginning an expression succeeds, by the expression as written.
    succeeds: BTreeMap<String, Rc<Dfa>>,
}

impl PegBuilder<'_> {
    fn add(&mut self, nfa: &mut Nfa, peg: &Peg, then: usize) -> usize {
        // The alphabet has such a set as a whole.
        if let Some(set) = read::flat_set(peg) {
            return self.add_set(nfa, &set, then);
        }
        match peg {
            Peg::Str(text) => add_text(nfa, text, then, self.alphabet),
            Peg::Insens(text) => text
                .chars()
                .rev()
                .fold(then, |then, c| self.add_set(nfa, &read::either_case(c), then)),
            Peg::Ident(name) => self.add_rule(nfa, name, then),
            Peg::Seq(left, right) => {
                let right = self.add(nfa, right, then);
                self.add(nfa, left, right)
            }
            Peg::Choice(left, right) => {
                let right = self.add(nfa, right, then);
                self.add_choice(nfa, left, then, right)
            }
            Peg::Opt(inner) => self.add_choice(nfa, inner, then, then),
            Peg::Rep(inner) => self.add_loop(nfa, inner, then).0,
            Peg::RepOnce(inner) => self.add_loop(nfa, inner, then).1,
            Peg::PosPred(inner) => nfa.guarded(self.succeeds(inner), then),
            Peg::NegPred(inner) => nfa.guarded(self.fails(inner), then),
            other => unreachable!("BUG: reading refuses {other:?}"),
        }
    }

    /// Adds `first`, and a way to the state `otherwise` if `first` fails.
    fn add_choice(&mut self, nfa: &mut Nfa, first: &Peg, then: usize, otherwise: usize) -> usize {
        let fails = self.fails(first);
        let first = self.add(nfa, first, then);
        let guard = nfa.guard(fails, otherwise);
        nfa.state(vec![Edge::Free(first), guard])
    }

    /// Where the loop may end or go on, and where its body begins.
    fn add_loop(&mut self, nfa: &mut Nfa, inner: &Peg, then: usize) -> (usize, usize) {
        let fails = self.fails(inner);
        let again = nfa.state(Vec::new());
        let first = self.add(nfa, inner, again);
        let guard = nfa.guard(fails, then);
        nfa.edges[again] = vec![Edge::Free(first), guard];
        (again, first)
    }

    fn add_rule(&mut self, nfa: &mut Nfa, name: &str, then: usize) -> usize {
        if let Some(peg) = self.peg.get(name) {
            return self.add(nfa, peg, then);
        }
        match name {
            // Reading has seen to it that `SOI` stands at the start of the start rule.
            "SOI" => then,
            "EOI" => {
                let mut nothing = Nfa::new();
                let more = nothing.state(vec![Edge::Free(END)]);
                nfa.guarded(Rc::new(nothing.determinise(more, self.alphabet.classes.len())), then)
            }
            _ => {
                let set = read::builtin(name)
                    .unwrap_or_else(|_| unreachable!("BUG: reading refuses {name}"));
                self.add_set(nfa, &set, then)
            }
        }
    }

    fn add_set(&mut self, nfa: &mut Nfa, set: &CharSet, then: usize) -> usize {
        nfa.state(vec![Edge::On(self.alphabet.classes_in(set), then)])
    }

    /// The texts in whose beginning `peg` succeeds.
    fn succeeds(&mut self, peg: &Peg) -> Rc<Dfa> {
        let key = format!("{peg:?}");
        if let Some(dfa) = self.succeeds.get(&key) {
            return Rc::clone(dfa);
        }
        let symbols = self.alphabet.classes.len();
        let mut nfa = Nfa::new();
        nfa.edges[END] = vec![Edge::On((0..symbols).collect(), END)];
        let start = self.add(&mut nfa, peg, END);
        let dfa = Rc::new(nfa.determinise(start, symbols));
        self.succeeds.insert(key, Rc::clone(&dfa));
        dfa
    }

    fn fails(&mut self, peg: &Peg) -> Rc<Dfa> {
        Rc::new(self.succeeds(peg).complement())
    }
}
