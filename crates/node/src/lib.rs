//! The native half of the npm package: calls with JSON texts for values.
//! `packaging/npm/lib/index.js` is what programs see.

use std::io;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use apply_patch_api as api;
use apply_patch_api::{
    BadOptions, Callbacks, Content, Decision, HostFile, HostTree, Language, MemoryTree,
    ReadOptions, ToolError,
};
use napi::bindgen_prelude::{
    AsyncTask, Buffer, BufferSlice, Either, FnArgs, Function, Object, ToNapiValue, TypeName,
    Uint8Array, Utf16String,
};
use napi::threadsafe_function::{
    ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue,
};
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use serde_json::{Value, json};

/// Text, or bytes.
type Text = Either<Utf16String, Uint8Array>;

/// A function of the program that is called from another thread, and answers by one of its
/// arguments.
type Callback<T> = ThreadsafeFunction<T, UnknownReturnValue, T, Status, false>;

fn bytes(text: Text) -> Result<Vec<u8>> {
    match text {
        Either::A(text) => Ok(unicode(&text)?.into_bytes()),
        Either::B(bytes) => Ok(bytes.to_vec()),
    }
}

/// Half a character is refused: what a lossy conversion puts in its place was not meant.
fn unicode(text: &[u16]) -> Result<String> {
    String::from_utf16(text).map_err(|_| half())
}

fn half() -> Error {
    Error::new(Status::InvalidArg, "the text has half a character (a lone surrogate) in it")
}

/// The language that errors are told in.
const LANGUAGE: Language = Language::JavaScript;

/// The error as JSON, for the other half to make a `PatchError` of.
fn failed(error: ToolError) -> Error {
    Error::from_reason(json!(api::told(error, LANGUAGE)).to_string())
}

/// The value that a JSON text has. It is well-formed; half a character is refused in it too.
fn value(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| {
        Error::new(Status::InvalidArg, format!("the options or arguments cannot be read: {error}"))
    })
}

/// The options that a JSON text has. A name that no option has is an argument that is wrong: the
/// other half makes a `TypeError` of that.
fn read<T: ReadOptions>(json: &str) -> Result<T> {
    T::read_for(LANGUAGE, value(json)?).map_err(|bad| match bad {
        BadOptions::Unknown { name, meant } => {
            let meant = meant.map(|meant| format!("; did you mean {meant:?}?"));
            let message = format!("there is no option {name:?} here{}", meant.unwrap_or_default());
            Error::new(Status::InvalidArg, message)
        }
        BadOptions::Wrong(error) => failed(*error),
    })
}

type Work<T> = Box<dyn FnOnce() -> std::result::Result<T, ToolError> + Send>;

/// Makes a call; a panic in it is an error, as Node ends when one gets out of here.
fn done<T>(work: Work<T>) -> Result<T> {
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    done.map_err(|_| Error::from_reason("BUG: the call panicked"))?.map_err(failed)
}

/// A promise of what a call comes to.
type Promised<'env, T> = Either<AsyncTask<Job<T>>, Object<'env>>;

/// Makes a call on the thread pool, or, if the program is asked in it, on a thread of its own: a
/// question waits for as long as a person takes, and the pool has four threads for everything that
/// the program reads meanwhile.
fn promised<'env, T: Send + ToNapiValue + TypeName + 'static>(
    env: &'env Env,
    asks: bool,
    work: Work<T>,
) -> Result<Promised<'env, T>> {
    if !asks {
        return Ok(Either::A(Job::task(work)));
    }
    let (deferred, promise) = env.create_deferred()?;
    let call = move || match done(work) {
        Ok(value) => deferred.resolve(move |_| Ok(value)),
        Err(error) => deferred.reject(error),
    };
    std::thread::Builder::new()
        .name("apply-patch".into())
        .spawn(call)
        .map_err(|error| Error::from_reason(format!("no thread could be started: {error}")))?;
    Ok(Either::B(promise))
}

/// A call on the thread pool.
pub struct Job<T>(Option<Work<T>>);

impl<T> Job<T> {
    fn task(
        work: impl FnOnce() -> std::result::Result<T, ToolError> + Send + 'static,
    ) -> AsyncTask<Self>
    where
        T: Send + ToNapiValue + TypeName + 'static,
    {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Job<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("a call is made once"))?;
        done(work)
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Takes the answer to a question, from the thread of the program.
#[napi(js_name = "Reply")]
pub struct JsReply(Mutex<Option<mpsc::Sender<JsAnswer>>>);

enum JsAnswer {
    Decided(Decision),
    Edited(Vec<u8>),
    File(Option<HostFile>),
}

#[napi]
impl JsReply {
    /// What was decided about a plan.
    #[napi(catch_unwind)]
    pub fn decide(&self, answer: Either<bool, String>) {
        self.answer(JsAnswer::Decided(match answer {
            Either::A(false) => Decision::Decline,
            Either::A(true) => Decision::Approve,
            Either::B(word) if word == "turn" => Decision::ApproveForTurn,
            Either::B(_) => Decision::ApproveForSession,
        }));
    }

    /// The patch in place of the one that was shown.
    #[napi(catch_unwind)]
    pub fn edit(&self, patch: Text) -> Result<()> {
        self.answer(JsAnswer::Edited(bytes(patch)?));
        Ok(())
    }

    /// What a file is.
    #[napi(catch_unwind)]
    pub fn file(&self, content: Text, mode: Option<u32>, version: Option<i64>) -> Result<()> {
        let content =
            Content { bytes: Arc::new(bytes(content)?), mode: mode.unwrap_or(0o644), link: false };
        self.answer(JsAnswer::File(Some(HostFile { content, version })));
        Ok(())
    }

    /// There is no such file.
    #[napi(catch_unwind)]
    pub fn missing(&self) {
        self.answer(JsAnswer::File(None));
    }

    /// There is nothing to answer, or no answer: then the call fails.
    #[napi(catch_unwind)]
    pub fn end(&self) {
        drop(self.sender());
    }

    fn answer(&self, answer: JsAnswer) {
        if let Some(sender) = self.sender() {
            // The call may have been given up meanwhile.
            let _ = sender.send(answer);
        }
    }

    fn sender(&self) -> Option<mpsc::Sender<JsAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Asks the program, and waits for its answer.
fn ask(callback: &Callback<FnArgs<(String, JsReply)>>, question: String) -> Option<JsAnswer> {
    let (sender, receiver) = mpsc::channel();
    let reply = JsReply(Mutex::new(Some(sender)));
    match callback.call((question, reply).into(), ThreadsafeFunctionCallMode::Blocking) {
        Status::Ok => receiver.recv().ok(),
        _ => None,
    }
}

/// Gives up the calls that it was given to, as far as they can be.
#[napi]
#[derive(Default)]
pub struct Cancellation(Arc<AtomicBool>);

#[napi]
impl Cancellation {
    /// For calls to come.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives them up.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn polled(&self) -> api::engine::Cancellation {
        let cancelled = Arc::clone(&self.0);
        api::engine::Cancellation::new(move || cancelled.load(Ordering::Relaxed))
    }
}

type Asking<'f> = Function<'f, FnArgs<(String, JsReply)>, UnknownReturnValue>;

/// What the program decides and sees during a call.
fn host(
    approve: Option<Asking<'_>>,
    observe: Option<Asking<'_>>,
    cancellation: Option<&Cancellation>,
) -> Result<Callbacks<'static>> {
    let mut host = Callbacks { language: Some(LANGUAGE), ..Callbacks::default() };
    if let Some(approve) = approve {
        let approve = approve.build_threadsafe_function().build()?;
        host.approve = Some(Box::new(move |proposal| {
            let question = match proposal.diff() {
                Ok(diff) => json!({
                    "digest": proposal.digest(),
                    "changes": proposal.changes(),
                    "diff": String::from_utf8_lossy(&diff),
                    "notes": proposal.notes(),
                    "reasons": proposal.reasons(),
                }),
                // A file was changed meanwhile: nobody decides about what cannot be shown.
                Err(error) => json!({ "error": api::told(error, LANGUAGE) }),
            };
            match ask(&approve, question.to_string()) {
                Some(JsAnswer::Decided(decision)) => decision,
                Some(JsAnswer::Edited(patch)) => {
                    proposal.edit(patch);
                    Decision::Edit
                }
                _ => Decision::Decline,
            }
        }));
    }
    if let Some(observe) = observe {
        let observe = observe.build_threadsafe_function().build()?;
        // It has seen everything when the call ends.
        host.observe = Some(Box::new(move |event| drop(ask(&observe, event.to_string()))));
    }
    host.cancellation = cancellation.map(Cancellation::polled).unwrap_or_default();
    Ok(host)
}

/// What a patch would do.
#[napi(js_name = "Plan")]
pub struct JsPlan(Arc<api::PlannedPatch>);

impl From<api::PlannedPatch> for JsPlan {
    fn from(plan: api::PlannedPatch) -> Self {
        Self(Arc::new(plan))
    }
}

#[napi]
impl JsPlan {
    /// `digest`, `changes`, `notes` and `summary`.
    #[napi(getter, catch_unwind)]
    pub fn facts(&self) -> String {
        self.0.facts().to_string()
    }

    /// The changes as a git diff.
    #[napi(catch_unwind)]
    pub fn diff(&self) -> Result<Uint8Array> {
        Ok(self.0.diff().map_err(failed)?.into())
    }
}

/// A directory, with a session.
#[napi(js_name = "Workspace")]
pub struct JsWorkspace(Arc<api::OpenWorkspace>);

#[napi]
impl JsWorkspace {
    /// Opens a directory.
    #[napi(constructor, catch_unwind)]
    pub fn new(root: Utf16String, options: String) -> Result<Self> {
        let (root, options) = (unicode(&root)?, read(&options)?);
        Ok(Self(Arc::new(api::OpenWorkspace::open(Path::new(&root), &options).map_err(failed)?)))
    }

    /// Where it is.
    #[napi(getter, catch_unwind)]
    pub fn root(&self) -> String {
        self.0.root().display().to_string()
    }

    /// The name of its session.
    #[napi(getter, catch_unwind)]
    pub fn session(&self) -> String {
        self.0.session().to_owned()
    }

    fn planning(
        &self,
        patch: Text,
        options: &str,
        cancellation: Option<&Cancellation>,
    ) -> Result<Work<JsPlan>> {
        let (workspace, patch) = (Arc::clone(&self.0), bytes(patch)?);
        let options = read(options)?;
        let cancellation = cancellation.map(Cancellation::polled).unwrap_or_default();
        Ok(Box::new(move || workspace.plan(&patch, &options, &cancellation).map(JsPlan::from)))
    }

    /// Plans a patch.
    #[napi(catch_unwind)]
    pub fn plan(
        &self,
        patch: Text,
        options: String,
        cancellation: Option<&Cancellation>,
    ) -> Result<AsyncTask<Job<JsPlan>>> {
        Ok(Job::task(self.planning(patch, &options, cancellation)?))
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn plan_sync(&self, patch: Text, options: String) -> Result<JsPlan> {
        self.planning(patch, &options, None)?().map_err(failed)
    }

    fn applying(
        &self,
        patch: Either<Text, &JsPlan>,
        options: &str,
        host: Callbacks<'static>,
    ) -> Result<Work<String>> {
        let workspace = Arc::clone(&self.0);
        Ok(match patch {
            Either::B(JsPlan(plan)) => {
                let plan = Arc::clone(plan);
                Box::new(move || Ok(workspace.apply_plan(&plan, host)?.to_string()))
            }
            Either::A(patch) => {
                let (patch, options) = (bytes(patch)?, read(options)?);
                Box::new(move || Ok(workspace.apply(&patch, &options, host)?.to_string()))
            }
        })
    }

    /// Applies a patch.
    #[napi(catch_unwind)]
    pub fn apply<'env>(
        &self,
        env: &'env Env,
        patch: Text,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        promised(env, asks, self.applying(Either::A(patch), &options, host)?)
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn apply_sync(&self, patch: Text, options: String) -> Result<String> {
        self.applying(Either::A(patch), &options, Callbacks::default())?().map_err(failed)
    }

    /// Applies exactly a plan.
    #[napi(catch_unwind)]
    pub fn apply_plan<'env>(
        &self,
        env: &'env Env,
        plan: &JsPlan,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        promised(env, asks, self.applying(Either::B(plan), "", host)?)
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn apply_plan_sync(&self, plan: &JsPlan) -> Result<String> {
        self.applying(Either::B(plan), "", Callbacks::default())?().map_err(failed)
    }

    fn undoing(&self, options: &str, host: Callbacks<'static>) -> Result<Work<String>> {
        let workspace = Arc::clone(&self.0);
        let options = read(options)?;
        Ok(Box::new(move || Ok(workspace.undo(&options, host)?.to_string())))
    }

    /// Undoes a transaction.
    #[napi(catch_unwind)]
    pub fn undo<'env>(
        &self,
        env: &'env Env,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        promised(env, asks, self.undoing(&options, host)?)
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn undo_sync(&self, options: String) -> Result<String> {
        self.undoing(&options, Callbacks::default())?().map_err(failed)
    }

    fn redoing(&self, options: &str, host: Callbacks<'static>) -> Result<Work<String>> {
        let workspace = Arc::clone(&self.0);
        let api::RedoRequest { id, diff } = read(options)?;
        Ok(Box::new(move || Ok(workspace.redo(id.as_deref(), diff, host)?.to_string())))
    }

    /// Reverses an undo.
    #[napi(catch_unwind)]
    pub fn redo<'env>(
        &self,
        env: &'env Env,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        promised(env, asks, self.redoing(&options, host)?)
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn redo_sync(&self, options: String) -> Result<String> {
        self.redoing(&options, Callbacks::default())?().map_err(failed)
    }

    /// The newest transactions, of one session or of all.
    #[napi(catch_unwind)]
    pub fn log(
        &self,
        max_count: Option<u32>,
        diff: bool,
        session: Option<String>,
    ) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || {
            let max_count = max_count.map(|count| count as usize);
            Ok(workspace.log(max_count, session.as_deref(), diff)?.to_string())
        })
    }

    /// Begins a turn, and returns its name.
    #[napi(catch_unwind)]
    pub fn begin_turn(&self, name: Option<Utf16String>) -> Result<String> {
        let name = name.map(|name| unicode(&name)).transpose()?;
        self.0.begin_turn(name.as_deref()).map_err(failed)
    }

    /// What the open turn has changed so far.
    #[napi(catch_unwind)]
    pub fn turn_so_far(&self) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || Ok(workspace.turn_so_far()?.to_string()))
    }

    /// Ends the turn, and tells what it changed.
    #[napi(catch_unwind)]
    pub fn end_turn(&self) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || Ok(workspace.end_turn()?.to_string()))
    }

    fn calling(
        &self,
        tool: String,
        arguments: &str,
        host: Callbacks<'static>,
    ) -> Result<Work<String>> {
        let (workspace, arguments) = (Arc::clone(&self.0), value(arguments)?);
        Ok(Box::new(move || Ok(workspace.call(&tool, &arguments, host).to_string())))
    }

    /// Calls a file tool.
    #[napi(catch_unwind)]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        tool: String,
        arguments: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        promised(env, asks, self.calling(tool, &arguments, host)?)
    }

    /// The same, at once.
    #[napi(catch_unwind)]
    pub fn call_sync(&self, tool: String, arguments: String) -> Result<String> {
        self.calling(tool, &arguments, Callbacks::default())?().map_err(failed)
    }
}

/// The files of a commit.
#[napi(js_name = "GitTree")]
pub struct JsGitTree(Arc<api::GitTree>);

#[napi]
impl JsGitTree {
    /// Opens a repository at a revision.
    #[napi(constructor, catch_unwind)]
    pub fn new(repository: Utf16String, revision: Utf16String, options: String) -> Result<Self> {
        let (repository, revision) = (unicode(&repository)?, unicode(&revision)?);
        let options = read(&options)?;
        let tree =
            api::GitTree::open(Path::new(&repository), &revision, &options).map_err(failed)?;
        Ok(Self(Arc::new(tree)))
    }

    /// The commit.
    #[napi(getter, catch_unwind)]
    pub fn commit(&self) -> String {
        self.0.commit()
    }

    /// Its tree.
    #[napi(getter, catch_unwind)]
    pub fn tree(&self) -> String {
        self.0.tree()
    }

    /// A file.
    #[napi(catch_unwind)]
    pub fn read(&self, path: Utf16String) -> Result<Option<Uint8Array>> {
        Ok(self.0.read(&unicode(&path)?).map_err(failed)?.map(Uint8Array::from))
    }

    /// The paths of all files.
    #[napi(catch_unwind)]
    pub fn list(&self) -> Result<Vec<String>> {
        self.0.list().map_err(failed)
    }

    /// Plans a patch.
    #[napi(catch_unwind)]
    pub fn plan(&self, patch: Text, options: String) -> Result<AsyncTask<Job<JsPlan>>> {
        let (tree, patch) = (Arc::clone(&self.0), bytes(patch)?);
        let options = read(&options)?;
        Ok(Job::task(move || tree.plan(&patch, &options).map(JsPlan::from)))
    }

    /// The id of the tree that a plan makes.
    #[napi(catch_unwind)]
    pub fn tree_of(&self, plan: &JsPlan) -> Result<String> {
        self.0.tree_of(&plan.0).map_err(failed)
    }

    /// Makes a commit of a patch.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "they are the parameters of a function of Node's")]
    pub fn apply<'env>(
        &self,
        env: &'env Env,
        patch: Text,
        options: String,
        git: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let (asks, host) = (approve.is_some(), host(approve, observe, cancellation)?);
        let (tree, patch) = (Arc::clone(&self.0), bytes(patch)?);
        let (options, git) = (read(&options)?, read(&git)?);
        let work = move || Ok(tree.apply(&patch, &options, &git, host)?.to_string());
        promised(env, asks, Box::new(work))
    }
}

/// What a patch makes of files in memory: values of JavaScript's own, so that a loop that makes
/// many calls leaves nothing behind.
#[napi(object, object_from_js = false)]
pub struct InMemory<'env> {
    /// The paths that change.
    pub paths: Vec<String>,
    /// What is there afterwards, as the paths are ordered; null for a file that is gone.
    pub contents: Vec<Option<BufferSlice<'env>>>,
    /// `digest`, `changes`, `notes`, `summary` and `diff`.
    pub facts: String,
}

/// What there is to say of a plan, with its diff.
fn facts(plan: &api::PlannedPatch) -> std::result::Result<Value, ToolError> {
    let mut facts = plan.facts();
    facts["diff"] = String::from_utf8_lossy(&plan.diff()?).into();
    Ok(facts)
}

/// Files by path, as the program has them.
fn files<T: FromIterator<(String, Vec<u8>)>>(
    paths: Vec<Utf16String>,
    contents: Vec<Text>,
) -> Result<T> {
    let files = paths.into_iter().zip(contents);
    files.map(|(path, content)| Ok((unicode(&path)?, bytes(content)?))).collect()
}

fn tree(paths: Vec<Utf16String>, contents: Vec<Text>) -> Result<MemoryTree> {
    files(paths, contents)
}

/// Applies a patch to files in memory.
#[napi(catch_unwind)]
pub fn apply_in_memory<'env>(
    env: &'env Env,
    paths: Vec<Utf16String>,
    contents: Vec<Text>,
    patch: Text,
    options: String,
) -> Result<InMemory<'env>> {
    let options = read(&options)?;
    let (changed, plan) =
        api::apply_in_memory(&tree(paths, contents)?, &bytes(patch)?, &options).map_err(failed)?;
    let mut done = InMemory {
        paths: Vec::new(),
        contents: Vec::new(),
        facts: facts(&plan).map_err(failed)?.to_string(),
    };
    for file in changed {
        done.paths.push(file.path.to_string());
        let copy = |after: Content| BufferSlice::copy_from(env, &**after.bytes);
        done.contents.push(file.after.map(copy).transpose()?);
    }
    Ok(done)
}

/// What became of one item of many: the fields of `InMemory`, or the error as JSON.
#[napi(object)]
pub struct OneOfMany {
    /// The paths that change.
    pub paths: Vec<String>,
    /// What is there afterwards.
    pub contents: Vec<Option<Buffer>>,
    /// What there is to say of the plan.
    pub facts: String,
    /// Why there is none.
    pub error: Option<String>,
}

/// Applies each patch to its own files in memory, on threads.
#[napi(catch_unwind)]
pub fn apply_many(
    paths: Vec<Vec<Utf16String>>,
    contents: Vec<Vec<Text>>,
    patches: Vec<Text>,
    workers: Option<u32>,
    options: String,
    cancellation: Option<&Cancellation>,
) -> Result<AsyncTask<Job<Vec<OneOfMany>>>> {
    let trees = paths.into_iter().zip(contents).map(|(paths, contents)| tree(paths, contents));
    let items = trees.zip(patches).map(|(tree, patch)| Ok((tree?, bytes(patch)?)));
    let items: Vec<_> = items.collect::<Result<_>>()?;
    let options = read(&options)?;
    let cancellation = cancellation.map(Cancellation::polled).unwrap_or_default();
    let workers = workers.and_then(|workers| NonZeroUsize::new(workers as usize));
    let workers = workers.or_else(|| std::thread::available_parallelism().ok());
    let workers = workers.unwrap_or(NonZeroUsize::MIN);
    let answer = |changed: Vec<api::ChangedFile>, plan| {
        let facts = facts(&plan)?.to_string();
        drop(plan);
        let mut one = OneOfMany { paths: Vec::new(), contents: Vec::new(), facts, error: None };
        for file in changed {
            one.paths.push(file.path.to_string());
            let bytes = file.after.map(|after| Arc::unwrap_or_clone(after.bytes));
            one.contents.push(bytes.map(Buffer::from));
        }
        Ok(one)
    };
    let or_error = |done: std::result::Result<OneOfMany, ToolError>| {
        done.unwrap_or_else(|error| OneOfMany {
            paths: Vec::new(),
            contents: Vec::new(),
            facts: String::new(),
            error: Some(json!(api::told(error, LANGUAGE)).to_string()),
        })
    };
    Ok(Job::task(move || {
        let done = api::apply_many(&items, workers, &options, &cancellation, answer)?;
        Ok(done.into_iter().map(or_error).collect())
    }))
}

/// What a plan does to one file of a program.
fn edit(plan: &api::HostPlan, edit: &api::FileEdit) -> std::result::Result<Value, ToolError> {
    let position = |at: api::Position| json!({ "line": at.line, "character": at.character });
    let replaced = |one: &api::TextEdit| -> std::result::Result<_, ToolError> {
        let range = json!({ "start": position(one.range.start), "end": position(one.range.end) });
        Ok(json!({ "range": range, "newText": api::unicode(&one.text)? }))
    };
    Ok(json!({
        "path": edit.path,
        "toPath": edit.to_path,
        "operation": edit.operation.as_str(),
        "version": plan.version(&edit.path),
        "text": edit.text.as_deref().map(|whole| api::unicode(whole)).transpose()?,
        "edits": edit.edits.iter().map(replaced).collect::<std::result::Result<Vec<_>, _>>()?,
    }))
}

/// Plans a patch for files that the program gives when it is asked for them: what there is to say
/// of the plan, and `edits`.
#[napi(catch_unwind)]
pub fn plan_over<'env>(
    env: &'env Env,
    read_file: Asking<'_>,
    patch: Text,
    options: String,
) -> Result<Promised<'env, String>> {
    let read_file: Callback<FnArgs<(String, JsReply)>> =
        read_file.build_threadsafe_function().build()?;
    let (patch, options) = (bytes(patch)?, read(&options)?);
    let work = move || {
        let tree = HostTree::new(move |path| match ask(&read_file, path.to_owned()) {
            Some(JsAnswer::File(file)) => Ok(file),
            _ => Err(io::Error::other("the program could not read it")),
        });
        let plan = api::plan_over(tree, &patch, &options)?;
        let mut facts = facts(&plan.plan)?;
        let edits = plan.edits()?;
        let edits: std::result::Result<Value, _> =
            edits.iter().map(|one| edit(&plan, one)).collect();
        facts["edits"] = edits?;
        Ok(facts.to_string())
    };
    promised(env, true, Box::new(work))
}

/// Applies a diff without headers to a text.
#[napi(catch_unwind)]
pub fn apply_diff(
    env: &Env,
    text: Text,
    diff: Utf16String,
    mode: String,
) -> Result<BufferSlice<'_>> {
    BufferSlice::copy_from(
        env,
        &api::apply_diff(&bytes(text)?, &unicode(&diff)?, &mode).map_err(failed)?,
    )
}

/// The tree of a patch.
#[napi(catch_unwind)]
pub fn parse(patch: Text, options: String) -> Result<String> {
    let options = read(&options)?;
    Ok(api::parse(&bytes(patch)?, &options).map_err(failed)?.to_string())
}

/// A patch in another form: `text` and `warnings`.
#[napi(catch_unwind)]
pub fn convert(
    patch: Text,
    to: String,
    options: String,
    paths: Option<Vec<Utf16String>>,
    contents: Option<Vec<Text>>,
) -> Result<String> {
    let options = read(&options)?;
    let files = paths.zip(contents).map(|(paths, contents)| tree(paths, contents)).transpose()?;
    let done = api::convert(&bytes(patch)?, &to, &options, files.as_ref()).map_err(failed)?;
    let text = api::unicode(&done.text).map_err(failed)?;
    Ok(json!({ "text": text, "warnings": done.warnings }).to_string())
}

/// What a provider's request has: `value` and `caveats`.
#[napi(catch_unwind)]
pub fn tool_specs(provider: String, options: String) -> Result<String> {
    let specs = api::tool_specs(&provider, &read(&options)?).map_err(failed)?;
    Ok(json!({ "value": specs.value, "caveats": specs.caveats }).to_string())
}

/// What a model has to know of patches.
#[napi(catch_unwind)]
pub fn prompt(dialect: String, channel: String) -> Result<String> {
    api::prompt(&dialect, &channel).map_err(failed)
}

/// The grammar.
#[napi(catch_unwind)]
pub fn grammar(format: String, dialect: String) -> Result<String> {
    api::grammar(&format, &dialect).map(ToOwned::to_owned).map_err(failed)
}

/// A grammar for some files as they are.
#[napi(js_name = "FittedGrammar")]
pub struct JsFittedGrammar(api::FittedGrammar);

#[napi]
impl JsFittedGrammar {
    /// Makes it for files, by path.
    #[napi(constructor, catch_unwind)]
    pub fn new(paths: Vec<Utf16String>, contents: Vec<Text>, options: String) -> Result<Self> {
        let files: Vec<_> = files(paths, contents)?;
        Ok(Self(api::fit(&files, &read(&options)?).map_err(failed)?))
    }

    /// The grammar in a notation.
    #[napi(catch_unwind)]
    pub fn text(&self, format: String) -> Result<String> {
        self.0.text(&format).map_err(failed)
    }

    /// The arguments that a patch under the grammar is sent with, and the notes.
    #[napi(catch_unwind)]
    pub fn about(&self) -> String {
        json!({ "stub": self.0.stub(), "notes": self.0.notes() }).to_string()
    }
}

/// A patch that is still arriving.
#[napi(js_name = "Stream")]
pub struct JsStream {
    stream: api::JsonStream,
    /// The first half of a character whose second one is in the next part.
    half: Option<u16>,
}

#[napi]
impl JsStream {
    /// Nothing of it yet.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> Result<Self> {
        let stream = api::JsonStream::new(&read(&options)?).map_err(failed)?;
        Ok(Self { stream, half: None })
    }

    /// What the next part says.
    #[napi(catch_unwind)]
    pub fn push(&mut self, chunk: Text) -> Result<String> {
        // A character may be in two parts.
        let chunk = match chunk {
            Either::A(text) => {
                let mut units: Vec<u16> = self.half.take().into_iter().collect();
                units.extend_from_slice(&text);
                self.half = units.pop_if(|last| (0xd800..0xdc00).contains(last));
                unicode(&units)?.into_bytes()
            }
            Either::B(_) if self.half.is_some() => return Err(half()),
            Either::B(bytes) => bytes.to_vec(),
        };
        Ok(json!(self.stream.push(&chunk)).to_string())
    }

    /// What its end says.
    #[napi(catch_unwind)]
    pub fn end(&mut self) -> Result<String> {
        if self.half.is_some() {
            return Err(half());
        }
        Ok(json!(self.stream.end()).to_string())
    }
}
