//! Makes a long history, and changes a file in it, to measure what that costs.
//!
//! ```text
//! history DIRECTORY make 100000
//! history DIRECTORY edit
//! history DIRECTORY undo
//! ```
//!
//! The first adds so many signed transactions, each of which deleted a file of four bytes, as if
//! they had been committed. The others change `file`, and undo the last transaction; nothing is
//! purged. The key is that of the user, so set `XDG_STATE_HOME` to a directory of its own.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::path::Path;
use std::time::Duration;

use patch_engine::commit::{CommitOptions, Durability, Workspace};
use patch_engine::fs_guard::{Access, Root, Sha256};
use patch_engine::workspace_trash::{FileState, Header, Journal, LockedStore, Record, Retention};
use patch_engine::{ApplyOptions, Options, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        [dir, "make", count] => make(dir.as_ref(), count.parse()?),
        [dir, "edit"] => edit(dir.as_ref()),
        [dir, "undo"] => undo(dir.as_ref()),
        _ => Err("DIRECTORY, and make COUNT, edit or undo".into()),
    }
}

fn make(dir: &Path, count: u64) -> Outcome {
    let root = Root::open(dir, patch_engine::policy())?;
    let store = LockedStore::lock(&root, patch_engine::key_place(), Duration::from_secs(1))?;
    for nth in 0..count {
        let pending = store.begin()?;
        let mut file = pending.slot(0).create(0o600)?;
        file.write(b"old\n")?;
        let file = file.finish(None, None, false)?;
        let mut header = Header::new(pending.id());
        header.tool = Some("apply".into());
        let before = Some(FileState::of(
            file.metadata().ok_or("it was not looked at")?,
            Sha256::of(b"old\n"),
        ));
        let path = format!("old/{}/{nth}.txt", nth % 100);
        let record = Record { slot: 0, path, before, after: None, sibling: None };
        pending.write_journal(&Journal::new(header, vec![record]))?;
        pending.finish()?;
    }
    println!("{} transactions", store.newest_first()?.count());
    Ok(())
}

fn options() -> CommitOptions {
    let retention = Retention { max_count: usize::MAX, ..Retention::default() };
    CommitOptions { retention, durability: Durability::Process, ..CommitOptions::default() }
}

fn edit(dir: &Path) -> Outcome {
    let workspace = Workspace::open(dir, patch_engine::policy())?;
    let path = workspace.root().check("file", Access::Read)?;
    let (bytes, _) = workspace.root().read(&path, 1 << 20)?;
    let old = String::from_utf8(bytes)?;
    let old = old.lines().next().unwrap_or_default();
    let hunk = format!("@@\n-{old}\n+{old}x\n");
    let text = format!("*** Begin Patch\n*** Update File: file\n{hunk}*** End Patch\n");
    let rules = Options::default();
    let patch = parse(&text, &rules.parse)?;
    workspace.apply(
        &patch,
        &ApplyOptions { commit: options(), ..ApplyOptions::new(rules) },
        &mut (),
    )?;
    Ok(())
}

fn undo(dir: &Path) -> Outcome {
    let workspace = Workspace::open(dir, patch_engine::policy())?;
    let plan = &mut |_: &_| workspace.plan_undo_last();
    workspace.execute(&options(), &mut (), &mut (), plan)?;
    Ok(())
}
