//! Characters that nobody sees, in the names of files.

use std::fs;

use crate::program::{place, run};

/// Refused in every path, also of a file that is there.
const NOWHERE: &[char] = &[
    '\u{200b}', '\u{ad}', '\u{34f}', '\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}', '\u{180e}',
    '\u{2028}',
];

/// Refused in new names. Files that have them can be changed.
const NOT_ANEW: &[char] = &[
    '\u{a0}',
    '\u{2003}',
    '\u{202f}',
    '\u{3000}',
    '\u{2800}',
    '\u{fdd0}',
    '\u{fffe}',
    '\u{1d159}',
];

#[test]
fn no_new_name_has_what_nobody_sees_and_no_answer_shows_it() {
    for &c in NOWHERE.iter().chain(NOT_ANEW) {
        let name = format!("a{c}b");
        let add = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
        let dir = place(&[("p", &add)]);
        let work = dir.path().join("w");
        let args = serde_json::json!({ "path": name, "content": "x\n" }).to_string();
        let calls: [&[&str]; 6] = [
            &["../p"],
            &["-n", "../p"],
            &["--json", "../p"],
            &["check", "../p"],
            &["explain", "--json", "../p"],
            &["tool", "create_file", "--args", &args],
        ];
        for call in calls {
            let run = run("apply-patch", &work, dir.path(), call, b"");
            assert_ne!(run.code, 0, "{c:?} {call:?}: {run:?}");
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(
                said.contains(&format!("the invisible character U+{:04X}", u32::from(c))),
                "{c:?} {call:?}: {said}"
            );
            assert!(!said.contains(c), "{c:?} stands as it is in what {call:?} says: {said}");
        }
        assert_eq!(
            fs::read_dir(&work)
                .expect("a folder")
                .filter(|entry| !entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with('.'))
                .count(),
            0,
            "{c:?}"
        );
        // With the names of this system alone, blanks are no matter.
        let native = run("apply-patch", &work, dir.path(), &["--names", "native", "../p"], b"");
        assert_eq!(native.code == 0, NOT_ANEW.contains(&c), "{c:?}: {native:?}");
    }
}

#[test]
fn a_file_with_such_a_blank_in_its_name_can_be_changed_and_removed() {
    for &c in NOT_ANEW {
        let name = format!("w/d{c}/a{c}b");
        let dir = place(&[(&name, "x\n")]);
        let name = &name[2..];
        let work = dir.path().join("w");
        for body in [
            format!("*** Update File: {name}\n@@\n-x\n+y\n"),
            // In a directory that is there, a plain new name.
            format!("*** Add File: d{c}/new\n+n\n"),
            format!("*** Delete File: {name}\n"),
        ] {
            let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
            let run = run("apply-patch", &work, dir.path(), &["apply"], patch.as_bytes());
            assert_eq!(run.code, 0, "{c:?}: {run:?}");
        }
    }
}

#[test]
fn what_can_be_seen_is_shown_as_it_is() {
    let name = "aé 日\u{301}🙂\u{2800}b";
    let dir = place(&[]);
    let patch = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
    let refused =
        run("apply-patch", &dir.path().join("w"), dir.path(), &["apply"], patch.as_bytes());
    assert!(refused.stderr.contains("aé 日\u{301}🙂\\u{2800}b"), "{refused:?}");
}
