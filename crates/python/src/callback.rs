//! Callbacks of a call, and their exceptions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use apply_patch_api::engine::Cancellation;
use apply_patch_api::{Callbacks, Decision, Proposal, ToolError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde_json::Value;

use crate::plan::PyProposal;
use crate::value::{LANGUAGE, bytes, raised, to_python};

/// The time between two checks for signals, which have to wait for other threads of the
/// interpreter.
const INTERVAL: Duration = Duration::from_millis(20);

/// The first exception of a callback.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception, unless there is one.
    pub(crate) fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns the result of a call, or else the exception of its callbacks.
    pub(crate) fn result<T>(&self, py: Python<'_>, result: Result<T, ToolError>) -> PyResult<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => result.map_err(|error| raised(py, &error)),
        }
    }
}

/// Gives up calls, from any thread.
///
/// Pass it as `cancellation` to the calls. A call that is given up before its commit point raises
/// `Cancelled`, and changes nothing.
#[pyclass(frozen, from_py_object, name = "Cancellation", module = "apply_patch")]
#[derive(Clone, Default)]
pub(crate) struct PyCancellation(Arc<AtomicBool>);

#[pymethods]
impl PyCancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Gives up all calls with this object, present and future ones.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether `cancel` was called.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PyCancellation {
    /// Returns a cancellation that is polled without the interpreter.
    pub(crate) fn polled(self) -> Cancellation {
        Cancellation::new(move || self.is_cancelled())
    }
}

/// The callbacks of a call.
#[derive(Default)]
pub(crate) struct PyCallbacks {
    pub(crate) approve: Option<Py<PyAny>>,
    pub(crate) observe: Option<Py<PyAny>>,
    pub(crate) cancellation: Option<PyCancellation>,
}

impl PyCallbacks {
    /// Makes a call with the interpreter released, and returns its answer.
    pub(crate) fn run<'py>(
        &self,
        py: Python<'py>,
        call: impl FnOnce(Callbacks<'_>) -> Result<Value, ToolError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.make(py, call)?)
    }

    /// Makes a call with the interpreter released.
    pub(crate) fn make<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(Callbacks<'_>) -> Result<T, ToolError> + Send,
    ) -> PyResult<T> {
        let thrown = Raised::default();
        let result = py.detach(|| call(self.host(&thrown)));
        thrown.result(py, result)
    }

    fn host<'h>(&'h self, thrown: &'h Raised) -> Callbacks<'h> {
        let approve = self.approve.as_ref().map(|callback| {
            Box::new(move |proposal: &Proposal<'_>| decide(callback, proposal, thrown))
                as Box<dyn FnMut(&Proposal<'_>) -> Decision + Send + 'h>
        });
        let observe = self.observe.as_ref().map(|callback| {
            Box::new(move |event: Value| notify(callback, &event, thrown))
                as Box<dyn FnMut(Value) + Send + 'h>
        });
        // An exception gives up the call, as far as the commit point; so does Control-C.
        let raised = thrown.clone();
        let looked = Mutex::new(Instant::now());
        let given = self.cancellation.clone().unwrap_or_default();
        let cancellation = Cancellation::new(move || {
            let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
            if !raised.is_some() && looked.elapsed() >= INTERVAL {
                *looked = Instant::now();
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    raised.keep(error);
                }
            }
            raised.is_some() || given.is_cancelled()
        });
        Callbacks { approve, observe, cancellation, language: Some(LANGUAGE) }
    }
}

/// Calls `approve`. An exception declines.
fn decide(callback: &Py<PyAny>, proposal: &Proposal<'_>, thrown: &Raised) -> Decision {
    let decided = PyProposal::new(proposal).and_then(|asked| {
        Python::attach(|py| decision(&callback.bind(py).call1((asked,))?, proposal))
    });
    decided.unwrap_or_else(|error| {
        thrown.keep(error);
        Decision::Decline
    })
}

/// Calls `observe`, unless a callback has raised an exception.
fn notify(callback: &Py<PyAny>, event: &Value, thrown: &Raised) {
    if thrown.is_some() {
        return;
    }
    let observed = Python::attach(|py| callback.bind(py).call1((to_python(py, event)?,)).map(drop));
    if let Err(error) = observed {
        thrown.keep(error);
    }
}

/// Reads the answer of `approve`: `True`, `"turn"`, `"session"`, `False`, or a dict with another
/// `patch`.
fn decision(answer: &Bound<'_, PyAny>, proposal: &Proposal<'_>) -> PyResult<Decision> {
    if let Ok(edited) = answer.cast::<PyDict>()
        && let Some(patch) = edited.get_item("patch")?
    {
        proposal.edit(bytes(&patch)?);
        return Ok(Decision::Edit);
    }
    if let Ok(answer) = answer.cast::<PyBool>() {
        return Ok(if answer.is_true() { Decision::Approve } else { Decision::Decline });
    }
    match answer.cast::<PyString>().ok().map(|word| word.to_str()).transpose()? {
        Some("session") => Ok(Decision::ApproveForSession),
        Some("turn") => Ok(Decision::ApproveForTurn),
        _ => {
            Err(PyTypeError::new_err("approve has to return True, False, \"turn\" or \"session\""))
        }
    }
}
