//! Tests that cannot run here. Each prints its reason, which cargo shows of failing tests only; the last test program
//! of `cargo test --workspace` prints all reasons again, in one line.
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Reports why a test, or a part of one, does not run here. The arguments are those of `format!`.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => { $crate::skip::told(&format!($($why)*)) };
}

/// The file with the reasons of all test programs of one cargo.
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
        // A reason that cannot be noted is printed above, at least.
        let _ = note(&notes, why);
    }
}

fn note(notes: &Path, why: &str) -> io::Result<()> {
    fs::create_dir_all(notes.parent().expect("it is in a directory"))?;
    let mut file = fs::File::options().append(true).create(true).open(notes)?;
    file.write_all(format!("{}\n", why.replace('\n', " ")).as_bytes())
}

/// Takes the reasons noted since cargo was started, each with its number of tests.
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
