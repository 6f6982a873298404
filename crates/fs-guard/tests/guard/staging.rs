//! Staged files, publication, locks and secrets.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fs_guard::{Dirs, DisplacedFile, Root, Sha256, Spot};

use crate::support::*;

fn staged(root: &Root, text: &str) -> (Spot, fs_guard::StagedFile) {
    let (state, _) = root.create_state_dir().unwrap();
    let spot = state.spot("0");
    let mut file = spot.create(0o640).unwrap();
    file.write(text.as_bytes()).unwrap();
    (spot, file.finish(Some(0o640), None, false).unwrap())
}

#[test]
fn a_new_name_is_given_where_nothing_is_and_only_there() {
    let tree = Tree::new(&[("taken", "x")]);
    let mut taken = vec!["taken"];
    // Wine does not see a link that leads nowhere.
    if cfg!(unix) {
        tree.link("nowhere", "link");
        taken.push("link");
    }
    let root = tree.open();
    let dirs = Dirs::new(&root);
    let (_, file) = staged(&root, "new");
    let mut file = file;
    for name in taken {
        let failed = file.publish_new(&dirs.place(&target(&root, name)).unwrap()).unwrap_err();
        assert_eq!(failed.error.kind().as_str(), "already_exists");
        assert_eq!(failed.error.path(), Some(name));
        file = failed.file;
    }
    file.publish_new(&dirs.place(&target(&root, "fresh")).unwrap()).unwrap();
    assert_eq!(fs::read_to_string(tree.root.join("fresh")).unwrap(), "new");
    #[cfg(unix)]
    assert_eq!(fs::metadata(tree.root.join("fresh")).unwrap().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(tree.root.join("taken")).unwrap(), "x");
}

#[test]
fn an_exchange_hands_back_whatever_was_there() {
    for lacking in [false, true] {
        fs_guard::fault::lack(lacking, lacking);
        let tree = Tree::new(&[("f", "old")]);
        let root = tree.open();
        let (bytes, seen) = root.read(&path(&root, "f"), 9).unwrap();
        let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
        let (slot, file) = staged(&root, "new");
        let displaced = file.exchange(&place).unwrap();
        assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "new");
        assert!(displaced.spot().holds(&seen, &Sha256::of(&bytes), true).unwrap());
        assert!(!displaced.spot().holds(&seen, &Sha256::of(b"other"), false).unwrap());
        displaced.swap_back(&place).unwrap();
        assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "old");
        assert_eq!(slot.read(9).unwrap().0, b"new");
        // And a delete.
        slot.remove().unwrap();
        DisplacedFile::take(&place, &slot).unwrap().put_back(&place).unwrap();
        assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "old");
        fs_guard::fault::lack(false, false);
    }
}

#[test]
fn a_lock_is_held_by_one_and_survives_the_removal_of_its_file() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    let spot = state.spot("lock");
    let held = spot.lock(Duration::ZERO).unwrap();
    assert_eq!(verdict(spot.lock(Duration::from_millis(20))), "locked locked");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let lock =
                tree.open().state_dir().unwrap().unwrap().spot("lock").lock(Duration::from_secs(5));
            lock.unwrap();
        });
        std::thread::sleep(Duration::from_millis(50));
        held.remove().unwrap();
        waiting.join().unwrap();
    });
    // In Wine a file that is removed keeps its name until it is closed: it may be the same file
    // that was waited for.
    if cfg!(unix) {
        assert!(tree.root.join(".kept").join("lock").exists());
    }
}

#[test]
#[cfg(unix)]
fn who_holds_a_lock_is_told_and_whether_it_is_gone() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let spot = state.spot("lock");
    let _held = spot.lock(Duration::ZERO).unwrap();
    let told = || spot.lock(Duration::ZERO).unwrap_err().to_string();
    let this = format!("the lock is held by process {}; gave up", std::process::id());
    assert!(told().starts_with(&this), "{}", told());
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    fs::write(tree.root.join(".kept/lock"), child.id().to_string()).unwrap();
    let gone = format!("the lock is held by process {} (which is gone);", child.id());
    assert!(told().starts_with(&gone), "{}", told());
    fs::write(tree.root.join(".kept/lock"), "").unwrap();
    assert!(told().starts_with("the lock is held by another process;"), "{}", told());
}

#[test]
fn a_log_is_locked_by_its_name() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    let (spot, old) = (state.spot("log"), state.spot("old"));
    let lock = |millis| spot.append_locked(Duration::from_millis(millis));
    let held = lock(0).unwrap();
    held.append(b"1\n").unwrap();
    assert_eq!(verdict(lock(20)), "locked locked");
    held.unlock().unwrap();
    // Another one writes meanwhile.
    let other = lock(0).unwrap();
    assert_eq!(other.opened_size(), 2);
    other.append(b"2\n").unwrap();
    let refused = held.lock_again(&spot, Duration::from_millis(20));
    assert_eq!(verdict(refused), "locked locked");
    other.unlock().unwrap();
    let (other, is_same) = other.lock_again(&spot, Duration::ZERO).unwrap();
    assert!(is_same);
    assert_eq!(other.opened_size(), 4);
    // It gives the name to another file: who waits for the log waits for that one.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lock(5000).unwrap().opened_size());
        std::thread::sleep(Duration::from_millis(50));
        spot.rename_new(&old).unwrap();
        drop(other);
        assert_eq!(waiting.join().unwrap(), 0);
    });
    let held = lock(0).unwrap();
    held.unlock().unwrap();
    // On Windows an open file may keep its name when it is removed.
    if cfg!(unix) {
        spot.remove().unwrap();
        let (held, is_same) = held.lock_again(&spot, Duration::ZERO).unwrap();
        assert!(!is_same);
        assert_eq!(verdict(lock(20)), "locked locked");
        drop(held);
    }
    assert_eq!(old.read(9).unwrap().0, b"1\n2\n");
}

#[test]
fn a_log_that_others_replace_meanwhile_can_be_opened() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let (spot, old) = (state.spot("log"), state.spot("old"));
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                spot.append()?;
            }
            Ok::<_, fs_guard::Error>(())
        });
        let mut renamed = 0;
        for _ in 0..100 {
            // On Windows an open file may keep its name, so this may fail.
            if spot.rename_new(&old).is_ok() {
                let _ = old.remove();
                renamed += 1;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        ended.store(true, Ordering::Relaxed);
        opening.join().unwrap().unwrap();
        assert!(renamed > 10, "{renamed}");
    });
}

#[test]
#[cfg(unix)]
fn a_directory_that_is_kept_open_is_looked_at_each_time() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    root.create_state_dir().unwrap().0.create_dir("in").unwrap();
    let dir = tree.root.join(".kept/in");
    let state = || root.state_dir().unwrap().unwrap();
    let names = || state().open_and_list("in").map(|found| found.map(|(_, names)| names));
    fs::write(dir.join("a"), "").unwrap();
    for _ in 0..2 {
        assert_eq!(names().unwrap().unwrap(), ["a"]);
    }
    let kept = state().open_dir("in").unwrap().unwrap();
    assert!(kept.is_same_handle(&state().open_dir("in").unwrap().unwrap()));
    // A new entry, and another directory of the name.
    fs::write(dir.join("b"), "").unwrap();
    assert_eq!(names().unwrap().unwrap(), ["a", "b"]);
    fs::rename(&dir, tree.root.join(".kept/old")).unwrap();
    assert!(names().unwrap().is_none());
    state().create_dir("in").unwrap();
    assert_eq!(names().unwrap().unwrap(), [""; 0]);
    assert!(!kept.is_same_handle(&state().open_dir("in").unwrap().unwrap()));
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(verdict(names()), "permission_denied untrusted_state");
    fs::remove_dir(&dir).unwrap();
    tree.link("old", ".kept/in");
    assert_eq!(verdict(names()), "permission_denied untrusted_state");
    // All of it is another one's.
    fs::rename(tree.root.join(".kept"), tree.root.join("before")).unwrap();
    root.create_state_dir().unwrap();
    assert!(names().unwrap().is_none());
}

/// While a lock is held, nobody removes the directory that it is in.
#[test]
#[cfg(unix)]
fn the_private_directory_is_looked_at_once_under_a_lock() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    assert!(root.hold_state(&state).unwrap());
    let kept = tree.root.join(".kept");
    fs::rename(&kept, tree.root.join("old")).unwrap();
    assert!(root.state_dir().unwrap().is_some());
    root.release_state();
    assert!(root.state_dir().unwrap().is_none());
    // A lock in a directory that is not the private one (any more) says nothing.
    assert!(!root.hold_state(&state).unwrap());
    root.create_state_dir().unwrap();
    assert!(!root.hold_state(&state).unwrap());
    fs::remove_dir(&kept).unwrap();
    assert!(root.state_dir().unwrap().is_none());
}

#[test]
#[cfg(unix)]
fn the_private_directory_is_looked_at_each_time() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    let kept = tree.root.join(".kept");
    let mode = |mode| fs::set_permissions(&kept, fs::Permissions::from_mode(mode)).unwrap();
    root.create_state_dir().unwrap().0.spot("a").append().unwrap();
    // Another directory of its name, whose entries are the ones that count.
    fs::rename(&kept, tree.root.join("old")).unwrap();
    assert!(root.state_dir().unwrap().is_none());
    fs::create_dir(&kept).unwrap();
    mode(0o700);
    assert!(root.state_dir().unwrap().unwrap().spot("a").metadata().unwrap().is_none());
    // The same one, open to others meanwhile.
    mode(0o777);
    assert_eq!(verdict(root.state_dir()), "permission_denied untrusted_state");
    mode(0o700);
    assert_eq!(verdict(root.state_dir()), "fine");
    // No directory any more.
    fs::remove_dir(&kept).unwrap();
    tree.link("old", ".kept");
    assert_eq!(verdict(root.state_dir()), "permission_denied untrusted_state");
    let error = root.state_dir().unwrap_err();
    assert!(error.to_string().contains("it is not a directory;"), "{error}");
    fs::remove_file(&kept).unwrap();
    fs::write(&kept, "").unwrap();
    assert_eq!(verdict(root.state_dir()), "permission_denied untrusted_state");
}

#[test]
fn logs_of_others_are_not_appended_to() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    let dir = tree.root.join(".kept");
    let log = state.spot("log").append().unwrap();
    log.append(b"one\n").unwrap();
    log.append(b"two\n").unwrap();
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap(), "one\ntwo\n");
    let mut names = vec!["hard", "dir"];
    if cfg!(unix) {
        symlink(tree.outside.join("secret"), dir.join("link")).unwrap();
        std::process::Command::new("mkfifo").arg(dir.join("fifo")).status().unwrap();
        names.extend(["link", "fifo"]);
    }
    fs::hard_link(tree.outside.join("secret"), dir.join("hard")).unwrap();
    fs::create_dir(dir.join("dir")).unwrap();
    for name in names {
        assert_eq!(
            verdict(state.spot(name).append()),
            "permission_denied untrusted_state",
            "{name}"
        );
        assert_eq!(
            verdict(state.spot(name).lock(Duration::ZERO)),
            "permission_denied untrusted_state",
            "{name}"
        );
    }
    assert_eq!(fs::read_to_string(tree.outside.join("secret")).unwrap(), "secret");
}

#[test]
fn a_secret_is_made_once_and_is_private() {
    let tree = Tree::new(&[]);
    let dir = tree.outside.join("a/b");
    let secrets: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| fs_guard::secret(&dir, "key").unwrap().unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no draft is left");
    #[cfg(unix)]
    a_secret_that_cannot_be_used_is_never_as_good_as_none(&tree, &dir);
}

#[test]
fn secrets_are_random_in_every_byte() {
    let tree = Tree::new(&[]);
    let secret = |name| fs_guard::secret(&tree.outside.join("keys"), name).unwrap().unwrap();
    let secrets = ["a", "b", "c", "d", "e", "f", "g", "h"].map(secret);
    // That eight bytes are the same by chance happens to one run in 2^51.
    assert!(
        (0..32).all(|at| secrets.iter().any(|secret| secret[at] != secrets[0][at])),
        "{secrets:?}"
    );
    let mut many = [0; 4096];
    fs_guard::random(&mut many).unwrap();
    assert!(many.chunks(8).all(|some| some != [0; 8]));
    fs_guard::random(&mut []).unwrap();
}

#[cfg(unix)]
fn a_secret_that_cannot_be_used_is_never_as_good_as_none(tree: &Tree, dir: &std::path::Path) {
    assert_eq!(fs::metadata(dir.join("key")).unwrap().mode() & 0o777, 0o600);
    fs::set_permissions(dir.join("key"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        verdict(fs_guard::secret(dir, "key")),
        "permission_denied untrusted_state",
        "others could have read it"
    );
    fs::remove_file(dir.join("key")).unwrap();
    fs::write(dir.join("key"), "short").unwrap();
    fs::set_permissions(dir.join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(verdict(fs_guard::secret(dir, "key")), "permission_denied untrusted_state");
    fs::remove_file(dir.join("key")).unwrap();
    symlink("nowhere", dir.join("key")).unwrap();
    assert!(fs_guard::secret(dir, "key").unwrap_err().to_string().contains("key"));
    assert_eq!(
        fs_guard::secret(&tree.outside.join("secret/x"), "key").unwrap(),
        None,
        "no such place"
    );
}

/// Whatever the umask takes away, a staged file's metadata is what it really has.
#[cfg(unix)]
#[test]
fn a_staged_file_is_told_with_the_mode_that_it_has() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    for mode in [0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o755, 0o775, 0o777] {
        let spot = state.spot(&format!("{mode:o}"));
        let file = spot.create(mode).unwrap().finish(Some(mode), None, false).unwrap();
        assert_eq!(file.metadata().unwrap().mode, mode, "{mode:o}");
        assert_eq!(spot.metadata().unwrap().unwrap().mode, mode, "{mode:o}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_of_the_program_that_others_may_enter_is_not_trusted() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    state.create_dir("inner").unwrap().create_dir("innermost").unwrap();
    let at = |name: &str| tree.root.join(".kept").join(name);
    for mode in [0o777, 0o755, 0o770, 0o701, 0o500, 0o1700] {
        for name in ["inner", "inner/innermost"] {
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
            let opened = state
                .open_dir("inner")
                .and_then(|dir| dir.unwrap().open_dir("innermost"))
                .map(drop);
            let expected =
                if mode == 0o1700 { "fine" } else { "permission_denied untrusted_state" };
            assert_eq!(verdict(opened), expected, "{name} {mode:o}");
            if name == "inner" {
                assert_eq!(
                    verdict(state.open_or_create_dir("inner").map(drop)),
                    expected,
                    "{mode:o}"
                );
                assert_eq!(
                    verdict(state.remove_tree("inner")) == "fine",
                    mode == 0o1700,
                    "{mode:o}"
                );
                let _ = state
                    .open_or_create_dir("inner")
                    .and_then(|dir| dir.open_or_create_dir("innermost"));
            }
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}
