//! Modes, owners and attributes: what is private stays so, and what a file had it keeps.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use fs_guard::fault::{self, Fault};
use fs_guard::{Abilities, Dirs, FoundSecret, Policy, Root};
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::support::*;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn open_to_others(tree: &Tree) -> Root {
    Root::open(&tree.root, Policy { accept_open_private_dir: true, ..policy() }).unwrap()
}

#[test]
fn a_private_directory_that_others_may_enter_is_used_only_where_that_is_accepted() {
    let tree = Tree::new(&[(".kept/inner/x", "")]);
    chmod(&tree.root.join(".kept"), 0o755);
    chmod(&tree.root.join(".kept/inner"), 0o755);
    assert_eq!(verdict(tree.open().state_dir()), "permission_denied untrusted_state");
    let state = open_to_others(&tree).state_dir().unwrap().unwrap();
    assert!(state.open_dir("inner").unwrap().is_some());
}

/// A umask may take the owner's bits; a file system may keep none.
#[test]
fn a_directory_of_the_program_is_made_private_or_not_at_all() {
    // Its mode when it was made, the mode after it was given one, and whether an open one is
    // accepted.
    for (made, kept, accepted, expected) in [
        (0o700, None, false, "fine"),
        (0o500, None, false, "fine"),
        (0o755, None, false, "fine"),
        (0o777, None, true, "fine"),
        (0o755, Some(0o755), false, "permission_denied untrusted_state"),
        (0o755, Some(0o755), true, "fine"),
        (0o500, Some(0o500), false, "permission_denied untrusted_state"),
    ] {
        let tree = Tree::new(&[]);
        let root = if accepted { open_to_others(&tree) } else { tree.open() };
        let (state, _) = root.create_state_dir().unwrap();
        let at = tree.root.join(".kept/new");
        let later = at.clone();
        fault::arm(Fault::Nothing, 0, true);
        fault::meanwhile("openat", 1, move || {
            chmod(&later, made);
            if let Some(kept) = kept {
                fault::meanwhile("fstat", 2, move || chmod(&later, kept));
            }
        });
        let dir = state.create_dir("new");
        let calls = fault::disarm();
        fault::meanwhile("none", 1, || {});
        assert_eq!(calls.contains(&"fchmod"), made != 0o700, "{made:o}");
        if let Err(error) = &dir {
            assert!(
                error.to_string().ends_with("others may enter it; mount that with umask=077"),
                "{error}"
            );
            assert!(!at.exists());
        } else {
            assert_eq!(mode(&at), kept.unwrap_or(0o700), "{made:o}");
        }
        assert_eq!(verdict(dir), expected, "{made:o} {kept:?} {accepted}");
    }
}

#[test]
fn what_is_there_is_made_by_nobody() {
    let tree = Tree::new(&[("f", "x"), ("d/f", "x")]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    state.create_dir("dir").unwrap();
    assert_eq!(verdict(state.create_dir("dir")), "already_exists exists");
    assert_eq!(verdict(state.open_or_create_dir("dir")), "fine");
    assert_eq!(verdict(state.spot("dir").create(0o600)), "already_exists exists");
    let _socket = std::os::unix::net::UnixListener::bind(tree.root.join(".kept/socket")).unwrap();
    symlink("nowhere", tree.root.join(".kept/link")).unwrap();
    for (name, expected) in [
        ("dir", "invalid directory"),
        ("socket", "invalid special_file"),
        ("link", "invalid special_file"),
        ("none", "not_found not_found"),
    ] {
        assert_eq!(verdict(state.spot(name).read(9)), expected, "{name}");
    }
    let dirs = Dirs::new(&root);
    for (name, expected) in
        [("new", "fine true"), ("new", "fine false"), ("d", "fine false"), ("f", "exists")]
    {
        let made = dirs.create_dir(&target(&root, name), None);
        let made =
            made.map_or_else(|error| error.reason().to_owned(), |made| format!("fine {made}"));
        assert_eq!(made, expected, "{name}");
    }
}

#[test]
fn a_directory_that_is_gone_on_with_gets_its_mode() {
    for (there, wanted) in [
        (None, Some(0o750)),
        (None, None),
        (Some(0o755), Some(0o755)),
        (Some(0o755), None),
        (Some(0o777), Some(0o755)),
        (Some(0o700), Some(0o755)),
        (Some(0o444), Some(0o333)),
        (Some(0o1755), Some(0o755)),
    ] {
        let tree = Tree::new(&[]);
        let root = tree.open();
        let at = tree.root.join("d");
        if let Some(mode) = there {
            fs::create_dir(&at).unwrap();
            chmod(&at, mode);
        }
        fault::arm(Fault::Nothing, 0, false);
        Dirs::new(&root).resume_dir(&target(&root, "d"), wanted).unwrap();
        let given = fault::disarm().contains(&"fchmod");
        assert_eq!(
            given,
            wanted.is_some() && wanted != there.map(|mode| mode & 0o777),
            "{there:?} {wanted:?}"
        );
        if let Some(wanted) = wanted {
            assert_eq!(mode(&at) & 0o777, wanted, "{there:?}");
        }
        chmod(&at, 0o700);
    }
}

#[test]
fn times_of_directories_are_put_back() {
    let tree = Tree::new(&[("d/e/f", "x")]);
    let long_ago =
        std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_000_000_000_005);
    let dirs = ["", "d", "d/e"].map(|dir| tree.root.join(dir));
    for dir in &dirs {
        fs::File::open(dir).unwrap().set_modified(long_ago).unwrap();
    }
    let root = tree.open();
    let used = Dirs::new(&root);
    for name in ["new", "d/new", "d/e/new"] {
        let place = used.place(&target(&root, name)).unwrap();
        place.create(0o600).unwrap();
        place.remove().unwrap();
    }
    assert!(dirs.iter().all(|dir| fs::metadata(dir).unwrap().modified().unwrap() != long_ago));
    used.restore_times();
    assert!(dirs.iter().all(|dir| fs::metadata(dir).unwrap().modified().unwrap() == long_ago));
}

#[test]
fn directories_that_went_away_are_missed() {
    for (name, expected) in
        [("d", "changed changed"), ("d/e", "changed changed"), ("other", "fine")]
    {
        for replaced in [false, true] {
            let tree = Tree::new(&[("d/e/f", "x"), ("other/f", "x")]);
            let root = tree.open();
            let dirs = Dirs::new(&root);
            dirs.place(&target(&root, "d/f")).unwrap();
            dirs.place(&target(&root, "d/e/f")).unwrap();
            dirs.place(&target(&root, "f")).unwrap();
            assert_eq!(verdict(dirs.check_still_there()), "fine");
            fs::rename(tree.root.join(name), tree.root.join("away")).unwrap();
            if replaced {
                fs::create_dir(tree.root.join(name)).unwrap();
            }
            assert_eq!(verdict(dirs.check_still_there()), expected, "{name} {replaced}");
        }
    }
}

#[test]
fn bytes_are_read_unless_the_times_prove_them() {
    for trust_times in [false, true] {
        let tree = Tree::new(&[("f", "one")]);
        let root = tree.open();
        let file = tree.root.join("f");
        let (bytes, seen) = root.read(&path(&root, "f"), 9).unwrap();
        let digest = fs_guard::Sha256::of(&bytes);
        let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
        assert!(place.holds(&seen, &digest, trust_times).unwrap());
        // Other bytes, as many and of the same time.
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "two").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        let trusted = trust_times && seen.times_are_telling();
        assert_eq!(place.holds(&seen, &digest, trust_times).unwrap(), trusted);
        fs::remove_file(&file).unwrap();
        assert!(!place.holds(&seen, &digest, trust_times).unwrap());
    }
}

#[test]
fn a_staged_file_is_given_mode_and_owner_only_where_it_lacks_them() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let spot = state.spot("0");
    let own = state.metadata().unwrap();
    let (mut group, mut user, mut both) = (own.clone(), own.clone(), own.clone());
    group.gid += 1;
    user.uid += 1;
    both.gid += 1;
    both.uid += 1;
    // How often an owner is set, when the first time fails; how often a mode.
    for (made, wanted, owner, owners_set, modes_set) in [
        (0o600, None, None, 0, 0),
        (0o600, Some(0o600), None, 0, 0),
        (0o600, Some(0o600), Some(&own), 0, 0),
        (0o600, Some(0o177), None, 0, 1),
        (0o600, Some(0o640), Some(&own), 0, 1),
        (0o600, Some(0o600), Some(&user), 1, 1),
        (0o600, Some(0o600), Some(&group), 2, 1),
        (0o600, Some(0o600), Some(&both), 2, 1),
        (0o600, None, Some(&both), 2, 0),
    ] {
        let file = spot.create(made).unwrap();
        fault::arm(Fault::Once(1), if owners_set > 0 { 1 } else { 99 }, false);
        let staged = file.finish(wanted, owner, false).unwrap();
        let calls = fault::disarm();
        let count = |name| calls.iter().filter(|&&call| call == name).count();
        assert_eq!(count("fchown"), owners_set, "{wanted:?} {owner:?}");
        assert_eq!(count("fchmod"), modes_set, "{wanted:?} {owner:?}");
        assert_eq!(mode(&tree.root.join(spot.path())), wanted.unwrap_or(0o600));
        let seen = fs::metadata(tree.root.join(spot.path())).unwrap();
        assert_eq!(seen.uid(), staged.metadata().unwrap().uid);
        assert_eq!(seen.gid(), staged.metadata().unwrap().gid);
        assert_eq!(seen.uid(), own.uid);
        if rustix::process::geteuid().is_root() {
            assert_eq!(seen.gid(), owner.unwrap_or(&own).gid);
        }
        spot.remove().unwrap();
    }
}

#[test]
fn a_staged_file_is_given_to_the_owner_of_another() {
    if !rustix::process::geteuid().is_root() {
        return testutils::skip!("giving files away is for root");
    }
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let spot = state.spot("0");
    let probe = tree.outside.join("secret");
    if std::os::unix::fs::chown(&probe, Some(4321), Some(1234)).is_err() {
        return testutils::skip!("no other users here");
    }
    // All ones are no owner.
    for (uid, gid) in [(4321, 1234), (4321, u32::MAX), (u32::MAX, 1234), (0, 0)] {
        let mut owner = state.metadata().unwrap();
        let (own_user, own_group) = (owner.uid, owner.gid);
        (owner.uid, owner.gid) = (uid, gid);
        let file = spot.create(0o600).unwrap().finish(Some(0o640), Some(&owner), false).unwrap();
        let seen = file.metadata().unwrap();
        let kept = |asked: u32, own| if asked == u32::MAX { own } else { asked };
        assert_eq!(seen.uid, kept(uid, own_user), "{uid} {gid}");
        assert_eq!(seen.gid, kept(gid, own_group), "{uid} {gid}");
        assert_eq!(seen.mode, 0o640, "{uid} {gid}");
        spot.remove().unwrap();
    }
}

/// Lets what is made in a directory have the access list user::rwx, group::<group>, other::---.
fn set_default_acl(dir: &Path, group: u16) -> bool {
    let entry =
        |tag: u16, perm: u16| [tag.to_le_bytes(), perm.to_le_bytes(), [255; 2], [255; 2]].concat();
    let acl = [2_u32.to_le_bytes().to_vec(), entry(1, 7), entry(4, group), entry(0x20, 0)].concat();
    setxattr(dir, c"system.posix_acl_default", &acl, XattrFlags::empty()).is_ok()
}

#[test]
fn the_private_directory_inherits_no_access_list() {
    let tree = Tree::new(&[]);
    if !set_default_acl(&tree.root, 7) {
        return testutils::skip!("no access lists here");
    }
    tree.open().create_state_dir().unwrap();
    assert!(getxattr(tree.root.join(".kept"), c"system.posix_acl_default", &mut [0; 99]).is_err());
    assert_eq!(mode(&tree.root.join(".kept")), 0o700);
}

/// What `std` makes in the same directory is the measure.
#[test]
fn a_staged_file_inherits_what_a_new_one_would() {
    let is_root = rustix::process::geteuid().is_root();
    for (dir_mode, acl) in
        [(0o755, None), (0o2755, None), (0o755, Some(0o5)), (0o755, Some(0o6)), (0o2775, Some(0o7))]
    {
        let tree = Tree::new(&[("d/f", "x")]);
        let dir = tree.root.join("d");
        if is_root && std::os::unix::fs::chown(&dir, None, Some(4321)).is_err() {
            testutils::skip!("no other groups here");
        }
        chmod(&dir, dir_mode);
        if acl.is_some_and(|group| !set_default_acl(&dir, group)) {
            testutils::skip!("no access lists here");
            continue;
        }
        for mode in [0o600, 0o644, 0o666, 0o755, 0o777] {
            let measure = dir.join("measure");
            fs::File::options().create_new(true).write(true).mode(mode).open(&measure).unwrap();
            let root = tree.open();
            let (state, _) = root.create_state_dir().unwrap();
            let mut file = state.spot("0").create(mode).unwrap();
            file.inherit(&Dirs::new(&root), &path(&root, "d/new")).unwrap();
            file.finish(None, None, false).unwrap();
            let of = |path: &Path| {
                fs::metadata(path).map(|seen| (seen.mode(), seen.uid(), seen.gid())).unwrap()
            };
            let staged = tree.root.join(".kept/0");
            assert_eq!(of(&staged), of(&measure), "{dir_mode:o} {acl:?} {mode:o}");
            fs::remove_file(&measure).unwrap();
            fs::remove_file(&staged).unwrap();
        }
    }
}

#[test]
fn attributes_are_copied_or_it_is_said_that_they_are_not() {
    let tree = Tree::new(&[("f", "x")]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    // With a fault: its code, the how many-th call fails, and whether only those that change
    // something count.
    let copied = |fault: Option<(i32, usize, bool)>| {
        let (from, _) = root.open_file(&path(&root, "f")).unwrap();
        let spot = state.spot("0");
        let mut file = spot.create(0o600).unwrap();
        if let Some((code, at, writes_only)) = fault {
            fault::arm(Fault::Once(code), at, !writes_only);
        }
        let result = file.copy_xattrs(&from);
        let calls = fault::disarm();
        let mut value = [0; 9];
        let note = getxattr(tree.root.join(spot.path()), c"user.note", &mut value).ok();
        spot.remove().unwrap();
        (verdict(result), note.map(|length| value[..length].to_vec()), calls)
    };
    let label = setxattr(tree.root.join("f"), c"security.selinux", b"label", XattrFlags::empty());
    match label {
        // It need not go along.
        Ok(()) => assert_eq!(copied(Some((5, 1, true))).0, "fine"),
        Err(_) => testutils::skip!("no labels here"),
    }
    let _ = rustix::fs::removexattr(tree.root.join("f"), c"security.selinux");
    if setxattr(tree.root.join("f"), c"user.note", b"note", XattrFlags::empty()).is_err() {
        return testutils::skip!("no attributes here");
    }
    let mut names = [0; 99];
    if rustix::fs::listxattr(tree.root.join("f"), &mut names).ok() != Some("user.note\0".len()) {
        return testutils::skip!("the system gives files attributes of its own");
    }
    let (told, note, _) = copied(None);
    assert_eq!(told, "fine");
    assert_eq!(note, Some(b"note".to_vec()));
    // They cannot be listed, or read; there are none, or this one is gone just now. They cannot be
    // set; the file system has none, or does not let this user.
    for (call, code, expected) in [
        ("flistxattr", 5, "failed io"),
        ("fgetxattr", 5, "failed io"),
        ("flistxattr", 95, "fine"),
        ("fgetxattr", 61, "fine"),
        ("fgetxattr", 95, "fine"),
        ("fsetxattr", 5, "failed io"),
        ("fsetxattr", 95, "fine"),
        ("fsetxattr", 1, "fine"),
    ] {
        let at = ["flistxattr", "fgetxattr", "fsetxattr"]
            .iter()
            .position(|other| *other == call)
            .unwrap();
        let (told, note, calls) = copied(Some((code, at + 1, false)));
        assert_eq!(calls[at], call, "{code}");
        assert_eq!(&*told, expected, "{code}");
        assert_eq!(note, None, "{code}");
    }
}

#[test]
fn what_a_file_system_can_do_is_what_was_seen_to_be_done() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let mut made = 0;
    let mut found = |lacking: [bool; 2], swap: Option<[(&'static str, &'static str); 3]>| {
        made += 1;
        let name = format!("scratch{made}");
        let scratch = state.create_dir(&name).unwrap();
        let at = tree.root.join(scratch.path());
        fault::lack(lacking[0], lacking[1]);
        if let Some(renames) = swap {
            fault::meanwhile("renameat2", 1, move || {
                fs::write(at.join("third"), "").unwrap();
                for (from, to) in renames {
                    fs::rename(at.join(from), at.join(to)).unwrap();
                }
            });
        }
        let found = Abilities::of(&scratch).unwrap();
        fault::lack(false, false);
        found
    };
    let usual = found([false, false], None);
    assert!(usual.stable_inodes);
    if !usual.exchange || !usual.no_replace {
        return testutils::skip!("{usual:?}");
    }
    assert!(!found([true, false], None).exchange);
    let lacking = found([true, true], None);
    assert!(!lacking.exchange);
    assert!(!lacking.no_replace);
    assert!(lacking.stable_inodes);
    // In the end both are where they were; only one of them is where it belongs.
    for renames in [
        [("one", "x"), ("two", "one"), ("x", "two")],
        [("two", "x"), ("third", "two"), ("x", "y")],
        [("one", "x"), ("third", "one"), ("x", "y")],
    ] {
        assert!(!found([false, false], Some(renames)).exchange, "{renames:?}");
    }
}

#[test]
fn a_secret_that_is_there_is_never_taken_for_none() {
    let tree = Tree::new(&[]);
    let dir = keys(&tree);
    let secret = Some([7; 32]);
    let with = |fault, k, act: &dyn Fn() -> bool| {
        fault::arm(fault, k, true);
        assert!(act(), "{fault:?} {k}");
        fault::disarm();
    };
    // Not that there is no such file: that is what no secret looks like.
    for code in [1, 5, 13, 20, 30, 40] {
        for k in 1..=6 {
            for fault in [Fault::Once(code), Fault::FromThenOn(code)] {
                with(fault, k, &|| {
                    fs_guard::secret(&dir, "key").map_or(true, |found| found == secret)
                });
                with(fault, k, &|| {
                    fs_guard::existing_secret(&dir, "key").map_or(true, |found| found == secret)
                });
                with(fault, k, &|| {
                    fs_guard::find_secret(&dir, "key")
                        .map_or(true, |found| found == FoundSecret::There)
                });
            }
        }
    }
    assert_eq!(fs_guard::secret(&dir, "key").unwrap(), secret);
    // One that is not there is no error where nothing can be made.
    with(Fault::FromThenOn(13), 1, &|| fs_guard::secret(&dir, "other").unwrap().is_none());
    with(Fault::FromThenOn(13), 1, &|| fs_guard::existing_secret(&dir, "other").unwrap().is_none());
    with(Fault::FromThenOn(13), 1, &|| {
        fs_guard::find_secret(&dir, "other").unwrap() == FoundSecret::NoPlace
    });
    assert_eq!(fs_guard::find_secret(&dir, "other").unwrap(), FoundSecret::ToBeMade);
    assert_eq!(fs_guard::find_secret(&dir.join("none"), "key").unwrap(), FoundSecret::ToBeMade);
    fs::create_dir(dir.join("dir")).unwrap();
    chmod(&dir.join("dir"), 0o700);
    assert_eq!(verdict(fs_guard::secret(&dir, "dir")), "permission_denied untrusted_state");
    assert_eq!(
        verdict(fs_guard::existing_secret(&dir, "dir")),
        "permission_denied untrusted_state"
    );
}

/// The system asks root for no permission, so another user does this.
#[test]
fn an_ordinary_user_is_told_what_may_not_be_done() {
    if !rustix::process::geteuid().is_root() {
        return as_an_ordinary_user();
    }
    use std::os::unix::process::CommandExt as _;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "modes::as_an_ordinary_user", "--ignored", "--nocapture"])
        .uid(65534)
        .gid(65534);
    child.env("TMPDIR", "/tmp");
    match child.current_dir("/").output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => testutils::skip!("{error}"),
    }
}

#[test]
#[ignore = "run by an_ordinary_user_is_told_what_may_not_be_done"]
fn as_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let tree = Tree::new(&[("hidden/f", "x"), ("locked/f", "x"), ("f", "x")]);
    // A directory that may be entered and changed, and not be listed.
    let hidden = tree.root.join("hidden");
    chmod(&hidden, 0o300);
    let root = Root::open(&hidden, policy()).unwrap();
    assert_eq!(root.read(&path(&root, "f"), 9).unwrap().0, b"x");
    assert!(Root::open(&tree.root.join("f"), policy()).is_err());
    let root = tree.open();
    let dirs = Dirs::new(&root);
    assert_eq!(verdict(dirs.place(&target(&root, "hidden/f"))), "fine");
    assert_eq!(verdict(dirs.check_writable(&path(&root, "hidden/f"))), "fine");
    // One that may not be changed.
    chmod(&tree.root.join("locked"), 0o500);
    assert_eq!(verdict(dirs.check_writable(&path(&root, "locked/f"))), "permission_denied io");
    // Secrets: one that is hidden is not as good as none; none is none.
    let keys = keys(&tree);
    chmod(&keys, 0o600);
    assert_eq!(verdict(fs_guard::secret(&keys, "key")), "permission_denied io");
    assert_eq!(verdict(fs_guard::existing_secret(&keys, "key")), "permission_denied io");
    chmod(&keys, 0o500);
    assert!(fs_guard::secret(&keys, "key").unwrap().is_some());
    assert!(fs_guard::secret(&keys, "other").unwrap().is_none());
    assert!(fs_guard::existing_secret(&keys, "other").unwrap().is_none());
    assert_eq!(fs_guard::find_secret(&keys, "other").unwrap(), FoundSecret::NoPlace);
    // Another user's directory hides nothing of this one's.
    if fs::metadata("/root").is_ok_and(|seen| seen.uid() == 0 && seen.mode() & 0o77 == 0) {
        assert!(fs_guard::secret("/root/none".as_ref(), "key").unwrap().is_none());
        assert!(fs_guard::secret("/root".as_ref(), "key").unwrap().is_none());
    }
    for dir in [&hidden, &tree.root.join("locked"), &keys] {
        chmod(dir, 0o700);
    }
}
