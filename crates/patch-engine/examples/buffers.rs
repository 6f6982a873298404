//! An editor whose files are not saved: a patch is planned over its buffers, and the editor makes
//! the changes itself.
//!
//! `cargo run -p patch-engine --example buffers`
#![allow(clippy::print_stdout, reason = "an example")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use patch_engine::{
    ChangeKind, Content, FileEdit, Files, HostFile, HostTree, Options, parse, plan,
};

/// A buffer, and how often it was changed.
struct Buffer {
    text: String,
    version: i64,
}

/// The buffers by path: what the user sees, saved or not.
type Editor = Arc<Mutex<BTreeMap<String, Buffer>>>;

const PATCH: &str = "\
*** Begin Patch
*** Update File: src/main.rs
@@
 fn main() {
-    greet();
+    greet(\"world\");
 }
*** Update File: src/greet.rs
*** Move to: src/greeting.rs
@@
-pub fn greet() {
+pub fn greet(name: &str) {
*** Delete File: notes.txt
*** End Patch
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", session()?);
    Ok(())
}

/// Runs the editor, and returns its buffers afterwards.
fn session() -> Result<String, Box<dyn std::error::Error>> {
    let mut shown = String::new();
    let editor: Editor = Arc::default();
    for (path, text) in [
        ("src/main.rs", "// not saved yet\nfn main() {\n    greet();\n}\n"),
        ("src/greet.rs", "pub fn greet() {\n    todo!()\n}\n"),
        ("notes.txt", "to do\n"),
    ] {
        editor
            .lock()
            .expect("no panic")
            .insert(path.into(), Buffer { text: text.into(), version: 7 });
    }

    let (tree, edits) = planned(&editor)?;
    // Meanwhile the user types.
    editor.lock().expect("no panic").get_mut("notes.txt").expect("it is open").version += 1;
    let refused = apply(&editor, &tree, edits).expect_err("notes.txt is another one");
    shown += &format!("{refused}\n");

    // Nothing was changed; the same again, over the buffers as they are now.
    let (tree, edits) = planned(&editor)?;
    shown += &format!("{}\n", apply(&editor, &tree, edits)?);
    for (path, buffer) in &*editor.lock().expect("no panic") {
        shown += &format!("== {path}, version {}\n{}", buffer.version, buffer.text);
    }
    Ok(shown)
}

/// Plans the patch over the buffers.
fn planned(editor: &Editor) -> Result<(Arc<HostTree>, Vec<FileEdit>), Box<dyn std::error::Error>> {
    let buffers = Arc::clone(editor);
    let tree = Arc::new(HostTree::new(move |path| {
        Ok(buffers.lock().expect("no panic").get(path).map(|buffer| HostFile {
            content: Content {
                bytes: Arc::new(buffer.text.clone().into_bytes()),
                mode: 0o644,
                link: false,
            },
            version: Some(buffer.version),
        }))
    }));
    let options = Options::default();
    let patch = parse(PATCH, &options.parse)?;
    let plan = plan(
        Files::of_tree(Arc::clone(&tree) as Arc<_>, patch_engine::policy()),
        &patch,
        &options,
    )?;
    Ok((tree, plan.images().edits()?))
}

/// Changes the buffers, if all are as they were when the plan was made.
fn apply(
    editor: &Editor,
    tree: &HostTree,
    edits: Vec<FileEdit>,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut buffers = editor.lock().expect("no panic");
    for edit in &edits {
        if buffers.get(&edit.path).map(|buffer| buffer.version) != tree.version(&edit.path) {
            return Err(format!("{} was changed while the patch was planned", edit.path).into());
        }
    }
    let count = edits.len();
    for FileEdit { operation, path, to_path, text, edits, .. } in edits {
        let mut buffer =
            buffers.remove(&path).unwrap_or(Buffer { text: String::new(), version: 0 });
        buffer.version += 1;
        match operation {
            ChangeKind::Delete => continue,
            ChangeKind::Create => {
                buffer.text = String::from_utf8(text.unwrap_or_default().to_vec())?
            }
            // From the end on, so that the places of the others stay right.
            ChangeKind::Update | ChangeKind::Move => {
                for edit in edits.iter().rev() {
                    buffer.text.replace_range(edit.bytes.clone(), std::str::from_utf8(&edit.text)?);
                }
            }
        }
        buffers.insert(to_path.unwrap_or(path), buffer);
    }
    Ok(format!("{count} files were changed"))
}

#[test]
fn the_editor_makes_the_changes_when_nothing_changed_meanwhile() {
    let shown = session().expect("it ends");
    let wanted = "\
notes.txt was changed while the patch was planned
3 files were changed
== src/greeting.rs, version 8
pub fn greet(name: &str) {
    todo!()
}
== src/main.rs, version 8
// not saved yet
fn main() {
    greet(\"world\");
}
";
    assert_eq!(shown, wanted);
}
