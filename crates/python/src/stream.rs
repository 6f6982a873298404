//! A patch while it arrives.

use std::sync::{Mutex, PoisonError};

use apply_patch_api::{JsonStream, PatchOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::value::{bytes, options, raised, to_python};

/// Takes the text of a patch in the envelope, in chunks of any size, and returns events about the
/// part so far.
#[pyclass(frozen, name = "PatchStream", module = "apply_patch")]
pub(crate) struct PyPatchStream(Mutex<JsonStream>);

#[pymethods]
impl PyPatchStream {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options: PatchOptions = self::options("PatchStream", &[], options)?;
        let stream = JsonStream::new(&options);
        stream.map(|stream| Self(Mutex::new(stream))).map_err(|error| raised(py, &error))
    }

    /// Adds a chunk of the text. Returns the events that it completes, dicts with a `type`.
    fn push<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let chunk = bytes(chunk)?;
        let events =
            py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk));
        to_python(py, &Value::Array(events))
    }

    /// Ends the text. Returns the last events: `ended` or `failed`, unless one came before.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let events = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).end());
        to_python(py, &Value::Array(events))
    }

    /// The text so far.
    #[getter]
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).text().to_owned())
    }
}
