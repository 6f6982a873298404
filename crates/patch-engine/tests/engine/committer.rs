//! A committer that is not this crate's own takes the same steps as a directory.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use patch_engine::commit::approval::{Decision, Request};
use patch_engine::commit::{CommitOptions, Committed, Error, KeyPlace, TransactionId, Workspace};
use patch_engine::{
    Cancellation, CommitLog, Committer, ErrorKind, Event, Files, Host, MemoryTree, NotCommitted,
    Options, Plan, commit_to, intend, parse,
};

type Steps = Rc<RefCell<Vec<String>>>;

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    NothingToDo,
    Declined,
    CancelledAtOnce,
    NotLogged,
}

/// A host and a log that write down what they are told.
struct Told(Steps, Wrong);

impl Host for Told {
    fn approve(&mut self, _: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        self.0.borrow_mut().push("ask".into());
        Ok(if self.1 == Wrong::Declined { Decision::Decline } else { Decision::Approve })
    }

    fn cancellation(&self) -> Cancellation {
        let cancelled = self.1 == Wrong::CancelledAtOnce;
        Cancellation::new(move || cancelled)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.0.borrow_mut().push(match event {
            Event::Planned(_) => "planned".into(),
            Event::Staged(_) => "staged".into(),
            Event::Committed(report) => format!("committed {}", report.transaction.is_some()),
            Event::Failed { rolled_back, .. } => format!("failed, rolled back: {rolled_back}"),
            _ => return,
        });
    }
}

impl CommitLog for Told {
    fn planned(&mut self, _: &Arc<Plan>) {
        self.0.borrow_mut().push("log the plan".into());
    }

    fn intend(&mut self, _: TransactionId) -> Result<(), String> {
        self.0.borrow_mut().push("log the intent".into());
        if self.1 == Wrong::NotLogged { Err("no room".into()) } else { Ok(()) }
    }

    fn ended(&mut self, ended: Result<TransactionId, Option<ErrorKind>>) {
        self.0.borrow_mut().push(format!("log the end: {:?}", ended.map(drop)));
    }
}

/// Files in memory, which others change meanwhile as often as `overtaken` says.
struct InMemory {
    tree: MemoryTree,
    patch: &'static str,
    overtaken: usize,
}

impl Committer for InMemory {
    type Error = Error;

    fn plan(&mut self, _: &mut dyn CommitLog, _: &mut dyn Host) -> Result<Plan, Error> {
        let files = Files::of_tree(Arc::new(self.tree.clone()), patch_engine::policy());
        let options = Options::default();
        let patch = parse(self.patch, &options.parse).unwrap();
        Ok(patch_engine::plan(files, &patch, &options)?)
    }

    fn commit(
        &mut self,
        plan: &Arc<Plan>,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, NotCommitted<Error>> {
        let id = TransactionId::new(std::time::SystemTime::now(), None);
        intend(id, log, host).map_err(Error::from)?;
        if self.overtaken > 0 {
            self.overtaken -= 1;
            let error = Error::Declined;
            return Err(NotCommitted { overtaken: true, ..error.into() });
        }
        self.tree.commit(plan).unwrap();
        Ok(id.into())
    }
}

const ADD: &str = "*** Begin Patch\n*** Add File: b\n+B\n*** End Patch\n";
const SAME: &str = "*** Begin Patch\n*** Update File: a\n@@\n-A\n+A\n*** End Patch\n";

fn in_memory(wrong: Wrong, overtaken: usize) -> Vec<String> {
    let steps = Steps::default();
    let (mut log, mut host) = (Told(steps.clone(), wrong), Told(steps.clone(), wrong));
    let patch = if wrong == Wrong::NothingToDo { SAME } else { ADD };
    let tree = [("a", "A\n")].into_iter().collect();
    let mut committer = InMemory { tree, patch, overtaken };
    let done = commit_to(&mut committer, &mut log, &mut host);
    assert_eq!(done.is_ok(), matches!(wrong, Wrong::Nothing | Wrong::NothingToDo));
    assert_eq!(committer.tree.get("b").is_some(), wrong == Wrong::Nothing);
    steps.take()
}

fn in_directory(wrong: Wrong) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "A\n").unwrap();
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let workspace = workspace.with_key_place(KeyPlace::Nowhere);
    let steps = Steps::default();
    let (mut log, mut host) = (Told(steps.clone(), wrong), Told(steps.clone(), wrong));
    let options = Options::default();
    let text = if wrong == Wrong::NothingToDo { SAME } else { ADD };
    let patch = parse(text, &options.parse).unwrap();
    let mut plan = |root: &_| Ok::<_, Error>(patch_engine::plan(root, &patch, &options)?);
    let _ = workspace.execute(&CommitOptions::default(), &mut log, &mut host, &mut plan);
    steps.take()
}

#[test]
fn every_committer_takes_the_same_steps() {
    const ALL: [&str; 7] = [
        "ask",
        "log the plan",
        "planned",
        "log the intent",
        "staged",
        "log the end: Ok(())",
        "committed true",
    ];
    let failed = "failed, rolled back: true";
    let command_failed = "log the end: Err(Some(CommandFailed))";
    for (name, wrong, expected) in [
        ("all is well", Wrong::Nothing, ALL.to_vec()),
        ("nothing to do", Wrong::NothingToDo, Vec::new()),
        ("declined", Wrong::Declined, vec!["ask"]),
        ("cancelled", Wrong::CancelledAtOnce, Vec::new()),
        ("not logged", Wrong::NotLogged, [&ALL[..4], &[command_failed, failed]].concat()),
    ] {
        assert_eq!(in_memory(wrong, 0), expected, "{name}, in memory");
        assert_eq!(in_directory(wrong), expected, "{name}, in a directory");
    }
    // A plan that was overtaken is made again, and announced again instead of ending.
    let again = [&ALL[..5], &["log the end: Err(Some(PermissionDenied))"], &ALL[..]].concat();
    assert_eq!(in_memory(Wrong::Nothing, 1), again);
}
