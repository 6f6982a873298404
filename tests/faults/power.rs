//! Power cuts: the program is killed at a call, on a file system in a file, and what the disk holds at that instant (not what the
//! kernel still remembers) is mounted and judged. The key is on that disk too.
//!
//! Needs root and loop devices.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use super::table::{Operation, operations};
use super::{Place, judge, reference};

/// How file systems are made, how large, and how they are mounted: as usual, and so that they order as little as they can.
const DISKS: &[(&[&str], u64, &str)] = &[
    (&["mkfs.ext4", "-q", "-F"], 24, "loop"),
    (&["mkfs.ext4", "-q", "-F"], 24, "loop,dirsync,data=writeback,noauto_da_alloc"),
    (&["mkfs.xfs", "-q", "-f"], 320, "loop"),
    (&["mkfs.btrfs", "-q", "-f"], 128, "loop"),
];

fn run(program: &str, args: &[&str]) -> bool {
    Process::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// A mounted image.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, options: &str) -> Option<Self> {
        let place = image.with_extension("mnt");
        fs::create_dir_all(&place).expect("a folder");
        run("mount", &["-o", options, text(image), text(&place)]).then_some(Self(place))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(run("umount", &[text(&self.0)]), "what is mounted comes off");
    }
}

/// Cuts the power at every call, or a tenth of them; how often, and all that was wrong. `None` where that cannot be done.
fn cut(
    operation: &Operation,
    (mkfs, size, options): (&[&str], u64, &str),
    step: usize,
) -> Option<(usize, Vec<String>)> {
    let dir = tempfile::tempdir().expect("a folder");
    let image = |name: &str| dir.path().join(name);
    let file = fs::File::create(image("base")).expect("a file");
    file.set_len(size << 20).expect("a sparse file");
    if !run(mkfs[0], &[&mkfs[1..], &[text(&image("base"))]].concat()) {
        return None;
    }
    let made = {
        let base = Mounted::new(&image("base"), options)?;
        let made = reference(operation, "", &base.0);
        Place { dir: base.0.join("p"), lacks: "" }.copy(&made.template);
        assert!(run("sync", &[]));
        made
    };
    let copy = |from: &str, to: &str| assert!(run("cp", &["--sparse=always", text(&image(from)), text(&image(to))]));
    let (mut points, mut lies) = (0, Vec::new());
    let writes = made.calls.iter().enumerate().filter(|(_, (_, writes))| *writes);
    let writes = writes.skip(step / 2).step_by(step).map(|(at, (call, _))| (at + 1, &**call));
    // The last one is not killed: what was acknowledged has to be there.
    for (at, call) in writes.chain([(0, "the end")]) {
        copy("base", "live");
        let ended = {
            let live = Mounted::new(&image("live"), options)?;
            let place = Place { dir: live.0.join("p"), lacks: "" };
            let ended = place.run(&operation.command, &format!("kill {at} 0"), None);
            copy("live", "cut");
            ended
        };
        let disk = Mounted::new(&image("cut"), options)?;
        let place = Place { dir: disk.0.join("p"), lacks: "" };
        points += 1;
        let found = judge(operation, &made, &place, &ended);
        lies.extend(found.into_iter().map(|lie| format!("{} at call {at} ({call}): {lie}", operation.name)));
    }
    Some((points, lies))
}

#[test]
#[ignore = "needs root and loop devices"]
fn power_cuts_leave_nothing_to_lie_about() {
    let step = if std::env::var_os("FAULTS_ALL").is_some() { 1 } else { 10 };
    let all = operations();
    let wanted = ["apply, for the first time", "apply", "undo of a tree", "delete_file, recursive"];
    for &disk in DISKS {
        for operation in all.iter().filter(|operation| wanted.contains(&operation.name)) {
            let Some((points, lies)) = cut(operation, disk, step) else {
                eprintln!("skipped: power cuts on {}", disk.0[0]);
                continue;
            };
            eprintln!("| {} | power cut | {} {} | {points} | {} |", operation.name, disk.0[0], disk.2, lies.len());
            assert!(lies.is_empty() && points > 2, "{disk:?}: {points} points: {lies:#?}");
        }
        // It has teeth: without syncs it finds what goes wrong.
        let mut unsynced = operations().remove(1);
        unsynced.command.args.extend(["--durability".into(), "none".into()]);
        if let Some((points, lies)) = cut(&unsynced, disk, 1000) {
            eprintln!("{} without syncs: {} wrong in {points}", disk.0[0], lies.len());
            assert!(!lies.is_empty(), "{disk:?}: the control found nothing");
        }
    }
}
