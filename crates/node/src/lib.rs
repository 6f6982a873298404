//! The native half of the npm package `apply-patch-cli`.
//!
//! `packaging/npm/lib/index.js` is the other half and calls this one: options and answers are JSON
//! texts here, and objects there. Files and patches are strings or `Uint8Array`s.
//!
//! A failed call throws an `Error` whose message is the error as JSON, of which the other half
//! makes a `PatchError`. An argument of the wrong kind is an `InvalidArg`, there a `TypeError`.
//! Calls that touch files return a promise; their twins that end in `_sync` return the answer.

mod decode;

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
use napi::{Env, Error, JsString, Result, Status, Task};
use napi_derive::napi;
use serde_json::{Value, json};

/// Text, or bytes.
type Text<'t> = Either<JsString<'t>, Uint8Array>;

/// A function of the program for other threads. It answers by its argument, a [`JsReply`].
type Callback<T> = ThreadsafeFunction<T, UnknownReturnValue, T, Status, false>;

fn bytes(text: Text<'_>) -> Result<Vec<u8>> {
    match text {
        Either::A(text) => utf8(text),
        Either::B(bytes) => Ok(bytes.to_vec()),
    }
}

/// Converts a text as [`unicode`] does, and several times as fast: most texts are stored as bytes.
fn utf8(text: JsString<'_>) -> Result<Vec<u8>> {
    let converted = text.into_utf8()?.into_owned()?;
    // This one stands for half a character, too.
    if converted.contains(char::REPLACEMENT_CHARACTER) {
        let units = text.into_utf16()?;
        return Ok(unicode(&units[..text.utf16_len()?])?.into_bytes());
    }
    Ok(converted.into_bytes())
}

/// Converts a text. Half a character is an error, as a lossy conversion would change the text.
fn unicode(text: &[u16]) -> Result<String> {
    String::from_utf16(text).map_err(|_| half())
}

fn half() -> Error {
    Error::new(Status::InvalidArg, "the text has half a character (a lone surrogate) in it")
}

/// The language whose options errors name.
const LANGUAGE: Language = Language::JavaScript;

/// Returns an error as JSON, for the other half to make a `PatchError` of.
fn failed(error: ToolError) -> Error {
    Error::from_reason(json!(api::told(error, LANGUAGE)).to_string())
}

/// Parses a JSON text of the other half. Only half a character in a string makes it fail.
fn value(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| {
        Error::new(Status::InvalidArg, format!("the options or arguments cannot be read: {error}"))
    })
}

/// Reads options from a JSON text. An unknown name is an `InvalidArg`, of which the other half
/// makes a `TypeError`.
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

/// Makes a call. A panic becomes an error, as a panic that reaches Node ends the process.
fn done<T>(work: Work<T>) -> Result<T> {
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    done.map_err(|_| Error::from_reason("BUG: the call panicked"))?.map_err(failed)
}

/// A promise of the answer to a call.
type Promised<'env, T> = Either<AsyncTask<Job<T>>, Object<'env>>;

/// Makes a call on the thread pool, or on a new thread if the call asks the program: a person may
/// take long to answer, and the four threads of the pool also read the program's files.
fn promised<'env, T: Send + ToNapiValue + TypeName + 'static>(
    env: &'env Env,
    asks: bool,
    work: Work<T>,
) -> Result<Promised<'env, T>> {
    if !asks {
        return Ok(Either::A(Job::task(work)));
    }
    let (deferred, promise) = env.create_deferred()?;
    std::thread::Builder::new()
        .name("apply-patch".into())
        .spawn(move || match done(work) {
            Ok(value) => deferred.resolve(move |_| Ok(value)),
            Err(error) => deferred.reject(error),
        })
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

/// Receives the answer to one question, on the thread of the program.
#[napi(js_name = "Reply")]
pub struct JsReply(Mutex<Option<mpsc::Sender<JsAnswer>>>);

enum JsAnswer {
    Decided(Decision),
    Edited(Vec<u8>),
    File(Option<HostFile>),
}

#[napi]
impl JsReply {
    /// Answers `approve`: true, false, `"turn"`, or `"session"`.
    #[napi(catch_unwind)]
    pub fn decide(&self, answer: Either<bool, String>) {
        self.answer(JsAnswer::Decided(match answer {
            Either::A(false) => Decision::Decline,
            Either::A(true) => Decision::Approve,
            Either::B(word) if word == "turn" => Decision::ApproveForTurn,
            Either::B(_) => Decision::ApproveForSession,
        }));
    }

    /// Answers `approve` with another patch, in place of the proposal.
    #[napi(catch_unwind)]
    pub fn edit(&self, patch: Text<'_>) -> Result<()> {
        self.answer(JsAnswer::Edited(bytes(patch)?));
        Ok(())
    }

    /// Answers the question for a file: its content, its mode (0o644 by default), and its version.
    #[napi(catch_unwind)]
    pub fn file(&self, content: Text<'_>, mode: Option<u32>, version: Option<i64>) -> Result<()> {
        let content =
            Content { bytes: Arc::new(bytes(content)?), mode: mode.unwrap_or(0o644), link: false };
        self.answer(JsAnswer::File(Some(HostFile { content, version })));
        Ok(())
    }

    /// Answers the question for a file: there is none.
    #[napi(catch_unwind)]
    pub fn missing(&self) {
        self.answer(JsAnswer::File(None));
    }

    /// Ends the question without an answer. A question that needs one fails.
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

/// Gives up calls. A call that is given up before its commit point changes nothing.
#[napi]
#[derive(Default)]
pub struct Cancellation(Arc<AtomicBool>);

#[napi]
impl Cancellation {
    /// Makes a cancellation, to pass to calls.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives up all calls with this cancellation, present and future ones.
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

/// Makes the callbacks of a call.
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
                // A file has changed meanwhile, so the program cannot show the proposal.
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
        // Each event is waited for, so that none comes after the end of the call.
        host.observe = Some(Box::new(move |event| drop(ask(&observe, event.to_string()))));
    }
    host.cancellation = cancellation.map(Cancellation::polled).unwrap_or_default();
    Ok(host)
}

/// The plan of a patch: its changes to the files as they were.
#[napi(js_name = "Plan")]
pub struct JsPlan(Arc<api::PlannedPatch>);

impl From<api::PlannedPatch> for JsPlan {
    fn from(plan: api::PlannedPatch) -> Self {
        Self(Arc::new(plan))
    }
}

#[napi]
impl JsPlan {
    /// Returns `digest`, `changes`, `notes` and `summary`.
    #[napi(getter, catch_unwind)]
    pub fn facts(&self) -> String {
        self.0.facts().to_string()
    }

    /// Returns the changes as a git diff. Throws if a file has changed since it was planned.
    #[napi(catch_unwind)]
    pub fn diff(&self) -> Result<Uint8Array> {
        Ok(self.0.diff().map_err(failed)?.into())
    }
}

/// A directory, and a session that changes its files.
#[napi(js_name = "Workspace")]
pub struct JsWorkspace(Arc<api::OpenWorkspace>);

#[napi]
impl JsWorkspace {
    /// Opens a directory. Throws if there is none, or if an option makes no sense.
    #[napi(constructor, catch_unwind)]
    pub fn new(root: Utf16String, options: String) -> Result<Self> {
        let root = unicode(&root)?;
        let options = read(&options)?;
        Ok(Self(Arc::new(api::OpenWorkspace::open(Path::new(&root), &options).map_err(failed)?)))
    }

    /// Returns the path of the directory.
    #[napi(getter, catch_unwind)]
    pub fn root(&self) -> String {
        self.0.root().display().to_string()
    }

    /// Returns the name of the session.
    #[napi(getter, catch_unwind)]
    pub fn session(&self) -> String {
        self.0.session().to_owned()
    }

    fn planning(
        &self,
        patch: Text<'_>,
        options: &str,
        cancellation: Option<&Cancellation>,
    ) -> Result<Work<JsPlan>> {
        let workspace = Arc::clone(&self.0);
        let patch = bytes(patch)?;
        let options = read(options)?;
        let cancellation = cancellation.map(Cancellation::polled).unwrap_or_default();
        Ok(Box::new(move || workspace.plan(&patch, &options, &cancellation).map(JsPlan::from)))
    }

    /// Plans a patch, and writes nothing. Rejects if the patch does not parse or does not apply.
    #[napi(catch_unwind)]
    pub fn plan(
        &self,
        patch: Text<'_>,
        options: String,
        cancellation: Option<&Cancellation>,
    ) -> Result<AsyncTask<Job<JsPlan>>> {
        Ok(Job::task(self.planning(patch, &options, cancellation)?))
    }

    /// Does [`plan`](Self::plan) on this thread.
    #[napi(catch_unwind)]
    pub fn plan_sync(&self, patch: Text<'_>, options: String) -> Result<JsPlan> {
        self.planning(patch, &options, None)?().map_err(failed)
    }

    fn applying(
        &self,
        patch: Either<Text<'_>, &JsPlan>,
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
                let patch = bytes(patch)?;
                let options = read(options)?;
                Box::new(move || Ok(workspace.apply(&patch, &options, host)?.to_string()))
            }
        })
    }

    /// Applies a patch, all or nothing. Returns the `data` of `apply-patch --json`. Rejects if the
    /// patch does not parse, does not apply, or is not approved.
    #[napi(catch_unwind)]
    pub fn apply<'env>(
        &self,
        env: &'env Env,
        patch: Text<'_>,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        promised(env, asks, self.applying(Either::A(patch), &options, host)?)
    }

    /// Does [`apply`](Self::apply) on this thread.
    #[napi(catch_unwind)]
    pub fn apply_sync(&self, patch: Text<'_>, options: String) -> Result<String> {
        self.applying(Either::A(patch), &options, Callbacks::default())?().map_err(failed)
    }

    /// Applies exactly a plan. Rejects if a file has changed since it was planned.
    #[napi(catch_unwind)]
    pub fn apply_plan<'env>(
        &self,
        env: &'env Env,
        plan: &JsPlan,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        promised(env, asks, self.applying(Either::B(plan), "", host)?)
    }

    /// Does [`apply_plan`](Self::apply_plan) on this thread.
    #[napi(catch_unwind)]
    pub fn apply_plan_sync(&self, plan: &JsPlan) -> Result<String> {
        self.applying(Either::B(plan), "", Callbacks::default())?().map_err(failed)
    }

    fn undoing(&self, options: &str, host: Callbacks<'static>) -> Result<Work<String>> {
        let workspace = Arc::clone(&self.0);
        let options = read(options)?;
        Ok(Box::new(move || Ok(workspace.undo(&options, host)?.to_string())))
    }

    /// Undoes a transaction, or the last one that is not undone. Rejects if its files have changed
    /// since.
    #[napi(catch_unwind)]
    pub fn undo<'env>(
        &self,
        env: &'env Env,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        promised(env, asks, self.undoing(&options, host)?)
    }

    /// Does [`undo`](Self::undo) on this thread.
    #[napi(catch_unwind)]
    pub fn undo_sync(&self, options: String) -> Result<String> {
        self.undoing(&options, Callbacks::default())?().map_err(failed)
    }

    fn redoing(&self, options: &str, host: Callbacks<'static>) -> Result<Work<String>> {
        let workspace = Arc::clone(&self.0);
        let options = read(options)?;
        Ok(Box::new(move || Ok(workspace.redo_with(&options, host)?.to_string())))
    }

    /// Reverses an undo, or the last one. Rejects if its files have changed since.
    #[napi(catch_unwind)]
    pub fn redo<'env>(
        &self,
        env: &'env Env,
        options: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        promised(env, asks, self.redoing(&options, host)?)
    }

    /// Does [`redo`](Self::redo) on this thread.
    #[napi(catch_unwind)]
    pub fn redo_sync(&self, options: String) -> Result<String> {
        self.redoing(&options, Callbacks::default())?().map_err(failed)
    }

    /// Returns the newest transactions, of one session or of all.
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

    /// Returns what several transactions changed, as one diff. Rejects if nothing has the name.
    #[napi(catch_unwind)]
    pub fn net_changes(&self, options: String) -> Result<AsyncTask<Job<String>>> {
        let workspace = Arc::clone(&self.0);
        let request: api::NetRequest = read(&options)?;
        Ok(Job::task(move || Ok(workspace.net_changes(&request)?.to_string())))
    }

    /// Keeps a patch for a person to decide about later. Rejects if it does not apply.
    #[napi(catch_unwind)]
    pub fn propose(
        &self,
        patch: Text<'_>,
        options: String,
        why: Option<Utf16String>,
    ) -> Result<AsyncTask<Job<String>>> {
        let workspace = Arc::clone(&self.0);
        let patch = bytes(patch)?;
        let options: api::PatchOptions = read(&options)?;
        let why = why.map(|why| unicode(&why)).transpose()?;
        Ok(Job::task(move || Ok(workspace.propose(&patch, &options, why.as_deref())?.to_string())))
    }

    /// Returns the proposals of the project.
    #[napi(catch_unwind)]
    pub fn proposals(&self) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || Ok(workspace.proposals()?.to_string()))
    }

    /// Returns a proposal, and what it would do now. Rejects if there is none.
    #[napi(catch_unwind)]
    pub fn proposal(&self, id: String) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || Ok(workspace.proposal(&id)?.to_string()))
    }

    /// Commits a proposal. Rejects if the result is not the one that was shown.
    #[napi(catch_unwind)]
    pub fn approve<'env>(
        &self,
        env: &'env Env,
        id: String,
        digest: Option<String>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let workspace = Arc::clone(&self.0);
        let host = host(None, observe, cancellation)?;
        let work = move || Ok(workspace.approve(&id, digest.as_deref(), host)?.to_string());
        promised(env, false, Box::new(work))
    }

    /// Declines a proposal. Rejects if it is decided already.
    #[napi(catch_unwind)]
    pub fn decline(&self, id: String, why: Option<Utf16String>) -> Result<AsyncTask<Job<String>>> {
        let workspace = Arc::clone(&self.0);
        let why = why.map(|why| unicode(&why)).transpose()?;
        Ok(Job::task(move || Ok(workspace.decline(&id, why.as_deref())?.to_string())))
    }

    /// Begins a turn, and returns its name. Throws if a turn is open already.
    #[napi(catch_unwind)]
    pub fn begin_turn(&self, name: Option<Utf16String>) -> Result<String> {
        let name = name.map(|name| unicode(&name)).transpose()?;
        self.0.begin_turn(name.as_deref()).map_err(failed)
    }

    /// Returns the changes of the open turn so far; null if no turn is open.
    #[napi(catch_unwind)]
    pub fn turn_so_far(&self) -> AsyncTask<Job<String>> {
        let workspace = Arc::clone(&self.0);
        Job::task(move || Ok(workspace.turn_so_far()?.to_string()))
    }

    /// Ends the turn, and returns its changes. Rejects if no turn is open.
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
        let workspace = Arc::clone(&self.0);
        let arguments = value(arguments)?;
        Ok(Box::new(move || Ok(workspace.call(&tool, &arguments, host).to_string())))
    }

    /// Calls a file tool. Returns its answer, also if the tool failed.
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
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        promised(env, asks, self.calling(tool, &arguments, host)?)
    }

    /// Calls a file tool, and keeps a change as a proposal in place of making it.
    #[napi(catch_unwind)]
    pub fn call_later<'env>(
        &self,
        env: &'env Env,
        tool: String,
        arguments: String,
        call_id: String,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let workspace = Arc::clone(&self.0);
        let arguments = value(&arguments)?;
        let host = host(None, observe, cancellation)?;
        let work = move || Ok(workspace.call_later(&tool, &arguments, &call_id, host).to_string());
        promised(env, false, Box::new(work))
    }

    /// Does [`call`](Self::call) on this thread.
    #[napi(catch_unwind)]
    pub fn call_sync(&self, tool: String, arguments: String) -> Result<String> {
        self.calling(tool, &arguments, Callbacks::default())?().map_err(failed)
    }
}

/// Files of a commit, without a checkout.
#[napi(js_name = "GitTree")]
pub struct JsGitTree(Arc<api::GitTree>);

#[napi]
impl JsGitTree {
    /// Opens a repository at a revision. Throws if there is no such repository or commit.
    #[napi(constructor, catch_unwind)]
    pub fn new(repository: Utf16String, revision: Utf16String, options: String) -> Result<Self> {
        let repository = unicode(&repository)?;
        let revision = unicode(&revision)?;
        let options = read(&options)?;
        let tree =
            api::GitTree::open(Path::new(&repository), &revision, &options).map_err(failed)?;
        Ok(Self(Arc::new(tree)))
    }

    /// Opens another revision of the same repository, and shares what was read of it.
    #[napi(catch_unwind)]
    pub fn at(&self, revision: Utf16String) -> Result<Self> {
        Ok(Self(Arc::new(self.0.at(&unicode(&revision)?).map_err(failed)?)))
    }

    /// Returns the object id of the commit.
    #[napi(getter, catch_unwind)]
    pub fn commit(&self) -> String {
        self.0.commit()
    }

    /// Returns the object id of the commit's tree.
    #[napi(getter, catch_unwind)]
    pub fn tree(&self) -> String {
        self.0.tree()
    }

    /// Returns the bytes of a file, or the target of a link; null if there is neither.
    #[napi(catch_unwind)]
    pub fn read(&self, path: Utf16String) -> Result<Option<Uint8Array>> {
        Ok(self.0.read(&unicode(&path)?).map_err(failed)?.map(Uint8Array::from))
    }

    /// Returns the paths of all files and links that the guard allows to read.
    #[napi(catch_unwind)]
    pub fn list(&self) -> Result<Vec<String>> {
        self.0.list().map_err(failed)
    }

    /// Plans a patch, and writes nothing. Rejects if the patch does not parse or does not apply.
    #[napi(catch_unwind)]
    pub fn plan(&self, patch: Text<'_>, options: String) -> Result<AsyncTask<Job<JsPlan>>> {
        let tree = Arc::clone(&self.0);
        let patch = bytes(patch)?;
        let options = read(&options)?;
        Ok(Job::task(move || tree.plan(&patch, &options).map(JsPlan::from)))
    }

    /// Returns the object id of the tree that a plan makes.
    #[napi(catch_unwind)]
    pub fn tree_of(&self, plan: &JsPlan) -> Result<String> {
        self.0.tree_of(&plan.0).map_err(failed)
    }

    /// Makes a commit of a patch, and moves a branch there. Returns the commit and its changes.
    /// Rejects if the patch does not parse, does not apply or is not approved, or if the branch has
    /// moved meanwhile.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "they are the parameters of a function of Node's")]
    pub fn apply<'env>(
        &self,
        env: &'env Env,
        patch: Text<'_>,
        options: String,
        git: String,
        approve: Option<Asking<'_>>,
        observe: Option<Asking<'_>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<Promised<'env, String>> {
        let asks = approve.is_some();
        let host = host(approve, observe, cancellation)?;
        let tree = Arc::clone(&self.0);
        let patch = bytes(patch)?;
        let options = read(&options)?;
        let git = read(&git)?;
        promised(
            env,
            asks,
            Box::new(move || Ok(tree.apply(&patch, &options, &git, host)?.to_string())),
        )
    }
}

/// The new content of a file: text, if only texts were given and it is UTF-8, or else bytes.
type New<'env> = Either<JsString<'env>, BufferSlice<'env>>;

/// The new files of a patch in memory. All values are JavaScript's own, so that a loop of many
/// calls holds no native memory.
#[napi(object, object_from_js = false)]
pub struct InMemory<'env> {
    /// The changed paths.
    pub paths: Vec<String>,
    /// The new contents in the order of the paths; null for a file that is gone.
    pub contents: Vec<Option<New<'env>>>,
}

/// Returns the facts of a plan, with its diff.
fn facts(plan: &api::PlannedPatch) -> std::result::Result<Value, ToolError> {
    let mut facts = plan.facts();
    facts["diff"] = String::from_utf8_lossy(&plan.diff()?).into();
    Ok(facts)
}

/// Collects files with their paths.
fn files<T: FromIterator<(String, Vec<u8>)>>(
    paths: Vec<Utf16String>,
    contents: Vec<Text<'_>>,
) -> Result<T> {
    let files = paths.into_iter().zip(contents);
    files.map(|(path, content)| Ok((unicode(&path)?, bytes(content)?))).collect()
}

fn tree(paths: Vec<Utf16String>, contents: Vec<Text<'_>>) -> Result<MemoryTree> {
    files(paths, contents)
}

/// Applies a patch to files in memory. Throws if the patch does not parse or does not apply. With
/// `texts` new contents are texts, where that can be.
#[napi(catch_unwind)]
pub fn apply_in_memory<'env>(
    env: &'env Env,
    paths: Vec<Utf16String>,
    contents: Vec<Text<'_>>,
    patch: Text<'_>,
    options: String,
    texts: bool,
) -> Result<InMemory<'env>> {
    let options = read(&options)?;
    let (changed, _) =
        api::apply_in_memory(&tree(paths, contents)?, &bytes(patch)?, &options).map_err(failed)?;
    let mut done = InMemory { paths: Vec::new(), contents: Vec::new() };
    for file in changed {
        done.paths.push(file.path.to_string());
        let copy = file.after.map(|after| match std::str::from_utf8(&after.bytes) {
            Ok(text) if texts => env.create_string(text).map(Either::A),
            _ => BufferSlice::copy_from(env, &**after.bytes).map(Either::B),
        });
        done.contents.push(copy.transpose()?);
    }
    Ok(done)
}

/// Returns `digest`, `changes`, `notes`, `summary` and `diff` of a patch in memory.
#[napi(catch_unwind)]
pub fn facts_in_memory(
    paths: Vec<Utf16String>,
    contents: Vec<Text<'_>>,
    patch: Text<'_>,
    options: String,
) -> Result<String> {
    let options = read(&options)?;
    let (_, plan) =
        api::apply_in_memory(&tree(paths, contents)?, &bytes(patch)?, &options).map_err(failed)?;
    Ok(facts(&plan).map_err(failed)?.to_string())
}

/// The result of one item of many: the fields of `InMemory`, or an error.
#[napi(object)]
pub struct OneOfMany {
    /// The changed paths.
    pub paths: Vec<String>,
    /// The new contents in the order of the paths; null for a file that is gone.
    pub contents: Vec<Option<Either<String, Buffer>>>,
    /// The error as JSON, if the patch failed.
    pub error: Option<String>,
}

impl OneOfMany {
    fn of(done: std::result::Result<Vec<api::ChangedFile>, ToolError>, texts: bool) -> Self {
        match done {
            Ok(changed) => Self::changed(changed, texts),
            Err(error) => Self::failed(error),
        }
    }

    fn changed(changed: Vec<api::ChangedFile>, texts: bool) -> Self {
        let mut one = Self { paths: Vec::new(), contents: Vec::new(), error: None };
        for file in changed {
            one.paths.push(file.path.to_string());
            let bytes = file.after.map(|after| Arc::unwrap_or_clone(after.bytes));
            one.contents.push(bytes.map(|bytes| new(bytes, texts)));
        }
        one
    }

    fn failed(error: ToolError) -> Self {
        Self {
            paths: Vec::new(),
            contents: Vec::new(),
            error: Some(json!(api::told(error, LANGUAGE)).to_string()),
        }
    }
}

fn new(bytes: Vec<u8>, texts: bool) -> Either<String, Buffer> {
    if !texts {
        return Either::B(bytes.into());
    }
    String::from_utf8(bytes).map_or_else(|error| Either::B(error.into_bytes().into()), Either::A)
}

/// Applies each patch to its own files in memory, on `workers` threads or on all processors.
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments, reason = "they are the parameters of a function of Node's")]
pub fn apply_many(
    paths: Vec<Vec<Utf16String>>,
    contents: Vec<Vec<Text<'_>>>,
    patches: Vec<Text<'_>>,
    workers: Option<u32>,
    options: String,
    texts: Vec<bool>,
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
    Ok(Job::task(move || {
        let done = api::apply_many(&items, workers, &options, &cancellation, |files, _| Ok(files))?;
        let done = done.into_iter().zip(texts);
        Ok(done.map(|(one, texts)| OneOfMany::of(one, texts)).collect())
    }))
}

fn position(at: api::Position) -> Value {
    json!({ "line": at.line, "character": at.character })
}

fn replaced(one: &api::TextEdit) -> std::result::Result<Value, ToolError> {
    let range = json!({ "start": position(one.range.start), "end": position(one.range.end) });
    Ok(json!({ "range": range, "newText": api::unicode(&one.text)? }))
}

/// Returns the edits of one file of a program.
fn edit(plan: &api::HostPlan, edit: &api::FileEdit) -> std::result::Result<Value, ToolError> {
    Ok(json!({
        "path": edit.path,
        "toPath": edit.to_path,
        "operation": edit.operation.as_str(),
        "version": plan.version(&edit.path),
        "text": edit.text.as_deref().map(|whole| api::unicode(whole)).transpose()?,
        "edits": edit.edits.iter().map(replaced).collect::<std::result::Result<Vec<_>, _>>()?,
    }))
}

/// Plans a patch for files of the program, which `read_file` gives. Returns the facts of the plan,
/// and `edits` for the program to make.
#[napi(catch_unwind)]
pub fn plan_over<'env>(
    env: &'env Env,
    read_file: Asking<'_>,
    patch: Text<'_>,
    options: String,
) -> Result<Promised<'env, String>> {
    let read_file: Callback<FnArgs<(String, JsReply)>> =
        read_file.build_threadsafe_function().build()?;
    let patch = bytes(patch)?;
    let options = read(&options)?;
    promised(env, true, Box::new(move || host_facts(read_file, &patch, &options)))
}

/// Plans a patch for files of the program on this thread.
fn host_facts(
    read_file: Callback<FnArgs<(String, JsReply)>>,
    patch: &[u8],
    options: &api::PatchOptions,
) -> std::result::Result<String, ToolError> {
    let tree = HostTree::new(move |path| match ask(&read_file, path.to_owned()) {
        Some(JsAnswer::File(file)) => Ok(file),
        _ => Err(io::Error::other("the program could not read it")),
    });
    let plan = api::plan_over(tree, patch, options)?;
    let mut facts = facts(&plan.plan)?;
    let edits = plan.edits()?;
    let edits: std::result::Result<Value, _> = edits.iter().map(|one| edit(&plan, one)).collect();
    facts["edits"] = edits?;
    Ok(facts.to_string())
}

/// Applies a diff without headers to a text. Returns the new text. `mode` is `default` for a
/// change, and `create` for a new text. Throws if the diff does not parse or does not apply.
#[napi(catch_unwind)]
pub fn apply_diff<'env>(
    env: &'env Env,
    text: Text<'_>,
    diff: Utf16String,
    mode: String,
) -> Result<BufferSlice<'env>> {
    BufferSlice::copy_from(
        env,
        &api::apply_diff(&bytes(text)?, &unicode(&diff)?, &mode).map_err(failed)?,
    )
}

/// Returns the tree of a patch. Throws if the text is not a patch.
#[napi(catch_unwind)]
pub fn parse(patch: Text<'_>, options: String) -> Result<String> {
    let options = read(&options)?;
    Ok(api::parse(&bytes(patch)?, &options).map_err(failed)?.to_string())
}

/// Converts a patch to another form. Returns `text` and `warnings`. Throws if the patch does not
/// parse or does not apply to the files, or if the form cannot express it.
#[napi(catch_unwind)]
pub fn convert(
    patch: Text<'_>,
    to: String,
    options: String,
    paths: Option<Vec<Utf16String>>,
    contents: Option<Vec<Text<'_>>>,
) -> Result<String> {
    let options = read(&options)?;
    let files = paths.zip(contents).map(|(paths, contents)| tree(paths, contents)).transpose()?;
    let done = api::convert(&bytes(patch)?, &to, &options, files.as_ref()).map_err(failed)?;
    let text = api::unicode(&done.text).map_err(failed)?;
    Ok(json!({ "text": text, "warnings": done.warnings }).to_string())
}

/// Returns the tools in the shape of a provider: `value` for the request, and `caveats`. Throws if
/// the provider does not take an option.
#[napi(catch_unwind)]
pub fn tool_specs(provider: String, options: String) -> Result<String> {
    let specs = api::tool_specs(&provider, &read(&options)?).map_err(failed)?;
    serde_json::to_string(&specs).map_err(|error| Error::from_reason(error.to_string()))
}

/// Returns the instructions for a model.
#[napi(catch_unwind)]
pub fn prompt(dialect: String, channel: String) -> Result<String> {
    api::prompt(&dialect, &channel).map_err(failed)
}

/// Returns the grammar of a dialect in a notation.
#[napi(catch_unwind)]
pub fn grammar(format: String, dialect: String) -> Result<String> {
    api::grammar(&format, &dialect).map(ToOwned::to_owned).map_err(failed)
}

/// A grammar for some files as they are.
#[napi(js_name = "FittedGrammar")]
pub struct JsFittedGrammar(api::FittedGrammar);

#[napi]
impl JsFittedGrammar {
    /// Makes a grammar for files. Throws if an option makes no sense, or if no patch is possible.
    #[napi(constructor, catch_unwind)]
    pub fn new(paths: Vec<Utf16String>, contents: Vec<Text<'_>>, options: String) -> Result<Self> {
        let files: Vec<_> = files(paths, contents)?;
        Ok(Self(api::fit(&files, &read(&options)?).map_err(failed)?))
    }

    /// Returns the grammar in a notation: `lark`, `ebnf` or `gbnf`.
    #[napi(catch_unwind)]
    pub fn text(&self, format: String) -> Result<String> {
        self.0.text(&format).map_err(failed)
    }

    /// Returns the other arguments for a patch under the grammar as `stub`, and `notes` about files
    /// that the grammar leaves out.
    #[napi(catch_unwind)]
    pub fn about(&self) -> String {
        json!({ "stub": self.0.stub(), "notes": self.0.notes() }).to_string()
    }
}

/// A patch while it arrives.
#[napi(js_name = "Stream")]
pub struct JsStream {
    stream: api::JsonStream,
    /// The first half of a character, whose second half is in the next chunk.
    half: Option<u16>,
}

#[napi]
impl JsStream {
    /// Makes a stream without text.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> Result<Self> {
        let stream = api::JsonStream::new(&read(&options)?).map_err(failed)?;
        Ok(Self { stream, half: None })
    }

    /// Adds a chunk of the text. Returns the events that it completes, objects with a `type`.
    #[napi(catch_unwind)]
    pub fn push(&mut self, chunk: Either<Utf16String, Uint8Array>) -> Result<String> {
        // Two chunks may share a character.
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

    /// Ends the text. Returns the last events: `ended` or `failed`, unless one came before. Throws
    /// if the text ends within a character.
    #[napi(catch_unwind)]
    pub fn end(&mut self) -> Result<String> {
        if self.half.is_some() {
            return Err(half());
        }
        Ok(json!(self.stream.end()).to_string())
    }
}
