//! The shape of a grammar in which XGrammar answers quickly.
//!
//! XGrammar settles most tokens when compiling a grammar. A token that goes on beyond the end of a
//! rule stays open, and is tried anew for each mask, unless the rule states the next characters. So
//! each rule ends in a look-ahead, `(= [ab])`, with the characters that can follow (its FOLLOW
//! set). A loop loses the look-ahead again, because XGrammar makes a rule of its own from each
//! loop; so a repeated terminal is a rule that uses itself at its end, with the differences from
//! turn to turn written as alternatives, and `at+` is one such rule. The end of the text is written
//! in the start rule, where XGrammar knows that nothing follows.
//!
//! All of this is computed from the rules. The proof that no sentence changes comes afterwards,
//! from the text ([`Grammar::check_bnf`]).

use super::bnf::{Bnf, BnfRule, Item};
use super::charset::CharSet;
use super::grammar::{Chars, Definition, Expr, Grammar, Regex, Symbol, Times, Tree};

/// The grammar as XGrammar is to have it.
pub(crate) fn for_xgrammar(grammar: &Grammar) -> Bnf {
    let grammar = with_runs(grammar);
    let mut shaper =
        Shaper { grammar: &grammar, rules: Vec::new(), terminals: Vec::new(), loops: Vec::new() };
    shaper.begin_rules();
    for terminal in 0..grammar.terminals.len() {
        shaper.terminal(terminal);
    }
    shaper.finish_rules();
    let mut bnf = Bnf { rules: shaper.rules };
    add_look_aheads(&mut bnf);
    bnf
}

/// The same grammar with repeated terminals as terminals.
fn with_runs(grammar: &Grammar) -> Grammar {
    let mut out = Grammar { rules: Vec::new(), terminals: Vec::new(), ..grammar.clone() };
    for rule in &grammar.rules {
        let right = out_of_runs(&rule.right, grammar, &mut out.terminals);
        out.rules.push(Definition { right, ..rule.clone() });
    }
    out
}

/// Copies the right side of a rule, and its terminals to `terminals`.
fn out_of_runs(expr: &Expr, grammar: &Grammar, terminals: &mut Vec<Definition<Regex>>) -> Expr {
    let mut terminal = |made: Definition<Regex>| {
        let known = terminals.iter().position(|terminal| terminal.name == made.name);
        let index = known.unwrap_or_else(|| {
            terminals.push(made);
            terminals.len() - 1
        });
        Tree::Leaf(Symbol::Terminal(index))
    };
    match expr {
        Tree::Leaf(Symbol::Terminal(index)) => terminal(grammar.terminals[*index].clone()),
        Tree::Leaf(other) => Tree::Leaf(other.clone()),
        Tree::Repeat(inner, times @ (Times::Some | Times::Any)) => {
            let Tree::Leaf(Symbol::Terminal(index)) = **inner else {
                let inner = out_of_runs(inner, grammar, terminals);
                return Tree::Repeat(Box::new(inner), *times);
            };
            let one = &grammar.terminals[index];
            let run = terminal(Definition {
                name: format!("{}s", one.name),
                doc: one.doc.clone(),
                right: Tree::Repeat(Box::new(one.right.clone()), Times::Some),
            });
            if *times == Times::Some { run } else { Tree::Repeat(Box::new(run), Times::Optional) }
        }
        Tree::Repeat(inner, Times::Optional) => {
            let inner = out_of_runs(inner, grammar, terminals);
            Tree::Repeat(Box::new(inner), Times::Optional)
        }
        Tree::Sequence(parts) => {
            Tree::Sequence(parts.iter().map(|part| out_of_runs(part, grammar, terminals)).collect())
        }
        Tree::Choice(parts) => {
            Tree::Choice(parts.iter().map(|part| out_of_runs(part, grammar, terminals)).collect())
        }
    }
}

/// Items that follow each other.
type Row = Vec<Tree<Item>>;

struct Shaper<'g> {
    grammar: &'g Grammar,
    rules: Vec<BnfRule>,
    /// The tree that stands for each terminal where it is used.
    terminals: Vec<Tree<Item>>,
    /// The loops of the terminal at hand.
    loops: Vec<Loop>,
}

/// A loop with a rule: the same loop before the same end has the same rule.
struct Loop {
    inner: Regex,
    then: Vec<Row>,
    again: Row,
}

impl Shaper<'_> {
    /// Gives each rule its index in the grammar.
    fn begin_rules(&mut self) {
        for (index, rule) in self.grammar.rules.iter().enumerate() {
            let name = if index == 0 { "root".to_owned() } else { rule.name.to_ascii_lowercase() };
            self.push(name, rule.doc.clone(), Vec::new());
        }
    }

    fn finish_rules(&mut self) {
        for (index, rule) in self.grammar.rules.iter().enumerate() {
            self.rules[index].right = rule.right.expand(&mut |leaf| match leaf {
                Symbol::Literal(text) => Tree::Leaf(Item::Chars(Chars::Literal(text.clone()))),
                Symbol::Rule(rule) => Tree::Leaf(Item::Rule(*rule)),
                Symbol::Terminal(terminal) => self.terminals[*terminal].clone(),
            });
        }
    }

    fn terminal(&mut self, index: usize) {
        let Definition { name, doc, right } = &self.grammar.terminals[index];
        if self.ends_the_text(index) {
            self.terminals.push(right.expand(&mut |leaf| Tree::Leaf(Item::Chars(leaf.clone()))));
            return;
        }
        let before = self.rules.len();
        self.loops.clear();
        let rows = self.rows(right, vec![Vec::new()]);
        // A terminal of nothing but a loop has become the loop's rule already.
        let rule = match &rows[..] {
            [row] => match row[..] {
                [Tree::Leaf(Item::Rule(rule))] if rule >= before => rule,
                _ => self.push(String::new(), String::new(), rows),
            },
            _ => self.push(String::new(), String::new(), rows),
        };
        let name = name.to_ascii_lowercase();
        let others = (before..self.rules.len()).filter(|&other| other != rule);
        for (nth, other) in others.enumerate() {
            self.rules[other].name = format!("{name}_{}", nth + 1);
        }
        self.rules[rule].name = name;
        doc.clone_into(&mut self.rules[rule].doc);
        self.terminals.push(Tree::Leaf(Item::Rule(rule)));
    }

    /// Whether nothing can follow the terminal.
    fn ends_the_text(&self, terminal: usize) -> bool {
        let mut uses = 0;
        for rule in &self.grammar.rules {
            rule.right.expand(&mut |leaf| {
                uses += usize::from(*leaf == Symbol::Terminal(terminal));
                Tree::Leaf(())
            });
        }
        let last = match &self.grammar.rules[0].right {
            Tree::Sequence(parts) => parts.last(),
            _ => None,
        };
        uses == 1 && last == Some(&Tree::Leaf(Symbol::Terminal(terminal)))
    }

    /// The alternatives of a terminal, each followed by each of `then`.
    fn rows(&mut self, regex: &Regex, then: Vec<Row>) -> Vec<Row> {
        match regex {
            Tree::Leaf(chars) => before_each(Tree::Leaf(Item::Chars(chars.clone())), then),
            Tree::Sequence(parts) => {
                parts.iter().rev().fold(then, |then, part| self.rows(part, then))
            }
            Tree::Choice(parts) => {
                parts.iter().flat_map(|part| self.rows(part, then.clone())).collect()
            }
            // XGrammar has `[a]*` in its automaton unchanged, and makes a rule of `[a]+`.
            Tree::Repeat(inner, times @ (Times::Any | Times::Some))
                if matches!(**inner, Tree::Leaf(Chars::Set(_))) =>
            {
                let set = inner.expand(&mut |leaf| Tree::Leaf(Item::Chars(leaf.clone())));
                let any = Tree::Repeat(Box::new(set.clone()), Times::Any);
                let rows = before_each(any, then);
                if *times == Times::Some { before_each(set, rows) } else { rows }
            }
            Tree::Repeat(inner, Times::Optional) => {
                let mut rows = self.rows(inner, then.clone());
                rows.extend(then);
                rows
            }
            Tree::Repeat(inner, Times::Some) => self.some(inner, then),
            Tree::Repeat(inner, Times::Any) => self.any(inner, then),
        }
    }

    /// One or more turns, and what follows the last.
    fn some(&mut self, inner: &Regex, then: Vec<Row>) -> Vec<Row> {
        if then != [Row::new()] {
            let any = self.any(inner, then);
            return self.rows(inner, any);
        }
        let (rule, again) = self.begin_loop();
        let mut rows = self.rows(inner, then);
        rows.extend(self.rows(inner, vec![again.clone()]));
        self.rules[rule].right = choice(rows);
        vec![again]
    }

    /// Any number of turns, and what follows the last.
    fn any(&mut self, inner: &Regex, then: Vec<Row>) -> Vec<Row> {
        if then == [Row::new()] {
            return self.some(inner, then.clone()).into_iter().chain(then).collect();
        }
        let known = self.loops.iter().find(|known| known.inner == *inner && known.then == then);
        if let Some(known) = known {
            return vec![known.again.clone()];
        }
        let (rule, again) = self.begin_loop();
        let known = Loop { inner: inner.clone(), then: then.clone(), again: again.clone() };
        self.loops.push(known);
        let mut rows = self.rows(inner, vec![again.clone()]);
        rows.extend(then);
        self.rules[rule].right = choice(rows);
        vec![again]
    }

    fn begin_loop(&mut self) -> (usize, Row) {
        let rule = self.push(String::new(), String::new(), Vec::new());
        (rule, vec![Tree::Leaf(Item::Rule(rule))])
    }

    fn push(&mut self, name: String, doc: String, rows: Vec<Row>) -> usize {
        self.rules.push(BnfRule { name, doc, right: choice(rows), ahead: None });
        self.rules.len() - 1
    }
}

fn before_each(item: Tree<Item>, then: Vec<Row>) -> Vec<Row> {
    then.into_iter().map(|row| [item.clone()].into_iter().chain(row).collect()).collect()
}

fn choice(rows: Vec<Row>) -> Tree<Item> {
    let mut rows: Vec<_> = rows.into_iter().map(one_or_sequence).collect();
    if rows.len() == 1 { rows.remove(0) } else { Tree::Choice(rows) }
}

/// A sequence with neighbouring texts joined.
fn one_or_sequence(row: Row) -> Tree<Item> {
    let mut out: Row = Vec::new();
    for item in row {
        match (out.last_mut(), item) {
            (
                Some(Tree::Leaf(Item::Chars(Chars::Literal(before)))),
                Tree::Leaf(Item::Chars(Chars::Literal(text))),
            ) => before.push_str(&text),
            (_, item) => out.push(item),
        }
    }
    if out.len() == 1 { out.remove(0) } else { Tree::Sequence(out) }
}

/// The possible next things: a character, or the end of the examined part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lookahead {
    chars: CharSet,
    end: bool,
}

impl Lookahead {
    fn or(self, other: &Self) -> Self {
        Self { chars: self.chars.union(&other.chars), end: self.end || other.end }
    }

    /// Where this one ends, `after` goes on.
    fn then(self, after: &Self) -> Self {
        let end = self.end;
        let more = if end { after.clone() } else { Self::default() };
        Self { end: false, ..self }.or(&more)
    }
}

/// Gives each rule that the text cannot end with its FOLLOW set.
fn add_look_aheads(bnf: &mut Bnf) {
    let mut firsts = vec![Lookahead::default(); bnf.rules.len()];
    fixed_point(&mut firsts, |firsts| {
        for (index, rule) in bnf.rules.iter().enumerate() {
            firsts[index] = first(&rule.right, firsts);
        }
    });
    let mut follows = vec![Lookahead::default(); bnf.rules.len()];
    follows[0].end = true;
    fixed_point(&mut follows, |follows| {
        for (index, rule) in bnf.rules.iter().enumerate() {
            let after = follows[index].clone();
            add_follows(&rule.right, &after, &firsts, follows);
        }
    });
    for (rule, follow) in bnf.rules.iter_mut().zip(follows) {
        rule.ahead = Some(follow).filter(|follow| !follow.end).map(|follow| follow.chars);
    }
}

fn fixed_point(sets: &mut Vec<Lookahead>, mut round: impl FnMut(&mut Vec<Lookahead>)) {
    loop {
        let before = sets.clone();
        round(sets);
        if *sets == before {
            break;
        }
    }
}

/// The beginnings of a tree.
fn first(tree: &Tree<Item>, firsts: &[Lookahead]) -> Lookahead {
    let end = Lookahead { end: true, ..Lookahead::default() };
    match tree {
        Tree::Leaf(Item::Rule(rule)) => firsts[*rule].clone(),
        Tree::Leaf(Item::Chars(Chars::Set(set))) => Lookahead { chars: set.clone(), end: false },
        Tree::Leaf(Item::Chars(Chars::Literal(text))) => match text.chars().next() {
            Some(c) => Lookahead { chars: CharSet::single(c), end: false },
            None => end,
        },
        Tree::Sequence(parts) => {
            parts.iter().rev().fold(end, |after, part| first(part, firsts).then(&after))
        }
        Tree::Choice(parts) => {
            parts.iter().fold(Lookahead::default(), |all, part| all.or(&first(part, firsts)))
        }
        Tree::Repeat(inner, Times::Optional | Times::Any) => first(inner, firsts).or(&end),
        Tree::Repeat(inner, Times::Some) => first(inner, firsts),
    }
}

/// Adds to `follows` what stands after each rule in a tree that is followed by `after`.
fn add_follows(
    tree: &Tree<Item>,
    after: &Lookahead,
    firsts: &[Lookahead],
    follows: &mut [Lookahead],
) {
    match tree {
        Tree::Leaf(Item::Rule(rule)) => {
            follows[*rule] = std::mem::take(&mut follows[*rule]).or(after);
        }
        Tree::Leaf(Item::Chars(_)) => {}
        Tree::Sequence(parts) => {
            parts.iter().rev().fold(after.clone(), |after, part| {
                add_follows(part, &after, firsts, follows);
                first(part, firsts).then(&after)
            });
        }
        Tree::Choice(parts) => {
            parts.iter().for_each(|part| add_follows(part, after, firsts, follows));
        }
        Tree::Repeat(inner, Times::Optional) => add_follows(inner, after, firsts, follows),
        Tree::Repeat(inner, _) => {
            let after = first(inner, firsts).or(after);
            add_follows(inner, &after, firsts, follows);
        }
    }
}
