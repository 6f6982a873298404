//! The verbs of a builder, each made to the result of the ones before it.

use std::sync::Arc;

use patch_engine::commit::{CommitOptions, Error, KeyPlace, Workspace};
use patch_engine::{Content, Files, MemoryTree, Options, PlanBuilder, Reject, Splices};

type Verbs = fn(&mut PlanBuilder<'_>) -> Result<(), Reject>;

/// Appends to `a`, which has two bytes, or to a copy of it.
fn append(text: &str) -> Splices {
    let mut splices = Splices::new();
    splices.push(2..2, text.as_bytes().to_vec());
    splices
}

#[test]
fn each_verb_acts_on_what_the_others_leave() {
    let cases: [(&str, Verbs, &str); 12] = [
        ("create", |plan| plan.create("new", b"N\n".to_vec()), "a=A 644, new=N 644, run=R 755"),
        ("update", |plan| plan.update("a", append("B\n")), "a=AB 644, run=R 755"),
        ("remove", |plan| plan.remove("a"), "run=R 755"),
        ("rename", |plan| plan.rename("run", "go"), "a=A 644, go=R 755"),
        ("copy", |plan| plan.copy("run", "go"), "a=A 644, go=R 755, run=R 755"),
        ("let it run", |plan| plan.set_executable("a", true), "a=A 755, run=R 755"),
        ("as it is", |plan| plan.set_executable("a", false), "a=A 644, run=R 755"),
        ("replace", |plan| plan.create("run", b"N\n".to_vec()), "a=A 644, run=N 755"),
        ("copy over another", |plan| plan.copy("a", "run"), "a=A 644, run=A 644"),
        (
            "copy what was there before",
            |plan| {
                plan.update("a", append("B\n"))?;
                plan.copy("a", "b")?;
                plan.update("b", append("C\n"))
            },
            "a=AB 644, b=AC 644, run=R 755",
        ),
        (
            "move a new file that runs, and change it",
            |plan| {
                plan.create("new", b"N\n".to_vec())?;
                plan.set_executable("new", true)?;
                plan.rename("new", "newer")?;
                plan.update("newer", append("B\n"))
            },
            "a=A 644, newer=NB 755, run=R 755",
        ),
        (
            "change, move and let it not run",
            |plan| {
                plan.update("run", append("B\n"))?;
                plan.rename("run", "go")?;
                plan.set_executable("go", false)
            },
            "a=A 644, go=RB 644",
        ),
    ];
    for (name, verbs, expected) in cases {
        let mut tree: MemoryTree = [("a", "A\n")].into_iter().collect();
        let bytes = Arc::new(b"R\n".to_vec());
        tree.insert_content("run", Content { bytes, mode: 0o755, link: false });
        let options = Options { overwrite: true, ..Options::default() };
        let files = Files::of_tree(Arc::new(tree.clone()), patch_engine::policy());
        let mut builder = PlanBuilder::new(files, &options);
        verbs(&mut builder).unwrap();
        tree.commit(&builder.finish().unwrap()).unwrap();
        let shown = |(path, content): (&str, &Content)| {
            let text = String::from_utf8_lossy(&content.bytes).replace('\n', "");
            format!("{path}={text} {:o}", content.mode)
        };
        assert_eq!(tree.iter().map(shown).collect::<Vec<_>>().join(", "), expected, "{name}");
    }
}

#[test]
fn verbs_refuse_what_they_cannot_do() {
    let cases: [(Verbs, &str); 6] = [
        (|plan| plan.copy("none", "b"), "none: there is no such file"),
        (|plan| plan.copy("a", "run"), "run: a file is there already"),
        (|plan| plan.copy("a", "a"), "a: the file would move to where it is"),
        (|plan| plan.copy("a", "d/b"), "d/b: the directory d does not exist"),
        (|plan| plan.set_executable("none", true), "none: there is no such file"),
        (
            |plan| {
                plan.remove("a")?;
                plan.set_executable("a", true)
            },
            "a: there is no such file",
        ),
    ];
    for (verbs, expected) in cases {
        let tree: MemoryTree = [("a", "A\n"), ("run", "R\n")].into_iter().collect();
        let options = Options { create_parents: false, ..Options::default() };
        let files = Files::of_tree(Arc::new(tree), patch_engine::policy());
        let mut builder = PlanBuilder::new(files, &options);
        assert_eq!(verbs(&mut builder).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_move_that_is_refused_changes_nothing() {
    for (to, overwrite) in [("run", false), ("d/b", true), ("a", true), (".git/a", true)] {
        let mut tree: MemoryTree = [("a", "A\n"), ("run", "R\n")].into_iter().collect();
        let options = Options { overwrite, create_parents: false, ..Options::default() };
        let files = Files::of_tree(Arc::new(tree.clone()), patch_engine::policy());
        let mut builder = PlanBuilder::new(files, &options);
        builder.rename("a", to).unwrap_err();
        builder.set_executable("run", true).unwrap();
        tree.commit(&builder.finish().unwrap()).unwrap();
        assert_eq!(tree.get("a"), Some(&b"A\n"[..]), "{to}");
    }
}

/// Neither file was on disk, so there are no attributes to take over.
#[test]
fn a_new_file_moves_onto_a_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let workspace = workspace.with_key_place(KeyPlace::Nowhere);
    let options = Options { overwrite: true, ..Options::default() };
    let mut plan = |root: &_| -> Result<_, Error> {
        let mut builder = PlanBuilder::new(root, &options);
        let verbs = builder
            .create("a", b"A\n".to_vec())
            .and_then(|()| builder.create("b", b"B\n".to_vec()))
            .and_then(|()| builder.rename("a", "b"));
        verbs.map_err(patch_engine::Rejects::from)?;
        Ok(builder.finish()?)
    };
    workspace.execute(&CommitOptions::default(), &mut (), &mut (), &mut plan).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("b")).unwrap(), "A\n");
}
