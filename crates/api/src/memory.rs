//! Files that are not in a directory: in a map, or in a host program.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::slice::from_ref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use fs_guard::Policy;
use patch_engine::{
    Cancellation, ChangedFile, FileEdit, Files, HostTree, MemoryTree, Options, Patch, Tree,
};
use patch_session::ToolError;
use patch_session::hints::Caller;
use patch_session::input::InputError;
use patch_session::ops::{self, FileOperation, PatchCall};
use patch_session::settings::Layers;

use crate::error::argument;
use crate::options::PatchOptions;
use crate::plan::PlannedPatch;

fn policy() -> Arc<Policy> {
    static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(patch_engine::policy()));
    Arc::clone(&POLICY)
}

fn plan(
    tree: Arc<dyn Tree>,
    patch: &[u8],
    options: &PatchOptions,
) -> Result<PlannedPatch, ToolError> {
    let rules = rules(options)?;
    plan_by(tree, &options.parse(patch, &rules)?, &rules, &Cancellation::NEVER)
}

/// Returns the rules of planning. Most calls have no options.
fn rules(options: &PatchOptions) -> Result<Cow<'static, Options>, ToolError> {
    static NONE: LazyLock<PatchOptions> = LazyLock::new(PatchOptions::default);
    static DEFAULT: LazyLock<Result<Options, ToolError>> =
        LazyLock::new(|| NONE.rules(&Layers::default()));
    match &*DEFAULT {
        Ok(rules) if *options == *NONE => Ok(Cow::Borrowed(rules)),
        _ => options.rules(&Layers::default()).map(Cow::Owned),
    }
}

fn plan_by(
    tree: Arc<dyn Tree>,
    patch: &Patch,
    rules: &Options,
    cancellation: &Cancellation,
) -> Result<PlannedPatch, ToolError> {
    let files = Files::of_tree(tree, policy()).hashed_late().cancelled_by(cancellation.clone());
    let plan = patch_engine::plan(files, patch, rules);
    Ok(PlannedPatch::of(plan.map_err(|error| ToolError::from(error).without_workspace())?))
}

/// Applies a patch to files in memory. Returns the new content of each changed path, and the plan;
/// `files` stays as it is.
///
/// # Errors
///
/// If the text is not a patch, or if the patch does not apply.
pub fn apply_in_memory(
    files: &MemoryTree,
    patch: &[u8],
    options: &PatchOptions,
) -> Result<(Vec<ChangedFile>, PlannedPatch), ToolError> {
    let plan = plan(Arc::new(files.clone()), patch, options)?;
    Ok((plan.plan.images().changed()?, plan))
}

/// Applies each patch to its own files in memory, on up to `workers` threads. Returns the value of
/// `answer` for each patch that applies, or else its error, in the order of `items`. The options
/// hold for all patches.
///
/// # Errors
///
/// If an option makes no sense, or if the call was given up.
///
/// # Panics
///
/// If `answer` panics.
pub fn apply_many<T: Send>(
    items: &[(MemoryTree, Vec<u8>)],
    workers: NonZeroUsize,
    options: &PatchOptions,
    cancellation: &Cancellation,
    answer: impl Fn(Vec<ChangedFile>, PlannedPatch) -> Result<T, ToolError> + Sync,
) -> Result<Vec<Result<T, ToolError>>, ToolError> {
    let rules = &*rules(options)?;
    let next = AtomicUsize::new(0);
    let many = Many { items, next, options, rules, cancellation, answer };
    let mut done = thread::scope(|scope| {
        // If a thread cannot be started, the others do its part.
        let helpers: Vec<_> = (1..workers.get().min(items.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, || many.work()).ok())
            .collect();
        let mut done = many.work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    cancellation.check()?;
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// The work of [`apply_many`], shared by its threads.
struct Many<'m, A> {
    items: &'m [(MemoryTree, Vec<u8>)],
    /// The index of the next item that no thread has taken.
    next: AtomicUsize,
    options: &'m PatchOptions,
    rules: &'m Options,
    cancellation: &'m Cancellation,
    answer: A,
}

impl<A> Many<'_, A> {
    /// Takes items until none is left. Returns the results with the indices of their items.
    fn work<T>(&self) -> Vec<(usize, Result<T, ToolError>)>
    where
        A: Fn(Vec<ChangedFile>, PlannedPatch) -> Result<T, ToolError>,
    {
        let mut done = Vec::new();
        while !self.cancellation.is_cancelled() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((tree, patch)) = self.items.get(index) else { break };
            done.push((index, self.apply(tree, patch)));
        }
        done
    }

    fn apply<T>(&self, tree: &MemoryTree, patch: &[u8]) -> Result<T, ToolError>
    where
        A: Fn(Vec<ChangedFile>, PlannedPatch) -> Result<T, ToolError>,
    {
        let patch = self.options.parse(patch, self.rules)?;
        let plan = plan_by(Arc::new(tree.clone()), &patch, self.rules, self.cancellation)?;
        (self.answer)(plan.plan.images().changed()?, plan)
    }
}

/// A plan for the files of a host program. The program makes the edits itself.
#[derive(Debug)]
pub struct HostPlan {
    /// The plan.
    pub plan: PlannedPatch,
    tree: Arc<HostTree>,
}

impl HostPlan {
    /// Returns the edits: for each file its whole new text, and the same change as the smallest
    /// replacements.
    ///
    /// # Errors
    ///
    /// If a file has changed since it was planned.
    pub fn edits(&self) -> Result<Vec<FileEdit>, ToolError> {
        Ok(self.plan.plan.images().edits()?)
    }

    /// Returns the version that a file had when it was read; `None` if the file was not read, or
    /// has no version.
    #[must_use]
    pub fn version(&self, path: &str) -> Option<i64> {
        self.tree.version(path)
    }
}

/// Plans a patch for the files of a host program.
///
/// # Errors
///
/// If the text is not a patch, or if the patch does not apply.
pub fn plan_over(
    tree: HostTree,
    patch: &[u8],
    options: &PatchOptions,
) -> Result<HostPlan, ToolError> {
    let tree = Arc::new(tree);
    Ok(HostPlan { plan: plan(Arc::clone(&tree) as Arc<dyn Tree>, patch, options)?, tree })
}

/// The name of the only file of [`apply_diff`]; its messages leave it out.
const FILE: &str = "text";

/// Applies a diff without headers, as in the operations of the Responses API, to a text. Returns
/// the new text. With `mode` `default` the diff changes the text, and an empty diff changes nothing;
/// with `create` it has a new text, and every line of the diff begins with `+`.
///
/// # Errors
///
/// If there is no such mode, or if the diff does not parse or does not apply.
pub fn apply_diff(text: &[u8], diff: &str, mode: &str) -> Result<Vec<u8>, ToolError> {
    let creates = match mode {
        "default" => false,
        "create" => true,
        other => {
            let message = format!("{other:?} is not one of default, create");
            return Err(argument("mode", message, "`default` or `create`"));
        }
    };
    if diff.is_empty() && !creates {
        return Ok(text.to_vec());
    }
    // If all lines of the diff end in CRLF, the transport made them so, and the file may have LF.
    // That API reads them the same way.
    let framed = diff.contains("\r\n") && !diff.replace("\r\n", "").contains('\n');
    let path = FILE.to_owned();
    let diff = if framed { diff.replace("\r\n", "\n") } else { diff.to_owned() };
    let mut files = MemoryTree::new();
    let operation = if creates {
        FileOperation::CreateFile { path, diff }
    } else {
        files.insert(FILE, text.to_vec());
        FileOperation::UpdateFile { path, diff, move_to: None }
    };
    let call = PatchCall { call_id: FILE.into(), operation, caller: None };
    let patch = ops::parse_one(&call).map_err(|error| match error {
        InputError::BadCall { message, .. } => bad_diff(&message),
        error => bad_diff(&error.to_string()),
    })?;
    let mut rules = Options::new(patch_engine::Profile::Codex);
    ops::set_rules(&mut rules);
    let plan = patch_engine::plan(
        Files::of_tree(Arc::new(files.clone()), policy()).hashed_late(),
        &patch,
        &rules,
    )
    .map_err(|rejects| {
        let error = ToolError::rejected(&rejects).addressed(Caller::Operations);
        let message =
            rejects.first().map(|reject| ops::explain(from_ref(&call), reject)).unwrap_or_default();
        let message = message.split("\nnext: ").next().unwrap_or_default();
        let message =
            message.strip_prefix(FILE).unwrap_or(message).trim_start_matches(": ").to_owned();
        ToolError { message, path: None, ..error }
    })?;
    let mut changed = plan.images().changed()?;
    let before = files.get(FILE).unwrap_or_default();
    let after = changed
        .pop()
        .and_then(|file| file.after)
        .map_or_else(|| before.to_vec(), |file| Arc::unwrap_or_clone(file.bytes));
    // A text without line feeds takes the line ends of the diff.
    if framed && !before.contains(&b'\n') {
        Ok(after.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]))
    } else {
        Ok(after)
    }
}

fn bad_diff(message: &str) -> ToolError {
    let (message, next) =
        message.split_once("\nnext: ").map_or((message, None), |(said, next)| (said, Some(next)));
    let message = message.strip_prefix("in the diff, ").unwrap_or(message).to_owned();
    let error = InputError::Unreadable(message).tool_error(&[]);
    ToolError {
        suggested_next_action: next.map(str::to_owned),
        hints: Vec::new(),
        remedies: Vec::new(),
        ..error
    }
}
