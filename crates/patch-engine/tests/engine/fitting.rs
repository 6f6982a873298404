//! Which sections of a patch are applied where some do not apply.

use std::fs;

use patch_engine::commit::{CommitOptions, Durability, Error, KeyPlace, Workspace};
use patch_engine::{
    ApplyOptions, Atomicity, Cancellation, Expected, Failed, HunkResult, Options, Patch, Profile,
    Report, parse, reverse,
};
use tempfile::TempDir;

const FILES: [(&str, &str); 4] =
    [("a", "a1\na2\n"), ("b", "b1\nb2\nb3\nb4\n"), ("c", "c\n"), ("d/x", "x\n")];

struct Bench {
    dir: TempDir,
    _keys: TempDir,
    workspace: Workspace,
    settings: ApplyOptions,
}

impl Bench {
    fn new(atomicity: Atomicity) -> Self {
        let (dir, keys) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        for (path, text) in FILES {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
        let workspace = workspace.with_key_place(KeyPlace::Directory(keys.path().into()));
        let mut settings = ApplyOptions::new(Options::new(Profile::Strict));
        settings.atomicity = atomicity;
        settings.commit =
            CommitOptions { durability: Durability::None, ..CommitOptions::default() };
        Self { dir, _keys: keys, workspace, settings }
    }

    fn parse(&self, body: &str) -> Patch {
        parse(format!("*** Begin Patch\n{body}*** End Patch\n"), &self.settings.options.parse)
            .unwrap()
    }

    /// Applies a patch, which its preview announces.
    fn apply(&self, patch: &Patch) -> Outcome {
        let preview = match self.workspace.preview(patch, &self.settings, &Cancellation::NEVER) {
            Ok(report) => Outcome::of(Ok(&[report])),
            Err(failed) => Outcome::of(Err(&failed)),
        };
        let applied = self.workspace.apply(patch, &self.settings, &mut ());
        let applied = Outcome::of(applied.as_deref());
        assert_eq!(preview, applied);
        applied
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join(path)).ok()
    }
}

/// What became of a patch.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// `b2` is the second hunk of a section of b.
    hunks: String,
    /// Each change, with the first letter of what is done.
    changes: String,
    /// The reasons of all rejects.
    reasons: String,
}

impl Outcome {
    fn of(result: Result<&[Report], &Failed>) -> Self {
        let (reports, rejects) = match result {
            Ok(reports) => (reports, None),
            Err(Failed { error: Error::Rejected(rejects), reports, .. }) => {
                (&reports[..], Some(rejects))
            }
            Err(failed) => panic!("{failed}"),
        };
        let of_plans: Vec<_> = reports.iter().flat_map(|report| report.plan.hunks()).collect();
        let place = |hunk: &HunkResult<'_>| (hunk.section, hunk.hunk);
        let mut hunks = of_plans.clone();
        let others = rejects.into_iter().flat_map(|rejects| rejects.hunks());
        hunks.extend(others.filter(|hunk| of_plans.iter().all(|own| place(own) != place(hunk))));
        hunks.sort_by_key(place);
        let words = hunks.iter().map(|hunk| {
            let HunkResult { path, hunk, outcome, .. } = hunk;
            format!("{path}{} {}", hunk + 1, outcome.as_str())
        });
        let changes = reports
            .iter()
            .flat_map(|report| report.plan.changes())
            .map(|change| format!("{} {}", &change.operation.as_str()[..1], change.last_path()));
        let reasons = rejects.into_iter().flat_map(|rejects| rejects.iter());
        Self {
            hunks: words.collect::<Vec<_>>().join(", "),
            changes: changes.collect::<Vec<_>>().join(", "),
            reasons: reasons.map(|reject| reject.reason()).collect::<Vec<_>>().join(", "),
        }
    }
}

const A: &str = "*** Update File: a\n@@\n-a1\n+A1\n";
const C: &str = "*** Update File: c\n@@\n-c\n+C\n";
/// The first hunk of `b` fits, the second does not.
const B: &str = "*** Update File: b\n@@\n-b1\n+B1\n@@\n-none\n+B2\n";

#[test]
fn the_sections_that_fit_are_applied() {
    let missing = "*** Update File: none\n@@\n-x\n+y\n";
    let not_b = "b1 not_applied, b2 rejected";
    for (body, hunks, changes, reasons) in [
        (format!("{A}{C}"), "a1 applied, c1 applied".to_owned(), "u a, u c", ""),
        (
            format!("{A}{B}{C}"),
            format!("a1 applied, {not_b}, c1 applied"),
            "u a, u c",
            "context_not_found",
        ),
        (format!("{B}*** Add File: n\n+n\n"), not_b.into(), "c n", "context_not_found"),
        (format!("{missing}{A}"), "none1 rejected, a1 applied".into(), "u a", "not_found"),
        // Nothing is left of it.
        (B.into(), not_b.into(), "", "context_not_found"),
        (
            format!("{B}{missing}"),
            format!("{not_b}, none1 rejected"),
            "",
            "context_not_found, not_found",
        ),
        // Sections of the same paths belong together, before and after.
        (
            format!("{A}{B}*** Update File: b\n@@\n-b3\n+B3\n"),
            format!("a1 applied, {not_b}, b1 not_applied"),
            "u a",
            "context_not_found",
        ),
        (
            format!("{A}*** Update File: b\n@@\n-b3\n+B3\n{B}"),
            format!("a1 applied, b1 not_applied, {not_b}"),
            "u a",
            "context_not_found",
        ),
        (
            format!("{B}*** Move File: c -> e\n*** Update File: e\n@@\n-c\n+C\n"),
            format!("{not_b}, e1 applied"),
            "m e",
            "context_not_found",
        ),
        (
            format!("{A}*** Move File: b -> e\n*** Update File: e\n@@\n-none\n+C\n"),
            "a1 applied, e1 rejected".into(),
            "u a",
            "context_not_found",
        ),
        (
            format!("{A}{B}*** Move File: c -> e\n*** Move File: e -> b\n"),
            format!("a1 applied, {not_b}"),
            "u a",
            "context_not_found, replaces_used",
        ),
        // Neither of two that are in each other's way is taken.
        (
            format!("{A}*** Add File: N\n+1\n*** Add File: n\n+2\n"),
            "a1 applied".into(),
            "u a",
            "collision",
        ),
        (
            format!("{A}*** Add File: n\n+1\n*** Add File: n/x\n+2\n"),
            "a1 applied".into(),
            "u a",
            "not_a_directory",
        ),
        // A hunk that is applied already.
        (
            format!("{A}*** Update File: b\n@@\n b1\n-gone\n+b2\n b3\n"),
            "a1 applied, b1 already_applied".into(),
            "u a",
            "already_applied",
        ),
        // What the policy refuses refuses all.
        (
            format!("{A}*** Update File: .git/config\n@@\n-x\n+y\n"),
            "a1 not_applied, .git/config1 rejected".into(),
            "",
            "git_directory",
        ),
        (format!("{A}*** Add File: ../n\n+n\n"), "a1 not_applied".into(), "", "traversal"),
    ] {
        let bench = Bench::new(Atomicity::Fitting);
        let outcome = bench.apply(&bench.parse(&body));
        let wanted = Outcome { hunks, changes: changes.into(), reasons: reasons.into() };
        assert_eq!(outcome, wanted, "{body}");
        if changes.is_empty() {
            assert!(FILES.iter().all(|(path, text)| bench.read(path).as_deref() == Some(text)));
        }
    }
}

#[test]
fn an_expectation_about_a_file_leaves_out_its_sections() {
    for path in ["b", "./b"] {
        let mut bench = Bench::new(Atomicity::Fitting);
        bench.settings.options.expected.insert("b".into(), Expected::Absent);
        let body = format!("{A}*** Update File: {path}\n@@\n-b1\n+B1\n");
        let outcome = bench.apply(&bench.parse(&body));
        assert_eq!(outcome.hunks, format!("a1 applied, {path}1 rejected"));
        assert_eq!(outcome.reasons, "stale");
        assert_eq!(bench.read("b").unwrap(), FILES[1].1);
    }
    // One that is about no section refuses all.
    let mut bench = Bench::new(Atomicity::Fitting);
    bench.settings.options.expected.insert("c".into(), Expected::Absent);
    let outcome = bench.apply(&bench.parse(&format!("{A}{B}")));
    assert_eq!(outcome.changes, "");
    assert_eq!(outcome.reasons, "stale, context_not_found");
}

#[test]
fn what_was_applied_in_part_is_not_done() {
    let bench = Bench::new(Atomicity::Fitting);
    let patch = bench.parse(&format!("{A} a2\n{B}"));
    assert_eq!(bench.apply(&patch).changes, "u a");
    // Again: there is nothing more to do.
    let again = bench.apply(&patch);
    assert_eq!(again.hunks, "a1 already_applied, b1 not_applied, b2 rejected");
    assert_eq!(again.changes, "");
    // All of it is recognised, and so is what fits as a whole.
    let patch = bench.parse(C);
    assert_eq!(bench.apply(&patch).changes, "u c");
    let reports = bench.workspace.apply(&patch, &bench.settings, &mut ()).unwrap();
    assert!(reports[0].already_done);
}

#[test]
fn hunks_that_are_applied_can_be_left_out_too() {
    let mut bench = Bench::new(Atomicity::Fitting);
    bench.settings.options.placement.skip_applied = true;
    let there = "*** Update File: b\n@@\n b1\n-gone\n+b2\n b3\n@@\n-b4\n+B4\n";
    let outcome = bench.apply(&bench.parse(&format!("{there}*** Update File: c\n@@\n-x\n+y\n")));
    assert_eq!(outcome.hunks, "b1 already_applied, b2 applied, c1 rejected");
    assert_eq!(outcome.changes, "u b");
}

#[test]
fn places_of_a_reversed_patch_are_those_of_its_text() {
    let bench = Bench::new(Atomicity::Fitting);
    let patch = bench.parse(
        "*** Update File: a\n@@\n-A1\n+a1\n*** Update File: b\n@@\n-B1\n+none\n*** Update File: c\n\
         @@\n-C\n+c\n",
    );
    let patch = reverse(&patch, &bench.settings.options).unwrap();
    assert_eq!(bench.apply(&patch).hunks, "a1 applied, b1 rejected, c1 applied");
    assert_eq!(bench.read("a").unwrap(), "A1\na2\n");
}

#[test]
fn section_by_section_those_before_the_first_that_fails_are_applied() {
    for (body, hunks, changes) in [
        (format!("{A}{B}{C}"), "a1 applied, b1 not_applied, b2 rejected, c1 not_applied", "u a"),
        (format!("{B}{A}"), "b1 not_applied, b2 rejected, a1 not_applied", ""),
        (format!("{A}{C}"), "a1 applied, c1 applied", "u a, u c"),
    ] {
        let bench = Bench::new(Atomicity::EachSection);
        let outcome = bench.apply(&bench.parse(&body));
        assert_eq!(&*outcome.hunks, hunks, "{body}");
        assert_eq!(&*outcome.changes, changes, "{body}");
    }
}
