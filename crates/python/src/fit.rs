//! Grammars for the files at hand.

use apply_patch_api::{self as api, FitRequest, FittedGrammar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::value::{FilePath, bytes, call, options, to_python};

/// A grammar for some files as they are. Every patch of the grammar applies to them, unless one of
/// its hunks is applied already.
#[pyclass(frozen, name = "FittedGrammar", module = "apply_patch")]
pub(crate) struct PyFittedGrammar(FittedGrammar);

#[pymethods]
impl PyFittedGrammar {
    /// Returns the grammar in Lark, for llguidance.
    fn lark(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("lark"))
    }

    /// Returns the grammar in EBNF, for XGrammar.
    fn ebnf(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("ebnf"))
    }

    /// Returns the grammar in GBNF, for llama.cpp.
    fn gbnf(&self, py: Python<'_>) -> PyResult<String> {
        call(py, || self.0.text("gbnf"))
    }

    /// The other arguments for a patch under the grammar: a dict with `profile`, and
    /// `expectedSha256ByPath` with the hash of each file.
    #[getter]
    fn stub<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.stub())
    }

    /// A sentence about each file that the grammar leaves out of updates.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }
}

/// Makes a grammar for files, a dict of contents by path.
///
/// Raises `PatchError` if an option makes no sense, or if no patch is possible.
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
