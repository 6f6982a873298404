//! Files that have changed since the hash that is expected of them, where the bytes of that hash
//! are at hand.

use std::sync::Arc;

use patch_engine::{
    Expected, MemoryTree, Options, PlanBuilder, RelPath, Sha256, Snapshots, Splices,
    apply_in_memory, commit::Workspace,
};

/// All that was ever seen.
#[derive(Debug)]
struct Seen(Vec<&'static str>);

impl Snapshots for Seen {
    fn bytes(&self, _: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
        let text = self.0.iter().find(|text| Sha256::of(text.as_bytes()) == sha256)?;
        Some(Arc::new(text.as_bytes().to_vec()))
    }
}

const SEEN: &str = "a\nb\nc\nd\ne\n";

/// What was seen is expected of `f` (and of `g`, if it is there).
fn options() -> Options {
    let expected = Expected::Hash(Sha256::of(SEEN.as_bytes()));
    Options {
        snapshots: Some(Arc::new(Seen(vec![SEEN]))),
        expected: [("f".to_owned(), expected)].into(),
        ..Options::default()
    }
}

/// What becomes of `f`, and of `g`; or the reason of the first reject.
fn applied(now: &str, sections: &str, options: &Options) -> Result<Vec<String>, &'static str> {
    let tree: MemoryTree = [("f", now)].into_iter().collect();
    let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
    let mut tree = tree;
    match apply_in_memory(&tree, &patch, options) {
        Ok(changed) => {
            tree.commit(&changed.plan).unwrap();
            Ok(tree
                .iter()
                .map(|(path, it)| format!("{path}={}", String::from_utf8_lossy(&it.bytes)))
                .collect())
        }
        Err(patch_engine::commit::Error::Rejected(rejects)) => Err(rejects[0].reason()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_file_that_changed_elsewhere_is_updated_and_nothing_else_is_done_to_it() {
    let update = "*** Update File: f\n@@\n c\n-d\n+D\n";
    for (what, now, sections, wanted) in [
        ("it changed above", "new\na\nb\nc\nd\ne\n", update, Ok("f=new\na\nb\nc\nD\ne\n")),
        (
            "its path is spelt with a dot",
            "new\na\nb\nc\nd\ne\n",
            "*** Update File: ./f\n@@\n-d\n+D\n",
            Ok("f=new\na\nb\nc\nD\ne\n"),
        ),
        ("it changed there", "a\nb\nc\nx\ne\n", update, Err("conflict")),
        (
            "it is moved with a change",
            "new\na\nb\nc\nd\ne\n",
            "*** Update File: f\n*** Move to: g\n@@\n-d\n+D\n",
            Ok("g=new\na\nb\nc\nD\ne\n"),
        ),
        ("it is only moved", "new\na\nb\nc\nd\ne\n", "*** Move File: f -> g\n", Err("stale")),
        ("it is deleted", "new\na\nb\nc\nd\ne\n", "*** Delete File: f\n", Err("stale")),
        ("it is not touched", "new\na\nb\nc\nd\ne\n", "*** Add File: g\n+g\n", Err("stale")),
        (
            "the patch fits the file, and not what was seen",
            "x\na\nb\nc\nd\ne\n",
            "*** Update File: f\n@@\n-x\n+X\n",
            Err("stale"),
        ),
        (
            "the patch fits neither",
            "x\na\nb\nc\nd\ne\n",
            "*** Update File: f\n@@\n-y\n+X\n",
            Err("stale"),
        ),
        ("it is as it was", SEEN, update, Ok("f=a\nb\nc\nD\ne\n")),
    ] {
        let found = applied(now, sections, &options());
        assert_eq!(found.map(|files| files.join(" ")), wanted.map(str::to_owned), "{what}");
    }
    // The bytes are not known.
    let unknown = Options { snapshots: Some(Arc::new(Seen(Vec::new()))), ..options() };
    assert_eq!(applied("new\na\nb\nc\nd\ne\n", update, &unknown), Err("stale"));
}

#[test]
fn two_sections_of_a_file_that_changed_act_one_after_the_other() {
    let sections = "*** Update File: f\n@@\n-d\n+D\n*** Update File: f\n@@\n-D\n+DD\n@@\n-a\n+A\n";
    let found = applied("a\nb\nnew\nc\nd\ne\n", sections, &options());
    assert_eq!(found.unwrap(), ["f=A\nb\nnew\nc\nDD\ne\n"]);
}

/// What the author takes the file to be knows nothing of what others did.
#[test]
fn the_plan_says_what_its_author_takes_the_file_to_be() {
    let tree: MemoryTree = [("f", "new\na\nb\nc\nd\ne\n")].into_iter().collect();
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-d\n+D\n*** End Patch\n";
    let changed = apply_in_memory(&tree, patch, &options()).unwrap();
    let [(path, bytes)] = changed.plan.carried_bases() else {
        panic!("{:?}", changed.plan.carried_bases())
    };
    assert_eq!(path.as_str(), "f");
    assert_eq!(bytes.as_slice(), &b"a\nb\nc\nD\ne\n"[..]);
    let same: MemoryTree = [("f", SEEN)].into_iter().collect();
    let changed = apply_in_memory(&same, patch, &options()).unwrap();
    assert!(changed.plan.carried_bases().is_empty());
}

/// Each section is checked when it is its turn.
#[test]
fn sections_that_are_applied_one_by_one_are_carried_too() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(dir.path().join(path), text).unwrap();
    write("f", "new\na\nb\nc\nd\ne\n");
    write("g", "g\n");
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let settings = patch_engine::ApplyOptions {
        atomicity: patch_engine::Atomicity::EachSection,
        ..patch_engine::ApplyOptions::new(options())
    };
    let apply = |text: &str| {
        let patch = patch_engine::parse(text, &settings.options.parse).unwrap();
        workspace.apply(&patch, &settings, &mut ()).map(|reports| reports.len())
    };
    let text = "*** Begin Patch\n*** Update File: g\n@@\n-g\n+G\n*** Update File: f\n@@\n-d\n+D\n\
                *** End Patch\n";
    assert_eq!(apply(text).unwrap(), 2);
    assert_eq!(std::fs::read_to_string(dir.path().join("f")).unwrap(), "new\na\nb\nc\nD\ne\n");
    // A file that no section touches is checked before all of them.
    let failed =
        apply("*** Begin Patch\n*** Update File: g\n@@\n-G\n+g\n*** End Patch\n").unwrap_err();
    assert_eq!(failed.reports.len(), 0);
    assert_eq!(failed.error.kind().as_str(), "stale_file");
}

#[test]
fn an_edit_that_is_no_patch_is_carried() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "new\na\nb\nc\nd\ne\n").unwrap();
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let options = Options::default();
    let edit = |at: std::ops::Range<usize>, text: &str| {
        let mut splices = Splices::new();
        splices.push(at, text.into());
        patch_engine::Edit { splices, sources: vec![vec![0]], ..patch_engine::Edit::default() }
    };
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    builder.carry("f", SEEN.as_bytes(), &edit(6..7, "D")).unwrap();
    let plan = builder.finish().unwrap();
    assert_eq!(
        plan.images().new_bytes(&plan.changes()[0]).unwrap().as_slice(),
        b"new\na\nb\nc\nD\ne\n"
    );
    assert_eq!(plan.notes().len(), 1);
    assert_eq!(plan.carried_bases().len(), 1);
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    let rejects = builder.carry("f", SEEN.as_bytes(), &edit(0..1, "A")).unwrap_err();
    assert_eq!(rejects[0].reason(), "conflict");
    assert_eq!(rejects[0].hunk, Some(0));
}
