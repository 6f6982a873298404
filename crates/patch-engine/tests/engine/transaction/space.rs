//! A disk that is really full: small memory file systems of every size and number of inodes, from
//! one that just holds the files to one where a patch of twelve sections fits.
//!
//! Needs a kernel that lets this user mount in a namespace of its own (`unshare -Urm`); disks of
//! other kinds need root. With `APPLY_PATCH_BIN` the program of that name applies the patch,
//! otherwise the library does.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use patch_engine::ErrorKind;
use patch_engine::commit::{KeyPlace, Workspace};
use patch_engine::{ApplyOptions, Options, parse};

use super::support::{run, snapshot};
use testutils::tree::outside_state;

const PAGE: usize = 4096;

/// Twelve sections: additions, updates, deletes, moves, a chain of renames.
const PATCH: &str = "\
*** Begin Patch
*** Add File: new
+one
*** Add File: x/y/new
+two
*** Update File: a
@@
-the line to change of a
+the line that was changed of a
*** Update File: d/b
@@
-the line to change of d/b
+two lines
+where one was
*** Update File: large
@@
-the line to change of large
*** Delete File: gone
*** Delete File: d/gone
*** Update File: from
*** Move to: x/to
*** Update File: d/moved and changed
*** Move to: moved and changed
@@
-the line to change of d/moved and changed
+changed
*** Update File: chain2
*** Move to: chain3
*** Update File: chain1
*** Move to: chain2
*** Add File: d/added
+three
*** End Patch
";

/// One before that, so that there is a state directory.
const FIRST: &str =
    "*** Begin Patch\n*** Update File: bystander\n@@\n first line\n+second\n*** End Patch\n";

/// The files of before and their sizes in pages.
const FILES: &[(&str, usize)] = &[
    ("a", 1),
    ("d/b", 2),
    ("large", 7),
    ("gone", 1),
    ("d/gone", 2),
    ("from", 2),
    ("d/moved and changed", 3),
    ("chain1", 1),
    ("chain2", 1),
    ("bystander", 1),
];

const DIRS: usize = 2; // `tree` and `tree/d`

fn content(name: &str, pages: usize) -> String {
    let mut text = format!("first line\nthe line to change of {name}\n");
    while text.len() < pages * PAGE - 100 {
        text.push_str("some line that nobody looks at\n");
    }
    text
}

/// Everything that a failure must leave as it was: inodes and times too.
type Exact = BTreeMap<String, (u64, u32, i64, i64, u64)>;

fn exact(root: &Path) -> Exact {
    let noted = |name: String, path: &Path| {
        let seen = fs::symlink_metadata(path).unwrap();
        (name, (seen.ino(), seen.mode(), seen.mtime(), seen.mtime_nsec(), seen.size()))
    };
    let below = outside_state(root).map(|(name, entry)| noted(name, entry.path()));
    std::iter::once(noted(String::new(), root)).chain(below).collect()
}

/// A small file system, mounted.
struct Small<'s> {
    place: &'s Path,
}

impl<'s> Small<'s> {
    fn mount(place: &'s Path, limits: &str) -> Self {
        assert!(
            run("mount", &["-t", "tmpfs", "-o", limits, "none", place.to_str().unwrap()]),
            "mount with {limits}"
        );
        Self { place }
    }

    fn grow(&self) {
        assert!(self.remount("size=64m,nr_inodes=10000"));
    }

    /// Whether it has these limits now. As all of it is said, mount(8) takes no options from the mount:
    /// the owner, which it has there, nobody but root may set.
    fn remount(&self, limits: &str) -> bool {
        let options = format!("remount,{limits}");
        let place = self.place.to_str().unwrap();
        run("mount", &["-n", "-i", "-t", "tmpfs", "-o", &options, "none", place])
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        assert!(run("umount", &[self.place.to_str().unwrap()]));
    }
}

/// Writes the files; fails when even they do not fit.
fn write_files(tree: &Path) -> std::io::Result<()> {
    fs::create_dir_all(tree.join("d"))?;
    for (name, pages) in FILES {
        fs::write(tree.join(name), content(name, *pages))?;
    }
    Ok(())
}

/// Applies a patch; what went wrong is told.
fn patch(tree: &Path, key: &Path, text: &str) -> Result<(), String> {
    if let Some(program) = std::env::var_os("APPLY_PATCH_BIN") {
        return patch_with(Path::new(&program), tree, key, text);
    }
    let workspace = Workspace::open(tree, patch_engine::policy())
        .unwrap()
        .with_key_place(KeyPlace::Directory(key.join("apply-patch")));
    let mut settings = ApplyOptions::new(Options { create_parents: true, ..Options::default() });
    settings.commit.lock_timeout = Duration::from_secs(1);
    let text = parse(text, &settings.options.parse).unwrap();
    let Err(failed) = workspace.apply(&text, &settings, &mut ()) else { return Ok(()) };
    let error = failed.error;
    assert_eq!(error.kind(), ErrorKind::CommandFailed, "{error}");
    Err(error.to_string())
}

fn patch_with(program: &Path, tree: &Path, key: &Path, text: &str) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(["--json", "--create-parents", "-C"])
        .arg(tree)
        .env("XDG_STATE_HOME", key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{shown}");
    assert!(shown.contains("command_failed"), "{shown}");
    Err(shown)
}

/// One file system with room for the files and a bit more; tells whether the patch found room, or
/// nothing when not even the files did.
fn with_room_for(place: &Path, key: &Path, limits: &str, with_state: bool) -> Option<bool> {
    let small = Small::mount(place, if with_state { "size=64m" } else { limits });
    let tree = place.join("tree");
    write_files(&tree).ok()?;
    if with_state {
        patch(&tree, key, FIRST).unwrap();
        // Below what is there already the kernel does not go.
        if !small.remount(limits) {
            return None;
        }
    }
    Some(all_or_nothing(&tree, key, limits, with_state, &|| small.grow()))
}

/// Applies the patch on what may be a full disk, and looks at everything; tells whether it fitted.
fn all_or_nothing(
    tree: &Path,
    key: &Path,
    limits: &str,
    with_state: bool,
    grow: &dyn Fn(),
) -> bool {
    let snapshot = || snapshot(tree);
    let exactly = || {
        let mut all = exact(tree);
        // The program writes down failed calls too: then there is a state directory from then on.
        if !with_state && std::env::var_os("APPLY_PATCH_BIN").is_some() {
            all.remove("");
        }
        all
    };
    let unfinished = || fs::read_dir(tree.join(".apply-patch/pending")).map_or(0, Iterator::count);
    let (old, before) = (snapshot(), exactly());
    let result = patch(tree, key, PATCH);
    if let Err(error) = &result {
        assert!(error.contains("No space left on device"), "{limits}: {error}");
        assert_eq!(snapshot(), old, "{limits}: {error}");
        assert_eq!(exactly(), before, "{limits}: {error}");
        assert_eq!(unfinished(), 0, "{limits}: {error}");
        if !with_state && std::env::var_os("APPLY_PATCH_BIN").is_none() {
            assert!(!tree.join(".apply-patch").exists(), "{limits}: {error}");
        }
        // Nothing that it left is in the way of the next one.
        grow();
        patch(tree, key, PATCH).unwrap();
    }
    let new = snapshot();
    assert!(new.contains_key("x/y/new"), "{new:?}");
    assert!(new.contains_key("chain3"), "{new:?}");
    assert!(!new.contains_key("chain1"), "{new:?}");
    assert!(new["a"].contains("was changed of a"));
    assert!(new["large"].len() < old["large"].len());
    assert_eq!(new.len(), old.len() + 3, "{new:?}");
    assert_eq!(unfinished(), 0);
    let workspace = Workspace::open(tree, patch_engine::policy()).unwrap();
    let workspace = workspace.with_key_place(KeyPlace::Directory(key.join("apply-patch")));
    let log = workspace.log().unwrap();
    assert_eq!(log.len(), 1 + usize::from(with_state), "one for each patch that happened");
    result.is_ok()
}

/// Runs in the namespace.
#[test]
#[ignore = "run by the test of full disks"]
fn inside() {
    let Some(key) = std::env::var_os("KEY") else { return };
    let key = Path::new(&key);
    let place = key.join("mnt");
    fs::create_dir(&place).unwrap();
    let pages = FILES.iter().map(|(_, pages)| pages).sum::<usize>();
    let inodes = FILES.len() + DIRS + 1;
    sweep_many(&place, key);
    for with_state in [false, true] {
        type Limits = fn(usize) -> String;
        let kinds: [(&str, usize, Limits); 2] = [
            ("pages", pages, |at| format!("size={},nr_inodes=10000", at * PAGE)),
            ("inodes", inodes, |at| format!("size=64m,nr_inodes={at}")),
        ];
        for (what, least, limits) in kinds {
            let (mut full, mut fits, mut at) = (0, 0, least);
            while fits < 3 {
                match with_room_for(&place, key, &limits(at), with_state) {
                    None => {}
                    Some(false) => full += 1,
                    Some(true) => fits += 1,
                }
                at += 1;
                assert!(at < least + 200, "it never fits");
            }
            println!("swept {what}: {full} too small");
            assert!(full > 8, "{what}: the disk was not full");
        }
    }
}

/// So many new files: somewhere among them the room ends.
fn sweep_many(place: &Path, key: &Path) {
    let text: String = (0..200).map(|n| format!("*** Add File: f{n}\n+line {n}\n")).collect();
    let text = format!("*** Begin Patch\n{text}*** End Patch\n");
    let (mut full, mut fits) = (0, 0);
    for inodes in (20..=240).step_by(11) {
        let small = Small::mount(place, &format!("size=64m,nr_inodes={inodes}"));
        let tree = place.join("tree");
        fs::create_dir(&tree).unwrap();
        let names = || {
            fs::read_dir(&tree)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        };
        let result = patch(&tree, key, &text);
        let files = names().filter(|name| name != ".apply-patch").count();
        match result {
            Ok(()) => assert_eq!(files, 200, "{inodes} inodes"),
            Err(error) => {
                assert!(error.contains("No space left on device"), "{inodes} inodes: {error}");
                assert_eq!(files, 0, "{inodes} inodes: {error}");
                let pending = fs::read_dir(tree.join(".apply-patch/pending"));
                assert_eq!(pending.map_or(0, Iterator::count), 0, "{inodes} inodes: {error}");
                full += 1;
                small.grow();
                patch(&tree, key, &text).unwrap();
                continue;
            }
        }
        fits += 1;
    }
    println!("swept many: {full} too small");
    assert!(full > 8, "{full} too small, {fits} large enough");
    assert!(fits > 0, "{full} too small, {fits} large enough");
}

#[test]
fn a_disk_that_is_really_full_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let namespace = |program: &Path| {
        let mut command = Command::new("unshare");
        command.arg("-Urm").arg(program);
        command
    };
    let place = dir.path().join("probe");
    fs::create_dir(&place).unwrap();
    let probe = namespace(Path::new("mount"))
        .args(["-t", "tmpfs", "-o", "size=64k,nr_inodes=9", "none"])
        .arg(&place)
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        testutils::skip!("file systems cannot be mounted in a namespace here");
        return;
    }
    let output = namespace(&std::env::current_exe().unwrap())
        .args([
            "--exact",
            "transaction::space::inside",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("KEY", dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    for line in text.lines().filter(|line| line.contains("swept ")) {
        eprintln!("{line}");
    }
}

/// A file that takes what room there is, but for some pages. (Where files are never written in
/// place, a full disk has no room to cut one short; so it is written twice.)
fn fill(place: &Path, leave: usize) {
    let mut file = fs::File::create(place).unwrap();
    let mut room = 0;
    for chunk in [1 << 20, 1 << 16, PAGE] {
        while file.write_all(&vec![1; chunk]).and_then(|()| file.sync_data()).is_ok() {
            room += chunk;
        }
    }
    drop(file);
    fs::remove_file(place).unwrap();
    assert!(run("sync", &["-f", place.parent().unwrap().to_str().unwrap()]));
    let mut file = fs::File::create(place).unwrap();
    // It may not all fit a second time.
    let _ =
        file.write_all(&vec![1; room.saturating_sub(leave * PAGE)]).and_then(|()| file.sync_all());
}

/// Disks allocate late and keep reserves: there it is not known before the sync what fits.
#[test]
#[ignore = "needs root and loop devices"]
fn full_disks_of_other_kinds_leave_everything_as_it_was() {
    for (mkfs, megabytes, room, step) in [
        (&["mkfs.ext4", "-q", "-F", "-m", "0"][..], 16, 512, 1),
        (&["mkfs.xfs", "-q", "-f"], 320, 512, 1),
        (&["mkfs.btrfs", "-q", "-f", "--mixed"], 128, 3000, 30),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (image, place) = (dir.path().join("image"), dir.path().join("mnt"));
        fs::create_dir(&place).unwrap();
        fs::File::create(&image).unwrap().set_len(megabytes << 20).unwrap();
        let made = run(mkfs[0], &[&mkfs[1..], &[image.to_str().unwrap()]].concat());
        if !made || !run("mount", &["-o", "loop", image.to_str().unwrap(), place.to_str().unwrap()])
        {
            testutils::skip!("{}", mkfs[0]);
            continue;
        }
        let small = Small { place: &place };
        fill(&place.join("ballast"), room);
        let (mut full, mut fits) = (0, 0);
        for with_state in [false, true] {
            for leave in (0..96).step_by(6).map(|pages| pages * step) {
                let tree = place.join("tree");
                write_files(&tree).unwrap();
                if with_state {
                    patch(&tree, dir.path(), FIRST).unwrap();
                }
                let filler = place.join("filler");
                fill(&filler, leave);
                let grow = || {
                    fs::remove_file(&filler).unwrap();
                    assert!(run("sync", &["-f", place.to_str().unwrap()]));
                };
                let limits = format!("{} with {leave} pages", mkfs[0]);
                if all_or_nothing(&tree, dir.path(), &limits, with_state, &grow) {
                    fits += 1;
                    grow();
                } else {
                    full += 1;
                }
                fs::remove_dir_all(&tree).unwrap();
            }
        }
        drop(small);
        eprintln!("{}: {full} times too small, {fits} times enough", mkfs[0]);
        assert!(full > 0, "{}: {full}, {fits}", mkfs[0]);
        assert!(fits > 0, "{}: {full}, {fits}", mkfs[0]);
    }
}
