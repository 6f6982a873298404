//! Other programs that take diffs: `git apply` and GNU patch.

use crate::posix::{PermissionsExt as _, symlink};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;

use crate::tree::outside_state;

/// The mode of a symbolic link.
pub const LINK: u32 = 0o120_000;

/// Files and links by path: mode (that of a file tells only whether it can be run) and bytes.
pub type Snapshot = BTreeMap<String, (u32, Vec<u8>)>;

/// The files beneath a directory, but for the state of the program.
pub fn files(dir: &Path) -> Snapshot {
    let mut all = Snapshot::new();
    for (name, found) in outside_state(dir) {
        let path = found.path();
        let seen = fs::symlink_metadata(path).expect("it is there");
        if seen.is_symlink() {
            let target =
                fs::read_link(path).expect("a link").into_os_string().into_string().expect("UTF-8");
            all.insert(name, (LINK, target.into_bytes()));
        } else if seen.is_file() {
            let bytes = fs::read(path).expect("a file");
            all.insert(name, (seen.permissions().mode() & 0o100, bytes));
        }
    }
    all
}

/// Makes files and links.
pub fn write(dir: &Path, files: &Snapshot) {
    for (name, (mode, bytes)) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("beneath")).expect("a directory");
        if *mode == LINK {
            symlink(std::str::from_utf8(bytes).expect("UTF-8"), &path).expect("a link");
        } else {
            fs::write(&path, bytes).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644 | mode)).expect("a mode");
        }
    }
}

fn run(dir: &Path, program: &str, args: &[&str], diff: &[u8]) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        // No repository around it counts.
        .env("GIT_CEILING_DIRECTORIES", dir.parent().expect("a temporary directory"))
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it is installed");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(diff);
    let output = child.wait_with_output().expect("it ends");
    let said = || String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{program} {}: {}", args.join(" "), said()))
    }
}

/// Whether a program is there; when not, that is said once.
fn has(program: &str, told: &Once) -> bool {
    let there = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !there {
        told.call_once(|| crate::skip!("there is no {program}"));
    }
    there
}

/// What git and patch(1) make of a diff: `after` of `before`, and with git the way back.
pub fn check(diff: &[u8], before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    static GIT: Once = Once::new();
    static PATCH: Once = Once::new();
    let shown = String::from_utf8_lossy(diff).into_owned();
    if before == after || shown.lines().any(|line| line.starts_with("Binary files ")) {
        return Ok(());
    }
    let place = || {
        let dir = tempfile::tempdir().expect("a temporary directory");
        write(dir.path(), before);
        dir
    };
    let same = |found: Snapshot, wanted: &Snapshot, what: &str| {
        if found == *wanted {
            Ok(())
        } else {
            Err(format!("{what}: {found:?} is not {wanted:?}\n{shown}"))
        }
    };
    let told = |error: String| format!("{error}\n{shown}");
    // Where another file takes the place of one that moves away, git alone sees that both happen at
    // once, and not backwards.
    let replaced =
        |line: &str| line.strip_prefix("rename from ").is_some_and(|name| after.contains_key(name));
    let at_once = shown.lines().any(replaced);
    if has("git", &GIT) {
        let dir = place();
        let git = |args: &[&str]| {
            run(
                dir.path(),
                "git",
                &[&["apply", "--whitespace=nowarn"], args, &["-"]].concat(),
                diff,
            )
            .map_err(told)
        };
        git(&["--check"])?;
        git(&[])?;
        same(files(dir.path()), after, "git apply")?;
        // Git does not go back where another file took the place of one that moved away,
        let replaced = |line: &str| {
            line.strip_prefix("rename from ").is_some_and(|name| after.contains_key(name))
        };
        if !shown.lines().any(replaced) {
            git(&["-R"])?;
            // and gives a file that was deleted back without the right to run it.
            let goes = |name: &str| {
                !after.contains_key(name)
                    || shown.contains(&format!("diff --git a/{name} b/{name}\ndeleted file mode "))
            };
            let without_modes = |mut all: Snapshot| {
                all.iter_mut().filter(|(name, _)| goes(name)).for_each(|(_, file)| file.0 = 0);
                all
            };
            same(without_modes(files(dir.path())), &without_modes(before.clone()), "git apply -R")?;
        }
    }
    // Names that stand in no line of their own but git's patch takes to end where a blank is.
    let unclear = |line: &str| {
        line.starts_with("diff --git ") && (line.contains('"') || line.split(' ').count() > 4)
    };
    // A file may become a directory, or a directory a file.
    let beneath = |name: &str, other: &str| {
        name.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
    };
    let in_the_way =
        |name: &String| before.keys().any(|old| beneath(name, old) || beneath(old, name));
    let at_once = at_once || after.keys().any(in_the_way);
    if !at_once && !shown.lines().any(unclear) && has("patch", &PATCH) {
        let dir = place();
        run(
            dir.path(),
            "patch",
            &["-p1", "-f", "-F0", "--binary", "--no-backup-if-mismatch"],
            diff,
        )
        .map_err(told)?;
        same(files(dir.path()), after, "patch")?;
    }
    Ok(())
}
