//! Power cuts: on a file system in a file, the process is killed at a call, and what the disk holds
//! at that instant (not what the kernel still remembers) is mounted and recovered. There are two
//! commits in a row, and what was acknowledged has to be there. (`reorder.rs` does the same on a
//! file system that is less helpful than any.)
//!
//! Needs root, loop devices and strace: `cargo test -p patch-engine --test engine -- --ignored
//! power`.

use std::fs;
use std::path::{Path, PathBuf};

use patch_engine::commit::KeyPlace;
use tempfile::TempDir;
use testutils::share::whole;

use super::killed::{points, strace_child};
use super::support::*;

struct Disk {
    dir: TempDir,
    options: &'static str,
}

impl Disk {
    fn image(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Mounts an image and gives its place to `use_it`.
    fn with<T>(&self, name: &str, use_it: impl FnOnce(&Path) -> T) -> Option<T> {
        let place = self.dir.path().join(format!("{name}.mnt"));
        fs::create_dir_all(&place).unwrap();
        let options = format!("loop{}", self.options);
        if !run(
            "mount",
            &["-o", &options, self.image(name).to_str().unwrap(), place.to_str().unwrap()],
        ) {
            return None;
        }
        let result = use_it(&place);
        assert!(run("umount", &[place.to_str().unwrap()]));
        Some(result)
    }
}

/// Cuts the power at every call; returns how often what was there was old, new (after one commit or
/// both) or neither.
fn cut_everywhere(
    mkfs: &[&str],
    options: &'static str,
    durability: &str,
    few: bool,
) -> Option<[usize; 3]> {
    let disk = Disk { dir: TempDir::new().unwrap(), options };
    let key = disk.dir.path().join("key");
    fs::write(disk.image("base"), []).unwrap();
    fs::File::options().write(true).open(disk.image("base")).unwrap().set_len(320 << 20).unwrap();
    if !run(mkfs[0], &[&mkfs[1..], &[disk.image("base").to_str().unwrap()]].concat()) {
        return None;
    }
    let tree_at = |place: &Path| place.join("tree");
    disk.with("base", |place| {
        for (path, text) in super::killed::FILES {
            let path = tree_at(place).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        run("sync", &[])
    })?;
    let fresh = || {
        assert!(run(
            "cp",
            &[disk.image("base").to_str().unwrap(), disk.image("live").to_str().unwrap()]
        ))
    };
    fresh();
    let log = disk.dir.path().join("log");
    let acknowledged = disk.dir.path().join("acknowledged");
    let (states, points) = disk.with("live", |place| {
        let tree = tree_at(place);
        let old = snapshot(&tree);
        strace_child(
            &tree,
            &key,
            durability,
            few,
            Some(&acknowledged),
            &["-o", log.to_str().unwrap()],
        )?
        .0
        .then_some(())?;
        let both = snapshot(&tree);
        let points = points(&fs::read_to_string(&log).unwrap());
        let workspace = open(&tree, KeyPlace::Directory(key.clone()));
        execute(&workspace, |workspace| workspace.plan_undo_last()).unwrap();
        Some(([old, snapshot(&tree), both], points))
    })??;
    let mut counts = [0; 3];
    let tried = points.iter().step_by(if whole() { 1 } else { 3 });
    // The last one is not killed: it was acknowledged, and has to be there.
    for point in tried.map(Some).chain([None]) {
        fresh();
        disk.with("live", |place| {
            let inject;
            let args: &[&str] = match point {
                Some((call, at)) => {
                    inject = format!("inject={call}:signal=KILL:when={at}");
                    &["-e", &inject, "-o", "/dev/null"]
                }
                None => &["-o", "/dev/null"],
            };
            let ran =
                strace_child(&tree_at(place), &key, durability, few, Some(&acknowledged), args);
            let succeeded = ran.as_ref().is_some_and(|(succeeded, _)| *succeeded);
            assert!(point.is_some() || succeeded, "the one that is not killed succeeds: {ran:?}");
            // What was not asked to be on the disk by now is lost.
            let copied = run(
                "cp",
                &[disk.image("live").to_str().unwrap(), disk.image("cut").to_str().unwrap()],
            );
            assert!(copied);
        })?;
        let now = disk.with("cut", |place| {
            let tree = tree_at(place);
            let workspace = open(&tree, KeyPlace::Directory(key.clone()));
            let recovered = workspace.lock(std::time::Duration::from_secs(1)).is_ok();
            (recovered, snapshot(&tree))
        })?;
        let least = fs::read(&acknowledged).unwrap().len();
        let found = states
            .iter()
            .position(|state| *state == now.1)
            .filter(|&found| now.0 && found >= least);
        let fine = found.is_some();
        counts[found.map_or(2, |found| found.min(1))] += 1;
        if !fine && durability == "full" {
            eprintln!("{mkfs:?} {options}: at {point:?}: {least} acknowledged, {now:#?}");
        }
    }
    Some(counts)
}

#[test]
#[ignore = "needs root, loop devices and strace; takes a minute"]
fn power_cuts_leave_all_or_nothing() {
    let mut ran = 0;
    for (mkfs, options) in [
        (&["mkfs.ext4", "-q", "-F"][..], ""),
        (&["mkfs.ext4", "-q", "-F"], ",dirsync,data=writeback,noauto_da_alloc"),
        (&["mkfs.xfs", "-q", "-f"], ""),
        (&["mkfs.xfs", "-q", "-f"], ",dirsync"),
        (&["mkfs.btrfs", "-q", "-f"], ""),
        (&["mkfs.btrfs", "-q", "-f"], ",dirsync"),
    ] {
        for few in [false, true] {
            let Some([old, new, wrong]) = cut_everywhere(mkfs, options, "full", few) else {
                testutils::skip!("{} {options}", mkfs[0]);
                continue;
            };
            eprintln!("{} {options}: {old} old, {new} new, {wrong} wrong", mkfs[0]);
            assert_eq!(wrong, 0, "{mkfs:?} {options}");
            assert!(old > 0);
            assert!(new > 0);
            ran += 1;
        }
        // The test has teeth: without syncs it finds what goes wrong.
        let Some([_, _, wrong]) = cut_everywhere(mkfs, options, "none", false) else { continue };
        eprintln!("{} {options} without syncs: {wrong} wrong", mkfs[0]);
        assert!(wrong > 0, "{mkfs:?} {options}: the control found nothing");
    }
    if ran == 0 {
        testutils::skip!("no root, no loop devices or no strace");
    }
}
