//! A user's configuration, variables, and a file in the workspace: the file makes nothing looser,
//! and no error quotes a value.
#![no_main]
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the program has more in these files"
)]

#[path = "../../crates/cli/src/args/mod.rs"]
mod args;
#[path = "../../crates/cli/src/failure.rs"]
mod failure;
#[path = "../../crates/cli/src/input.rs"]
mod input;
#[path = "../../crates/cli/src/outside.rs"]
mod outside;
#[path = "../../crates/cli/src/platform.rs"]
mod platform;
#[path = "../../crates/cli/src/settings.rs"]
mod settings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use apply_patch_fuzz::{PATHS, SECRET};
use failure::Failure;
use fs_guard::{Access, Root};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::Profile;
use patch_engine::commit::approval::ApprovalPolicy;
use patch_session::settings::{Choice, Layer, Settings, WORKSPACE_FILE};
use settings::Sources;

#[derive(Debug, Arbitrary)]
enum Value<'a> {
    Bool(bool),
    Number(i32),
    Word(u8),
    List(Vec<u8>),
    Text(&'a str),
    Raw(&'a str),
}

#[derive(Debug, Arbitrary)]
struct Line<'a> {
    key: u8,
    value: Value<'a>,
}

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    user: Vec<Line<'a>>,
    variables: Vec<Line<'a>>,
    bounds: Vec<Line<'a>>,
    /// The file is at the top of the project, and the workspace is a directory below.
    above: bool,
    strict: bool,
}

const WORDS: &[&str] = &[
    "strict",
    "codex",
    "full",
    "process",
    "none",
    "always",
    "never",
    "guarded",
    "unicode",
    "blanks",
    "reject",
    "first",
    "native",
    "portable",
    "refuse",
    "break",
    "auto",
    "project",
    "root",
    "user",
    "30d",
    "10MB",
    "*.txt",
    "**",
    "!a.txt",
    "d/",
    "/d/**",
    "[",
    "{a,b}",
    "*.c=latin1",
    SECRET,
];

fn word(at: u8) -> &'static str {
    WORDS[usize::from(at) % WORDS.len()]
}

fn key(at: u8) -> String {
    let names: Vec<_> = settings::variables().collect();
    match names.get(usize::from(at) % (names.len() + 1)) {
        Some(name) => name.trim_start_matches("APPLY_PATCH_").to_lowercase().replace('_', "-"),
        None => SECRET.to_owned(),
    }
}

/// A string of TOML; the escapes of JSON are some of its own.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

fn file(lines: &[Line<'_>]) -> String {
    let line = |line: &Line<'_>| {
        let value = match &line.value {
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Word(at) => quoted(word(*at)),
            Value::List(all) => format!(
                "[{}]",
                all.iter().map(|at| quoted(word(*at))).collect::<Vec<_>>().join(", ")
            ),
            Value::Text(text) => quoted(text),
            Value::Raw(text) => (*text).to_owned(),
        };
        format!("{} = {value}\n", key(line.key))
    };
    lines.iter().map(line).collect()
}

fn variables(lines: &[Line<'_>]) -> BTreeMap<String, OsString> {
    let value = |value: &Value<'_>| match value {
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Word(at) => word(*at).to_owned(),
        Value::List(all) => all.iter().map(|at| word(*at)).collect::<Vec<_>>().join(":"),
        Value::Text(text) | Value::Raw(text) => (*text).to_owned(),
    };
    let name = |at: u8| format!("APPLY_PATCH_{}", key(at).replace('-', "_").to_uppercase());
    lines.iter().map(|line| (name(line.key), value(&line.value).into())).collect()
}

fn check(failure: &Failure) {
    let Failure::Usage(message) = failure else { panic!("{failure:?}") };
    // The name of an unknown key is quoted where it is near a key, and the canary is not.
    assert!(!message.contains(SECRET), "{message}");
}

/// That `held` allows nothing that `free` does not.
fn is_no_looser(held: &Settings, free: &Settings) {
    assert!(held.profile.rank() <= free.profile.rank());
    assert!(held.durability.rank() <= free.durability.rank());
    assert!(held.approve.rank() <= free.approve.rank());
    assert!(held.fuzz.rank() <= free.fuzz.rank());
    assert!(held.ambiguous.rank() <= free.ambiguous.rank());
    assert!(held.names.rank() <= free.names.rank());
    assert!(held.hard_links.rank() <= free.hard_links.rank());
    assert!(held.create_parents <= free.create_parents);
    assert!(held.overwrite <= free.overwrite);
    assert!(held.allow_delete <= free.allow_delete);
    assert!(held.allow_move <= free.allow_move);
    assert!(held.accept_open_state <= free.accept_open_state);
    assert!(held.max_file_size.0 <= free.max_file_size.0);
    assert!(held.max_operations.0 <= free.max_operations.0);
    assert!(held.max_snapshots.0 <= free.max_snapshots.0);
    // These can be no bounds.
    assert_eq!(held.color, free.color);
    assert_eq!(held.lock_timeout, free.lock_timeout);
    assert_eq!(&held.pager, &free.pager);
    assert_eq!(held.state, free.state);
    assert!(held.trash_keep == free.trash_keep);
    assert!(held.encoding == free.encoding);
    assert!(held.allow == free.allow);
    assert!(held.allow_forbidden == free.allow_forbidden);
}

fuzz_target!(|input: Input<'_>| {
    let place = if Path::new("/dev/shm").is_dir() {
        tempfile::tempdir_in("/dev/shm")
    } else {
        tempfile::tempdir()
    };
    let place = place.expect("a directory");
    fs::create_dir(place.path().join(".git")).expect("a directory");
    let root = if input.above { place.path().join("d") } else { place.path().to_owned() };
    fs::create_dir_all(&root).expect("a directory");
    let (user, variables) = (file(&input.user), variables(&input.variables));
    let load = || {
        let find = Some(|name: &str| variables.get(name).cloned());
        Sources::of(&root, Some((Path::new("config.toml"), Ok(user.as_bytes().to_vec()))), find)
    };
    let profile = if input.strict { Profile::Strict } else { Profile::Codex };
    let resolve = |sources: &Sources| {
        sources.layers(Layer::default()).resolve(profile, ApprovalPolicy::Never)
    };

    let free = match load() {
        Ok(free) => resolve(&free).0,
        Err(failure) => return check(&failure),
    };
    fs::write(place.path().join(WORKSPACE_FILE), file(&input.bounds)).expect("a file");
    let bound = match load() {
        Ok(bound) => bound,
        Err(failure) => return check(&failure),
    };
    let (held, notes) = resolve(&bound);
    is_no_looser(&held, &free);
    for note in notes {
        assert!(
            settings::variables()
                .any(|name| name.ends_with(&note.key.replace('-', "_").to_uppercase())),
            "{note}"
        );
    }
    let (Ok(free), Ok(held)) = (free.policy(), held.policy()) else {
        panic!("patterns were checked when they were read")
    };
    let open = |policy| Root::open(&root, policy).expect("a directory");
    let (free, held) = (open(free), open(held));
    for path in PATHS {
        for access in [Access::Read, Access::Create, Access::Update, Access::Delete] {
            assert!(
                held.check(path, access).is_err() || free.check(path, access).is_ok(),
                "{path} {access:?}"
            );
        }
    }
});
