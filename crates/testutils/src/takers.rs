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

/// Files and links by path, each with its mode (of a file only the right to run it) and its bytes.
pub type Snapshot = BTreeMap<String, (u32, Vec<u8>)>;

/// The files beneath a directory, without the state of the program.
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
        // Git does not look for a repository around the directory.
        .env("GIT_CEILING_DIRECTORIES", dir.parent().expect("a temporary directory"))
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it is installed");
    // The program may end before it has read the whole diff.
    let _ = child.stdin.take().expect("piped").write_all(diff);
    let output = child.wait_with_output().expect("it ends");
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&said)))
}

/// Whether a program is installed; if not, the skip is reported once.
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

/// Checks that git and patch(1) turn `before` into `after` by a diff, and that git reverses it.
pub fn check(diff: &[u8], before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    static GIT: Once = Once::new();
    static PATCH: Once = Once::new();
    let shown = String::from_utf8_lossy(diff).into_owned();
    if before == after || shown.lines().any(|line| line.starts_with("Binary files ")) {
        return Ok(());
    }
    // If a file takes the path of a moved file, git alone makes both changes at once, and does not
    // reverse them.
    let replaces = shown
        .lines()
        .filter_map(|line| line.strip_prefix("rename from "))
        .any(|name| after.contains_key(name));
    // A file may become a directory, or a directory a file.
    let is_in_the_way = after
        .keys()
        .any(|name| before.keys().any(|old| is_beneath(name, old) || is_beneath(old, name)));
    let mut checked = Ok(());
    if has("git", &GIT) {
        checked = check_git(diff, before, after, &shown, replaces);
    }
    if checked.is_ok()
        && !replaces
        && !is_in_the_way
        && !shown.lines().any(is_unclear)
        && has("patch", &PATCH)
    {
        checked = check_patch(diff, before, after);
    }
    checked.map_err(|error| format!("{error}\n{shown}"))
}

fn check_git(
    diff: &[u8],
    before: &Snapshot,
    after: &Snapshot,
    shown: &str,
    replaces: bool,
) -> Result<(), String> {
    let dir = placed(before);
    git_apply(dir.path(), diff, "--check")?;
    git_apply(dir.path(), diff, "--apply")?;
    same(&files(dir.path()), after, "git apply")?;
    if replaces {
        return Ok(());
    }
    git_apply(dir.path(), diff, "-R")?;
    // Git restores a deleted file without the right to run it.
    let mut found = files(dir.path());
    let mut wanted = before.clone();
    for (name, (mode, _)) in found.iter_mut().chain(&mut wanted) {
        if !after.contains_key(name)
            || shown.contains(&format!("diff --git a/{name} b/{name}\ndeleted file mode "))
        {
            *mode = 0;
        }
    }
    same(&found, &wanted, "git apply -R")
}

fn git_apply(dir: &Path, diff: &[u8], how: &str) -> Result<(), String> {
    run(dir, "git", &["apply", "--whitespace=nowarn", how, "-"], diff)
}

fn check_patch(diff: &[u8], before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    let dir = placed(before);
    let args = ["-p1", "-f", "-F0", "--binary", "--no-backup-if-mismatch"];
    run(dir.path(), "patch", &args, diff)?;
    same(&files(dir.path()), after, "patch")
}

/// A directory with these files.
fn placed(files: &Snapshot) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write(dir.path(), files);
    dir
}

fn same(found: &Snapshot, wanted: &Snapshot, what: &str) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} is not {wanted:?}")) }
}

/// Whether a line has the only names of a file, with blanks. For patch(1) a name ends at a blank.
fn is_unclear(line: &str) -> bool {
    line.starts_with("diff --git ") && (line.contains('"') || line.split(' ').count() > 4)
}

fn is_beneath(name: &str, other: &str) -> bool {
    name.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}
