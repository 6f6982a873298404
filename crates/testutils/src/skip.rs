//! What the tests cannot try here. Each says so itself, where only a test that fails is heard; the last program of
//! `cargo test --workspace` says it again, in one line.
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Says why a test, or a part of it, is not run here: it takes what `format!` does.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => { $crate::skip::told(&format!($($why)*)) };
}

/// The notes of all test programs that one cargo started.
fn notes() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    // target/debug/deps/…
    let target = program.ancestors().nth(3)?;
    #[cfg(unix)]
    let cargo = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let cargo = 0;
    Some(target.join(format!("tmp/skipped-{cargo}")))
}

#[doc(hidden)]
pub fn told(why: &str) {
    eprintln!("skipped: {why}");
    let Some(notes) = notes() else { return };
    // What cannot be noted is said above, at least.
    let _ = fs::create_dir_all(notes.parent().expect("it is in a directory"));
    let file = fs::File::options().append(true).create(true).open(notes);
    let _ = file.and_then(|mut file| {
        std::io::Write::write_all(&mut file, format!("{}\n", why.replace('\n', " ")).as_bytes())
    });
}

/// Takes what was noted since cargo was started: each reason with how often it was given.
pub fn noted() -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    let Some(notes) = notes() else { return reasons };
    for why in fs::read_to_string(&notes).unwrap_or_default().lines() {
        *reasons.entry(why.to_owned()).or_default() += 1;
    }
    let _ = fs::remove_file(notes);
    reasons
}

#[test]
fn reasons_are_counted_and_taken() {
    assert_eq!(noted(), BTreeMap::new());
    for number in [1, 2, 2] {
        crate::skip!("made up\n{number}");
    }
    let expected = [("made up 1".to_owned(), 1), ("made up 2".to_owned(), 2)];
    assert_eq!(noted(), BTreeMap::from(expected));
    assert_eq!(noted(), BTreeMap::new());
}
