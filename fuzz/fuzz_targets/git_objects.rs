//! Loose objects of any bytes: never panics; a changed tree has the change and nothing else.
#![no_main]

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use git_object_tree::{EntryKind, Id, OpenOptions, Repository, TreeChange};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    objects: Vec<Object<'a>>,
    /// What the file of an object has, deflated or not.
    file: Option<(bool, &'a [u8])>,
    path: &'a str,
    change: Option<&'a [u8]>,
}

#[derive(Debug, Arbitrary)]
enum Object<'a> {
    Blob(&'a [u8]),
    Tree(Vec<Entry<'a>>),
    Commit(u8, &'a [u8]),
    Tag(u8, &'a [u8]),
    Free(u8, &'a [u8]),
}

#[derive(Debug, Arbitrary)]
struct Entry<'a> {
    mode: Mode<'a>,
    name: &'a [u8],
    /// One of the objects before.
    id: u8,
}

#[derive(Debug, Arbitrary)]
enum Mode<'a> {
    Known(u8),
    Free(&'a [u8]),
}

const KINDS: [(&str, gix_object::Kind); 4] = [
    ("blob", gix_object::Kind::Blob),
    ("tree", gix_object::Kind::Tree),
    ("commit", gix_object::Kind::Commit),
    ("tag", gix_object::Kind::Tag),
];

fn body(object: &Object<'_>, ids: &[Id]) -> (usize, Vec<u8>) {
    let id = |at: u8| ids[usize::from(at) % ids.len()];
    match object {
        Object::Blob(bytes) => (0, bytes.to_vec()),
        Object::Tree(entries) => {
            let mut bytes = Vec::new();
            for entry in entries.iter().take(8) {
                let known = [&b"100644"[..], b"100755", b"120000", b"40000", b"160000", b"040000"];
                bytes.extend_from_slice(match entry.mode {
                    Mode::Known(at) => known[usize::from(at) % known.len()],
                    Mode::Free(mode) => mode,
                });
                bytes.push(b' ');
                bytes.extend_from_slice(entry.name);
                bytes.push(0);
                bytes.extend_from_slice(id(entry.id).as_bytes());
            }
            (1, bytes)
        }
        Object::Commit(tree, rest) => {
            (2, [format!("tree {}\n", id(*tree)).as_bytes(), rest].concat())
        }
        Object::Tag(target, rest) => {
            (3, [format!("object {}\n", id(*target)).as_bytes(), rest].concat())
        }
        Object::Free(kind, bytes) => (usize::from(*kind) % 4, bytes.to_vec()),
    }
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut stream = gix_zlib::stream::deflate::Write::new(Vec::new(), gix_zlib::Compression::NONE);
    stream.write_all(bytes).unwrap();
    stream.flush().unwrap();
    stream.into_inner()
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let dir =
            tempfile::tempdir_in(if Path::new("/dev/shm").exists() { "/dev/shm" } else { "/tmp" })
                .unwrap();
        for part in ["objects", "refs/heads"] {
            fs::create_dir_all(dir.path().join(part)).unwrap();
        }
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        Self(dir)
    }

    fn write(&self, id: Id, file: &[u8]) -> PathBuf {
        let hex = id.to_string();
        let path = self.0.path().join("objects").join(&hex[..2]).join(&hex[2..]);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file).unwrap();
        path
    }
}

thread_local! {
    static PLACE: RefCell<Place> = RefCell::new(Place::new());
}

fn walk(repository: &Repository, tree: Id) -> Option<Vec<(Vec<u8>, git_object_tree::TreeEntry)>> {
    let mut all = Vec::new();
    repository
        .snapshot(tree)
        .walk(&mut |path, entry| all.push((path.to_vec(), entry)))
        .ok()
        .map(|()| all)
}

fuzz_target!(|input: Input<'_>| {
    PLACE.with_borrow(|place| {
        // The empty tree is in every repository.
        let mut ids: Vec<Id> = vec!["4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap()];
        let mut paths = Vec::new();
        for object in input.objects.iter().take(8) {
            let (kind, body) = body(object, &ids);
            let (word, kind) = KINDS[kind];
            let hash = gix_object::compute_hash(gix_hash::Kind::Sha1, kind, &body).unwrap();
            let id = Id::new(hash.as_bytes().try_into().unwrap());
            paths.push(place.write(
                id,
                &deflated(&[format!("{word} {}\0", body.len()).as_bytes(), &body].concat()),
            ));
            ids.push(id);
        }
        if let Some((deflate, file)) = input.file {
            let id = Id::new([0xab; 20]);
            paths.push(place.write(id, &if deflate { deflated(file) } else { file.to_vec() }));
            ids.push(id);
        }
        let options = OpenOptions {
            user_configuration: false,
            max_object_size: 1 << 20,
            ..OpenOptions::default()
        };
        let repository = Repository::open(place.0.path(), &options).unwrap();
        for id in &ids {
            let _ = (repository.header(*id), repository.blob(*id, 1 << 20), repository.commit(*id));
            let _ = repository.resolve(&format!("{}~1^2", &id.to_string()[..8]));
            let found = repository.resolve(&id.to_string()).map_or(*id, |found| found.tree);
            let snapshot = repository.snapshot(found);
            let before = walk(&repository, found);
            for (path, entry) in before.iter().flatten() {
                assert_eq!(snapshot.entry(path).unwrap(), Some(*entry));
            }
            let at = snapshot.entry(input.path);
            let change = input
                .change
                .map_or(TreeChange::Remove, |bytes| TreeChange::Write(EntryKind::File, bytes));
            let Ok(tree) = repository.write_tree(found, [(input.path, change)]) else { continue };
            let now = repository.snapshot(tree).entry(input.path).unwrap();
            match input.change {
                Some(bytes) => {
                    assert_eq!(&*repository.blob(now.unwrap().id, 1 << 20).unwrap(), bytes)
                }
                None => {
                    assert!(at.unwrap().is_some());
                    assert!(now.is_none());
                }
            }
            if let (Some(mut before), Some(mut after)) = (before, walk(&repository, tree)) {
                before.retain(|(path, _)| path != input.path.as_bytes());
                after.retain(|(path, _)| path != input.path.as_bytes());
                assert_eq!(before, after);
            }
        }
        for path in paths {
            let _ = fs::remove_file(path);
        }
    });
});
