//! Reads a file in BNF back: the part of GBNF and of XGrammar's EBNF that the generator writes,
//! with one rule a line.

use std::collections::HashMap;

use super::bnf::{Bnf, BnfRule, Item};
use super::charset::CharSet;
use super::grammar::{Chars, Times, Tree};

/// The rules of `text`; a message for anything else.
pub(crate) fn read(text: &str) -> Result<Bnf, String> {
    let mut lines = Vec::new();
    let mut doc: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            doc.push(comment);
        } else if let Some((name, right)) = line.split_once(" ::= ") {
            lines.push((name, std::mem::take(&mut doc).join("\n"), right));
        } else if line.is_empty() {
            doc.clear();
        } else {
            return Err(format!("neither a rule nor a comment: {line:?}"));
        }
    }
    let numbers: HashMap<&str, usize> =
        lines.iter().enumerate().map(|(number, (name, ..))| (*name, number)).collect();
    if numbers.len() < lines.len() {
        return Err("two rules have one name".to_owned());
    }
    let rules = lines.iter().map(|(name, doc, right)| {
        let mut reader = BnfReader { rest: right, numbers: &numbers };
        let rule = reader.rule().and_then(|(right, ahead)| {
            reader.end()?;
            Ok(BnfRule { name: (*name).to_owned(), doc: doc.clone(), right, ahead })
        });
        rule.map_err(|message| format!("rule `{name}`: {message} before {:?}", reader.rest))
    });
    let rules = rules.collect::<Result<Vec<_>, _>>()?;
    if rules.first().is_none_or(|rule| rule.name != "root") {
        return Err("the first rule is not `root`".to_owned());
    }
    Ok(Bnf { rules })
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

struct BnfReader<'t> {
    rest: &'t str,
    numbers: &'t HashMap<&'t str, usize>,
}

impl BnfReader<'_> {
    fn rule(&mut self) -> Result<(Tree<Item>, Option<CharSet>), String> {
        let right = self.choice()?;
        if !self.takes("(=") {
            return Ok((right, None));
        }
        self.skip_blanks();
        if !self.takes("[") {
            return Err("a look-ahead that is not a class".to_owned());
        }
        let ahead = self.class()?;
        self.skip_blanks();
        if self.takes(")") { Ok((right, Some(ahead))) } else { Err("`)` is missing".to_owned()) }
    }

    fn end(&self) -> Result<(), String> {
        if self.rest.is_empty() { Ok(()) } else { Err("something is left over".to_owned()) }
    }

    fn takes(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    fn choice(&mut self) -> Result<Tree<Item>, String> {
        let mut parts = vec![self.sequence()?];
        while self.takes("|") {
            parts.push(self.sequence()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Tree::Choice(parts) })
    }

    fn sequence(&mut self) -> Result<Tree<Item>, String> {
        let mut parts = Vec::new();
        loop {
            self.skip_blanks();
            if self.rest.is_empty()
                || self.rest.starts_with([')', '|'])
                || self.rest.starts_with("(=")
            {
                break;
            }
            let part = self.atom()?;
            parts.push(self.repeated(part));
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Tree::Sequence(parts) })
    }

    fn repeated(&mut self, mut part: Tree<Item>) -> Tree<Item> {
        while let Some(times) = [Times::Optional, Times::Any, Times::Some]
            .into_iter()
            .find(|times| self.rest.starts_with(times.symbol()))
        {
            self.rest = &self.rest[1..];
            part = Tree::Repeat(Box::new(part), times);
        }
        part
    }

    fn atom(&mut self) -> Result<Tree<Item>, String> {
        if self.takes("(") {
            let inner = self.choice()?;
            return if self.takes(")") { Ok(inner) } else { Err("`)` is missing".to_owned()) };
        }
        if self.takes("\"") {
            let mut text = String::new();
            while !self.takes("\"") {
                text.push(self.character()?);
            }
            return Ok(Tree::Leaf(Item::Chars(Chars::Literal(text))));
        }
        if self.takes("[") {
            return Ok(Tree::Leaf(Item::Chars(Chars::Set(self.class()?))));
        }
        let name = self.rest.split(|c| !is_of_name(c)).next().unwrap_or_default();
        let Some(&rule) = self.numbers.get(name) else {
            return Err(format!("there is no rule `{name}`"));
        };
        self.rest = &self.rest[name.len()..];
        Ok(Tree::Leaf(Item::Rule(rule)))
    }

    /// The rest of a class in brackets.
    fn class(&mut self) -> Result<CharSet, String> {
        let negated = self.takes("^");
        let mut set = CharSet::default();
        while !self.takes("]") {
            let first = self.character()?;
            let range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let last = if range && self.takes("-") { self.character()? } else { first };
            set = set.union(&CharSet::range(first..=last));
        }
        Ok(if negated { set.complement() } else { set })
    }

    /// One character, perhaps escaped.
    fn character(&mut self) -> Result<char, String> {
        let c = self.next()?;
        if c != '\\' {
            return Ok(c);
        }
        let digits = match self.next()? {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c if c.is_ascii_punctuation() => return Ok(c),
            c => return Err(format!("the unknown escape `\\{c}`")),
        };
        let number = self.rest.get(..digits).ok_or("a short escape")?;
        self.rest = &self.rest[digits..];
        let code = u32::from_str_radix(number, 16).map_err(|error| error.to_string())?;
        char::from_u32(code).ok_or_else(|| "an escape that is not a character".to_owned())
    }

    fn next(&mut self) -> Result<char, String> {
        let c = self.rest.chars().next().ok_or("the line ends too early")?;
        self.rest = &self.rest[c.len_utf8()..];
        Ok(c)
    }
}
