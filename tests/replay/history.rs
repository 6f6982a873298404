//! Histories: the commits of a git repository, or releases that lie side by side.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use testutils::tree::{DirEntry, beneath};
use testutils::write::{Kind, Tree, TreeFile};

/// Files by path.
pub(crate) type Files = BTreeMap<String, (Vec<u8>, Kind)>;

/// One change of a tree: the files that differ, before and after.
pub(crate) struct Commit {
    pub(crate) name: String,
    pub(crate) before: Files,
    pub(crate) after: Files,
}

impl Commit {
    /// Its files as the trees that a patch is written of.
    pub(crate) fn trees(&self) -> (Tree<'_>, Tree<'_>) {
        fn tree(files: &Files) -> Tree<'_> {
            files
                .iter()
                .map(|(path, (bytes, kind))| (&**path, TreeFile { bytes, kind: *kind }))
                .collect()
        }
        (tree(&self.before), tree(&self.after))
    }

    /// The files that are there before and after, and differ in their bytes.
    pub(crate) fn updates(&self) -> impl Iterator<Item = (&str, &[u8], &[u8])> {
        self.before.iter().filter_map(|(path, (before, kind))| {
            let (after, after_kind) = self.after.get(path)?;
            let plain = *kind != Kind::Other && *after_kind != Kind::Other;
            (plain && before != after).then_some((&**path, &**before, &**after))
        })
    }
}

/// Calls `each` with the commits of the repository, or the releases in `dir`, that are `wanted` by
/// their number, oldest first.
///
/// A directory that is not a repository holds one release in each of its directories; their names
/// sort as versions do.
pub(crate) fn read(
    dir: &Path,
    wanted: &dyn Fn(usize) -> bool,
    each: &mut dyn FnMut(Commit),
) -> Result<(), String> {
    if dir.join(".git").exists() { git(dir, wanted, each) } else { releases(dir, wanted, each) }
}

/// The commits that have one parent or none.
fn git(
    dir: &Path,
    wanted: &dyn Fn(usize) -> bool,
    each: &mut dyn FnMut(Commit),
) -> Result<(), String> {
    let ids = run(dir, &["rev-list", "--reverse", "--no-merges", "HEAD"], "")?;
    let ids = String::from_utf8(ids).map_err(|error| error.to_string())?;
    let ids = ids.split_inclusive('\n').enumerate().filter(|(nth, _)| wanted(*nth));
    let ids: String = ids.map(|(_, id)| id).collect();
    let raw =
        run(dir, &["diff-tree", "--stdin", "-r", "-z", "--raw", "--root", "--no-renames"], &ids)?;
    let mut blobs = Blobs::open(dir).map_err(|error| error.to_string())?;
    let mut commit: Option<Commit> = None;
    let mut words =
        raw.split(|&byte| byte == 0).map(String::from_utf8_lossy).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let Some(record) = word.strip_prefix(':') else {
            let next = Commit {
                name: word.trim().chars().take(12).collect(),
                before: Files::new(),
                after: Files::new(),
            };
            if let Some(done) = commit.replace(next) {
                each(done);
            }
            continue;
        };
        let fields: Vec<&str> = record.split(' ').collect();
        let path = words.next().ok_or("a record without a path")?.into_owned();
        let commit = commit.as_mut().ok_or("a record without a commit")?;
        let [old_mode, new_mode, old, new, ..] = fields[..] else {
            return Err(format!("{record:?} is not a record"));
        };
        for (mode, id, files) in
            [(old_mode, old, &mut commit.before), (new_mode, new, &mut commit.after)]
        {
            let file = match mode {
                "000000" => continue,
                "100644" | "100755" => match blobs.read(id).map_err(|error| error.to_string())? {
                    Some(bytes) if mode == "100755" => (bytes, Kind::Executable),
                    Some(bytes) => (bytes, Kind::Plain),
                    None => (id.as_bytes().to_vec(), Kind::Other),
                },
                _ => (id.as_bytes().to_vec(), Kind::Other),
            };
            files.insert(path.clone(), file);
        }
    }
    if let Some(last) = commit {
        each(last);
    }
    Ok(())
}

/// A file that both sides of a merge changed.
pub(crate) struct MergedFile {
    /// The merge and the path.
    pub(crate) name: String,
    /// What both sides began with.
    pub(crate) base: Vec<u8>,
    /// What the first parent has.
    pub(crate) ours: Vec<u8>,
    /// What the second parent has.
    pub(crate) theirs: Vec<u8>,
    /// What was committed.
    pub(crate) merged: Vec<u8>,
    /// The change from the base to the second parent, as git prints it.
    pub(crate) diff: Vec<u8>,
}

/// Calls `each` with the text files that both sides changed, of every merge of two parents that
/// have one merge base.
pub(crate) fn merges(dir: &Path, each: &mut dyn FnMut(MergedFile)) -> Result<(), String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|error| error.to_string());
    let merges =
        ["rev-list", "--reverse", "--min-parents=2", "--max-parents=2", "--parents", "HEAD"];
    let merges = text(run(dir, &merges, "")?)?;
    let mut blobs = Blobs::open(dir).map_err(|error| error.to_string())?;
    for line in merges.lines() {
        let [merge, ours, theirs] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        // Parents without a common ancestor are no error of ours.
        let bases = run(dir, &["merge-base", "--all", ours, theirs], "").unwrap_or_default();
        let bases = text(bases)?;
        let [base] = bases.lines().collect::<Vec<_>>()[..] else { continue };
        let changed = |to: &str| -> Result<BTreeMap<String, (String, String)>, String> {
            let raw = run(
                dir,
                &["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", base, to],
                "",
            )?;
            let words: Vec<String> = raw
                .split(|&byte| byte == 0)
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect();
            let pairs = words.as_chunks::<2>().0.iter().filter_map(|[record, path]| {
                let fields: Vec<&str> = record.strip_prefix(':')?.split(' ').collect();
                let [old_mode, new_mode, old, new, _] = fields[..] else { return None };
                let plain = [old_mode, new_mode].iter().all(|mode| mode.starts_with("100"));
                (plain && old != new).then(|| (path.clone(), (old.to_owned(), new.to_owned())))
            });
            Ok(pairs.collect())
        };
        let (in_ours, in_theirs) = (changed(ours)?, changed(theirs)?);
        if in_ours.keys().all(|path| !in_theirs.contains_key(path)) {
            continue;
        }
        let in_merge = changed(merge)?;
        for (path, (base, ours)) in &in_ours {
            let Some((_, theirs)) = in_theirs.get(path) else { continue };
            // Where the merge has what the base has, it is in no diff; where it has no plain file,
            // there is nothing to compare.
            let merged = match in_merge.get(path) {
                Some((_, merged)) => merged.clone(),
                None => match run(dir, &["rev-parse", &format!("{merge}:{path}")], "") {
                    Ok(id) => text(id)?.trim().to_owned(),
                    Err(_) => continue,
                },
            };
            let mut read = |id: &str| blobs.read(id).map_err(|error| error.to_string());
            let (Some(base_bytes), Some(ours), Some(theirs_bytes), Some(merged)) =
                (read(base)?, read(ours)?, read(theirs)?, read(&merged)?)
            else {
                continue;
            };
            if [&base_bytes, &ours, &theirs_bytes, &merged]
                .iter()
                .any(|bytes| patch_engine::is_binary(bytes))
            {
                continue;
            }
            let diff = run(
                dir,
                &[
                    "diff",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--no-color",
                    "--src-prefix=a/",
                    "--dst-prefix=b/",
                    base,
                    theirs,
                ],
                "",
            )?;
            let name = format!("{} {path}", &merge[..12]);
            each(MergedFile { name, base: base_bytes, ours, theirs: theirs_bytes, merged, diff });
        }
    }
    Ok(())
}

/// What git prints.
pub(crate) fn run(dir: &Path, args: &[&str], input: &str) -> Result<Vec<u8>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("git {}: {error}", args[0]);
    let mut child = spawn(dir, args).map_err(|error| failed(&error))?;
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|error| failed(&error))?;
    feeder.join().expect("no panic").map_err(|error| failed(&error))?;
    if output.status.success() { Ok(output.stdout) } else { Err(failed(&output.status)) }
}

/// The diff of a commit as git prints it, with renames and copies; `None` where it lacks a file.
pub(crate) fn diff(dir: &Path, commit: &Commit) -> std::io::Result<Option<Vec<u8>>> {
    let args = [
        "diff-tree",
        "--root",
        "--no-commit-id",
        "-p",
        "-M",
        "-C",
        "--no-ext-diff",
        "--no-textconv",
        &commit.name,
    ];
    let output = spawn(dir, &args)?.wait_with_output()?;
    Ok(output.status.success().then_some(output.stdout))
}

fn spawn(dir: &Path, args: &[&str]) -> std::io::Result<Child> {
    Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// `git cat-file --batch`.
struct Blobs {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Blobs {
    fn open(dir: &Path) -> std::io::Result<Self> {
        let mut child = spawn(dir, &["cat-file", "--batch"])?;
        let (ask, answer) =
            (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Ok(Self { child, ask, answer: BufReader::new(answer) })
    }

    /// The bytes of a file; `None` where a repository that is not whole lacks them.
    fn read(&mut self, id: &str) -> std::io::Result<Option<Vec<u8>>> {
        writeln!(self.ask, "{id}")?;
        let mut line = String::new();
        self.answer.read_line(&mut line)?;
        if line.ends_with(" missing\n") {
            return Ok(None);
        }
        let size = line.trim().rsplit(' ').next().and_then(|size| size.parse().ok());
        let size: usize =
            size.ok_or_else(|| std::io::Error::other(format!("git has no blob: {line}")))?;
        let mut bytes = vec![0; size + 1];
        self.answer.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(Some(bytes))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // Nothing is lost when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Each release against the one before it.
fn releases(
    dir: &Path,
    wanted: &dyn Fn(usize) -> bool,
    each: &mut dyn FnMut(Commit),
) -> Result<(), String> {
    let mut found: Vec<(Vec<u64>, String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let numbers = name
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|part| part.parse().ok())
                .collect();
            found.push((numbers, name, path));
        }
    }
    found.sort();
    let mut last: Option<(String, Files)> = None;
    for (nth, (_, name, path)) in found.into_iter().enumerate() {
        let files = files(&path);
        if let Some((last_name, mut before)) = last.replace((name.clone(), files.clone())) {
            let mut after = files;
            before.retain(|path, file| match after.get(path) {
                Some(other) if other == file => {
                    after.remove(path);
                    false
                }
                _ => true,
            });
            if wanted(nth - 1) && (!before.is_empty() || !after.is_empty()) {
                each(Commit { name: format!("{last_name}..{name}"), before, after });
            }
        }
    }
    Ok(())
}

/// The files of a release; those whose names are not UTF-8 are left out.
fn files(dir: &Path) -> Files {
    let file = |(path, entry): (String, DirEntry)| {
        if !entry.file_type().is_file() || entry.path().to_str().is_none() {
            return None;
        }
        let mode = entry.metadata().expect("a file").permissions().mode();
        let kind = if mode & 0o100 != 0 { Kind::Executable } else { Kind::Plain };
        Some((path, (fs::read(entry.path()).expect("a readable file"), kind)))
    };
    beneath(dir).filter_map(file).collect()
}
