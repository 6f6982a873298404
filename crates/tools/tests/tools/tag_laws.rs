//! The law of edits by tags: whatever others do to a file, an edit is made on the very lines that
//! were printed, between the neighbours that they had, or it is refused and changes nothing.
//!
//! A caller reads parts of a file, others change it, and the caller names lines that it remembers.
//! The lines of the model have identities, which the program does not see.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use fastrand::Rng;
use serde_json::{Value, json};
use testutils::share::share;

use crate::support::{Bench, call, done, settings};

/// A line, with an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: u32,
    text: String,
}

/// A line that was printed: its version of the file, and its index there.
#[derive(Debug, Clone)]
struct Printed {
    version: Rc<Vec<Line>>,
    index: usize,
}

/// How often each outcome was seen.
#[derive(Debug, Default)]
struct Outcomes {
    /// Made in the version that was printed.
    made: u32,
    /// Made in another version.
    carried: u32,
    /// Carried, where other lines are equal to those of the edit, and so are their neighbours.
    among_equal: u32,
    /// Refused because the file changed.
    stale: u32,
    /// Refused though the lines and their neighbours are as they were.
    too_careful: u32,
    /// Made again with the tags of a refusal.
    obeyed: u32,
}

/// A file, its changes, and the memory of the caller.
struct Model {
    bench: Bench,
    rng: Rng,
    lines: Vec<Line>,
    next: u32,
    /// The lines by the names that they were printed with; the last one counts.
    memory: BTreeMap<String, Printed>,
    outcomes: Outcomes,
}

/// An edit of lines that were printed, with its new lines.
#[derive(Debug)]
struct Wanted {
    version: Rc<Vec<Line>>,
    lines: Range<usize>,
    new: Vec<String>,
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut model = Self {
            bench: Bench::new(&[]),
            rng: Rng::with_seed(seed),
            lines: Vec::new(),
            next: 0,
            memory: BTreeMap::new(),
            outcomes: Outcomes::default(),
        };
        let kinds = model.rng.usize(1..12);
        for _ in 0..model.rng.usize(1..60) {
            let line = model.line(kinds);
            model.lines.push(line);
        }
        model.write();
        model
    }

    fn line(&mut self, kinds: usize) -> Line {
        let text = format!("line {}", self.rng.usize(0..kinds));
        self.next += 1;
        Line { id: self.next, text }
    }

    fn text(&self) -> String {
        text_of(&self.lines)
    }

    fn write(&self) {
        self.bench.write("f", self.text().as_bytes());
    }

    /// Remembers lines that were printed with tags.
    fn remember<'l>(&mut self, printed: impl Iterator<Item = &'l str>) {
        let version = Rc::new(self.lines.clone());
        for line in printed {
            let (name, text) = line.split_once('|').unwrap();
            let number: usize = name.split_once('#').unwrap().0.parse().unwrap();
            let index = number - 1;
            assert_eq!(version[index].text, text, "{line}");
            self.memory.insert(name.to_owned(), Printed { version: Rc::clone(&version), index });
        }
    }

    /// Reads the file, or a part of it, or looks for a line.
    fn read(&mut self) {
        let first = self.rng.usize(0..self.lines.len().max(1)) + 1;
        let last = first + self.rng.usize(0..20);
        if self.rng.u8(0..4) == 0 {
            let query = json!({ "query": format!("line {}", first % 4), "tags": true });
            let found = self.bench.done("search_files", &query);
            for found in found["matches"].as_array().unwrap() {
                self.remember(found["preview"].as_str().unwrap().lines());
            }
            return;
        }
        let mut args = json!({ "path": "f", "tags": true });
        if self.rng.bool() {
            args["startLine"] = first.into();
            args["endLine"] = last.into();
        }
        let read = self.bench.done("read_file", &args);
        self.remember(read["content"].as_str().unwrap().lines());
    }

    /// Changes the file as others do.
    fn change(&mut self) {
        for _ in 0..self.rng.usize(1..4) {
            let count = self.lines.len();
            let at = self.rng.usize(0..=count);
            let end = (at + self.rng.usize(0..4)).min(count);
            match self.rng.u8(0..6) {
                0 => {
                    let new = self.line(4);
                    self.lines.insert(at, new);
                }
                1 => drop(self.lines.drain(at..end)),
                2 if at < count => self.lines[at] = self.line(4),
                // A block that is copied has new lines.
                3 => {
                    let block: Vec<Line> = self.lines[at..end].to_vec();
                    for line in block.into_iter().rev() {
                        self.next += 1;
                        self.lines.insert(end, Line { id: self.next, ..line });
                    }
                }
                4 if at + 1 < count => {
                    let moved = self.lines.remove(at);
                    self.next += 1;
                    self.lines.insert(at + 1, Line { id: self.next, ..moved });
                }
                // A line that nothing else is like.
                _ => {
                    self.next += 1;
                    let text = format!("only {}", self.next);
                    self.lines.insert(at, Line { id: self.next, text });
                }
            }
        }
        self.write();
    }

    /// Chooses lines that the caller remembers, and an edit of them.
    fn wanted(&mut self) -> Option<(Value, Wanted)> {
        let nth = self.rng.usize(0..self.memory.len().max(1));
        let (name, Printed { version, index }) = self.memory.iter().nth(nth)?;
        let (name, version, index) = (name.clone(), Rc::clone(version), *index);
        self.next += 1;
        let new = vec![format!("new {}", self.next)];
        if self.rng.u8(0..4) == 0 {
            let edit = json!({ "after": name, "newText": new[0] });
            return Some((edit, Wanted { version, lines: index + 1..index + 1, new }));
        }
        let new = if self.rng.u8(0..4) == 0 { Vec::new() } else { new };
        let mut edit = json!({ "from": name, "newText": new.join("\n") });
        let last = index + self.rng.usize(0..3);
        let to = self
            .memory
            .iter()
            .find(|(_, printed)| Rc::ptr_eq(&printed.version, &version) && printed.index == last);
        let lines = match to {
            Some((to, _)) => {
                edit["to"] = to.clone().into();
                index..last + 1
            }
            None => index..index + 1,
        };
        Some((edit, Wanted { version, lines, new }))
    }

    /// Makes an edit, and holds the answer to the law.
    fn edit(&mut self) {
        let Some((edit, wanted)) = self.wanted() else { return };
        let before = self.text();
        let args = json!({ "path": "f", "edits": [edit] });
        let answer = self.bench.call("edit_file", &args);
        let after = String::from_utf8(self.bench.read("f")).unwrap();
        if answer["ok"] == true {
            self.made(&wanted, &after);
            return;
        }
        assert_eq!(after, before, "{answer}");
        let error = &answer["error"];
        match error["kind"].as_str().unwrap() {
            "stale_file" if self.place(&wanted).is_some() => self.outcomes.too_careful += 1,
            "stale_file" => self.outcomes.stale += 1,
            // A search prints lines, and not those between them.
            _ => {
                assert!(error["message"].as_str().unwrap().contains("not all printed"), "{answer}")
            }
        }
        let offered = error["hints"].as_array().unwrap();
        let offered = offered.iter().find(|hint| hint["hint"] == "use_tags");
        let offered = offered.map(|hint| hint["lines"].as_array().unwrap().clone());
        let lines: Vec<String> =
            offered.into_iter().flatten().map(|line| line.as_str().unwrap().to_owned()).collect();
        self.remember(lines.iter().map(String::as_str));
        self.obey(&lines);
    }

    /// Makes an edit with the tags of a refusal: it cannot be refused again.
    fn obey(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let line = lines[self.rng.usize(0..lines.len())].clone();
        let name = line.split_once('|').unwrap().0;
        let Printed { version, index } = self.memory[name].clone();
        self.next += 1;
        let new = vec![format!("new {}", self.next)];
        let args = json!({ "path": "f", "edits": [{ "from": line, "newText": new[0] }] });
        self.bench.done("edit_file", &args);
        let after = String::from_utf8(self.bench.read("f")).unwrap();
        self.made(&Wanted { version, lines: index..index + 1, new }, &after);
        self.outcomes.obeyed += 1;
    }

    /// Returns where the lines of an edit are now, by their identities: all of them together, with
    /// their neighbours.
    fn place(&self, wanted: &Wanted) -> Option<usize> {
        let Wanted { version, lines, .. } = wanted;
        let from = lines.start.saturating_sub(1);
        let to = (lines.end + 1).min(version.len());
        let block = &version[from..to];
        let id = |line: &Line| line.id;
        let at = self
            .lines
            .windows(block.len().max(1))
            .position(|now| now.iter().map(id).eq(block.iter().map(id)) && now == block)?;
        let is_end = lines.start == 0 && at > 0;
        let is_open = lines.end == version.len() && at + block.len() < self.lines.len();
        (!is_end && !is_open).then(|| at + lines.start - from)
    }

    /// Returns whether a diff from a version to the file as it is keeps the lines that were kept: the
    /// file has not lost lines and got equal ones.
    fn shows_its_history(&self, version: &[Line]) -> bool {
        let kept = version.iter().filter(|line| self.lines.contains(line)).count();
        let [before, now] = [texts(version), texts(&self.lines)];
        // The longest common subsequence.
        let mut longest = vec![0; now.len() + 1];
        for old in before {
            let mut diagonal = 0;
            for (at, new) in now.iter().enumerate() {
                let above = longest[at + 1];
                longest[at + 1] = if old == *new { diagonal + 1 } else { above.max(longest[at]) };
                diagonal = above;
            }
        }
        longest[now.len()] == kept
    }

    /// Holds an edit that was made to the law, and goes on with its result.
    fn made(&mut self, wanted: &Wanted, after: &str) {
        let Wanted { version, lines, new } = wanted;
        let old = &version[lines.clone()];
        let neighbours = |all: &[Line], range: &Range<usize>| {
            let above = range.start.checked_sub(1).map(|at| all[at].text.clone());
            let below = all.get(range.end).map(|line| line.text.clone());
            (above, below)
        };
        let places: Vec<usize> = (0..=self.lines.len().saturating_sub(old.len()))
            .filter(|&at| {
                let range = at..at + old.len();
                texts(&self.lines[range.clone()]) == texts(old)
                    && neighbours(&self.lines, &range) == neighbours(version, lines)
            })
            .collect();
        let result = |at: usize| {
            let [head, tail] = [&self.lines[..at], &self.lines[at + old.len()..]].map(text_of);
            let new: String = new.iter().map(|line| format!("{line}\n")).collect();
            head + &new + &tail
        };
        let by_text = places.iter().copied().find(|&at| result(at) == after);
        let place = match self.place(wanted) {
            // The lines that are meant, and no others.
            Some(at) if result(at) == after => Some(at),
            Some(at) if self.shows_its_history(version) => {
                panic!("{wanted:?} is not made at {at} of\n{}but made\n{after}", self.text())
            }
            // Other lines with the same neighbours, which nobody can tell from those.
            _ => by_text,
        };
        let at = place.unwrap_or_else(|| {
            panic!("{wanted:?} has no place in\n{}but made\n{after}", self.text())
        });
        if **version == self.lines {
            self.outcomes.made += 1;
        } else {
            self.outcomes.carried += 1;
            self.outcomes.among_equal += u32::from(places.len() > 1);
        }
        let new: Vec<Line> = new
            .iter()
            .map(|text| {
                self.next += 1;
                Line { id: self.next, text: text.clone() }
            })
            .collect();
        self.lines.splice(at..at + old.len(), new);
    }
}

fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

fn text_of(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

#[test]
fn an_edit_is_made_on_the_lines_that_were_printed() {
    let mut all = Outcomes::default();
    let seeds = share(1800);
    for seed in 0..u64::from(seeds) {
        let mut model = Model::new(seed);
        model.read();
        for _ in 0..12 {
            match model.rng.u8(0..10) {
                0..=1 => model.read(),
                2..=4 => model.change(),
                _ => model.edit(),
            }
        }
        let Outcomes { made, carried, among_equal, stale, too_careful, obeyed } = model.outcomes;
        all.made += made;
        all.carried += carried;
        all.among_equal += among_equal;
        all.stale += stale;
        all.too_careful += too_careful;
        all.obeyed += obeyed;
    }
    eprintln!("{all:?}");
    // Each outcome was seen often enough for the law to say something.
    for (count, least) in [
        (all.made, seeds / 4),
        (all.carried, seeds / 4),
        (all.among_equal, seeds / 50),
        (all.stale, seeds / 4),
        (all.obeyed, seeds / 4),
    ] {
        assert!(count > least, "{all:?}");
    }
    assert!(all.too_careful < all.carried, "{all:?}");
}

/// Several edits of one call are made as one after the other from below, in whatever order they are
/// sent; and where two of them have a line, or a place, in common, none is.
#[test]
fn edits_of_a_call_are_of_the_file_before_it() {
    let mut overlaps = 0;
    for seed in 0..u64::from(share(3000)) {
        let mut rng = Rng::with_seed(seed);
        let lines: Vec<String> =
            (0..rng.usize(1..30)).map(|_| format!("line {}", rng.u8(0..4))).collect();
        let feed = if rng.bool() { "\n" } else { "\r\n" };
        let text: String = lines.iter().map(|line| line.to_owned() + feed).collect();
        let bench = Bench::new(&[("f", text.as_bytes())]);
        let tools = bench.with(settings());
        let read = done(&tools, "read_file", &json!({ "path": "f", "tags": true }));
        let printed: Vec<&str> = read["content"].as_str().unwrap().lines().collect();
        let name = |index: usize| printed[index].split_once('|').unwrap().0;
        let mut wanted: Vec<(Range<usize>, String, Value)> = Vec::new();
        for nth in 0..rng.usize(1..5) {
            let at = rng.usize(0..lines.len());
            let new = format!("new {nth}");
            if rng.bool() {
                wanted.push((
                    at + 1..at + 1,
                    new.clone() + feed,
                    json!({ "after": name(at), "newText": new }),
                ));
                continue;
            }
            let end = (at + rng.usize(1..3)).min(lines.len());
            let new = if rng.bool() { new } else { String::new() };
            let made = if new.is_empty() { String::new() } else { new.clone() + feed };
            let edit = json!({ "from": name(at), "to": name(end - 1), "newText": new });
            wanted.push((at..end, made, edit));
        }
        rng.shuffle(&mut wanted);
        let edits: Vec<&Value> = wanted.iter().map(|(_, _, edit)| edit).collect();
        let args = json!({ "path": "f", "edits": edits });
        let reply = call(&tools, "edit_file", &args);
        wanted.sort_by_key(|(lines, ..)| (lines.start, lines.end));
        let overlap = wanted.windows(2).any(|pair| {
            let [one, other] = pair else { unreachable!() };
            one.0.end > other.0.start || one.0 == other.0
        });
        let now = String::from_utf8(bench.read("f")).unwrap();
        if overlap {
            overlaps += 1;
            assert_eq!(reply["error"]["kind"], "overlapping_edits", "{seed}: {args}");
            assert_eq!(now, text);
            continue;
        }
        let mut result: Vec<String> = lines.iter().map(|line| line.to_owned() + feed).collect();
        for (lines, new, _) in wanted.into_iter().rev() {
            result.splice(lines, [new]);
        }
        assert_eq!(reply["ok"], true, "{seed}: {args}: {reply}");
        assert_eq!(now, result.concat(), "{seed}: {args}");
    }
    let all = share(3000);
    assert!(overlaps > all / 10 && overlaps < all * 9 / 10, "{overlaps} of {all}");
}
