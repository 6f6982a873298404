//! A directory.

use std::path::PathBuf;

use apply_patch_api as api;
use apply_patch_api::{DiffDetail, PatchOptions, ReadOptions as _, UndoRequest, WorkspaceOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::callback::PyCallbacks;
use crate::plan::PyPlan;
use crate::value::{FilePath, SystemPath, bytes, call, from_python, options, raised, to_python};

/// A directory whose files are changed, all or nothing, by one session. Calls may come from many
/// threads.
#[pyclass(frozen, name = "Workspace", module = "apply_patch")]
pub(crate) struct PyWorkspace(api::OpenWorkspace);

/// Reads `diff`, the word for how much an answer shows.
fn detail(py: Python<'_>, word: &str) -> PyResult<DiffDetail> {
    let options =
        PatchOptions::read(json!({ "diff": word })).map_err(|error| raised(py, &error))?;
    Ok(options.diff)
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
        let options = self::options(options)?;
        call(py, || api::OpenWorkspace::open(&root.0, &WorkspaceOptions::read(options)?)).map(Self)
    }

    /// The directory.
    #[getter]
    fn root(&self) -> PathBuf {
        self.0.root().to_path_buf()
    }

    /// The name of the session.
    #[getter]
    fn session(&self) -> &str {
        self.0.session()
    }

    /// Plans a patch; nothing is written.
    #[pyo3(signature = (patch, /, **options))]
    fn plan(
        &self,
        py: Python<'_>,
        patch: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyPlan> {
        let (patch, options) = (bytes(patch)?, self::options(options)?);
        call(py, || self.0.plan(&patch, &PatchOptions::read(options)?)).map(PyPlan)
    }

    /// Applies a patch, or exactly the plan of one; all of it or nothing.
    #[pyo3(signature = (patch, /, *, approve=None, observe=None, **options))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        patch: &Bound<'py, PyAny>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let callbacks = PyCallbacks { approve, observe };
        if let Ok(plan) = patch.cast::<PyPlan>() {
            if options.is_some_and(|options| !options.is_empty()) {
                let message = "a plan has its options already";
                return Err(pyo3::exceptions::PyTypeError::new_err(message));
            }
            let plan = plan.get();
            callbacks.run(py, |host| self.0.apply_plan(&plan.0, host))
        } else {
            let (patch, options) = (bytes(patch)?, self::options(options)?);
            callbacks.run(py, |host| self.0.apply(&patch, &PatchOptions::read(options)?, host))
        }
    }

    /// Undoes a transaction: the last one that is not undone, unless one is named.
    #[pyo3(signature = (id=None, /, *, paths=Vec::new(), session=None, since=None, carry=false, diff="none", approve=None, observe=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn undo<'py>(
        &self,
        py: Python<'py>,
        id: Option<String>,
        paths: Vec<FilePath>,
        session: Option<String>,
        since: Option<String>,
        carry: bool,
        diff: &str,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let paths = paths.into_iter().map(|path| path.0).collect();
        let options =
            UndoRequest { id, paths, session, since, turn: None, carry, diff: detail(py, diff)? };
        PyCallbacks { approve, observe }.run(py, |host| self.0.undo(&options, host))
    }

    /// Reverses an undo: the last one, unless one is named.
    #[pyo3(signature = (id=None, /, *, diff="none", approve=None, observe=None))]
    fn redo<'py>(
        &self,
        py: Python<'py>,
        id: Option<String>,
        diff: &str,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let detail = detail(py, diff)?;
        PyCallbacks { approve, observe }.run(py, |host| self.0.redo(id.as_deref(), detail, host))
    }

    /// The newest transactions, and those whose journals are not trusted.
    #[pyo3(signature = (max_count=None, /, *, diff=false))]
    fn log<'py>(
        &self,
        py: Python<'py>,
        max_count: Option<usize>,
        diff: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &call(py, || self.0.log(max_count, diff))?)
    }

    /// Calls a file tool by its name: its answer, also when it failed.
    #[pyo3(signature = (tool, arguments=None, /, *, approve=None, observe=None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        arguments: Option<&Bound<'py, PyAny>>,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments =
            arguments.map_or_else(|| Ok(Value::Object(serde_json::Map::new())), from_python)?;
        PyCallbacks { approve, observe }.run(py, |host| Ok(self.0.call(tool, &arguments, host)))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("Workspace({:?})", self.0.root())
    }
}
