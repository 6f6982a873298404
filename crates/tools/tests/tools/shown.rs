//! What is shown is what is committed: random patches and calls in random trees, looked at in every
//! way that tells what they do, against the trees before and after and against `git apply`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use file_tools::Tools as _;
use file_tools::events::{EventForm, Events};
use fs_guard::Sha256;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::{Atomicity, Change, Event, Host, Images, Options, Profile, parse};
use patch_session::changes::{DiffDetail, PatchData, capped};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::support::{Bench, sha};
use testutils::holds::holds;
use testutils::tree::{Entry, Kind, look};

/// Files and links by path.
type Tree = BTreeMap<String, Node>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    File { bytes: Vec<u8>, exec: bool },
    Link(String),
}

impl Node {
    /// The bytes that are hashed and compared.
    fn bytes(&self) -> &[u8] {
        match self {
            Self::File { bytes, .. } => bytes,
            Self::Link(target) => target.as_bytes(),
        }
    }
}

const NAMES: [&str; 10] =
    ["a", "b", "c.txt", "d/a", "d/b", "d/e/f", "g/h/i", "two words", "d/\"q\" \u{e9}", "k"];

fn cases() -> u32 {
    std::env::var("SHOWN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

/// Tries a property on so many values; `false` where git is missing.
fn holds_with_git<S: Strategy>(strategy: &S, property: impl Fn(S::Value)) -> bool {
    if Command::new("git").arg("--version").output().is_err() {
        testutils::skip!("git is not installed");
        return false;
    }
    holds(cases(), strategy, property);
    true
}

// Trees.

fn read_tree(dir: &Path) -> Tree {
    let node = |(name, entry): (String, Entry)| match entry.kind {
        _ if name.split('/').next() == Some(".apply-patch") => None,
        Kind::File(bytes) => Some((name, Node::File { bytes, exec: entry.mode & 0o100 != 0 })),
        Kind::Link(target) => Some((name, Node::Link(target))),
        Kind::Directory | Kind::Special => None,
    };
    look(dir, false).into_iter().filter_map(node).collect()
}

fn write_tree(dir: &Path, tree: &Tree) {
    for (name, node) in tree {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match node {
            Node::Link(target) => symlink(target, &path).unwrap(),
            Node::File { bytes, exec } => {
                fs::write(&path, bytes).unwrap();
                let mode = if *exec { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let ends = select(&["\n", "\n", "\r\n"][..]);
    let padding =
        select(&["", "", " of a file that is longer than what may be kept of it in memory"][..]);
    let text = (0..24_usize, ends, any::<bool>(), prop::bool::weighted(0.1), padding);
    let text = text.prop_map(|(lines, end, closed, mark, padding)| {
        let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
        text.extend((0..lines).map(|line| format!("line {line}{padding}{end}")));
        if !closed && lines > 0 {
            text.truncate(text.len() - end.len());
        }
        text.into_bytes()
    });
    let bytes = prop_oneof![
        12 => text,
        1 => Just(b"\0\x01binary\n".to_vec()),
        1 => Just(b"first\nlatin \xe9\nlast\n".to_vec()),
        1 => Just(Vec::new()),
    ];
    let node = prop_oneof![
        12 => (bytes, prop::bool::weighted(0.3)).prop_map(|(bytes, exec)| Node::File { bytes, exec }),
        1 => Just(Node::Link("a".into())),
    ];
    vec(prop::option::weighted(0.7, node), NAMES.len()).prop_map(|nodes| {
        let named = NAMES.into_iter().zip(nodes);
        named.filter_map(|(name, node)| Some((name.to_owned(), node?))).collect()
    })
}

// Patches.

/// What a section does; which file and which lines is known when the tree is.
#[derive(Debug, Clone)]
enum Act {
    Add(Index, usize),
    Delete(Index),
    Update { file: Index, hunks: Vec<(Index, usize, usize)>, to: Option<Index> },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let hunk = (any::<Index>(), 0..3_usize, 0..3_usize);
    let update = (any::<Index>(), vec(hunk, 0..4), prop::option::weighted(0.4, any::<Index>()));
    let act = prop_oneof![
        2 => (any::<Index>(), 0..5_usize).prop_map(|(path, lines)| Act::Add(path, lines)),
        1 => any::<Index>().prop_map(Act::Delete),
        5 => update.prop_map(|(file, hunks, to)| Act::Update { file, hunks, to }),
    ];
    vec(act, 1..7)
}

/// Writes a patch that mostly fits; what it would leave is only guessed at, for the sections that
/// come after.
fn patch_of(acts: &[Act], tree: &Tree, replaces: bool) -> String {
    let mut now: BTreeMap<String, Vec<u8>> =
        tree.iter().map(|(name, node)| (name.clone(), node.bytes().to_vec())).collect();
    let mut named = BTreeSet::new();
    let mut out = "*** Begin Patch\n".to_owned();
    for (number, act) in acts.iter().enumerate() {
        let there: Vec<String> = now.keys().cloned().collect();
        let mut may_appear = |now: &BTreeMap<String, Vec<u8>>, at: &Index| {
            let name = *at.get(&NAMES);
            let free = !now.contains_key(name) || (replaces && !named.contains(name));
            named.insert(name.to_owned());
            free.then(|| name.to_owned())
        };
        match act {
            Act::Add(at, lines) => {
                let Some(name) = may_appear(&now, at) else { continue };
                let lines: String =
                    (0..*lines).map(|line| format!("+added {number} {line}\n")).collect();
                out += &format!("*** Add File: {name}\n{lines}");
                now.insert(name, lines.replace('+', "").into_bytes());
            }
            Act::Delete(at) if !there.is_empty() => {
                let name = at.get(&there);
                out += &format!("*** Delete File: {name}\n");
                named.insert(name.clone());
                now.remove(name);
            }
            Act::Update { file, hunks, to } if !there.is_empty() => {
                let name = file.get(&there).clone();
                let (body, left) = hunks_of(number, hunks, &now[&name]);
                let to = to.as_ref().and_then(|to| may_appear(&now, to)).filter(|to| *to != name);
                if body.is_empty() && to.is_none() {
                    continue;
                }
                out += &format!("*** Update File: {name}\n");
                named.insert(name.clone());
                now.remove(&name);
                match to {
                    Some(to) => {
                        out += &format!("*** Move to: {to}\n");
                        now.insert(to, left);
                    }
                    None => _ = now.insert(name, left),
                }
                out += &body;
            }
            Act::Delete(_) | Act::Update { .. } => {}
        }
    }
    out + "*** End Patch\n"
}

/// Hunks, each with a line of context on either side, and roughly what they leave.
fn hunks_of(number: usize, hunks: &[(Index, usize, usize)], file: &[u8]) -> (String, Vec<u8>) {
    let Ok(text) = std::str::from_utf8(file) else { return (String::new(), file.to_vec()) };
    if text.contains('\0') || text.trim_start_matches('\u{feff}').is_empty() {
        return (String::new(), file.to_vec());
    }
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = text[mark.len()..].lines().collect();
    let mut places: Vec<(usize, usize, usize)> = hunks
        .iter()
        .map(|(at, deletes, inserts)| (at.index(lines.len()), *deletes, *inserts))
        .collect();
    places.sort_unstable();
    let (mut body, mut left, mut from) = (String::new(), Vec::new(), 0);
    for (index, (at, deletes, inserts)) in places.into_iter().enumerate() {
        if at < from || deletes + inserts == 0 {
            continue;
        }
        left.extend(lines[from..=at].iter().map(|line| (*line).to_owned()));
        let deleted = &lines[at + 1..lines.len().min(at + 1 + deletes)];
        let inserted: Vec<String> =
            (0..inserts).map(|line| format!("new {number} {index} {line}")).collect();
        if deleted.is_empty() && inserted.is_empty() {
            from = at + 1;
            continue;
        }
        body += &format!("@@\n {}\n", lines[at]);
        body.extend(deleted.iter().map(|line| format!("-{line}\n")));
        body.extend(inserted.iter().map(|line| format!("+{line}\n")));
        left.extend(inserted);
        from = at + 1 + deleted.len();
        if let Some(after) = lines.get(from) {
            body += &format!(" {after}\n");
            left.push((*after).to_owned());
            from += 1;
        }
    }
    left.extend(lines.get(from..).unwrap_or_default().iter().map(|line| (*line).to_owned()));
    let mut text = format!("{mark}{}", left.join(end));
    if file.ends_with(b"\n") && !left.is_empty() {
        text += end;
    }
    (body, text.into_bytes())
}

// What is told.

/// One change as the plan tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    operation: &'static str,
    path: String,
    to_path: Option<String>,
    before: Option<String>,
    after: Option<String>,
    counts: (usize, usize),
    diff: Vec<u8>,
}

impl Told {
    fn all(images: Images<'_>) -> Vec<Self> {
        let told = |change: &Change| Self {
            operation: change.operation.as_str(),
            path: change.path.to_string(),
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before: change.before.map(|hash| hash.to_string()),
            after: change.after.map(|hash| hash.to_string()),
            counts: images.line_counts(change).unwrap(),
            diff: images.diff(change).unwrap(),
        };
        images.plan().changes().iter().map(told).collect()
    }

    fn last_path(&self) -> &str {
        self.to_path.as_deref().unwrap_or(&self.path)
    }

    /// The fields that the answers of tools and the log have in common.
    fn json(&self, diff: &str) -> Value {
        let mut all = json!({ "path": self.path, diff: capped(&self.diff) });
        for (key, value) in [
            ("toPath", &self.to_path),
            ("beforeSha256", &self.before),
            ("afterSha256", &self.after),
        ] {
            if let Some(value) = value {
                all[key] = json!(value);
            }
        }
        all
    }
}

/// One plan: when it was asked about, and when it was committed.
#[derive(Debug)]
struct Shown {
    digest: Sha256,
    before: Tree,
    planned: Vec<Told>,
    diff: Vec<u8>,
    data: Value,
    committed: Option<(String, Tree)>,
}

/// A host that writes down what it is shown, and compares it with what it is told of later.
struct Watch<'w> {
    dir: &'w Path,
    events: Events<'w>,
    lines: Rc<RefCell<Vec<Value>>>,
    shown: Vec<Shown>,
}

impl<'w> Watch<'w> {
    fn new(dir: &'w Path) -> Self {
        let lines = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&lines);
        let sink = move |line: &str| sink.borrow_mut().push(serde_json::from_str(line).unwrap());
        Self {
            dir,
            events: Events::new(EventForm::Jsonl, "s", dir, sink),
            lines,
            shown: Vec::new(),
        }
    }

    /// The plans that were committed since the last time, checked.
    fn take(&mut self, audit: &[Value]) -> Vec<Shown> {
        let shown: Vec<Shown> =
            self.shown.drain(..).filter(|shown| shown.committed.is_some()).collect();
        for one in &shown {
            one.check(audit);
        }
        shown
    }
}

impl Host for Watch<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let (plan, images) = (request.plan, request.plan.images());
        let data = serde_json::to_value(PatchData::planned(plan, true, DiffDetail::Full)?).unwrap()
            ["changedFiles"]
            .take();
        let mut without_diffs = data.clone();
        for file in without_diffs.as_array_mut().unwrap() {
            file.as_object_mut().unwrap().remove("diff");
        }
        assert_eq!(
            serde_json::to_value(plan).unwrap()["changedFiles"],
            without_diffs,
            "two shapes of one plan"
        );
        self.shown.push(Shown {
            digest: plan.digest(),
            before: read_tree(self.dir),
            planned: Told::all(images),
            diff: images.diffs()?,
            data,
            committed: None,
        });
        Ok(Decision::Approve)
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Planned(plan) = event {
            assert_eq!(
                plan.digest(),
                self.shown.last().unwrap().digest,
                "another plan than was approved"
            );
        }
        if let Event::Committed(report) = event {
            let shown = self.shown.last_mut().unwrap();
            assert_eq!(report.plan.digest(), shown.digest);
            assert_eq!(
                Told::all(report.images()),
                shown.planned,
                "told otherwise after the commit"
            );
            let data = PatchData::applied(std::slice::from_ref(report), true, DiffDetail::Full);
            let mut files = serde_json::to_value(data).unwrap()["changedFiles"].take();
            for file in files.as_array_mut().unwrap() {
                let kept = file.as_object_mut().unwrap().remove("trashedTo");
                let kept = kept.map(|kept| self.dir.join(kept.as_str().unwrap()));
                assert!(
                    kept.is_none_or(|kept| kept.symlink_metadata().is_ok()),
                    "not where it is said to be kept"
                );
            }
            assert_eq!(files, shown.data, "the answer is another than that of a dry run");
            shown.committed = Some((report.transaction.unwrap().to_string(), read_tree(self.dir)));
        }
        self.events.event(event);
    }
}

impl Shown {
    /// Compares what was shown with the trees.
    fn check(&self, audit: &[Value]) {
        let (id, after) = self.committed.as_ref().unwrap();
        let (before, told) = (&self.before, &self.planned);
        assert_eq!(self.diff, told.iter().flat_map(|told| told.diff.clone()).collect::<Vec<_>>());
        let data: Vec<Value> = self.data.as_array().unwrap().clone();
        let wanted = |told: &Told| {
            let mut all = told.json("diff");
            all["operation"] = json!(told.operation);
            all
        };
        assert_eq!(data, told.iter().map(wanted).collect::<Vec<_>>());

        // Every path that differs is named, and all that is named is so.
        let hash = |tree: &Tree, path: &str| tree.get(path).map(|node| sha(node.bytes()));
        let named: BTreeSet<&str> =
            told.iter().flat_map(|told| [&*told.path, told.last_path()]).collect();
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for path in all {
            assert!(
                before.get(path) == after.get(path) || named.contains(&**path),
                "{path} is not named: {self:#?}"
            );
        }
        let lines = |tree: &Tree, path: &str| match tree.get(path) {
            Some(node) => node.bytes().split_inclusive(|&byte| byte == b'\n').count(),
            None => 0,
        };
        let gone_elsewhere =
            |path: &str| told.iter().any(|told| told.to_path.is_some() && told.path == path);
        for one in told {
            assert_eq!(
                hash(before, &one.path).filter(|_| one.operation != "create"),
                one.before,
                "{self:#?}"
            );
            assert_eq!(
                hash(after, one.last_path()).filter(|_| one.operation != "delete"),
                one.after,
                "{self:#?}"
            );
            let is_binary = |bytes: &[u8]| bytes.contains(&0);
            let old = one.before.as_ref().and_then(|_| before.get(&one.path));
            let new = one.after.as_ref().and_then(|_| after.get(one.last_path()));
            if one.before != one.after
                && [old, new].into_iter().flatten().any(|node| is_binary(node.bytes()))
            {
                assert!(
                    String::from_utf8_lossy(&one.diff).contains("\nBinary files "),
                    "{self:#?}"
                );
                continue;
            }
            let old = if one.operation == "create" { 0 } else { lines(before, &one.path) };
            let new = if one.operation == "delete" { 0 } else { lines(after, one.last_path()) };
            // What a moved file replaces is lost.
            let lost = match &one.to_path {
                Some(to)
                    if !gone_elsewhere(to)
                        && !before.get(to).is_some_and(|node| is_binary(node.bytes())) =>
                {
                    lines(before, to)
                }
                _ => 0,
            };
            let (inserted, deleted) = one.counts;
            assert_eq!(old + lost + inserted, new + deleted, "{one:#?}");
        }

        let of_it = |phase: &'static str| {
            audit.iter().filter(move |line| line["phase"] == phase && line["transactionId"] == **id)
        };
        assert!(of_it("outcome").all(|line| line["ok"] == true));
        assert_eq!(of_it("outcome").count(), 1);
        let logged: Vec<Value> = of_it("intent")
            .map(|line| {
                let keys = ["path", "toPath", "beforeSha256", "afterSha256"];
                keys.into_iter()
                    .filter(|key| line.get(key).is_some())
                    .map(|key| (key, line[key].clone()))
                    .collect()
            })
            .collect();
        let without_diff = |told: &Told| {
            let mut value = told.json("diff");
            value.as_object_mut().map(|value| value.remove("diff"));
            value
        };
        assert_eq!(logged, told.iter().map(without_diff).collect::<Vec<_>>(), "the audit log");

        if told.iter().any(|told| String::from_utf8_lossy(&told.diff).contains("\nBinary files ")) {
            return;
        }
        assert_eq!(
            &git_apply(before, &self.diff),
            after,
            "{}",
            String::from_utf8_lossy(&self.diff)
        );
        let (inserted, deleted) =
            told.iter().fold((0, 0), |sum, told| (sum.0 + told.counts.0, sum.1 + told.counts.1));
        assert_eq!(
            numstat(&self.diff),
            (inserted, deleted),
            "{}",
            String::from_utf8_lossy(&self.diff)
        );
    }
}

fn git(dir: &Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut git = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(input).unwrap();
    let output = git.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {said}\n{}", String::from_utf8_lossy(input));
    output.stdout
}

/// The tree that git makes of another with a diff.
fn git_apply(before: &Tree, diff: &[u8]) -> Tree {
    if diff.is_empty() {
        return before.clone();
    }
    let dir = testutils::temp::temp();
    write_tree(dir.path(), before);
    git(dir.path(), &["apply", "--whitespace=nowarn", "-"], diff);
    read_tree(dir.path())
}

/// How many lines git sees inserted and deleted.
fn numstat(diff: &[u8]) -> (usize, usize) {
    if diff.is_empty() {
        return (0, 0);
    }
    let dir = testutils::temp::temp();
    let out = String::from_utf8(git(dir.path(), &["apply", "--numstat", "-"], diff)).unwrap();
    out.lines().fold((0, 0), |sum, line| {
        let mut numbers = line.split('\t').map(|number| number.parse::<usize>().unwrap_or(0));
        (sum.0 + numbers.next().unwrap(), sum.1 + numbers.next().unwrap())
    })
}

fn audit(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join(".apply-patch/audit/test.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// The properties.

/// The lines of a call's events against the plans that it committed.
fn check_events(watch: &mut Watch<'_>, shown: &[Shown], first: &Tree) {
    let change = |told: &Told| {
        let mut all = told.json("diff");
        all.as_object_mut().unwrap().remove("diff");
        all["operation"] = json!(told.operation);
        (all["inserted"], all["deleted"]) = (json!(told.counts.0), json!(told.counts.1));
        all
    };
    let wanted: Vec<Value> =
        shown.iter().flat_map(|shown| shown.planned.iter().map(change)).collect();
    let lines: Vec<Value> = watch.lines.borrow_mut().drain(..).collect();
    let end = lines.iter().find(|line| line["type"] == "end").unwrap();
    assert_eq!(end["changes"], json!(wanted), "the events' end");
    if end["ok"] == true && !wanted.is_empty() {
        let planned =
            lines.iter().rfind(|line| line["type"] == "begin" || line["type"] == "update").unwrap();
        assert_eq!(planned["changes"], json!(wanted), "the events' plan");
    }
    let turn = watch.events.turn_diff().diff();
    let now = read_tree(watch.dir);
    assert_eq!(&now == first, turn.is_empty(), "{}", String::from_utf8_lossy(&turn));
    let told = lines.iter().find(|line| line["type"] == "turn_diff");
    assert!(told.is_none_or(|told| told["unifiedDiff"] == *String::from_utf8_lossy(&turn)));
    if !String::from_utf8_lossy(&turn).contains("\nBinary files ") {
        assert_eq!(git_apply(first, &turn), now, "{}", String::from_utf8_lossy(&turn));
    }
}

#[test]
fn a_patch_and_its_undo_do_what_they_show() {
    let memory = select(&[1 << 10, 1 << 11, 1 << 12, patch_engine::MAX_MEMORY][..]);
    let atomicity = select(&[Atomicity::Whole, Atomicity::Fitting, Atomicity::EachSection][..]);
    let strategy = (trees(), acts(), any::<bool>(), atomicity, memory);
    let applied = RefCell::new((0, 0));
    let run = holds_with_git(&strategy, |(tree, acts, codex, atomicity, max_memory)| {
        let bench = Bench::new(&[]);
        let dir = bench.dir.path();
        write_tree(dir, &tree);
        let mut options = Options::new(if codex { Profile::Codex } else { Profile::Strict });
        options.max_memory = max_memory;
        options.create_parents = true;
        let text = patch_of(&acts, &tree, codex);
        let Ok(patch) = parse(&text, &options.parse) else { return };
        let mut watch = Watch::new(dir);
        watch.events.begin_call("c", "apply_patch", &text);
        let result = bench.tools().apply("apply_patch", &patch, options, atomicity, &mut watch);
        watch.events.end_call(&(), result.as_ref().err().map(ToString::to_string).as_deref());
        let shown = watch.take(&audit(dir));
        check_events(&mut watch, &shown, &tree);
        let after = read_tree(dir);
        if atomicity == Atomicity::Whole && result.is_err() {
            assert_eq!(after, tree, "a patch that failed changed something");
        }
        applied.borrow_mut().0 += usize::from(result.is_ok());
        applied.borrow_mut().1 += 1;
        // Back, and there again.
        let mut ids: Vec<String> =
            shown.iter().map(|shown| shown.committed.as_ref().unwrap().0.clone()).collect();
        for wanted in [&tree, &after] {
            let mut undone = Vec::new();
            for id in ids.iter().rev() {
                let args = json!({ "transactionId": id });
                watch.events.begin_call("u", "undo", &args);
                let reply = serde_json::to_value(bench.tools().call(
                    "undo",
                    &in_full("undo", args),
                    &mut watch,
                ))
                .unwrap();
                watch.events.end_call(&reply, None);
                assert_eq!(reply["ok"], true, "{reply}");
                let shown = watch.take(&audit(dir));
                check_events(&mut watch, &shown, &tree);
                check_reply(&reply, &shown);
                undone.push(reply["data"]["transactionId"].as_str().unwrap().to_owned());
            }
            assert_eq!(&read_tree(dir), wanted, "undo");
            ids = undone;
        }
    });
    let (applied, all) = applied.into_inner();
    assert!(!run || applied * 2 > all, "few patches fit: {applied} of {all}");
}

/// The same call with all of its diff in the answer.
fn in_full(tool: &str, mut args: Value) -> Value {
    if !["move_file", "restore_file"].contains(&tool) {
        args["diff"] = "full".into();
        args["maxResultBytes"] = 1_000_000.into();
    }
    args
}

/// The answer of a call that changed something, against the plan that was shown.
fn check_reply(reply: &Value, shown: &[Shown]) {
    let [shown] = shown else { panic!("{} plans were committed", shown.len()) };
    let data = &reply["data"];
    if let Some(diff) = data["diff"].as_str() {
        assert_eq!(diff, capped(&shown.diff));
    }
    if let Some(files) = data["changedFiles"].as_array() {
        let mut files = files.clone();
        files.iter_mut().for_each(|file| _ = file.as_object_mut().unwrap().remove("trashedTo"));
        assert_eq!(json!(files), shown.data);
    }
}

/// A call of a tool; what it is about is known when the files are.
type ToolCall = (u8, Index, Index, usize);

fn arguments(
    call: &ToolCall,
    tree: &Tree,
    trashed: &[String],
    ids: &[String],
) -> Option<(&'static str, Value)> {
    let (kind, one, other, lines) = call;
    let there: Vec<&String> = tree.keys().collect();
    let free = *other.get(&NAMES);
    let content: String = (0..*lines).map(|line| format!("line {line}, or another\n")).collect();
    if there.is_empty() && *kind > 1 {
        return None;
    }
    let path = || one.get(&there).as_str();
    let hash = |path: &str| sha(tree[path].bytes());
    Some(match kind {
        0 | 1 => (
            "create_file",
            json!({ "path": free, "content": content, "createParentDirectories": true }),
        ),
        2 => (
            "write_file",
            json!({ "path": path(), "content": content, "expectedSha256": hash(path()) }),
        ),
        3 => {
            let text = std::str::from_utf8(tree[path()].bytes()).ok()?;
            let texts: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
            let old = texts.get(other.index(texts.len().max(1)))?;
            let edit = json!({ "oldText": old, "newText": content, "replaceAll": true });
            (
                "edit_file",
                json!({ "path": path(), "expectedSha256": hash(path()), "edits": [edit] }),
            )
        }
        4 => ("delete_file", json!({ "path": path(), "expectedSha256": hash(path()) })),
        5 => ("delete_file", json!({ "path": path().split_once('/')?.0, "recursive": true })),
        6 | 7 => (
            "move_file",
            json!({
                "fromPath": path(), "toPath": free, "expectedSha256": hash(path()),
                "overwrite": *kind == 6,
            }),
        ),
        8 if !trashed.is_empty() => ("restore_file", json!({ "trashedPath": other.get(trashed) })),
        _ if !ids.is_empty() => ("undo", json!({ "transactionId": other.get(ids) })),
        _ => return None,
    })
}

#[test]
fn every_tool_does_what_it_shows() {
    let strategy = (trees(), vec((0..10_u8, any::<Index>(), any::<Index>(), 0..6_usize), 1..10));
    let done = RefCell::new(BTreeMap::<&str, usize>::new());
    let run = holds_with_git(&strategy, |(tree, calls)| {
        let bench = Bench::new(&[]);
        let dir = bench.dir.path();
        write_tree(dir, &tree);
        let (mut trashed, mut ids) = (Vec::new(), Vec::new());
        let mut watch = Watch::new(dir);
        for call in &calls {
            let now = read_tree(dir);
            let Some((tool, args)) = arguments(call, &now, &trashed, &ids) else { continue };
            watch.events.begin_call("c", tool, &args);
            let reply = serde_json::to_value(bench.tools().call(
                tool,
                &in_full(tool, args.clone()),
                &mut watch,
            ))
            .unwrap();
            watch.events.end_call(&reply, reply["error"]["message"].as_str());
            let shown = watch.take(&audit(dir));
            check_events(&mut watch, &shown, &tree);
            if shown.is_empty() {
                assert_eq!(
                    read_tree(dir),
                    now,
                    "{tool} {args}: changed what it did not show: {reply}"
                );
                continue;
            }
            assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
            check_reply(&reply, &shown);
            *done.borrow_mut().entry(tool).or_default() += 1;
            let data = &reply["data"];
            trashed.extend(
                ["trashedTo", "overwroteTrashedTo"]
                    .iter()
                    .filter_map(|key| data[key].as_str().map(str::to_owned)),
            );
            ids.extend(data["transactionId"].as_str().map(str::to_owned));
        }
    });
    let tools = [
        "create_file",
        "write_file",
        "edit_file",
        "delete_file",
        "move_file",
        "restore_file",
        "undo",
    ];
    let done = done.into_inner();
    assert!(
        !run || tools.iter().all(|tool| done.contains_key(tool)),
        "some tool never did anything: {done:?}"
    );
}
