//! Files in other encodings: read, searched and changed as text, and written back as they were.

use fs_guard::Globs;
use patch_engine::{Charset, Encodings};
use patch_session::SessionSettings;
use serde_json::json;

use crate::support::{Bench, call, fails, settings, sha};

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn utf16_is_text() {
    let old = utf16("\u{feff}één\r\ntwo\r\n");
    let bench = Bench::new(&[("f", &old)]);
    let read = bench.done("read_file", &json!({ "path": "f" }));
    assert_eq!(read["content"], "één\ntwo\n");
    assert_eq!(&read["encoding"], &json!("UTF-16LE"));
    assert_eq!(&read["hasBom"], &json!(true));
    assert_eq!(&read["newlineStyle"], &json!("crlf"));
    assert_eq!(read["sha256"], sha(&old));
    let found = bench.done("search_files", &json!({ "query": "één", "mode": "text" }));
    assert_eq!(found["matches"][0]["line"], 1);

    let edit = json!({
        "path": "f", "expectedSha256": sha(&old),
        "edits": [{ "oldText": "één", "newText": "é\u{1f600}" }],
    });
    bench.done("edit_file", &edit);
    let edited = utf16("\u{feff}é\u{1f600}\r\ntwo\r\n");
    assert_eq!(bench.read("f"), edited);

    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-two\n+zwei\n+drei\n*** End Patch\n";
    let done = bench.done(
        "apply_patch",
        &json!({ "patch": patch, "expectedSha256ByPath": { "f": sha(&edited) } }),
    );
    assert!(done.to_string().contains("stored as UTF-16LE"), "{done}");
    let patched = utf16("\u{feff}é\u{1f600}\r\nzwei\r\ndrei\r\n");
    assert_eq!(bench.read("f"), patched);

    bench.done(
        "write_file",
        &json!({ "path": "f", "content": "new\n", "expectedSha256": sha(&patched) }),
    );
    assert_eq!(bench.read("f"), utf16("\u{feff}new\r\n"));
    // Half a unit: it would not come back as it was.
    let odd = [&utf16("\u{feff}a\n")[..], b"x"].concat();
    let bench = Bench::new(&[("f", &odd)]);
    bench.fails("read_file", &json!({ "path": "f" }), "binary_file");
}

#[test]
fn a_charset_is_declared_by_the_host_or_by_the_workspace() {
    let files: &[(&str, &[u8])] = &[
        ("f.txt", b"caf\xe9\nx\n"),
        ("f.old", b"caf\xe9\n"),
        (".editorconfig", b"[*.old]\ncharset = latin1\n"),
    ];
    let bench = Bench::new(files);
    let mut encodings = Encodings::default();
    encodings.declare(Globs::new(["*.txt"]).unwrap(), Charset::of_label("latin1").unwrap());
    let tools = bench.with(SessionSettings { encodings, ..settings() });
    for (path, wanted) in [("f.txt", "café\nx\n"), ("f.old", "café\n")] {
        let read = call(&tools, "read_file", &json!({ "path": path }));
        assert_eq!(read["data"]["content"], wanted, "{path}");
        assert_eq!(read["data"]["encoding"], "windows-1252", "{path}");
    }
    let edit = |new: &str| {
        json!({
            "path": "f.txt", "expectedSha256": sha(b"caf\xe9\nx\n"),
            "edits": [{ "oldText": "x", "newText": new }],
        })
    };
    fails(&tools, "edit_file", &edit("→"), "patch_apply_error");
    assert_eq!(bench.read("f.txt"), b"caf\xe9\nx\n");
    assert_eq!(call(&tools, "edit_file", &edit("ö"))["ok"], true);
    assert_eq!(bench.read("f.txt"), b"caf\xe9\n\xf6\n");
}
