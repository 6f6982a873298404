//! Finds the lines that the `@@` headers of hunks name, and their scopes.
//!
//! Nothing is listed per hunk, because thousands of headers may each name every line of a file.
//! Headers that are equal for a pass share their [`Anchors`], hunks with the same headers share a
//! scope, and a scope is queried one line at a time.
//!
//! # Limits
//!
//! To find a header in a scope, both lists are advanced in turns. Lists that alternate all over the
//! file and never meet cost a walk over both for each scope with another outer scope.

use std::cell::RefCell;
use std::collections::HashMap;

use super::interner::{FOREIGN, Interner};
use super::needle::Needle;
use super::pass::Pass;
use super::scope::{Anchors, ScopeEnds, Stretch};
use crate::text::lines::Lines;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The headers of all hunks, found in one walk over the file.
pub(crate) struct Headers<'a, 'f, 'p> {
    lines: &'a Lines<'f>,
    passes: &'a [Pass],
    /// The headers, each once.
    texts: Vec<&'p str>,
    indices: Map<&'p str, usize>,
    /// The lines that are equal to one of the headers for the most lenient pass.
    named: Vec<u32>,
    ends: Option<ScopeEnds>,
    /// For each pass used so far, the anchors of each header.
    by_pass: Vec<Option<Vec<usize>>>,
    anchors: Vec<Anchors>,
    scopes: Vec<HeaderScope>,
    /// The scope of a header within another scope; `None` if the header does not occur there.
    inner: Map<(usize, usize), Option<usize>>,
}

/// A scope within another one.
struct HeaderScope {
    outer: usize,
    /// The index of its [`Anchors`].
    anchors: usize,
    /// The first anchor in the outer scope.
    first: u32,
    /// The last answer: queries mostly ascend or descend.
    last: RefCell<Stretch>,
}

impl<'a, 'f, 'p> Headers<'a, 'f, 'p> {
    /// The scope of hunks without headers: the whole file.
    pub(crate) const WHOLE: usize = 0;

    pub(crate) fn new(lines: &'a Lines<'f>, needles: &[Needle<'p>], passes: &'a [Pass]) -> Self {
        let mut texts = Vec::new();
        let mut indices = Map::default();
        for &header in needles.iter().flat_map(|needle| &needle.headers) {
            indices.entry(header).or_insert_with(|| {
                texts.push(header);
                texts.len() - 1
            });
        }
        let mut named = Vec::new();
        if !texts.is_empty() {
            let mut interner = Interner::new(passes.iter().max().copied().unwrap_or(Pass::Exact));
            for text in &texts {
                interner.insert(text.as_bytes());
            }
            let ids = (0..).zip(interner.all(lines.iter()));
            named.extend(ids.filter(|&(_, id)| id != FOREIGN).map(|(line, _)| line));
        }
        let ends = (!named.is_empty()).then(|| ScopeEnds::new(lines));
        let by_pass = vec![None; passes.len()];
        let whole = Stretch { lines: 0..lines.len() as u32, inside: true };
        let whole = HeaderScope {
            outer: Self::WHOLE,
            anchors: usize::MAX,
            first: 0,
            last: RefCell::new(whole),
        };
        Self {
            lines,
            passes,
            texts,
            indices,
            named,
            ends,
            by_pass,
            anchors: Vec::new(),
            scopes: vec![whole],
            inner: Map::default(),
        }
    }

    /// Returns the scope of a hunk's headers; `None` if one of them is nowhere in the file, or
    /// outside the scope of the header before.
    pub(crate) fn resolve(&mut self, needle: &Needle<'p>) -> Option<usize> {
        needle.headers.iter().try_fold(Self::WHOLE, |outer, header| {
            let header = self.indices[header];
            // The first pass that finds anything decides.
            (0..self.passes.len()).find_map(|pass| {
                let anchors = self.anchors(pass, header)?;
                self.within(outer, anchors)
            })
        })
    }

    /// Returns the lines that a pass considers equal to a header.
    fn anchors(&mut self, pass: usize, header: usize) -> Option<usize> {
        let Self { lines, passes, texts, named, ends, by_pass, anchors, .. } = self;
        let ends = ends.as_ref()?;
        let of_header = by_pass[pass].get_or_insert_with(|| {
            let mut interner = Interner::new(passes[pass]);
            let ids: Vec<u32> = texts.iter().map(|text| interner.insert(text.as_bytes())).collect();
            let mut found = vec![Vec::new(); texts.len()];
            let contents = named.iter().map(|&line| lines.content(line as usize));
            for (id, &line) in interner.all(contents).zip(named.iter()) {
                if id != FOREIGN {
                    found[id as usize].push(line);
                }
            }
            let first = anchors.len();
            anchors.extend(found.into_iter().map(|lines| Anchors::new(lines, ends)));
            ids.iter().map(|&id| first + id as usize).collect()
        });
        Some(of_header[header])
    }

    fn within(&mut self, outer: usize, anchors: usize) -> Option<usize> {
        if let Some(&known) = self.inner.get(&(outer, anchors)) {
            return known;
        }
        let scope = self.next_anchor(outer, anchors, self.scopes[outer].first).map(|first| {
            let nothing = Stretch { lines: 0..0, inside: false };
            self.scopes.push(HeaderScope { outer, anchors, first, last: RefCell::new(nothing) });
            self.scopes.len() - 1
        });
        self.inner.insert((outer, anchors), scope);
        scope
    }

    /// Returns the first anchor in `from..` that is in `scope`.
    fn next_anchor(&self, scope: usize, anchors: usize, mut from: u32) -> Option<u32> {
        loop {
            let line = self.anchors[anchors].next(from)?;
            let stretch = self.stretch(scope, line);
            if stretch.inside {
                return Some(line);
            }
            from = stretch.lines.end;
        }
    }

    /// Returns the first line of the innermost header of a scope.
    pub(crate) fn first_anchor(&self, scope: usize) -> u32 {
        self.scopes[scope].first
    }

    /// Returns the lines that are equal to the innermost header of a scope. Each one inside the
    /// scope begins a part of it.
    pub(crate) fn innermost(&self, scope: usize) -> &Anchors {
        &self.anchors[self.scopes[scope].anchors]
    }

    /// Returns the stretch around `line` that is inside a scope, or outside of it.
    pub(crate) fn stretch(&self, scope: usize, line: u32) -> Stretch {
        // Not recursive: a hunk may have as many headers as lines.
        let mut unknown = Vec::new();
        let mut at = scope;
        let mut stretch = loop {
            let known = self.scopes[at].last.borrow();
            if known.lines.contains(&line) {
                break known.clone();
            }
            unknown.push(at);
            at = self.scopes[at].outer;
        };
        for &at in unknown.iter().rev() {
            let scope = &self.scopes[at];
            if stretch.inside {
                stretch = self.anchors[scope.anchors].stretch(&stretch.lines, line);
            }
            scope.last.replace(stretch.clone());
        }
        stretch
    }
}

#[cfg(test)]
mod tests {
    use patch_grammar::{ParseOptions, SectionOperation, parse};

    use super::*;
    use crate::Rules;

    const FILE: &str = "class A:\n    def f(self):\n        x = 1\n\n    # note\n\
                        \x20   def g(self):\n        x = 1\n}\nclass B:\n    def f(self):\n\
                        \x20       x = 1\n";

    /// The stretches that are inside, and the anchors.
    type Found = (Vec<(u32, u32)>, Vec<u32>);

    fn scope(headers: &[&str]) -> Option<Found> {
        let headers: String = headers.iter().map(|header| format!("@@ {header}\n")).collect();
        let text = format!("*** Begin Patch\n*** Update File: f\n{headers}-x\n*** End Patch\n");
        let patch = parse(&text, &ParseOptions::default()).expect("it parses");
        let SectionOperation::Update { hunks, .. } = &patch.sections()[0].operation else {
            unreachable!()
        };
        let lines = Lines::new(FILE.as_bytes());
        let rules = Rules::by_headers();
        let needles = [Needle::new(0, &hunks[0], &lines, &rules)];
        let mut headers = Headers::new(&lines, &needles, &Pass::ALL);
        let scope = headers.resolve(&needles[0])?;
        let mut inside = Vec::new();
        let mut anchors = Vec::new();
        let mut line = 0;
        while line < lines.len() as u32 {
            let stretch = headers.stretch(scope, line);
            assert!(stretch.lines.contains(&line), "{stretch:?} {line}");
            inside.extend(stretch.inside.then_some((stretch.lines.start, stretch.lines.end)));
            anchors.extend(stretch.lines.clone().filter(|&line| {
                stretch.inside && headers.innermost(scope).next(line) == Some(line)
            }));
            line = stretch.lines.end;
        }
        assert_eq!(anchors.first(), Some(&headers.first_anchor(scope)));
        Some((inside, anchors))
    }

    #[test]
    fn a_scope_ends_before_the_next_opener_that_is_no_deeper() {
        for (headers, wanted) in [
            (&["class A:"][..], Some((vec![(0, 8)], vec![0]))),
            (&["def f(self):"][..], Some((vec![(1, 5), (9, 11)], vec![1, 9]))),
            (&["class B:", "def f(self):"][..], Some((vec![(9, 11)], vec![9]))),
            (&["class A:", "def g(self):"][..], Some((vec![(5, 8)], vec![5]))),
            (&["class A:", "class A:", "class A:"][..], Some((vec![(0, 8)], vec![0]))),
            (&["class B:", "def g(self):"][..], None),
            (&["x = 1"][..], Some((vec![(2, 5), (6, 8), (10, 11)], vec![2, 6, 10]))),
            (&["nowhere"][..], None),
        ] {
            assert_eq!(scope(headers), wanted, "{headers:?}");
        }
    }
}
