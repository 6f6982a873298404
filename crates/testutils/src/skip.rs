//! The tests that cannot run here. Each says so itself, where only a test that fails is heard; the last program of
//! `cargo test --workspace` says it again, in one line.
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Says why a test, or a part of it, is not run here: it takes what `format!` does.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => { $crate::skip::told(&format!($($why)*)) };
}

/// The notes of all test programs that one cargo started.
fn notes() -> Option<PathBuf> {
    let parent = crate::posix::parent()?;
    let program = std::env::current_exe().ok()?;
    // target/debug/deps/…
    let target = program.ancestors().nth(3)?;
    Some(target.join(format!("tmp/skipped-{parent}")))
}

#[doc(hidden)]
pub fn told(why: &str) {
    eprintln!("skipped: {why}");
    if let Some(notes) = notes() {
        // A reason that cannot be noted is said above, at least.
        let _ = note(&notes, why);
    }
}

fn note(notes: &Path, why: &str) -> io::Result<()> {
    fs::create_dir_all(notes.parent().expect("it is in a directory"))?;
    let mut file = fs::File::options().append(true).create(true).open(notes)?;
    file.write_all(format!("{}\n", why.replace('\n', " ")).as_bytes())
}

/// Takes what was noted since cargo was started: each reason with how often it was given.
pub fn noted() -> BTreeMap<String, usize> {
    notes().map(|notes| take(&notes)).unwrap_or_default()
}

fn take(notes: &Path) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for why in fs::read_to_string(notes).unwrap_or_default().lines() {
        *reasons.entry(why.to_owned()).or_default() += 1;
    }
    let _ = fs::remove_file(notes);
    reasons
}

#[test]
fn reasons_are_counted_and_taken() {
    let dir = crate::temp::temp();
    let notes = dir.path().join("tmp/skipped");
    assert_eq!(take(&notes), BTreeMap::new());
    for number in [1, 2, 2] {
        note(&notes, &format!("made up\n{number}")).unwrap();
    }
    let expected = [("made up 1".to_owned(), 1), ("made up 2".to_owned(), 2)];
    assert_eq!(take(&notes), BTreeMap::from(expected));
    assert_eq!(take(&notes), BTreeMap::new());
}
