//! What is said where a feature was left out. In the workspace all features are on.

use std::error::Error;

use patch_engine::fs_guard::{Globs, Root};
use patch_engine::patch_grammar::diff::{self, DiffOptions};
use patch_engine::{Charset, Encodings, MemoryTree, Options, apply_in_memory, policy};

/// What comes of a patch for files in memory.
fn applied(files: &[(&str, &[u8])], patch: &str) -> Result<MemoryTree, String> {
    let mut tree: MemoryTree = files.iter().map(|&(path, bytes)| (path, bytes.to_vec())).collect();
    let changed = apply_in_memory(&tree, patch, &Options::default()).map_err(|error| {
        let mut error: &dyn Error = &error;
        let mut said = error.to_string();
        while let Some(source) = error.source() {
            said += &format!(": {source}");
            error = source;
        }
        said
    })?;
    tree.commit(&changed.plan).map_err(|error| error.to_string())?;
    Ok(tree)
}

#[test]
fn a_binary_patch_names_its_feature() {
    let text = "diff --git a/b b/b\nnew file mode 100644\nindex 0000000..f76dd23\n\
                GIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n";
    let read = diff::parse(text, &DiffOptions::default());
    if cfg!(feature = "binary-diffs") {
        assert!(read.is_ok(), "{read:?}");
    } else {
        let said = read.expect_err("it is not built").to_string();
        assert!(said.contains("the feature `binary-diffs` of patch-grammar"), "{said}");
    }
    // A diff of text takes no feature.
    let text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(diff::parse(text, &DiffOptions::default()).is_ok());
}

#[test]
fn a_charset_names_its_feature() {
    let editorconfig = &b"[*.txt]\ncharset = latin1\n"[..];
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+\u{e9}\n*** End Patch\n";
    let latin = [(".editorconfig", editorconfig), ("a.txt", b"\xe9\nx\n")];
    let ascii = [(".editorconfig", editorconfig), ("a.txt", b"y\nx\n")];
    let add = "*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n";
    for (files, patch) in [(&latin[..], patch), (&ascii, patch), (&ascii[..1], add)] {
        let found = applied(files, patch);
        if cfg!(not(feature = "editorconfig")) {
            // Nothing says that it is Latin-1.
            assert_eq!(found.is_ok(), files.len() == 1 || files[1].1.is_ascii(), "{found:?}");
        } else if cfg!(feature = "encodings") {
            found.expect("it is Latin-1");
        } else {
            let said = found.expect_err("it cannot be stored");
            assert!(said.contains("the feature `encodings` of patch-engine"), "{said}");
        }
    }
    // UTF-8 and UTF-16 take none, and no other is taken for one of them.
    let utf16 = [("a.txt", &b"\xff\xfex\0\n\0"[..])];
    let tree = applied(&utf16, patch).expect("UTF-16");
    assert_eq!(tree.get("a.txt"), Some(&b"\xff\xfe\xe9\0\n\0"[..]));
    for (label, always) in [("utf-8", true), ("UTF-16LE", true), ("latin1", false), ("sjis", false)] {
        let known = Charset::of_label(label).is_some();
        assert_eq!(known, always || cfg!(feature = "encodings"), "{label}");
    }
    let mut encodings = Encodings::default();
    encodings.declare(Globs::new(["*.txt"]).unwrap(), Charset::of_label("utf-16le").unwrap());
    assert_eq!(encodings.of("a.txt").map(Charset::name), Some("UTF-16LE"));
}

#[test]
fn a_sandbox_names_its_feature() {
    // It is tried where the sandbox is not built only: it holds for good.
    if !cfg!(feature = "sandbox") {
        let root = Root::open(env!("CARGO_MANIFEST_DIR").as_ref(), policy()).unwrap();
        let said = root.confine(&[], &[]).expect_err("it is not built").to_string();
        assert!(!patch_engine::fs_guard::can_confine());
        if cfg!(target_os = "linux") {
            assert!(said.contains("the feature `sandbox` of fs-guard"), "{said}");
        }
    }
}

#[test]
fn without_its_feature_editorconfig_is_not_read() {
    let files = [(".editorconfig", &b"[*]\nend_of_line = crlf\n"[..])];
    let tree = applied(&files, "*** Begin Patch\n*** Add File: b\n+b\n*** End Patch\n").unwrap();
    let wanted = if cfg!(feature = "editorconfig") { &b"b\r\n"[..] } else { b"b\n" };
    assert_eq!(tree.get("b"), Some(wanted));
}
