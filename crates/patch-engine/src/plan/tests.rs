//! Plans made by hand, which is possible only here: what the digest covers, and what a commit
//! refuses.
#![allow(clippy::disallowed_methods, reason = "tests look at files from outside")]

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::time::Duration;

use fs_guard::{FileKind, Globs};
use tempfile::TempDir;
use workspace_trash::KeyPlace;

use std::sync::Arc;

use fs_guard::Root;

use super::*;
use crate::commit::{CommitOptions, Workspace};

fn workspace(dir: &TempDir, policy: fs_guard::Policy) -> Workspace {
    Workspace::open(dir.path(), policy).unwrap().with_key_place(KeyPlace::Nowhere)
}

fn path(path: &str) -> RelPath {
    let dir = TempDir::new().unwrap();
    Root::open(dir.path(), crate::policy()).unwrap().check(path, fs_guard::Access::Create).unwrap()
}

fn id(tail: &str) -> TransactionId {
    format!("20261121-014233-123456-9f3ac1d{tail}").parse().unwrap()
}

/// A plan that has something of everything; `a` has to be there.
fn plan(root: &Arc<Root>) -> Plan {
    let metadata = root.metadata(&path("a")).unwrap().unwrap();
    let before = PreImage {
        metadata,
        hash: Sha256::of(b"A\n").into(),
        bytes: Some(Arc::new(b"A\n".to_vec())),
    };
    let after = |image, text: &[u8]| PostImage {
        image,
        hash: Sha256::of(text).into(),
        size: text.len() as u64,
        mode: Mode::Exactly(0o644),
        link: false,
        rewritten: false,
        attributes_of: Some(path("a")),
    };
    let kept = Image::Kept(b"new\n".to_vec().into());
    Plan {
        files: root.into(),
        authority: Authority::Policy,
        transitions: vec![
            Transition {
                path: path("a"),
                before: Some(before),
                after: Some(after(kept, b"new\n")),
            },
            Transition {
                path: path("d/b"),
                before: None,
                after: Some(after(Image::Stored(id("2"), 1), b"old\n")),
            },
        ],
        before: Map::from_iter([(path("a"), 0)]),
        create_dirs: vec![NewDir { path: path("d"), mode: Some(0o755) }],
        remove_dirs: vec![path("e")],
        undo_of: Some(Undone { id: id("2"), partial: false }),
        also_undone: Vec::new(),
        origins: Origins::default(),
        changes: OnceLock::new(),
        patch: None,
        left_out: BTreeSet::new(),
        placed: Vec::new(),
        notes: Vec::new(),
        carried_bases: Vec::new(),
    }
}

fn before(plan: &mut Plan) -> &mut PreImage {
    plan.transitions[0].before.as_mut().unwrap()
}

fn after(plan: &mut Plan, index: usize) -> &mut PostImage {
    plan.transitions[index].after.as_mut().unwrap()
}

#[test]
fn the_digest_changes_with_everything_that_is_carried_out() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a"), "A\n").unwrap();
    let root = Arc::clone(workspace(&dir, crate::policy()).root());
    type Alteration = (&'static str, fn(&mut Plan));
    let alterations: [Alteration; 34] = [
        ("path", |plan| plan.transitions[0].path = path("b")),
        ("order", |plan| plan.transitions.swap(0, 1)),
        ("one path less", |plan| _ = plan.transitions.pop()),
        ("nothing was there", |plan| plan.transitions[0].before = None),
        ("hash before", |plan| before(plan).hash = Sha256::of(b"B\n").into()),
        ("kind before", |plan| before(plan).metadata.kind = FileKind::Symlink),
        ("mode before", |plan| before(plan).metadata.mode ^= 0o100),
        ("it goes", |plan| plan.transitions[0].after = None),
        ("hash after", |plan| after(plan, 0).hash = Sha256::of(b"NEW\n").into()),
        ("size", |plan| after(plan, 0).size += 1),
        ("mode", |plan| after(plan, 0).mode = Mode::Exactly(0o755)),
        ("default mode", |plan| after(plan, 0).mode = Mode::Default { executable: false }),
        ("default mode, to be run", |plan| {
            after(plan, 0).mode = Mode::Default { executable: true }
        }),
        ("mode 0", |plan| after(plan, 0).mode = Mode::Exactly(0)),
        ("link", |plan| after(plan, 0).link = true),
        ("attributes of another", |plan| after(plan, 0).attributes_of = Some(path("c"))),
        ("no attributes", |plan| after(plan, 0).attributes_of = None),
        ("from the store", |plan| after(plan, 0).image = Image::Stored(id("2"), 1)),
        ("not from the store", |plan| after(plan, 1).image = Image::Kept(b"old\n".to_vec().into())),
        ("slot", |plan| after(plan, 1).image = Image::Stored(id("2"), 2)),
        ("transaction of the slot", |plan| after(plan, 1).image = Image::Stored(id("3"), 1)),
        ("new directory", |plan| plan.create_dirs[0].path = path("f")),
        ("mode of a new directory", |plan| plan.create_dirs[0].mode = Some(0o700)),
        ("default mode of a new directory", |plan| plan.create_dirs[0].mode = None),
        ("no new directory", |plan| plan.create_dirs.clear()),
        ("removed directory", |plan| plan.remove_dirs[0] = path("f")),
        ("no removed directory", |plan| plan.remove_dirs.clear()),
        ("no removed but another new directory", |plan| {
            plan.create_dirs
                .extend(plan.remove_dirs.drain(..).map(|path| NewDir { path, mode: None }));
        }),
        ("undo of another", |plan| plan.undo_of = Some(Undone { id: id("3"), partial: false })),
        ("partial", |plan| plan.undo_of = Some(Undone { id: id("2"), partial: true })),
        ("undo of one more", |plan| plan.also_undone.push(id("3"))),
        ("no undo", |plan| plan.undo_of = None),
        ("authority of a journal", |plan| plan.authority = Authority::Journal { authentic: false }),
        ("authority of a signed journal", |plan| {
            plan.authority = Authority::Journal { authentic: true }
        }),
    ];
    let mut digests = HashSet::from([plan(&root).digest().0]);
    for (what, alter) in alterations {
        let mut plan = plan(&root);
        alter(&mut plan);
        assert!(digests.insert(plan.digest().0), "{what}: the digest is that of another plan");
    }
    // Where the bytes are, and what is only reported, does not count.
    let mut same = plan(&root);
    after(&mut same, 0).image = Image::OnDisk(path("a"));
    after(&mut same, 0).rewritten = true;
    before(&mut same).bytes = None;
    same.notes = vec![PlanNote::Unchanged { path: "a".into() }];
    same.left_out.insert(1);
    assert_eq!(same.digest(), plan(&root).digest());
}

#[test]
fn a_path_that_the_policy_refuses_is_not_committed_whoever_made_the_plan() {
    for (refused, authority) in [
        (".apply-patch/journal", Authority::Policy),
        ("secret", Authority::Policy),
        ("guarded", Authority::Policy),
        (".apply-patch/journal", Authority::Journal { authentic: true }),
        ("secret", Authority::Journal { authentic: false }),
    ] {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("a"), "A\n").unwrap();
        let policy = fs_guard::Policy {
            forbidden: Globs::new(["secret"]).unwrap(),
            guarded: Globs::new(["guarded"]).unwrap(),
            ..crate::policy()
        };
        let strict = workspace(&dir, policy);
        // A path that another policy lets through.
        let lax = fs_guard::Policy::new(".other");
        let anywhere = Root::open(dir.path(), lax).unwrap();
        let path = anywhere.check(refused, fs_guard::Access::Create).unwrap();
        let mut plan = plan(strict.root());
        (plan.create_dirs, plan.remove_dirs, plan.undo_of) = (Vec::new(), Vec::new(), None);
        plan.authority = authority;
        plan.transitions.remove(1);
        let appears = after(&mut plan, 0).clone();
        let appears = PostImage { attributes_of: None, ..appears };
        plan.transitions.push(Transition { path, before: None, after: Some(appears) });
        let locked = strict.lock(Duration::from_secs(10)).unwrap();
        let refusal =
            locked.commit(&plan, &CommitOptions::default(), &mut (), &mut ()).unwrap_err();
        assert_eq!(refusal.path(), Some(refused), "{refusal}");
        assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"A\n", "{refused}");
        assert!(!dir.path().join(refused).exists(), "{refused}");
    }
}
