//! Applies a diff from standard input in the current directory with diffy, which knows texts and no
//! files. The files are read here, and written after all texts are made.
//!
//!     diffy-apply STRIP git|unified [reverse]
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use diffy::patch_set::{FileMode, FileOperation, ParseOptions, PatchKind, PatchSet};

type Fault = Box<dyn std::error::Error>;
/// What is to be written at a path, and with which mode; `None` removes it.
type Writes = BTreeMap<String, Option<(Vec<u8>, Option<u32>)>>;

fn beneath(path: &str) -> Result<&str, Fault> {
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(plain) {
        return Err(format!("{path:?} is not beneath the directory").into());
    }
    Ok(path)
}

fn mode(of: Option<&FileMode>) -> Result<Option<u32>, Fault> {
    match of {
        None => Ok(None),
        Some(FileMode::Regular) => Ok(Some(0o644)),
        Some(FileMode::Executable) => Ok(Some(0o755)),
        Some(_) => Err("a link or a submodule".into()),
    }
}

fn name(of: &[u8]) -> Result<String, Fault> {
    Ok(beneath(std::str::from_utf8(of)?)?.to_owned())
}

fn main() -> Result<(), Fault> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let strip = words[0].parse()?;
    let reverse = words.get(2).is_some_and(|word| word == "reverse");
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    let options = if words[1] == "git" { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut writes = Writes::new();
    for file in PatchSet::parse_bytes(&text, options) {
        let file = file?;
        // The file that is read, the one that is written, and whether the first stays.
        let (mut from, mut to, stays) = match file.operation().strip_prefix(strip) {
            FileOperation::Create(path) => (None, Some(name(&path)?), false),
            FileOperation::Delete(path) => (Some(name(&path)?), None, false),
            FileOperation::Modify { original, modified } => {
                (Some(name(&original)?), Some(name(&modified)?), false)
            }
            // `rename from` and its like have no prefix to be stripped.
            _ => match file.operation() {
                FileOperation::Rename { from, to } => (Some(name(from)?), Some(name(to)?), false),
                FileOperation::Copy { from, to } => (Some(name(from)?), Some(name(to)?), true),
                _ => unreachable!(),
            },
        };
        // What a diff makes may be told by its first hunk alone.
        if let (Some(path), Some(patch)) = (&from, file.patch().as_text())
            && let [hunk] = patch.hunks()
            && hunk.old_range().is_empty()
            && !Path::new(path).exists()
        {
            from = None;
        }
        let mut modes = [file.old_mode(), file.new_mode()];
        if reverse {
            (from, to) = (to, from);
            modes.reverse();
        }
        let before = match &from {
            Some(path) => fs::read(path)?,
            None => Vec::new(),
        };
        let after = match file.patch() {
            PatchKind::Text(patch) if reverse => diffy::apply_bytes(&before, &patch.reverse())?,
            PatchKind::Text(patch) => diffy::apply_bytes(&before, patch)?,
            PatchKind::Binary(patch) if reverse => patch.apply_reverse(&before)?,
            PatchKind::Binary(patch) => patch.apply(&before)?,
        };
        if let Some(from) = &from
            && Some(from) != to.as_ref()
            && !stays
        {
            if to.is_none() && !after.is_empty() {
                return Err(format!("{from} has other lines than the diff deletes").into());
            }
            writes.entry(from.clone()).or_insert(None);
        }
        if let Some(to) = to {
            if from.is_none() && Path::new(&to).symlink_metadata().is_ok() {
                return Err(format!("{to} is there already").into());
            }
            let kept = match &from {
                Some(from) => Some(fs::metadata(from)?.permissions().mode()),
                None => None,
            };
            writes.insert(to, Some((after, mode(modes[1])?.or(kept))));
        }
    }
    if writes.is_empty() {
        return Err("no diff".into());
    }
    for (path, write) in writes {
        let Some((bytes, mode)) = write else {
            fs::remove_file(path)?;
            continue;
        };
        if let Some(folder) = Path::new(&path).parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, bytes)?;
        if let Some(mode) = mode {
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}
