//! Files in memory, and those of a host program.

use std::sync::Arc;

use patch_engine::{
    ChangeKind, Content, FileEdit, FileKind, Files, HostFile, HostTree, MemoryTree, Options,
    Position, Profile, TextEdit, Tree, apply_in_memory, parse, plan,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use testutils::holds::holds;
use testutils::share::share;

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

#[test]
fn a_patch_makes_another_map() {
    let mut tree: MemoryTree =
        [("a.txt", "one\ntwo\n"), ("d/b.txt", "b\n"), ("d/gone", "x\n")].into_iter().collect();
    tree.insert_content(
        "run",
        Content { bytes: Arc::new(b"#!/bin/sh\n".to_vec()), mode: 0o755, link: false },
    );
    let patch = envelope(
        "*** Update File: a.txt\n@@\n-two\n+TWO\n*** Delete File: d/gone\n*** Add File: d/new\n\
         +n\n*** Update File: run\n*** Move to: bin-run\n@@\n #!/bin/sh\n+true\n",
    );
    let before = tree.clone();
    let changed = apply_in_memory(&tree, &patch, &Options::default()).unwrap();
    assert_eq!(tree.iter().count(), before.iter().count(), "the tree stays as it is");
    tree.commit(&changed.plan).unwrap();
    let now: Vec<_> = tree
        .iter()
        .map(|(path, it)| (path, String::from_utf8_lossy(&it.bytes).into_owned(), it.mode))
        .collect();
    let wanted = [
        ("a.txt", "one\nTWO\n", 0o644),
        ("bin-run", "#!/bin/sh\ntrue\n", 0o755),
        ("d/b.txt", "b\n", 0o644),
        ("d/new", "n\n", 0o644),
    ];
    assert_eq!(now, wanted.map(|(path, text, mode)| (path, text.to_owned(), mode)));
    // What it was made for is not there any more.
    let error = tree.commit(&changed.plan).unwrap_err();
    assert_eq!(error.to_string(), "a.txt was changed by someone else");
    assert_eq!(tree.get("a.txt").unwrap(), b"one\nTWO\n", "nothing is changed");
}

#[test]
fn hashes_are_the_same_whenever_they_are_computed() {
    let tree: MemoryTree =
        [("a", "one\ntwo\n"), ("b", "two\none\n"), ("c", "c\n"), ("d", "")].into_iter().collect();
    let edit = "*** Update File: a\n@@\n-two\n+TWO\n";
    let patches = [
        edit.to_owned(),
        // Twice the same file, and back to what it was, by as many bytes.
        format!("{edit}*** Update File: a\n@@\n-one\n+ONE\n"),
        format!("{edit}*** Update File: a\n@@\n-TWO\n+two\n"),
        "*** Update File: a\n*** Move to: e\n@@\n-two\n+TWO\n*** Add File: a\n+two\n".into(),
        "*** Update File: c\n*** Move to: e\n*** Delete File: d\n*** Add File: f\n+f\n".into(),
        "*** Delete File: c\n*** Add File: c\n+c\n".into(),
        // An edit of two places that moves a line and leaves the length as it was.
        "*** Update File: b\n@@\n-two\n one\n+two\n".into(),
        // Conflict markers, and what does not parse.
        "*** Add File: g.json\n+{,}\n*** Update File: c\n@@\n-c\n+<<<<<<< a\n+=======\n+>>>>>>> b\n"
            .into(),
    ];
    for patch in patches.map(|body| envelope(&body)) {
        // Without room no bytes are kept, and hashes are computed when they go.
        for max_memory in [0, 12, 1 << 20] {
            let options = Options { max_memory, ..Options::default() };
            let patch = parse(&patch, &options.parse).unwrap();
            let files = || Files::of_tree(Arc::new(tree.clone()), patch_engine::policy());
            let known = plan(files(), &patch, &options).unwrap();
            let late = plan(files().hashed_late(), &patch, &options).unwrap();
            let changed = |plan: &patch_engine::Plan| {
                let changed = plan.images().changed().unwrap().into_iter();
                changed.map(|file| (file.before(), file.after.clone())).collect::<Vec<_>>()
            };
            assert_eq!(changed(&late), changed(&known), "{patch:?} {max_memory}");
            assert_eq!(late.changes(), known.changes(), "{patch:?} {max_memory}");
            assert_eq!(late.notes(), known.notes(), "{patch:?} {max_memory}");
            assert_eq!(late.digest(), known.digest(), "{patch:?} {max_memory}");
        }
    }
}

#[test]
fn a_map_knows_its_directories_beside_like_names() {
    let files = ["a", "b-c", "b.d/e", "b/c", "d0", "e/f/g", "e-"];
    let tree: MemoryTree = files.into_iter().map(|path| (path, "x\n")).collect();
    for (path, kind) in [
        ("a", Some(FileKind::File)),
        ("b", Some(FileKind::Directory)),
        ("b-c", Some(FileKind::File)),
        ("b.d", Some(FileKind::Directory)),
        ("b/c", Some(FileKind::File)),
        ("b-", None),
        ("d", None),
        ("e", Some(FileKind::Directory)),
        ("e/f", Some(FileKind::Directory)),
        ("e/", None),
        ("e/f/", None),
        ("f", None),
        ("z", None),
    ] {
        let found = tree.entry(path).expect("a map can be read").map(|entry| entry.kind);
        assert_eq!(found, kind, "{path}");
    }
    assert!(MemoryTree::new().entry("a").expect("a map can be read").is_none());
}

#[test]
fn a_plan_for_a_tree_is_no_plan_for_a_directory() {
    let tree: MemoryTree = [("a", "1\n")].into_iter().collect();
    let changed =
        apply_in_memory(&tree, &envelope("*** Delete File: a\n"), &Options::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "1\n").unwrap();
    let workspace =
        patch_engine::commit::Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let locked = workspace.lock(std::time::Duration::ZERO).unwrap();
    let options = patch_engine::commit::CommitOptions::default();
    let error = locked.commit(&Arc::new(changed.plan), &options, &mut (), &mut ()).unwrap_err();
    assert!(matches!(error, patch_engine::commit::CommitError::OtherWorkspace), "{error}");
    assert!(dir.path().join("a").exists());
}

fn host(files: &[(&str, &[u8])]) -> Arc<HostTree> {
    let files: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect();
    Arc::new(HostTree::new(move |path| {
        let found = files.iter().enumerate().find(|(_, (name, _))| name == path);
        Ok(found.map(|(version, (_, bytes))| HostFile {
            content: Content { bytes: Arc::new(bytes.clone()), mode: 0o644, link: false },
            version: Some(version as i64),
        }))
    }))
}

/// A callback that answers whatever it is asked is told so, and nobody hears of a git repository.
#[test]
fn a_callback_that_answers_every_path_is_told_so() {
    let file = || HostFile {
        content: Content { bytes: Arc::new(b"x\n".to_vec()), mode: 0o644, link: false },
        version: None,
    };
    let files = HostTree::new(move |_| Ok(Some(file())));
    let directories = HostTree::new(|_| Ok(None))
        .with_list(|_| Ok(Some(vec![("a".into(), fs_guard::FileKind::File)])));
    for (tree, what) in [(files, "a file"), (directories, "a directory")] {
        let tree = Arc::new(tree);
        for body in [
            "*** Update File: a\n@@\n-x\n+y\n",
            "*** Update File: d/a\n@@\n-x\n+y\n",
            "*** Add File: n\n+n\n",
            "*** Delete File: a\n",
        ] {
            let text = envelope(body);
            let options = Options::new(Profile::Codex);
            let patch = parse(&text, &options.parse).unwrap();
            let files = Files::of_tree(Arc::clone(&tree) as Arc<_>, patch_engine::policy());
            let error = plan(files, &patch, &options).unwrap_err()[0].to_string();
            let said = format!(
                "the callback has {what} at every path; it has to return none where there is none"
            );
            assert!(error.contains(&said), "{body}: {error}");
        }
    }
}

fn edits(tree: &Arc<HostTree>, body: &str) -> Vec<FileEdit> {
    let text = envelope(body);
    let options = Options::new(Profile::Codex);
    let patch = parse(&text, &options.parse).unwrap();
    let files = Files::of_tree(Arc::clone(tree) as Arc<_>, patch_engine::policy());
    plan(files, &patch, &options).unwrap().images().edits().unwrap()
}

#[test]
fn a_host_gets_the_edits_of_its_buffers() {
    let tree = host(&[
        ("a", b"one\r\n\xc3\xa9\xf0\x9f\x98\x80 two\nthree\n"),
        ("gone", b"x\n"),
        ("old", b"m\n"),
    ]);
    let all = edits(
        &tree,
        "*** Update File: a\n@@\n three\n+four\n*** Delete File: gone\n\
         *** Add File: no/such/dir/new\n+n\n*** Update File: old\n*** Move to: elsewhere/new\n@@\n\
         -m\n+M\n",
    );
    let shown: Vec<_> = all
        .iter()
        .map(|edit| {
            (
                edit.operation,
                &*edit.path,
                edit.to_path.as_deref(),
                edit.text.is_some(),
                edit.edits.len(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (ChangeKind::Update, "a", None, true, 1),
            (ChangeKind::Create, "no/such/dir/new", None, true, 0),
            (ChangeKind::Move, "old", Some("elsewhere/new"), true, 1),
            (ChangeKind::Delete, "gone", None, false, 0),
        ]
    );
    let at = |line, character| Position { line, character };
    assert_eq!(
        all[0].edits,
        [TextEdit { bytes: 22..22, range: at(3, 0)..at(3, 0), text: b"four\n".to_vec() }]
    );
    assert_eq!(tree.version("a"), Some(0));
    assert_eq!(tree.version("old"), Some(2));
    assert_eq!(tree.version("elsewhere/new"), None);
}

#[test]
fn positions_count_lines_and_utf_16() {
    for (file, body, from, to) in [
        // The file ends without a line end.
        ("a\nb", "@@\n-b\n+c\n", (1, 0), (1, 1)),
        ("a\n\u{1f600}\u{e9}", "@@\n a\n-\u{1f600}\u{e9}\n+c\n", (1, 0), (1, 3)),
        ("a\rb\rc\n", "@@\n-a\rb\rc\n+c\n", (0, 0), (3, 0)),
        ("a\r\nb\r\n", "@@\n-b\n+c\n", (1, 0), (2, 0)),
    ] {
        let all = edits(&host(&[("f", file.as_bytes())]), &format!("*** Update File: f\n{body}"));
        let range = &all[0].edits[0].range;
        let found =
            ((range.start.line, range.start.character), (range.end.line, range.end.character));
        assert_eq!(found, (from, to), "{file:?}");
    }
}

#[test]
fn the_edits_give_the_text() {
    let line = || select(vec!["a", "b", "c", "\u{e9}", ""]);
    let case = (vec(line(), 1..8), vec(line(), 1..8), any::<bool>());
    holds(share(4000), &case, |(old, new, end)| {
        let end = if end { "\n" } else { "" };
        let (old, new) = (old.join("\n") + end, new.join("\n"));
        let added: String = new.lines().map(|line| format!("+{line}\n")).collect();
        // Replacing the file says nothing about lines: the edits are found by comparing.
        let all = edits(&host(&[("f", old.as_bytes())]), &format!("*** Add File: f\n{added}"));
        let Some(FileEdit { text: Some(text), edits, .. }) = all.first() else { return };
        let mut rest = old.clone().into_bytes();
        for TextEdit { bytes, text, .. } in edits.iter().rev() {
            rest.splice(bytes.clone(), text.iter().copied());
        }
        assert_eq!(&rest, &**text, "{old:?}");
        assert!(edits.windows(2).all(|two| two[0].bytes.end < two[1].bytes.start), "{edits:?}");
    });
}
