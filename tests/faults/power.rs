//! Power cuts: what a disk holds at some instant (not what the kernel still remembers) is mounted
//! and judged. The key is on that disk too.
//!
//! Either the program is killed at a call, on a file system in a file, and that file is the disk.
//! Or it runs to its end on a disk in user space that writes down every write and flush
//! (`ci/disk`), and the disks that a power cut may leave are made from that list: all up to some
//! flush, and any part of what came between it and the next.
//!
//! Needs root and loop devices; the second also FUSE, and `LOGGED_DISK`, the path of that program.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use fs_guard::Sha256;

use super::table::{Operation, operations};
use super::{Ended, Place, Reference, judge, reference};

/// How file systems are made, how large, and how they are mounted: as usual, and so that they order
/// as little as they can.
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
    fn new(image: &Path, place: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir_all(&place).expect("a folder");
        run("mount", &["-o", options, text(image), text(&place)]).then(|| Self(place))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(run("umount", &[text(&self.0)]), "what is mounted comes off");
    }
}

/// A file system on which an operation can be tried.
struct Disk {
    dir: tempfile::TempDir,
    options: &'static str,
    made: Reference,
}

impl Disk {
    /// Makes the file system, with all that the operation needs. `None` where that cannot be done.
    fn new(
        operation: &Operation,
        (mkfs, size, options): (&[&str], u64, &'static str),
    ) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().join("base");
        let file = File::create(&base).expect("a file");
        file.set_len(size << 20).expect("a sparse file");
        if !run(mkfs[0], &[&mkfs[1..], &[text(&base)]].concat()) {
            return None;
        }
        let mounted = Mounted::new(&base, base.with_extension("mnt"), options)?;
        let place = Place::new(mounted.0.join("p"), "");
        let made = reference(operation, &place);
        place.copy(&made.template);
        assert!(run("sync", &[]));
        drop(mounted);
        Some(Self { dir, options, made })
    }

    fn image(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn copy(&self, from: &str, to: &str) {
        assert!(run("cp", &["--sparse=always", text(&self.image(from)), text(&self.image(to))]));
    }

    /// Does something in the files of the disk of that name.
    fn with<T>(&self, name: &str, does: impl FnOnce(&Place) -> T) -> Option<T> {
        let mounted =
            Mounted::new(&self.image(name), self.image(name).with_extension("mnt"), self.options)?;
        Some(does(&Place::new(mounted.0.join("p"), "")))
    }
}

/// Cuts the power at every call, or at one in `step`; how often, and all that was wrong. `None`
/// where that cannot be done.
fn cut(
    operation: &Operation,
    disk: (&'static [&str], u64, &'static str),
    step: usize,
) -> Option<(usize, Vec<String>)> {
    let disk = Disk::new(operation, disk)?;
    let (mut points, mut lies) = (0, Vec::new());
    let writes = disk.made.calls.iter().enumerate().filter(|(_, (_, writes))| *writes);
    let writes = writes.skip(step / 2).step_by(step).map(|(at, (call, _))| (at + 1, &**call));
    // The last one is not killed: what was acknowledged has to be there.
    for (at, call) in writes.chain([(0, "the end")]) {
        disk.copy("base", "live");
        let ended = disk.with("live", |place| {
            let ended = place.run(&operation.command, &format!("kill {at} 0"), None);
            disk.copy("live", "cut");
            ended
        })?;
        let found = disk.with("cut", |place| judge(operation, &disk.made, place, &ended))?;
        points += 1;
        lies.extend(
            found.into_iter().map(|lie| format!("{} at call {at} ({call}): {lie}", operation.name)),
        );
    }
    Some((points, lies))
}

/// The disk in user space, as a file in a folder.
struct Logged {
    program: Child,
    folder: PathBuf,
}

impl Logged {
    fn new(program: &str, image: &Path, log: &Path) -> Option<Self> {
        let folder = image.with_extension("fuse");
        fs::create_dir_all(&folder).expect("a folder");
        let mut command = Process::new(program);
        command.arg(image).arg(&folder).arg(log).stdin(Stdio::null()).stdout(Stdio::null());
        let mut program = command.spawn().expect("the disk starts");
        for _ in 0..100 {
            if folder.join("disk").exists() {
                return Some(Self { program, folder });
            }
            if program.try_wait().expect("it is our child").is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the disk is not there");
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        // The loop device lets go of it some time after what is on it was unmounted.
        let comes_off = (0..100).any(|_| {
            let comes_off = run("umount", &[text(&self.folder)]);
            if !comes_off {
                std::thread::sleep(Duration::from_millis(50));
            }
            comes_off
        });
        assert!(comes_off, "the disk goes");
        assert!(self.program.wait().is_ok(), "the disk goes");
    }
}

/// The writes between two flushes: where, and what.
type Writes = Vec<(u64, Vec<u8>)>;

/// Reads the log of a disk: the writes before the first flush, before the second, and so on.
fn flushes(log: &[u8]) -> Vec<Writes> {
    let (mut all, mut at) = (vec![Writes::new()], 0);
    let number = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().expect("eight bytes"));
    while at < log.len() {
        let (offset, len) = (number(at), number(at + 8) as usize);
        let bytes = &log[at + 16..at + 16 + len];
        at += 16 + len;
        match offset {
            u64::MAX => all.push(Writes::new()),
            _ => all.last_mut().expect("there is one").push((offset, bytes.to_vec())),
        }
    }
    all
}

/// Which of the writes since the last flush a disk keeps.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Nothing,
    All,
    /// Some writes, by chance.
    Writes(u32),
    /// Some blocks of 4096 bytes, by chance; file systems take for granted that one is written
    /// whole.
    Blocks(u32),
}

impl Kept {
    fn write(self, image: &File, flush: usize, writes: &Writes) {
        const BLOCK: usize = 4096;
        // As good as a coin, and the same each time, but with another `FAULTS_SEED`.
        let seed = std::env::var("FAULTS_SEED").unwrap_or_default();
        let coin = |which: u32, write: usize, block: usize| {
            Sha256::of(format!("{seed} {which} {flush} {write} {block}").as_bytes()).0[0] < 128
        };
        for (nth, (offset, bytes)) in writes.iter().enumerate() {
            for (block, part) in bytes.chunks(BLOCK).enumerate() {
                let kept = match self {
                    Self::Nothing => false,
                    Self::All => true,
                    Self::Writes(which) => coin(which, nth, 0),
                    Self::Blocks(which) => coin(which, nth, block),
                };
                if kept {
                    image
                        .write_all_at(part, offset + (block * BLOCK) as u64)
                        .expect("the image can be written");
                }
            }
        }
    }
}

/// Runs an operation on a disk that logs, and judges the disks that a power cut may leave, or one
/// in `step` of them.
fn cut_between_flushes(
    program: &str,
    operation: &Operation,
    disk: (&'static [&str], u64, &'static str),
    step: usize,
) -> Option<(usize, Vec<String>)> {
    let disk = Disk::new(operation, disk)?;
    disk.copy("base", "live");
    let (log, (before, after)) = {
        let logged = Logged::new(program, &disk.image("live"), &disk.image("log"))?;
        let mounted =
            Mounted::new(&logged.folder.join("disk"), disk.image("live.mnt"), disk.options)?;
        let log = || fs::read(disk.image("log")).expect("the log");
        let before = log().len();
        let ended = Place::new(mounted.0.join("p"), "").run(&operation.command, "", None);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let log = log();
        let flushed = flushes(&log[..before]).len();
        let all = flushes(&log);
        let last = all.len() - 1;
        (all, (flushed - 1, last))
    };
    let image = |name| OpenOptions::new().write(true).open(disk.image(name)).expect("an image");
    disk.copy("base", "durable");
    let durable = image("durable");
    let (mut points, mut lies, mut nth) = (0, Vec::new(), step / 2);
    for (at, writes) in log.iter().enumerate() {
        let kept = [
            Kept::Nothing,
            Kept::All,
            Kept::Writes(0),
            Kept::Writes(1),
            Kept::Blocks(2),
            Kept::Blocks(3),
        ];
        for kept in kept.into_iter().filter(|_| at >= before) {
            // After the last flush it has ended well, and what it did has to be there.
            let code = (at == after).then_some(0);
            nth += 1;
            if !nth.is_multiple_of(step) && code.is_none() {
                continue;
            }
            disk.copy("durable", "cut");
            kept.write(&image("cut"), at, writes);
            points += 1;
            let ended = Ended { code, text: String::new() };
            let found = disk.with("cut", |place| judge(operation, &disk.made, place, &ended));
            let found = found.unwrap_or_else(|| vec!["it cannot be mounted".into()]);
            let what = format!(
                "{} after flush {at} of {after}, {kept:?} of {} writes",
                operation.name,
                writes.len()
            );
            lies.extend(found.into_iter().map(|lie| format!("{what}: {lie}")));
        }
        Kept::All.write(&durable, at, writes);
    }
    Some((points, lies))
}

/// The operations that are tried, on every disk.
fn try_all(
    what: &str,
    cut: impl Fn(
        &Operation,
        (&'static [&str], u64, &'static str),
        usize,
    ) -> Option<(usize, Vec<String>)>,
) {
    let step = if std::env::var_os("FAULTS_ALL").is_some() { 1 } else { 10 };
    let only = std::env::var("FAULTS").unwrap_or_default();
    let all = operations();
    let wanted = ["apply, for the first time", "apply", "undo of a tree", "delete_file, recursive"];
    let wanted =
        |operation: &&Operation| wanted.contains(&operation.name) && operation.name.contains(&only);
    for &disk in DISKS {
        for operation in all.iter().filter(wanted) {
            let Some((points, lies)) = cut(operation, disk, step) else {
                testutils::skip!("{what} on {}", disk.0[0]);
                continue;
            };
            eprintln!(
                "| {} | {what} | {} {} | {points} | {} |",
                operation.name,
                disk.0[0],
                disk.2,
                lies.len()
            );
            assert!(lies.is_empty(), "{disk:?}: {points} points: {lies:#?}");
            assert!(points > 2, "{disk:?}: {points} points: {lies:#?}");
        }
        // It has teeth: without syncs it finds what goes wrong.
        let mut unsynced = operations().remove(1);
        unsynced.command.args.extend(["--durability".into(), "none".into()]);
        if let Some((points, lies)) = cut(&unsynced, disk, 1000) {
            eprintln!("{} without syncs, {what}: {} wrong in {points}", disk.0[0], lies.len());
            assert!(!lies.is_empty(), "{disk:?}: the control found nothing");
        }
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn power_cuts_leave_nothing_to_lie_about() {
    try_all("power cut", cut);
}

#[test]
#[ignore = "needs root, loop devices and FUSE"]
fn power_cuts_between_flushes_leave_nothing_to_lie_about() {
    let Ok(program) = std::env::var("LOGGED_DISK") else {
        testutils::skip!("power cuts between flushes (LOGGED_DISK does not name a program)");
        return;
    };
    try_all("power cut between flushes", |operation, disk, step| {
        cut_between_flushes(&program, operation, disk, step)
    });
}
