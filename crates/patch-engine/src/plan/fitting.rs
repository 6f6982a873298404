//! Plans the sections of a patch that fit, where others do not.
//!
//! Those that do not fit are left out and the rest is planned again, until what is left fits.

use std::collections::{BTreeSet, HashMap, HashSet};

use patch_grammar::Patch;

use crate::files::Files;
use crate::plan::kind::ErrorKind;
use crate::plan::options::Options;
use crate::plan::paths::plain;
use crate::plan::planner::plan_without;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::relative::relative;
use crate::plan::simultaneous::steps;
use crate::plan::{Plan, PlanNote};

/// Plans the sections of a patch that fit: all hunks of a section, or none. A section is left out
/// if it does not apply, or if it names a path that a section that is left out names. Also returns
/// why some do not apply.
///
/// # Errors
///
/// Why the patch does not apply: where nothing would be changed, and where the guard or the policy
/// refuses a section, the system fails, or a reject is about no section. These are not left out.
pub(crate) fn plan_fitting(
    files: &Files,
    patch: &Patch,
    options: &Options,
) -> Result<(Plan, Option<Rejects>), Rejects> {
    let patch = &*relative(files, patch);
    let mut options = options.clone();
    let mut rest = OmittedSections::new(patch);
    let mut why: Option<Rejects> = None;
    let mut plan = loop {
        let more = match plan_without(files, patch, &options, &rest.sections) {
            Ok(plan) => break plan,
            Err(more) => more,
        };
        let grown = rest.grow(&more);
        let rejects = match why.take() {
            Some(why) => why.and(more),
            None => more,
        };
        if !grown || rest.sections.len() == patch.sections().len() {
            return Err(rejects);
        }
        options.expected.retain(|path, _| !rest.paths.contains(plain(path)));
        why = Some(rejects);
    };
    match why {
        Some(why) if plan.is_empty() => Err(why),
        why => {
            plan.notes.extend(rest.notes());
            Ok((plan, why))
        }
    }
}

/// The sections of a patch to leave out.
struct OmittedSections<'p> {
    patch: &'p Patch,
    /// The sections with each path.
    naming: HashMap<&'p str, Vec<usize>>,
    sections: BTreeSet<usize>,
    /// Their paths: no other section names one.
    paths: HashSet<&'p str>,
}

impl<'p> OmittedSections<'p> {
    fn new(patch: &'p Patch) -> Self {
        let mut naming: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, section) in patch.sections().iter().enumerate() {
            for path in section.paths() {
                naming.entry(plain(&path.text)).or_default().push(index);
            }
        }
        Self { patch, naming, sections: BTreeSet::new(), paths: HashSet::new() }
    }

    /// Adds the sections that the rejects are about, and those that name a path of theirs. Returns
    /// `false` if there are no more now: then nothing of the patch is applied.
    fn grow(&mut self, rejects: &Rejects) -> bool {
        let Some(mut next) = self.sections_of(rejects) else { return false };
        let known = self.sections.len();
        while let Some(index) = next.pop() {
            if !self.sections.insert(index) {
                continue;
            }
            for path in self.patch.sections()[index].paths() {
                if self.paths.insert(plain(&path.text)) {
                    next.extend(&self.naming[plain(&path.text)]);
                }
            }
        }
        self.sections.len() > known
    }

    /// Returns the sections with a path.
    fn naming(&self, path: &str) -> impl Iterator<Item = usize> {
        self.naming.get(plain(path)).into_iter().flatten().copied()
    }

    /// Returns the sections of the rejects; `None` if they are reasons to refuse all.
    fn sections_of(&self, rejects: &Rejects) -> Option<Vec<usize>> {
        let mut sections = Vec::new();
        for reject in rejects.iter() {
            if refuses_all(reject) {
                return None;
            }
            let known = sections.len();
            match reject.section {
                Some(section) => sections.push(self.patch.place_in_text(section)),
                None => sections.extend(self.naming(&reject.path)),
            }
            if sections.len() == known {
                return None;
            }
            // Which of two that are in each other's way is meant is not for us to say.
            match &reject.problem {
                Problem::ReplacesUsed { other } => {
                    sections.push(self.patch.place_in_text(*other));
                }
                Problem::Collides { with: path }
                | Problem::ParentIsFile { file: path }
                | Problem::ParentOfFile { file: path } => {
                    sections.extend(self.naming(path));
                }
                _ => {}
            }
        }
        Some(sections)
    }

    fn notes(&self) -> impl Iterator<Item = PlanNote> {
        let sections = self.sections.iter().map(|&index| &self.patch.sections()[index]);
        let paths: BTreeSet<_> = sections.map(|section| &*section.path.text).collect();
        paths.into_iter().map(|path| PlanNote::LeftOut { path: path.to_owned() })
    }
}

/// Returns whether nothing of the patch is applied because of a reject.
fn refuses_all(reject: &Reject) -> bool {
    match &reject.problem {
        Problem::Guard(_) => !matches!(
            reject.kind(),
            ErrorKind::NotFound | ErrorKind::AlreadyExists | ErrorKind::FileTooLarge
        ),
        _ => reject.kind() == ErrorKind::PermissionDenied,
    }
}

/// Plans the sections before the first that does not apply, and before those that go with it. Also
/// returns why that does not.
///
/// # Errors
///
/// Why the first section does not apply, or none does.
pub(crate) fn plan_before_first(
    files: &Files,
    patch: &Patch,
    options: &Options,
) -> Result<(Plan, Option<Rejects>), Rejects> {
    let patch = &*relative(files, patch);
    let rejects = match plan_without(files, patch, options, &BTreeSet::new()) {
        Ok(plan) => return Ok((plan, None)),
        Err(rejects) => rejects,
    };
    let rejected = rejects.iter().map(|reject| Some(patch.place_in_text(reject.section?)));
    let Some(rejected) = rejected.collect::<Option<BTreeSet<_>>>() else {
        return Err(rejects);
    };
    let steps = steps(patch);
    match steps.iter().position(|step| step.iter().any(|section| rejected.contains(section))) {
        None | Some(0) => Err(rejects),
        Some(first) => {
            let rest = steps[first..].iter().flatten().copied().collect();
            let plan = plan_without(files, patch, options, &rest)?;
            let of_step = steps[first].iter().map(|&section| patch.place_in_text(section));
            Ok((plan, Some(rejects.only(&of_step.collect::<Vec<_>>()))))
        }
    }
}
