//! A directory.

use std::path::PathBuf;

use apply_patch_api as api;
use apply_patch_api::{NetRequest, PatchOptions, RedoRequest, UndoRequest, WorkspaceOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::callback::{PyCallbacks, PyCancellation};
use crate::fork::Locked;
use crate::plan::PyPlan;
use crate::value::{SystemPath, bytes, call, from_python, options, options_and_json, to_python};

/// The keyword arguments of a call that are no options.
const CALLBACKS: &[&str] = &["approve", "observe", "cancellation"];

/// A directory, and a session that changes its files, all or nothing. Any thread may call it.
///
/// Raises `PatchError` if there is no such directory, or if an option makes no sense. Nothing is
/// written until a call changes files.
#[pyclass(frozen, name = "Workspace", module = "apply_patch")]
pub(crate) struct PyWorkspace {
    opened: Locked<api::OpenWorkspace>,
    options: Value,
}

#[pymethods]
impl PyWorkspace {
    #[new]
    #[pyo3(signature = (root, /, **options))]
    fn new(
        py: Python<'_>,
        root: SystemPath,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (read, options) = options_and_json::<WorkspaceOptions>("Workspace", &[], options)?;
        let opened = call(py, || api::OpenWorkspace::open(&root.0, &read))?;
        Ok(Self { opened: Locked::new(opened), options })
    }

    /// The arguments with which another process opens the same directory, for `pickle`.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyAny>)> {
        let options = if self.options.is_null() { &json!({}) } else { &self.options };
        Ok(((self.root(),), to_python(py, options)?))
    }

    /// The directory.
    #[getter]
    fn root(&self) -> PathBuf {
        self.opened.unlocked().root().to_path_buf()
    }

    /// The name of the session.
    #[getter]
    fn session(&self) -> &str {
        self.opened.unlocked().session()
    }

    /// Plans a patch, and writes nothing. Returns a `Plan`.
    ///
    /// Raises `PatchError` if the patch does not parse or does not apply.
    #[pyo3(signature = (patch, /, *, cancellation=None, **options))]
    fn plan(
        &self,
        py: Python<'_>,
        patch: &Bound<'_, PyAny>,
        cancellation: Option<PyCancellation>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyPlan> {
        let opened = self.opened.used()?;
        let patch = bytes(patch)?;
        let options: PatchOptions = self::options("Workspace.plan", &["cancellation"], options)?;
        let callbacks = PyCallbacks { cancellation, ..PyCallbacks::default() };
        let plan = callbacks.make(py, |host| opened.plan(&patch, &options, &host.cancellation));
        plan.map(PyPlan::new)
    }

    /// Applies a patch, or exactly a `Plan`, all or nothing. Returns the `data` of
    /// `apply-patch --json`.
    ///
    /// `approve(proposal)` decides about the plan: True, False, "turn", "session", or a dict with
    /// another `patch`. `observe(event)` receives the events. Raises `PatchError` if the patch does
    /// not parse, does not apply or is not approved, and the exceptions of the callbacks.
    #[pyo3(signature = (patch, /, *, approve=None, observe=None, cancellation=None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        patch: &Bound<'py, PyAny>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let callbacks = PyCallbacks { approve, observe, cancellation };
        if let Ok(plan) = patch.cast::<PyPlan>() {
            if options.is_some_and(|options| !options.is_empty()) {
                let message = "a plan has its options already";
                return Err(pyo3::exceptions::PyTypeError::new_err(message));
            }
            let plan = plan.get().used()?;
            callbacks.run(py, |host| opened.apply_plan(&plan, host))
        } else {
            let patch = bytes(patch)?;
            let options: PatchOptions = self::options("Workspace.apply", CALLBACKS, options)?;
            callbacks.run(py, |host| opened.apply(&patch, &options, host))
        }
    }

    /// Undoes a transaction by its id, or the last one that is not undone. Returns the `data` of
    /// `apply-patch undo --json`.
    ///
    /// Raises `PatchError` if there is no such transaction, or if its files have changed since.
    #[pyo3(signature = (id=None, *, approve=None, observe=None, cancellation=None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn undo<'py>(
        &self,
        py: Python<'py>,
        id: Option<String>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let options: UndoRequest = self::options("Workspace.undo", CALLBACKS, options)?;
        let request = UndoRequest { id, ..options };
        PyCallbacks { approve, observe, cancellation }.run(py, |host| opened.undo(&request, host))
    }

    /// Reverses an undo by its id, or the last one. Returns the `data` of
    /// `apply-patch redo --json`.
    ///
    /// Raises `PatchError` if there is no such undo, or if its files have changed since.
    #[pyo3(signature = (id=None, *, approve=None, observe=None, cancellation=None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn redo<'py>(
        &self,
        py: Python<'py>,
        id: Option<String>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let options: RedoRequest = self::options("Workspace.redo", CALLBACKS, options)?;
        let request = RedoRequest { id, ..options };
        PyCallbacks { approve, observe, cancellation }
            .run(py, |host| opened.redo_with(&request, host))
    }

    /// Returns the newest transactions, of one session or of all, and those with journals that are
    /// not trusted: the `data` of `apply-patch log --json`.
    #[pyo3(signature = (max_count=None, /, *, diff=false, session=None))]
    fn log<'py>(
        &self,
        py: Python<'py>,
        max_count: Option<usize>,
        diff: bool,
        session: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.log(max_count, session.as_deref(), diff))?)
    }

    /// Returns what several transactions changed, as one diff, without the changes of others between
    /// them: the `data` of `apply-patch show --json` with `--session`, `--since`, `--turn` or
    /// `ID..ID`.
    ///
    /// Raises `PatchError` if nothing has the name.
    #[pyo3(signature = (**options))]
    fn net_changes<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let request: NetRequest = self::options("Workspace.net_changes", &[], options)?;
        to_python(py, &call(py, || opened.net_changes(&request))?)
    }

    /// Keeps a patch for a person to decide about later, and changes nothing. Returns the `data` of
    /// `apply-patch propose --json`; `why` is for the person.
    ///
    /// Raises `PatchError` if the patch does not parse or does not apply.
    #[pyo3(signature = (patch, /, *, why=None, **options))]
    fn propose<'py>(
        &self,
        py: Python<'py>,
        patch: &Bound<'py, PyAny>,
        why: Option<String>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let patch = bytes(patch)?;
        let options: PatchOptions = self::options("Workspace.propose", &["why"], options)?;
        to_python(py, &call(py, || opened.propose(&patch, &options, why.as_deref()))?)
    }

    /// Returns the proposals of the project, the newest first: the `data` of
    /// `apply-patch proposals --json`.
    fn proposals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.proposals())?)
    }

    /// Returns a proposal, and what it would do now; any beginning of its id names it.
    ///
    /// Raises `PatchError` if there is none.
    #[pyo3(signature = (id, /))]
    fn proposal<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.proposal(id))?)
    }

    /// Commits what was shown when it was proposed, or the plan with this digest. Returns the
    /// `data` of `apply-patch --json`.
    ///
    /// Raises `PatchError` of kind `stale_file` if the files have changed and so has the result:
    /// its details have `digest` and `changedFiles`.
    #[pyo3(signature = (id, /, *, digest=None, observe=None, cancellation=None))]
    fn approve<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        digest: Option<String>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        PyCallbacks { approve: None, observe, cancellation }
            .run(py, |host| opened.approve(id, digest.as_deref(), host))
    }

    /// Declines a proposal: a person decides. Returns it.
    ///
    /// Raises `PatchError` if there is none, or it is decided already.
    #[pyo3(signature = (id, why=None, /))]
    fn decline<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        why: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.decline(id, why.as_deref()))?)
    }

    /// Calls a file tool by its name. Returns its answer, a dict, also if the tool failed.
    #[pyo3(signature = (tool, arguments=None, /, *, approve=None, observe=None, cancellation=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn call<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        arguments: Option<&Bound<'py, PyAny>>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let arguments =
            arguments.map_or_else(|| Ok(Value::Object(serde_json::Map::new())), from_python)?;
        PyCallbacks { approve, observe, cancellation }
            .run(py, |host| Ok(opened.call(tool, &arguments, host)))
    }

    /// Calls a file tool, and keeps a change as a proposal in place of making it: the answer's error
    /// has `proposalId` and `state` in its details. The same `call_id` is answered with the same
    /// proposal.
    #[pyo3(signature = (tool, arguments, call_id, /, *, observe=None, cancellation=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn call_later<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        arguments: &Bound<'py, PyAny>,
        call_id: &str,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        let arguments = from_python(arguments)?;
        PyCallbacks { approve: None, observe, cancellation }
            .run(py, |host| Ok(opened.call_later(tool, &arguments, call_id, host)))
    }

    /// Begins a turn, and returns its name. Until `end_turn`, all changes are one diff and one
    /// undo. Raises `PatchError` if a turn is open already.
    #[pyo3(signature = (name=None, /))]
    fn begin_turn(&self, py: Python<'_>, name: Option<&str>) -> PyResult<String> {
        let opened = self.opened.used()?;
        call(py, || opened.begin_turn(name))
    }

    /// Returns the changes of the open turn so far, in the form of `end_turn`; None if no turn is
    /// open.
    fn turn_so_far<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.turn_so_far())?)
    }

    /// Ends the turn. Returns a dict with its `id`, `transactions`, `changedFiles` and `diff`.
    /// Raises `PatchError` if no turn is open.
    fn end_turn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.opened.used()?;
        to_python(py, &call(py, || opened.end_turn())?)
    }

    /// Returns a turn for `with`, which ends with the block; with `undo_on_error` an exception
    /// undoes its changes.
    #[pyo3(signature = (name=None, /, *, undo_on_error=false, approve=None))]
    fn turn(
        slf: Py<Self>,
        py: Python<'_>,
        name: Option<&str>,
        undo_on_error: bool,
        approve: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let turn = py.import("apply_patch._turn")?.getattr("Turn")?;
        Ok(turn.call1((slf, name, undo_on_error, approve))?.unbind())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("Workspace({:?})", self.opened.unlocked().root())
    }
}
