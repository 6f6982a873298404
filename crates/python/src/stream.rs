//! A patch while it arrives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use apply_patch_api::{JsonStream, PatchOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::fork::Locked;
use crate::value::{bytes, options, raised, to_python};

/// Takes the text of a patch in the envelope, in chunks of any size, and returns events about the
/// part so far.
#[pyclass(frozen, name = "PatchStream", module = "apply_patch")]
pub(crate) struct PyPatchStream(Locked<Mutex<JsonStream>>);

fn lock(stream: &Mutex<JsonStream>) -> MutexGuard<'_, JsonStream> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PyPatchStream {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options: PatchOptions = self::options("PatchStream", &[], options)?;
        let stream = JsonStream::new(&options);
        let stream = stream.map_err(|error| raised(py, &error))?;
        Ok(Self(Locked::new(Mutex::new(stream))))
    }

    /// Adds a chunk of the text. Returns the events that it completes, dicts with a `type`.
    fn push<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let chunk = bytes(chunk)?;
        let stream = self.0.used()?;
        let events = py.detach(|| lock(&stream).push(&chunk));
        to_python(py, &Value::Array(events))
    }

    /// Ends the text. Returns the last events: `ended` or `failed`, unless one came before.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = self.0.used()?;
        let events = py.detach(|| lock(&stream).end());
        to_python(py, &Value::Array(events))
    }

    /// The text so far.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let stream = self.0.used()?;
        Ok(py.detach(|| lock(&stream).text().to_owned()))
    }
}
