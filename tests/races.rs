//! A thread swaps a directory for a link to the outside, in one step, while files in it are
//! patched.
//!
//! The outside has files of the same names with the same bytes, so that every step which is led
//! astray would succeed there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use file_tools::Tools as _;
use patch_engine::commit::{Durability, KeyPlace, Workspace};
use patch_session::audit::{Audit, Operation};
use patch_session::{Session, SessionName, SessionSettings};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::hostile::CANARY;
use testutils::share::share;
use testutils::stop::Stop;
use testutils::temp::temp;
use testutils::tree;

/// How often a directory is swapped at least, and how often everything is tried meanwhile. A tenth
/// will do, but then until each call went through once.
const SWAPS: u32 = 10_000;
const ROUNDS: u32 = 300;

struct Race {
    around: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Race {
    fn new() -> Self {
        let race = Self { around: temp(), home: temp() };
        for dir in ["ws/d", "outside/d", "outside/state"] {
            fs::create_dir_all(race.around.path().join(dir)).expect("a new directory");
        }
        for dir in ["ws/d", "ws", "outside/d", "outside/state"] {
            for name in ["f", "g0"] {
                fs::write(race.around.path().join(dir).join(name), "one\n").expect("a new file");
            }
        }
        fs::write(race.around.path().join("outside/d/secret"), CANARY).expect("a new file");
        tree::set_mode(&race.around.path().join("outside/state"), 0o700);
        race
    }

    fn tools(&self) -> Session {
        let workspace = Workspace::open(&self.around.path().join("ws"), patch_engine::policy())
            .expect("a directory");
        let workspace =
            workspace.with_key_place(KeyPlace::Directory(self.home.path().join("apply-patch")));
        let settings = SessionSettings {
            durability: Durability::None,
            lock_timeout: Duration::from_secs(5),
            ..SessionSettings::default()
        };
        Session::new(workspace, Audit::new(SessionName::cli(), None), settings)
    }

    /// Calls a tool; gives the kind of its refusal, or `done`.
    fn call(&self, name: &str, args: &Value) -> (String, Value) {
        let reply = self.tools().call(name, args, &mut ()).to_json();
        assert!(!reply.contains(CANARY), "{name} {args}: {reply}");
        let reply: Value = serde_json::from_str(&reply).expect("JSON");
        let kind = reply["error"]["kind"].as_str().unwrap_or("done").to_owned();
        (kind, reply)
    }

    fn undo(&self) -> String {
        let tools = self.tools();
        let plan = &mut |_: &_| tools.workspace().plan_undo_last();
        match tools.execute("undo", Operation::Write, &mut (), plan) {
            Ok(_) => "done".into(),
            Err(error) => error.kind().to_string(),
        }
    }

    /// Runs everything that changes files beneath `dir`, again and again, while `victim` is
    /// swapped.
    fn run(
        &self,
        victim: &Path,
        link: &Path,
        dir: &str,
    ) -> BTreeMap<(&'static str, String), usize> {
        let before = tree::look(&self.around.path().join("outside"), true);
        let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
        let mut outcomes = BTreeMap::new();
        std::thread::scope(|scope| {
            let stopping = Stop(&stop);
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let swapped = renameat_with(CWD, victim, CWD, link, RenameFlags::EXCHANGE);
                    swaps.fetch_add(usize::from(swapped.is_ok()), Ordering::Relaxed);
                    // Odd pauses: every step is met in either state.
                    for _ in 0..swaps.load(Ordering::Relaxed) % 997 * 20 {
                        std::hint::spin_loop();
                    }
                }
            });
            let mut round = 0;
            while swaps.load(Ordering::Relaxed) < share(SWAPS) as usize
                || round < share(ROUNDS) as usize
                || round < 10 * ROUNDS as usize && !never_done(&outcomes).is_empty()
            {
                round += 1;
                for (what, kind) in self.round(dir, round) {
                    *outcomes.entry((what, kind)).or_default() += 1;
                }
                assert!(
                    before == tree::look(&self.around.path().join("outside"), true),
                    "outside changed in round {round}"
                );
            }
            drop(stopping);
        });
        // The swapped one is what it was, whatever the last swap left.
        if victim.is_symlink() {
            renameat_with(CWD, victim, CWD, link, RenameFlags::EXCHANGE).expect("both are there");
        }
        eprintln!("{} swaps: {outcomes:?}", swaps.into_inner());
        outcomes
    }

    fn round(&self, dir: &str, round: usize) -> Vec<(&'static str, String)> {
        let path = |name: &str| format!("{dir}{name}");
        let patch = |body: &str| {
            json!({ "patch": format!("*** Begin Patch\n\
                                                           {body}*** End \
                                                           Patch\n"), "profile": "codex" })
        };
        let (f, new) = (path("f"), path(&format!("new{round}")));
        let one = fs_guard::Sha256::of(b"one\n").to_string();
        let two = fs_guard::Sha256::of(b"two\n").to_string();
        let (from, to) = (path("g0"), path("g1"));
        let edits = json!([{ "oldText": "two", "newText": "one" }]);
        let mut all = vec![(
            "update",
            self.call("apply_patch", &patch(&format!("*** Update File: {f}\n-one\n+two\n"))).0,
        )];
        if all[0].1 == "done" {
            all.push(("undo", self.undo()));
        }
        all.extend([
            (
                "write",
                self.call(
                    "write_file",
                    &json!({ "path": f, "content": "two\n", "expectedSha256": one }),
                )
                .0,
            ),
            (
                "edit",
                self.call(
                    "edit_file",
                    &json!({ "path": f, "expectedSha256": two, "edits": edits }),
                )
                .0,
            ),
            ("read", self.call("read_file", &json!({ "path": path("secret") })).0),
            ("search", self.call("search_files", &json!({ "query": "CANARY", "mode": "text" })).0),
            (
                "move",
                self.call(
                    "apply_patch",
                    &patch(&format!("*** Update File: {from}\n*** Move to: {to}\n")),
                )
                .0,
            ),
            (
                "take",
                self.call(
                    "move_file",
                    &json!({ "fromPath": to, "toPath": from, "expectedSha256": one }),
                )
                .0,
            ),
            ("add", self.call("apply_patch", &patch(&format!("*** Add File: {new}\n+x\n"))).0),
        ]);
        let (kind, reply) = self.call("delete_file", &json!({ "path": new }));
        all.push(("delete", kind));
        if let Some(trashed) = reply["data"]["trashedTo"].as_str() {
            all.push(("restore", self.call("restore_file", &json!({ "trashedPath": trashed })).0));
        }
        all
    }
}

/// What a refusal may say when its path was swapped: where it leads, that it changed, that it is
/// gone; or that what the call before should have done was not done, as that was refused.
fn check(outcomes: &BTreeMap<(&'static str, String), usize>, kinds: &[&str]) {
    for (what, kind) in outcomes.keys() {
        assert!(
            kind == "done" || kinds.contains(&kind.as_str()),
            "{what} ended as {kind}: {outcomes:?}"
        );
    }
    assert_eq!(never_done(outcomes), Vec::<&str>::new(), "{outcomes:?}");
}

/// The calls that did not go through once.
fn never_done(outcomes: &BTreeMap<(&'static str, String), usize>) -> Vec<&'static str> {
    let mut calls =
        vec!["update", "undo", "write", "edit", "move", "take", "add", "delete", "restore"];
    calls.retain(|what| !outcomes.contains_key(&(*what, "done".into())));
    calls
}

#[test]
fn a_directory_that_is_swapped_for_a_link_lets_nothing_out() {
    let race = Race::new();
    let (victim, link) = (race.around.path().join("ws/d"), race.around.path().join("ws/link"));
    symlink("../outside/d", &link).expect("a new link");
    let outcomes = race.run(&victim, &link, "d/");
    check(
        &outcomes,
        &[
            "outside_workspace",
            "permission_denied",
            "stale_file",
            "not_found",
            "already_exists",
            "patch_apply_error",
        ],
    );
    let locked = race.tools();
    let locked =
        locked.workspace().lock(Duration::from_secs(5)).expect("what was cut off is recovered");
    assert!(locked.locked_store().unfinished().expect("readable").is_empty());
}

#[test]
fn a_state_directory_that_is_swapped_for_a_link_lets_nothing_out() {
    let race = Race::new();
    assert_eq!(race.call("create_file", &json!({ "path": "first", "content": "x" })).0, "done");
    let (victim, link) =
        (race.around.path().join("ws/.apply-patch"), race.around.path().join("ws/link"));
    symlink("../outside/state", &link).expect("a new link");
    let outcomes = race.run(&victim, &link, "");
    // An audit log that cannot be trusted is `command_failed`.
    check(
        &outcomes,
        &[
            "permission_denied",
            "command_failed",
            "stale_file",
            "not_found",
            "already_exists",
            "patch_apply_error",
        ],
    );
}
