//! Finds the lines that the `@@` headers of hunks name.

use std::collections::HashMap;
use std::rc::Rc;

use super::needle::Needle;
use super::numbers::Numbers;
use super::pass::Pass;
use super::scope::{self, Scope, ScopeEnds};
use crate::lines::Lines;

/// The headers of all hunks, looked for in one walk over the file.
pub(crate) struct Headers<'a, 'p> {
    passes: &'a [Pass],
    /// `None` if no hunk has a header.
    ends: Option<ScopeEnds>,
    /// The lines that each header names, and the strictest pass that sees each.
    lines: HashMap<&'p str, Vec<(u32, Pass)>>,
    /// What stacked headers come to: most hunks that have the same ones stand side by side.
    scopes: HashMap<&'a [&'p str], Option<Rc<Scope>>>,
}

impl<'a, 'p> Headers<'a, 'p> {
    pub(crate) fn new(lines: &Lines<'_>, needles: &'a [Needle<'p>], passes: &'a [Pass]) -> Self {
        let mut found: HashMap<&'p str, Vec<(u32, Pass)>> = HashMap::new();
        let most_lenient = passes.iter().max().copied().unwrap_or(Pass::Exact);
        let mut numbers = Numbers::new(most_lenient);
        // The headers of each number; those that differ in blanks have the same.
        let mut named: Vec<Vec<&'p str>> = Vec::new();
        for &header in needles.iter().flat_map(|needle| &needle.headers) {
            if found.insert(header, Vec::new()).is_none() {
                let id = numbers.insert(header.as_bytes()) as usize;
                named.resize(named.len().max(id + 1), Vec::new());
                named[id].push(header);
            }
        }
        if !found.is_empty() {
            for (index, line) in lines.iter().enumerate() {
                for &header in named.get(numbers.get(line) as usize).into_iter().flatten() {
                    let pass = most_lenient.strictest(header.as_bytes(), line).expect("they have the same number");
                    found.entry(header).or_default().push((index as u32, pass));
                }
            }
        }
        let ends = (!found.is_empty()).then(|| ScopeEnds::new(lines));
        Self { passes, ends, lines: found, scopes: HashMap::new() }
    }

    /// Where the headers of a hunk let it begin; `None` if they are not in the file, and if it has none.
    pub(crate) fn resolve(&mut self, needle: &'a Needle<'p>) -> Option<Rc<Scope>> {
        let Self { passes, ends, lines, scopes } = self;
        let resolve = || {
            let scope = scope::resolve(&needle.headers, passes, ends.as_ref()?, |header, pass| {
                lines[header].iter().filter(|&&(_, seen)| seen <= pass).map(|&(line, _)| line).collect()
            });
            scope.map(Rc::new)
        };
        scopes.entry(&needle.headers).or_insert_with(resolve).clone()
    }
}
