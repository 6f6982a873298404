//! One lock, journal and undo for all of a project, from each of its directories.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use patch_engine::commit::{CommitOptions, Error, StatePlace, Workspace, directories_above};
use patch_engine::{ApplyOptions, ErrorKind, Event, Host, Report, parse};

use super::support::*;

const STATE: &str = ".apply-patch";

/// Opens a directory of the tree, wherever its state is.
/// A person's, who sees all of the project.
fn at(tree: &Tree, dir: &str) -> Workspace {
    open(&tree.path(dir), tree.key_place()).for_a_person()
}

fn make_state(tree: &Tree, dir: &str, mode: u32) {
    let state = tree.path(dir).join(STATE);
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
}

fn apply(workspace: &Workspace, body: &str) -> patch_engine::Report {
    let settings = ApplyOptions::new(lenient());
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let patch = parse(&text, &settings.options.parse).unwrap();
    workspace.apply(&patch, &settings, &mut ()).unwrap().remove(0)
}

#[test]
fn the_state_is_in_the_nearest_directory_that_has_one_or_in_the_top_of_the_work_tree() {
    /// Where there is a state, and with which mode.
    type States = &'static [(&'static str, u32)];
    /// The git directories, the states, the directory that is opened, and the one that has the
    /// state.
    const CASES: &[(&[&str], States, &str, &str)] = &[
        (&[], &[], "a/b", "a/b"),
        (&["."], &[], "a/b", "."),
        (&["."], &[], ".", "."),
        (&["."], &[("a", 0o700)], "a/b", "a"),
        (&["."], &[("a/b", 0o700), ("a", 0o700)], "a/b", "a/b"),
        // The search ends at the top of the work tree: a state above it is another project's.
        (&["a"], &[(".", 0o700)], "a/b", "a"),
        (&["a/b"], &[(".", 0o700), ("a", 0o700)], "a/b", "a/b"),
        (&[], &[(".", 0o700)], "a/b", "."),
        (&["a", "."], &[], "a/b", "a"),
        (&["a/b", "."], &[], "a/b", "a/b"),
        // One that is open to others is not trusted, and passed over.
        (&["."], &[("a", 0o755)], "a/b", "."),
        (&["."], &[("a/b", 0o755), ("a", 0o700)], "a/b", "a"),
        (&[], &[("a", 0o755)], "a/b", "a/b"),
    ];
    for (git, states, opened, wanted) in CASES {
        let tree = Tree::new(&[("a/b/c", "1\n")]);
        git.iter().for_each(|dir| fs::create_dir_all(tree.path(dir).join(".git")).unwrap());
        states.iter().for_each(|(dir, mode)| make_state(&tree, dir, *mode));
        let workspace = at(&tree, opened);
        let real = |path: &Path| fs::canonicalize(path).unwrap();
        let above = directories_above(workspace.root())
            .into_iter()
            .map(|(_, prefix)| prefix.as_str().to_owned());
        let ruling: &[&str] = match *git {
            ["a/b", ..] | [".", ..] if *opened == "." || git[0] == "a/b" => &[],
            ["a", ..] => &["b"],
            ["."] => &["b", "a/b"],
            _ if *wanted == "." => &["b", "a/b"],
            _ => &[],
        };
        assert_eq!(
            above.collect::<Vec<_>>(),
            ruling,
            "the directories above whose rules hold: {git:?} {states:?}"
        );
        assert_eq!(
            real(workspace.home().path()),
            real(&tree.path(wanted)),
            "{git:?} {states:?} {opened}"
        );
        let prefix =
            Path::new(opened).strip_prefix(wanted).unwrap_or(Path::new(opened)).to_str().unwrap();
        assert_eq!(workspace.prefix().as_str(), if *opened == "." { "" } else { prefix });
        assert_eq!(workspace.has_own_state(), opened == wanted, "{git:?} {states:?} {opened}");
        apply(&workspace, "*** Add File: new\n+new\n");
        assert!(
            tree.path(wanted).join(STATE).join("trash").is_dir(),
            "{git:?} {states:?} {opened}"
        );
        let here =
            Workspace::open_with(&tree.path(opened), patch_engine::policy(), StatePlace::Root)
                .unwrap();
        assert!(here.prefix().is_empty());
    }
}

#[test]
fn a_file_that_names_a_repository_is_a_top_and_a_link_to_a_directory_is_where_it_leads() {
    let tree = Tree::new(&[("work/.git", "gitdir: elsewhere\n"), ("work/a/b", "1\n")]);
    std::os::unix::fs::symlink(tree.path("work/a"), tree.path("link")).unwrap();
    let workspace = at(&tree, "link");
    assert_eq!(workspace.prefix().as_str(), "a");
    apply(&workspace, "*** Update File: b\n@@\n-1\n+2\n");
    assert_eq!(at(&tree, "work").log().unwrap()[0].journal.records[0].path, "a/b");
    // Inside of a git directory nothing is recorded for the project around it.
    fs::create_dir_all(tree.path("r/.git/hooks")).unwrap();
    assert_eq!(at(&tree, "r/.git/hooks").prefix().as_str(), "");
}

#[test]
fn work_trees_of_mercurial_and_jujutsu_have_tops_too() {
    for name in [".hg", ".jj", ".git"] {
        let tree = Tree::new(&[("top/a/b/c", "1\n")]);
        fs::create_dir(tree.path("top").join(name)).unwrap();
        make_state(&tree, ".", 0o700);
        assert_eq!(at(&tree, "top/a/b").prefix().as_str(), "a/b", "{name}");
        assert_eq!(at(&tree, "top").prefix().as_str(), "", "{name}");
    }
}

#[test]
fn where_others_may_create_files_no_state_is_found_or_made_from_below() {
    let mode = |tree: &Tree, mode| {
        fs::set_permissions(tree.path("tmp"), fs::Permissions::from_mode(mode)).unwrap()
    };
    for git in [true, false] {
        let tree = Tree::new(&[("tmp/a/b", "1\n")]);
        if git {
            fs::create_dir(tree.path("tmp/.git")).unwrap();
        }
        make_state(&tree, "tmp", 0o700);
        make_state(&tree, ".", 0o700);
        assert_eq!(at(&tree, "tmp/a").prefix().as_str(), "a", "{git}");
        mode(&tree, 0o1777);
        assert_eq!(at(&tree, "tmp/a").prefix().as_str(), "", "{git}");
        assert!(directories_above(at(&tree, "tmp/a").root()).is_empty(), "{git}");
        // By its own name it is a directory like any other.
        assert_eq!(at(&tree, "tmp").prefix().as_str(), "", "{git}");
        assert!(at(&tree, "tmp").has_own_state(), "{git}");
        // A sticky bit alone says nothing about others.
        mode(&tree, 0o1755);
        assert_eq!(at(&tree, "tmp/a").prefix().as_str(), "a", "{git}");
    }
}

#[test]
fn a_top_of_another_owner_is_left_alone() {
    let tree = Tree::new(&[("top/a/b", "1\n")]);
    fs::create_dir(tree.path("top/.git")).unwrap();
    if std::os::unix::fs::chown(tree.path("top"), Some(12345), None).is_err() {
        testutils::skip!("only root can give a directory away");
        return;
    }
    assert_eq!(at(&tree, "top/a").prefix().as_str(), "");
}

#[test]
fn paths_are_relative_to_the_directory_and_what_lies_outside_is_undone_in_the_project() {
    let tree = Tree::new(&[("a/x", "1\n"), ("b/y", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    let before = tree.snapshot();
    let (top, a, b) = (at(&tree, "."), at(&tree, "a"), at(&tree, "b"));
    let one = apply(&a, "*** Update File: x\n@@\n-1\n+2\n*** Add File: n/new\n+new\n")
        .transaction
        .unwrap();
    let paths = |workspace: &Workspace, id| {
        let journal = workspace.show(id).unwrap().journal;
        let records = journal.records.iter().map(|record| record.path.clone());
        let mut paths: Vec<_> =
            records.chain(journal.created_dirs.iter().map(|(dir, _)| format!("{dir}/"))).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&top, one), ["a/n/", "a/n/new", "a/x"]);
    assert_eq!(paths(&a, one), ["n/", "n/new", "x"]);
    assert_eq!(paths(&b, one), ["../a/n/", "../a/n/new", "../a/x"]);
    assert_eq!(a.trash().unwrap()[0].path, "x");
    assert!(tree.path("a").join(a.trash().unwrap()[0].stored_path()).is_file());
    let diff = |workspace: &Workspace| {
        let entry = workspace.show(one).unwrap();
        String::from_utf8(workspace.transaction_diff(&entry).unwrap()).unwrap()
    };
    assert!(diff(&a).contains("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"), "{}", diff(&a));
    assert!(diff(&b).contains("+++ b/../a/x\n@@ -1 +1 @@\n-1\n+2\n"), "{}", diff(&b));

    match b.plan_undo(one, &[]) {
        Err(error @ Error::Elsewhere { .. }) => {
            assert_eq!(error.kind(), ErrorKind::OutsideWorkspace);
            assert!(error.to_string().contains("../a/x"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let project = b.project();
    assert_eq!(project.seen("a/x"), "../a/x");
    project.undo(one, &[], &CommitOptions::default(), &mut ()).unwrap();
    assert_eq!(tree.snapshot(), before);
    // And again, from where it was done.
    let redo = &mut |_: &_| a.plan_redo(Some(one));
    a.execute(&CommitOptions::default(), &mut (), &mut (), redo).unwrap();
    assert_eq!(tree.read("a/x"), "2\n");
    a.undo(top.log().unwrap()[0].journal.header.id, &[], &CommitOptions::default(), &mut ())
        .unwrap();
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn the_same_text_in_another_directory_is_another_patch() {
    let tree = Tree::new(&[("a/x", "1\n"), ("b/x", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    const BODY: &str = "*** Update File: x\n@@\n-1\n+2\n";
    assert!(!apply(&at(&tree, "a"), BODY).already_done);
    assert!(apply(&at(&tree, "a"), BODY).already_done);
    assert!(!apply(&at(&tree, "b"), BODY).already_done);
    assert_eq!(tree.read("b/x"), "2\n");
    assert!(apply(&at(&tree, "b"), BODY).already_done);
}

/// The second one looked before the first was done, and was refused.
#[test]
fn the_same_text_twice_at_once_is_applied_once() {
    struct SendsAgain<'s, 'e> {
        scope: &'s std::thread::Scope<'s, 'e>,
        tree: &'e Tree,
        second: Option<std::thread::ScopedJoinHandle<'s, Report>>,
    }
    impl Host for SendsAgain<'_, '_> {
        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::Published(_)) {
                let tree = self.tree;
                self.second = Some(self.scope.spawn(|| apply(&at(tree, "."), BODY)));
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        }
    }
    const BODY: &str = "*** Update File: x\n@@\n-1\n+2\n";
    let tree = &Tree::new(&[("x", "1\n")]);
    apply(&at(tree, "."), "*** Add File: y\n+1\n");
    std::thread::scope(|scope| {
        let mut host = SendsAgain { scope, tree, second: None };
        let settings = ApplyOptions::new(lenient());
        let text = format!("*** Begin Patch\n{BODY}*** End Patch\n");
        let patch = parse(&text, &settings.options.parse).unwrap();
        at(tree, ".").apply(&patch, &settings, &mut host).unwrap();
        assert!(host.second.unwrap().join().unwrap().already_done);
    });
    assert_eq!(tree.read("x"), "2\n");
}

#[test]
fn one_directory_waits_for_another() {
    let tree = Tree::new(&[("a/x", "1\n"), ("b/x", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    let (a, b) = (at(&tree, "a"), at(&tree, "b"));
    let locked = a.lock(std::time::Duration::ZERO).unwrap();
    assert_eq!(b.lock(std::time::Duration::ZERO).unwrap_err().kind(), ErrorKind::Timeout);
    drop(locked);
    // Nothing was committed, so nothing stays.
    assert!(!tree.path(STATE).exists());
}

/// Stops, as a process that is killed does: before the commit point, or once the first file has its
/// name.
struct Killed {
    /// How often it is staged until then: the second attempt stages beside the files.
    staged: Option<usize>,
}

impl patch_engine::Host for Killed {
    fn event(&mut self, event: &patch_engine::Event<'_>) {
        if let (patch_engine::Event::Staged(_), Some(left)) = (event, &mut self.staged) {
            *left -= 1;
            assert!(*left > 0, "killed");
        }
        assert!(!matches!(event, patch_engine::Event::Published(_)), "killed");
    }
}

#[test]
fn what_was_cut_off_in_one_directory_is_recovered_from_any_other() {
    for (cut, from) in [("a/d", "."), ("a/d", "b"), ("a/d", "a"), (".", "a/d")] {
        for (staged, beside) in [(false, false), (true, false), (false, true), (true, true)] {
            let tree = Tree::new(&[("a/d/x", "1\n"), ("b/y", "1\n")]);
            fs::create_dir(tree.path(".git")).unwrap();
            let before = tree.snapshot();
            let x = if cut == "." { "a/d/x" } else { "x" };
            let text = format!(
                "*** Begin Patch\n*** Add File: m/new\n+new\n*** Update File: {x}\n@@\n-1\n+2\n\
                 *** End Patch\n"
            );
            let settings = ApplyOptions::new(lenient());
            let patch = parse(&text, &settings.options.parse).unwrap();
            let workspace = at(&tree, cut);
            fs_guard::fault::cross_device(beside);
            let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _ = workspace.apply(
                    &patch,
                    &settings,
                    &mut Killed { staged: staged.then_some(1 + usize::from(beside)) },
                );
            }));
            fs_guard::fault::cross_device(false);
            killed.unwrap_err();
            drop(workspace);
            assert_eq!(
                tree.snapshot() == before,
                staged && !beside,
                "files beside are not the user's yet"
            );
            let found = at(&tree, from).recover_if_idle().unwrap();
            let outcome = &found[0].outcome;
            if staged {
                assert_eq!(
                    *outcome,
                    patch_engine::commit::Outcome::Discarded,
                    "{cut} {from} {beside}"
                );
                assert_eq!(tree.snapshot(), before, "{cut} {from} {beside}");
            } else {
                assert_eq!(
                    *outcome,
                    patch_engine::commit::Outcome::Completed,
                    "{cut} {from} {beside}"
                );
                assert_eq!(tree.read("a/d/x"), "2\n", "{cut} {from}");
                assert_eq!(tree.read(&format!("{cut}/m/new")), "new\n");
                assert!(
                    !tree.snapshot().keys().any(|path| path.ends_with(".tmp")),
                    "{:?}",
                    tree.snapshot()
                );
            }
        }
    }
}

/// Somebody who may touch one directory only still finishes what was cut off elsewhere in the
/// project.
#[test]
fn what_may_be_touched_limits_no_recovery() {
    let tree = Tree::new(&[("a/x", "1\n"), ("b/y", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    let settings = ApplyOptions::new(lenient());
    let text =
        "*** Begin Patch\n*** Add File: new\n+new\n*** Update File: x\n@@\n-1\n+2\n*** End Patch\n";
    let patch = parse(text, &settings.options.parse).unwrap();
    let workspace = at(&tree, "a");
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = workspace.apply(&patch, &settings, &mut Killed { staged: None });
    }));
    killed.unwrap_err();
    drop(workspace);
    let within = tree.open().root().check("b", fs_guard::Access::Read).unwrap();
    let policy = fs_guard::Policy { within: vec![within], ..patch_engine::policy() };
    let workspace =
        Workspace::open(tree.dir.path(), policy.clone()).unwrap().with_key_place(tree.key_place());
    let found = workspace.recover_if_idle().unwrap();
    assert_eq!(found[0].outcome, patch_engine::commit::Outcome::Completed);
    assert_eq!(tree.read("a/x"), "2\n");
    assert_eq!(tree.read("a/new"), "new\n");
}

/// What may be touched is said for the directory that was opened. Of the project around it all can
/// be undone.
#[test]
fn what_may_be_touched_in_a_directory_does_not_limit_its_project() {
    let tree = Tree::new(&[("a/n/x", "1\n"), ("b/y", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    let before = tree.snapshot();
    let within = at(&tree, "a").root().check("n", fs_guard::Access::Read).unwrap();
    let policy = fs_guard::Policy { within: vec![within], ..patch_engine::policy() };
    let workspace = Workspace::open(&tree.path("a"), policy)
        .unwrap()
        .with_key_place(tree.key_place())
        .for_a_person();
    let here = apply(&workspace, "*** Update File: n/x\n@@\n-1\n+2\n").transaction.unwrap();
    let there = apply(&at(&tree, "b"), "*** Update File: y\n@@\n-1\n+2\n").transaction.unwrap();
    let diff = workspace.transaction_diff(&workspace.show(there).unwrap()).unwrap();
    assert!(String::from_utf8(diff).unwrap().ends_with("+++ b/../b/y\n@@ -1 +1 @@\n-1\n+2\n"));
    assert!(workspace.plan_undo(there, &[]).is_err());
    for id in [there, here] {
        workspace.project().undo(id, &[], &CommitOptions::default(), &mut ()).unwrap();
    }
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn the_state_of_a_user_is_out_of_reach_of_git_clean() {
    let tree = Tree::new(&[("a/x", "1\n")]);
    fs::create_dir(tree.path(".git")).unwrap();
    let states = temp();
    let key = patch_engine::commit::KeyPlace::Directory(states.path().join("apply-patch"));
    let open = |dir: &str| {
        Workspace::open_keyed(
            &tree.path(dir),
            patch_engine::policy(),
            StatePlace::User,
            key.clone(),
        )
        .unwrap()
    };
    let id = apply(&open("a"), "*** Update File: x\n@@\n-1\n+2\n").transaction.unwrap();
    assert!(!tree.path(STATE).exists());
    assert!(!tree.path("a").join(STATE).exists());
    assert_eq!(open(".").log().unwrap().len(), 1);
    let kept = open(".").trash().unwrap().remove(0);
    assert_eq!(fs::read_to_string(kept.stored_path()).unwrap(), "1\n");
    assert_eq!(workspace_trash::parse_stored_path(kept.stored_path()), Some((id, kept.slot)));
    open(".").undo(id, &[], &CommitOptions::default(), &mut ()).unwrap();
    assert_eq!(tree.read("a/x"), "1\n");
    // One that is in the tree already stays in use.
    make_state(&tree, ".", 0o700);
    assert!(open("a").log().unwrap().is_empty());
    assert_eq!(open("a").prefix().as_str(), "a");
    // What a patch could reach of it, in a root that is the home, it does not.
    let home =
        Workspace::open_with(states.path(), patch_engine::policy(), StatePlace::Root).unwrap();
    let inside = kept
        .stored_path()
        .strip_prefix(states.path().to_str().unwrap())
        .unwrap()
        .trim_start_matches('/');
    assert!(home.root().check(inside, fs_guard::Access::Read).is_err());
}

#[test]
fn the_state_of_a_user_belongs_to_a_directory_and_not_to_its_path() {
    let tree = Tree::new(&[("p/x", "1\n"), ("p/y", "1\n")]);
    let states = temp();
    let key = patch_engine::commit::KeyPlace::Directory(states.path().join("apply-patch"));
    let open = |dir: &str| {
        Workspace::open_keyed(
            &tree.path(dir),
            patch_engine::policy(),
            StatePlace::User,
            key.clone(),
        )
        .unwrap()
    };
    apply(&open("p"), "*** Update File: x\n@@\n-1\n+2\n");
    let state = open("p").state_path();
    assert!(open("p").former_states().is_empty());
    // Moved away, it keeps its history; what is made at the path is another directory.
    fs::rename(tree.path("p"), tree.path("q")).unwrap();
    assert_eq!(open("q").state_path(), state.clone());
    assert_eq!(open("q").log().unwrap().len(), 1);
    fs::create_dir(tree.path("p")).unwrap();
    fs::write(tree.path("p/x"), "2\n").unwrap();
    assert_eq!(open("p").log().unwrap().len(), 0);
    assert_eq!(open("p").former_states(), [Path::new(&state)]);
    assert!(open("q").former_states().is_empty());
    // Half of a patch that was cut off in a directory that is gone is not finished in one that was
    // made anew, however often its inode number comes again.
    let settings = ApplyOptions::new(lenient());
    let text =
        "*** Begin Patch\n*** Add File: new\n+new\n*** Update File: y\n@@\n-1\n+2\n*** End Patch\n";
    let patch = parse(text, &settings.options.parse).unwrap();
    let workspace = open("q");
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = workspace.apply(&patch, &settings, &mut Killed { staged: None });
    }))
    .unwrap_err();
    drop(workspace);
    for _ in 0..20 {
        fs::remove_dir_all(tree.path("q")).unwrap();
        fs::create_dir(tree.path("q")).unwrap();
        fs::write(tree.path("q/y"), "1\n").unwrap();
        assert!(open("q").recover_if_idle().unwrap().is_empty());
        apply(&open("q"), "*** Add File: z\n+z\n");
        assert_eq!(fs::read_to_string(tree.path("q/y")).unwrap(), "1\n");
        assert!(!tree.path("q/new").exists());
    }
}
