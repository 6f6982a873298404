//! A patch is planned over every kind of tree as over a directory: the scenarios, and those attacks
//! that are not about a kernel, give the same changes, diffs, notes and rejects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use patch_git::CommitTree;

use fs_guard::{FileKind, Globs, HardLinks, NamePolicy, Policy, Root};
use git_object_tree::{EntryKind, OpenOptions, Repository, Resolved, TreeChange};
use patch_engine::{
    Ambiguous, Charset, Content, Files, HostFile, HostTree, MemoryTree, Options, Pass, Plan,
    Profile, Reject, plan,
};
use patch_grammar::Patch;
use patch_grammar::diff::{self, DiffOptions};

use crate::hostile::{self, Attack};
use crate::scenarios::Scenario;
use testutils::share::every;
use testutils::temp::temp;
use testutils::tree::{self, Kind};

/// Makes files of what is in a directory; `None` when the tree cannot hold it.
type Make = fn(&tree::Tree, &Policy) -> Option<Files>;

const TREES: [(&str, Make); 5] = [
    ("memory", memory),
    ("host", host),
    ("git", git),
    ("memory, hashed late", |files, policy| Some(memory(files, policy)?.hashed_late())),
    ("git, hashed late", |files, policy| Some(git(files, policy)?.hashed_late())),
];

fn content(entry: &tree::Entry) -> Option<Content> {
    let (bytes, link) = match &entry.kind {
        Kind::File(bytes) => (bytes.clone(), false),
        Kind::Link(text) => (text.clone().into_bytes(), true),
        Kind::Directory | Kind::Special => return None,
    };
    Some(Content { bytes: bytes.into(), mode: entry.mode & 0o777, link })
}

/// Whether a directory has something in it, so that a tree of files alone knows it.
fn has_files(files: &tree::Tree, dir: &str) -> bool {
    let beneath = format!("{dir}/");
    files.iter().any(|(path, entry)| path.starts_with(&beneath) && content(entry).is_some())
}

fn memory(files: &tree::Tree, policy: &Policy) -> Option<Files> {
    let mut memory = MemoryTree::new();
    for (path, entry) in files {
        match content(entry) {
            Some(content) => memory.insert_content(path, content),
            None if entry.kind == Kind::Directory && has_files(files, path) => {}
            None => return None,
        }
    }
    Some(Files::of_tree(Arc::new(memory), policy.clone()))
}

fn host(files: &tree::Tree, policy: &Policy) -> Option<Files> {
    let (read, list) = (Arc::new(files.clone()), Arc::new(files.clone()));
    let host = HostTree::new(move |path| {
        let file = read.get(path).and_then(content);
        Ok(file.map(|content| HostFile { content, version: Some(1) }))
    });
    let host = host.with_list(move |dir| {
        let is_dir = |entry: &tree::Entry| entry.kind == Kind::Directory;
        if !dir.is_empty() && !list.get(dir).is_some_and(is_dir) {
            return Ok(None);
        }
        let beneath = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let inside =
            list.iter().filter_map(|(path, entry)| Some((path.strip_prefix(&beneath)?, entry)));
        let names = inside.filter(|(name, _)| !name.contains('/')).map(|(name, entry)| {
            let kind = match entry.kind {
                Kind::File(_) => FileKind::File,
                Kind::Directory => FileKind::Directory,
                Kind::Link(_) => FileKind::Symlink,
                Kind::Special => FileKind::Other,
            };
            (name.to_owned(), kind)
        });
        Ok(Some(names.collect()))
    });
    Some(Files::of_tree(Arc::new(host), policy.clone()))
}

/// The tree of a commit in a repository. git knows two modes, and not all names.
fn git(files: &tree::Tree, policy: &Policy) -> Option<Files> {
    static REPOSITORY: OnceLock<(tempfile::TempDir, Repository)> = OnceLock::new();
    let (_, repository) = REPOSITORY.get_or_init(|| {
        let dir = temp();
        for part in ["objects", "refs/heads"] {
            fs::create_dir_all(dir.path().join(part)).expect("a folder");
        }
        fs::write(dir.path().join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        let repository =
            Repository::open(dir.path(), &OpenOptions::default()).expect("a repository");
        (dir, repository)
    });
    let mut contents = Vec::new();
    for (path, entry) in files {
        match (content(entry), entry.mode) {
            (Some(content), _) if content.link => {
                contents.push((path, EntryKind::Symlink, content.bytes))
            }
            (Some(content), 0o644) => contents.push((path, EntryKind::File, content.bytes)),
            (Some(content), 0o755) => contents.push((path, EntryKind::Executable, content.bytes)),
            (None, _) if entry.kind == Kind::Directory && has_files(files, path) => {}
            _ => return None,
        }
    }
    let changes =
        contents.iter().map(|(path, kind, bytes)| (path.as_str(), TreeChange::Write(*kind, bytes)));
    let empty =
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().expect("the id of the empty tree");
    let tree = repository.write_tree(empty, changes).ok()?;
    Some(CommitTree::new(repository, Resolved { commit: tree, tree }).files(policy.clone()))
}

/// The rules of arguments; `None` for one that is not about planning.
fn rules(args: &[String]) -> Option<(Options, Policy, bool)> {
    let value =
        |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let mut options =
        Options::new(value("--profile").map_or(Ok(Profile::default()), |name| name.parse()).ok()?);
    let mut policy = patch_engine::policy();
    let mut diff = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match &**arg {
            "apply" | "check" | "--check" | "-n" | "-q" | "--stat" => {}
            "--profile" => drop(rest.next()),
            "--create-parents" => options.create_parents = true,
            "--overwrite" => options.overwrite = true,
            "--allow-delete=false" => options.allow_delete = false,
            "--allow-move=false" => options.allow_move = false,
            "--durability" => drop(rest.next()),
            "--hard-links" => policy.hard_links = HardLinks::Break,
            "--allow" => policy.allow = Globs::new([rest.next()?]).ok()?,
            "--names" if rest.next()? == "native" => policy.names = NamePolicy::Native,
            "--ambiguous" if rest.next()? == "first" => {
                options.placement.ambiguous = Ambiguous::First
            }
            "--fuzz" => {
                let most = rest.next()?;
                let end = Pass::ALL.iter().position(|pass| pass.as_str() == most).unwrap_or(0);
                options.placement.passes = Pass::ALL[..=end].to_vec();
            }
            "--encoding" => {
                let (pattern, label) = rest.next()?.split_once('=')?;
                let files = Globs::new([pattern]).ok()?;
                options.encodings.declare(files, Charset::of_label(label)?);
            }
            "--expect" => {
                let (path, hash) = rest.next()?.split_once('=')?;
                options.expected.insert(path.to_owned(), hash.parse().ok()?);
            }
            "--from" => match &**rest.next()? {
                "unified" => diff = true,
                "envelope" => {}
                _ => return None,
            },
            _ => return None,
        }
    }
    Some((options, policy, diff))
}

/// What planning comes to, without what it was planned over.
fn outcome(files: &Files, patch: &Patch, options: &Options) -> Result<String, String> {
    let planned = plan(files, patch, options);
    planned.map(|plan| shown(&plan)).map_err(|rejects| {
        let one = |reject: &Reject| {
            let Reject {
                section,
                path,
                hunk,
                patch_line,
                problem,
                near,
                strip: _,
                after_section: _,
                new_file: _,
                exact: _,
            } = reject;
            let (kind, reason) = (reject.kind(), reject.reason());
            format!(
                "{section:?} {path} {hunk:?} {patch_line:?} {kind:?} {reason} {near:?}: \
                     {reject}\n{problem}"
            )
        };
        rejects.iter().map(one).collect::<Vec<_>>().join("\n")
    })
}

fn shown(plan: &Plan) -> String {
    let images = plan.images();
    let changed: BTreeMap<String, _> = images
        .changed()
        .expect("files stay as they are")
        .into_iter()
        .map(|file| (file.path.to_string(), (file.before(), file.after)))
        .collect();
    let diffs =
        String::from_utf8_lossy(&images.diffs().expect("files stay as they are")).into_owned();
    let dirs: Vec<_> = plan.create_dirs().map(ToString::to_string).collect();
    format!(
        "{changed:#?}\n{diffs}\n{:#?}\n{dirs:?} {:?}\n{:?}",
        plan.changes(),
        plan.notes(),
        plan.placed()
    )
}

/// How many plans were compared.
#[derive(Default)]
struct Compared {
    plans: BTreeMap<&'static str, usize>,
    refused: usize,
}

impl Compared {
    /// Plans over a directory and over each tree of the same files. False when that is about
    /// something a tree has not.
    fn compare(&mut self, name: &str, workspace: &Path, args: &[String], input: &[u8]) -> bool {
        let Some((options, policy, is_diff)) = rules(args) else { return false };
        let patch = if is_diff {
            diff::parse(input, &DiffOptions::default())
        } else {
            patch_engine::parse(input, &options.parse)
        };
        let Ok(patch) = patch else { return false };
        let root = Arc::new(Root::open(workspace, policy.clone()).expect("a directory"));
        let wanted = outcome(&Files::from(&root), &patch, &options);
        // What only a file system has.
        let kernel = [" hard_links ", " other_device ", " mount ", " untrusted_state ", " io "];
        if wanted.as_ref().is_err_and(|rejects| kernel.iter().any(|word| rejects.contains(word))) {
            return false;
        }
        let there = tree::look(workspace, false);
        for (kind, make) in TREES {
            let Some(files) = make(&there, &policy) else { continue };
            let found = outcome(&files, &patch, &options);
            // An absolute path inside has another name where there is no directory.
            let absolute = |text: &str| text.contains("absolute_path");
            if found.as_ref().is_err_and(|text| absolute(text))
                && wanted.as_ref().is_err_and(|text| absolute(text))
            {
                continue;
            }
            assert_eq!(found, wanted, "{name}: {kind}");
            *self.plans.entry(kind).or_default() += 1;
        }
        self.refused += usize::from(wanted.is_err());
        true
    }
}

#[test]
fn scenarios_give_the_same_over_every_tree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).expect("the scenarios").map(|it| it.expect("one").path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    let mut compared = Compared::default();
    for case in &cases {
        let scenario = Scenario::new(case);
        scenario.build(&scenario.workspace(), "before", "setup.txt");
        let patch = fs::read(case.join("patch.txt")).expect("patch.txt");
        compared.compare(&scenario.name, &scenario.workspace(), &scenario.args(), &patch);
    }
    let Compared { plans, refused } = compared;
    assert!(plans.values().all(|&count| count > 150), "{plans:?}");
    assert!(plans.len() == TREES.len(), "{plans:?}");
    assert!(refused > 60, "{refused} are refused");
}

#[test]
fn attacks_come_to_the_same_over_every_tree() {
    let step = every(9);
    let mut compared = Compared::default();
    for attack in hostile::attacks().into_iter().step_by(step) {
        let Attack { name, args, input, .. } = &attack;
        let args: Vec<String> =
            args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        if rules(&args).is_none() || args.iter().any(|arg| arg == "check") && args.len() > 3 {
            continue;
        }
        let Some(around) = attack.place() else { continue };
        compared.compare(name, &around.path().join("ws"), &args, input);
    }
    let Compared { plans, refused } = compared;
    assert!(plans.values().all(|&count| count > 250 / step), "{plans:?}");
    assert!(plans.len() == TREES.len(), "{plans:?}");
    assert!(refused > 250 / step, "{refused} are refused");
}
