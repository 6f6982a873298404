//! What is made durable, by the calls that were made for it.

use std::fs;

use fs_guard::fault::{self, Fault};
use fs_guard::record::{self, Act};
use fs_guard::{Dir, Dirs, SECTOR, SyncGroup};

use crate::support::*;

/// Makes files (with open handles or without), directories and directories of the project durable;
/// tells whether it was one call for all of the file system, and otherwise how many things were
/// synced.
fn synced(tree: &Tree, [open, closed, own_dirs, dirs]: [usize; 4], whole: bool) -> Option<usize> {
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    let stage = |n: usize, keep_open| {
        let spot = state.spot(&format!("{keep_open}{n}"));
        spot.remove().unwrap();
        spot.create(0o600).unwrap().finish(None, None, keep_open).unwrap()
    };
    let files: Vec<_> =
        (0..open).map(|n| stage(n, true)).chain((0..closed).map(|n| stage(n, false))).collect();
    let used = Dirs::new(&root);
    for n in 0..dirs {
        fs::create_dir_all(tree.root.join(format!("d{n}"))).unwrap();
        used.place(&target(&root, &format!("d{n}/x"))).unwrap();
    }
    assert_eq!(used.count(), dirs);
    let mut group = SyncGroup::new();
    files.iter().for_each(|file| group.file(file));
    (0..own_dirs).for_each(|_| group.dir(&state));
    group.dirs_of(&used);
    let whole: Option<&Dir> = whole.then_some(&state);
    record::record();
    group.sync(whole).unwrap();
    let acts = record::recorded();
    match acts[..] {
        [Act::SyncAll] => None,
        _ => {
            assert!(acts.iter().all(|act| matches!(act, Act::Sync(..))), "{acts:?}");
            Some(acts.len())
        }
    }
}

#[test]
fn everything_is_made_durable_by_itself_or_much_of_it_at_once() {
    let tree = Tree::new(&[]);
    // ext4 and tmpfs are made durable whole.
    let kind = rustix::fs::statfs(&tree.root).unwrap().f_type;
    if ![0xEF53, 0x0102_1994].contains(&kind) {
        return testutils::skip!("another file system, {kind:x}");
    }
    for things in [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [1, 1, 1, 1],
        [12, 0, 0, 0],
        [0, 12, 0, 0],
        [6, 6, 1, 3],
        [1, 0, 0, 12],
        [0, 0, 0, 12],
        [0, 0, 12, 0],
        [0, 0, 6, 6],
    ] {
        let all: usize = things.iter().sum();
        fault::busy(Some(true));
        assert_eq!(synced(&tree, things, true), Some(all), "{things:?}: others write much");
        fault::busy(Some(false));
        let at_once = synced(&tree, things, true);
        assert_eq!(at_once, if all < 5 { Some(all) } else { None }, "{things:?}");
        assert_eq!(
            synced(&tree, things, false),
            Some(all),
            "{things:?}: it is on several file systems"
        );
    }
    // Of however many bytes.
    let (state, _) = tree.open().create_state_dir().unwrap();
    let files: Vec<_> = (0..9)
        .map(|n| {
            let spot = state.spot(&format!("large{n}"));
            spot.create(0o600).unwrap();
            let file = fs::File::options().write(true).open(tree.root.join(spot.path())).unwrap();
            file.set_len(8 << 20).unwrap();
            spot.staged().unwrap()
        })
        .collect();
    let mut group = SyncGroup::new();
    files.iter().for_each(|file| group.file(file));
    record::record();
    group.sync(Some(&state)).unwrap();
    assert_eq!(record::recorded(), [Act::SyncAll]);
    fault::busy(None);
}

#[test]
fn what_cannot_be_made_durable_is_named() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let log = state.spot("log").append().unwrap();
    let file = state.spot("file").create(0o600).unwrap().finish(None, None, true).unwrap();
    let mut logs = SyncGroup::new();
    logs.log(&log);
    let mut files = SyncGroup::new();
    files.file(&file);
    let mut dirs = SyncGroup::new();
    dirs.dir(&state);
    let mut spots = SyncGroup::new();
    spots.spot(file.spot().clone());
    for (group, path) in
        [(logs, ".kept/log"), (files, ".kept/file"), (spots, ".kept/file"), (dirs, ".kept")]
    {
        fault::arm(Fault::Once(5), 1, false);
        let error = group.sync(None).unwrap_err();
        fault::disarm();
        assert_eq!(error.reason(), "io");
        assert_eq!(error.path(), Some(path));
    }
    fault::arm(Fault::Once(5), 1, false);
    assert_eq!(verdict(log.sync()), "failed io");
    assert_eq!(fault::disarm(), ["fsync"]);
    assert_eq!(state.path(), ".kept");
    assert_eq!(file.spot().name(), "file");
    assert_eq!(file.spot().dir().path(), ".kept");
}

#[test]
fn a_secret_is_durable_with_all_the_directories_that_were_made_for_it() {
    let tree = Tree::new(&[]);
    record::record();
    fs_guard::secret(&tree.outside.join("a/b/c"), "key").unwrap().unwrap();
    let acts = record::recorded();
    let outside = fs::canonicalize(&tree.outside).unwrap();
    for made_in in ["", "a", "a/b", "a/b/c"] {
        let dir = outside.join(made_in).to_str().unwrap().trim_end_matches('/').to_owned();
        assert!(
            acts.iter().any(|act| matches!(act, Act::Sync(_, path) if *path == dir)),
            "{dir}: {acts:?}"
        );
    }
}

#[test]
fn a_directory_is_opened_once_for_many_files() {
    let files = rustix::process::Resource::Nofile;
    let mut limit = rustix::process::getrlimit(files);
    if limit.current.is_some_and(|limit| limit < 512) {
        limit.current = limit.maximum.map_or(Some(512), |most| Some(most.min(512)));
        if limit.current < Some(512) || rustix::process::setrlimit(files, limit).is_err() {
            return testutils::skip!("few files can be open here");
        }
    }
    let names: Vec<String> = (0..40).map(|n| format!("d{n}/x")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "")).collect();
    let tree = Tree::new(&files);
    let root = tree.open();
    let dirs = Dirs::new(&root);
    let place = || names.iter().for_each(|name| drop(dirs.place(&target(&root, name)).unwrap()));
    place();
    fault::arm(Fault::Nothing, 0, true);
    place();
    assert_eq!(fault::disarm(), [""; 0]);
}

#[test]
fn a_log_knows_its_file() {
    let tree = Tree::new(&[("f", "x")]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    let log = state.spot("log").append().unwrap();
    log.append(b"line\n").unwrap();
    assert_eq!(log.opened_size(), 0);
    assert_eq!(state.spot("log").append().unwrap().opened_size(), 5);
    let log = state.spot("log").append().unwrap();
    let mut text = [0; 9];
    assert_eq!(log.read_at(&mut text, 1).unwrap(), 4);
    assert_eq!(text, *b"ine\n\0\0\0\0\0");
    log.append(b"end\n").unwrap();
    assert_eq!(log.read_at(&mut text, 0).unwrap(), 9);
    assert_eq!(text, *b"line\nend\n");
    assert_eq!(log.read_at(&mut text, 9).unwrap(), 0);
}

#[test]
fn what_was_written_is_recorded_with_its_mode() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    record::record();
    state.spot("f").create(0o600).unwrap();
    state.create_dir("d").unwrap();
    let acts = record::recorded();
    let [Act::Create(file, _, 0o600), Act::MakeDir(dir, _, 0o700)] = &acts[..] else {
        panic!("{acts:?}")
    };
    assert_eq!(&*file.name, "f");
    assert_eq!(&*dir.name, "d");
}

/// A file of the program's own can be overwritten if it has the size of a sector and one name.
#[test]
fn a_small_file_is_overwritten_where_it_is() {
    let (old, new) = ([b'o'; SECTOR], [b'n'; SECTOR]);
    for (before, is_sector) in [(Some(&old[..]), true), (Some(b"short"), false), (None, false)] {
        for (durable, has_two_names) in [(false, false), (true, false), (false, true)] {
            let tree = Tree::new(&[]);
            let (state, _) = tree.open().create_state_dir().unwrap();
            let spot = state.spot("own");
            if let Some(before) = before {
                spot.write(before, false).unwrap();
                if has_two_names {
                    fs::hard_link(tree.root.join(spot.path()), tree.root.join("other")).unwrap();
                }
            }
            let inode = spot.metadata().unwrap().map(|seen| seen.ino);
            let file = spot.sector_file();
            assert_eq!(file.is_some(), is_sector && !has_two_names);
            let Some(file) = file else { continue };
            assert_eq!(file.read().unwrap(), old);
            record::record();
            file.overwrite(&new, durable).unwrap();
            let syncs =
                record::recorded().iter().filter(|act| matches!(act, Act::Sync(..))).count();
            assert_eq!(syncs, usize::from(durable));
            let (bytes, seen) = spot.read(1024).unwrap();
            assert_eq!((&bytes[..], Some(seen.ino)), (&new[..], inode));
        }
    }
}
