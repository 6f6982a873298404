//! When a person is asked, about what, and what the answers do.

use std::fs;

use fs_guard::{Globs, Policy};
use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use patch_engine::commit::{CommitOptions, Durability, Error, KeyPlace, Workspace};
use patch_engine::{ApplyOptions, Host, Options, Profile, parse};
use tempfile::TempDir;

/// Gives one answer, and remembers why it was asked.
struct Person {
    answer: Decision,
    asked: Option<String>,
}

impl Host for Person {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let reasons: Vec<_> = request.reasons.iter().map(ToString::to_string).collect();
        assert!(!request.plan.changes().is_empty());
        self.asked = Some(reasons.join("; "));
        Ok(self.answer)
    }
}

struct Session {
    dir: TempDir,
    workspace: Workspace,
    approvals: Approvals,
}

/// What becomes of a patch.
#[derive(Debug, PartialEq)]
struct Told {
    /// What was asked about it; `None` if nobody was asked.
    asked: Option<String>,
    applied: bool,
}

impl Session {
    fn new(policy: ApprovalPolicy) -> Self {
        let dir = TempDir::new().unwrap();
        for (path, text) in [("a", "a\n"), ("b", "b\n"), ("c", "c\n"), (".gitattributes", "x\n")] {
            fs::write(dir.path().join(path), text).unwrap();
        }
        let mut approvals = Approvals::new(policy);
        let guard = Policy { allow: Globs::new([".mcp.json"]).unwrap(), ..patch_engine::policy() };
        let workspace = Workspace::open(dir.path(), approvals.take_guarded(guard)).unwrap();
        let workspace = workspace.with_key_place(KeyPlace::Nowhere);
        Self { dir, workspace, approvals }
    }

    fn apply(&mut self, body: &str, answer: Decision) -> Told {
        let mut settings = ApplyOptions::new(Options::new(Profile::Codex));
        settings.commit =
            CommitOptions { durability: Durability::None, ..CommitOptions::default() };
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        let patch = parse(&text, &settings.options.parse).unwrap();
        let mut person = Person { answer, asked: None };
        let applied = self.workspace.apply(&patch, &settings, &mut self.approvals.ask(&mut person));
        if let Err(failed) = &applied {
            assert!(matches!(failed.error, Error::Declined | Error::Rejected(_)), "{failed}");
        }
        Told { asked: person.asked, applied: applied.is_ok() }
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join(path)).ok()
    }
}

const UPDATE: &str = "*** Update File: a\n@@\n-a\n+A\n";
const BACK: &str = "*** Update File: a\n@@\n-A\n+a\n";

#[test]
fn what_is_dangerous_is_asked_about() {
    for (body, reasons) in [
        (UPDATE, None),
        ("*** Add File: n\n+n\n", None),
        ("*** Move File: a -> n\n", None),
        ("*** Add File: .mcp.json\n+{}\n", None),
        // Both files are still there in the end.
        ("*** Move File: b -> n\n*** Move File: a -> b\n", None),
        ("*** Delete File: b\n", Some("b is deleted")),
        ("*** Add File: b\n+new\n", Some("b is replaced")),
        ("*** Move File: a -> b\n", Some("b is replaced")),
        (
            "*** Update File: .gitattributes\n@@\n-x\n+y\n",
            Some(
                ".gitattributes is guarded by `**/.gitattributes`: such files make tools run \
                 code",
            ),
        ),
        (
            "*** Move File: a -> .vscode/tasks.json\n",
            Some(
                ".vscode/tasks.json is guarded by `**/.vscode/**`: such files make tools run \
                 code",
            ),
        ),
    ] {
        let wanted = reasons.map(str::to_owned);
        let mut session = Session::new(ApprovalPolicy::OnRequest);
        assert_eq!(
            session.apply(body, Decision::Approve),
            Told { asked: wanted, applied: true },
            "{body}"
        );
        let mut session = Session::new(ApprovalPolicy::Always);
        let wanted = Some(reasons.unwrap_or_default().to_owned());
        assert_eq!(
            session.apply(body, Decision::Approve),
            Told { asked: wanted, applied: true },
            "{body}"
        );
        let mut session = Session::new(ApprovalPolicy::Never);
        let guarded = reasons.is_some_and(|reasons| reasons.contains("guarded"));
        assert_eq!(
            session.apply(body, Decision::Decline),
            Told { asked: None, applied: !guarded },
            "{body}"
        );
    }
}

#[test]
fn declined_changes_nothing_and_is_asked_again() {
    let mut session = Session::new(ApprovalPolicy::Always);
    for _ in 0..2 {
        assert_eq!(
            session.apply(UPDATE, Decision::Decline),
            Told { asked: Some(String::new()), applied: false }
        );
        assert_eq!(session.read("a").as_deref(), Some("a\n"));
        assert!(session.read(".apply-patch/.gitignore").is_none(), "not even a state directory");
    }
}

#[test]
fn an_approval_for_the_session_covers_the_same_and_no_more() {
    let mut session = Session::new(ApprovalPolicy::Always);
    assert_eq!(
        session.apply(UPDATE, Decision::Approve),
        Told { asked: Some(String::new()), applied: true }
    );
    assert_eq!(
        session.apply(BACK, Decision::ApproveForSession),
        Told { asked: Some(String::new()), applied: true },
        "the first was for once"
    );
    assert_eq!(
        session.apply(UPDATE, Decision::Decline),
        Told { asked: None, applied: true },
        "the same file"
    );
    for (body, reasons) in [
        ("*** Delete File: a\n", "a is deleted"),
        ("*** Add File: a\n+anew\n", "a is replaced"),
        ("*** Update File: b\n@@\n-b\n+B\n", ""),
        ("*** Update File: a\n@@\n-A\n+a\n*** Update File: b\n@@\n-b\n+B\n", ""),
    ] {
        assert_eq!(
            session.apply(body, Decision::Decline),
            Told { asked: Some(reasons.to_owned()), applied: false },
            "{body}"
        );
    }
    let mut session = Session::new(ApprovalPolicy::OnRequest);
    assert!(session.apply("*** Delete File: b\n", Decision::ApproveForSession).applied);
    fs::write(session.dir.path().join("b"), "b\n").unwrap();
    assert_eq!(
        session.apply("*** Delete File: b\n", Decision::Decline),
        Told { asked: None, applied: true }
    );
    assert_eq!(
        session.apply("*** Delete File: c\n", Decision::Decline),
        Told { asked: Some("c is deleted".into()), applied: false }
    );
}

#[test]
fn an_approval_for_the_turn_covers_the_kinds_of_reasons_it_had() {
    const B: &str = "*** Update File: b\n@@\n-b\n+B\n";
    const DELETE: &str = "*** Delete File: b\n";
    for (begins, approved, then, is_asked) in [
        // Without a turn it is for once.
        (false, UPDATE, B, true),
        (true, UPDATE, B, false),
        (true, UPDATE, "*** Add File: n\n+n\n", false),
        (true, UPDATE, DELETE, true),
        (true, UPDATE, ".gitattributes", true),
        (true, "*** Delete File: c\n", DELETE, false),
        (true, "*** Delete File: c\n", B, false),
        (true, "*** Delete File: c\n", "*** Move File: a -> b\n", true),
        (true, ".gitattributes", "*** Add File: .vscode/tasks.json\n+{}\n", true),
    ] {
        let body = |text: &str| match text {
            ".gitattributes" => "*** Update File: .gitattributes\n@@\n-x\n+y\n".to_owned(),
            text => text.to_owned(),
        };
        let mut session = Session::new(ApprovalPolicy::Always);
        if begins {
            session.approvals.begin_turn();
        }
        let Told { asked, applied } = session.apply(&body(approved), Decision::ApproveForTurn);
        assert!(asked.is_some());
        assert!(applied);
        let Told { asked, applied } = session.apply(&body(then), Decision::Decline);
        assert_eq!(asked.is_some(), is_asked, "{approved} {then}");
        assert_eq!(applied, !is_asked, "{approved} {then}");
    }
    // The next turn is asked about anew.
    let mut session = Session::new(ApprovalPolicy::Always);
    session.approvals.begin_turn();
    assert!(session.apply(UPDATE, Decision::ApproveForTurn).applied);
    session.approvals.end_turn();
    session.approvals.begin_turn();
    assert_eq!(
        session.apply(BACK, Decision::Decline),
        Told { asked: Some(String::new()), applied: false }
    );
}
