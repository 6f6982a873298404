//! Grammars for the files at hand.

use apply_patch_api::{self as api, FitRequest, FittedGrammar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::value::{FilePath, bytes, call, options, to_python};

/// A grammar for some files as they are: every patch of it applies to them.
///
/// The exception is a patch with a hunk that is applied already.
#[pyclass(frozen, name = "FittedGrammar", module = "apply_patch")]
pub(crate) struct PyFittedGrammar(FittedGrammar);

#[pymethods]
impl PyFittedGrammar {
    /// The grammar in Lark, for llguidance.
    fn lark(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("lark"))
    }

    /// The grammar in EBNF, for XGrammar.
    fn ebnf(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("ebnf"))
    }

    /// The grammar in GBNF, for llama.cpp.
    fn gbnf(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("gbnf"))
    }

    /// The arguments that a patch under the grammar is sent with.
    #[getter]
    fn stub<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.stub())
    }

    /// The files that the grammar leaves out of updates, a sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

/// Makes a grammar for files, a dict of their paths and contents.
#[pyfunction]
#[pyo3(signature = (files, /, **options))]
pub(crate) fn fit(
    py: Python<'_>,
    files: &Bound<'_, PyMapping>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyFittedGrammar> {
    let mut given = Vec::new();
    for item in files.items()?.iter() {
        let (FilePath(path), content): (FilePath, Bound<'_, PyAny>) = item.extract()?;
        given.push((path, bytes(&content)?));
    }
    let options: FitRequest = self::options("fit", &[], options)?;
    call(py, || api::fit(&given, &options)).map(PyFittedGrammar)
}
