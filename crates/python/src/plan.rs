//! Plans.

use apply_patch_api as api;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::fork::{Locked, Used};
use crate::value::{call, raised, text_or_bytes, to_python};

/// The plan of a patch: its changes to the files as they were. Nothing is written, and later
/// changes of the files do not change the plan.
#[pyclass(frozen, name = "Plan", module = "apply_patch")]
pub(crate) struct PyPlan(Locked<api::PlannedPatch>);

#[pymethods]
impl PyPlan {
    /// The changed files: dicts with `path`, `operation`, `toPath`, `beforeSha256` and
    /// `afterSha256`.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.used()?.changes())
    }

    /// The changes as a git diff. Bytes that are not UTF-8 are replaced here, and kept in
    /// `diff_bytes`. Raises `PatchError` if a file has changed since it was planned.
    #[getter]
    fn diff(&self, py: Python<'_>) -> PyResult<String> {
        Ok(String::from_utf8_lossy(&self.bytes(py)?).into_owned())
    }

    /// The git diff as bytes.
    #[getter]
    fn diff_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(text_or_bytes(py, &self.bytes(py)?, false))
    }

    /// A hash of the plan, 64 hexadecimal digits: equal plans have equal hashes.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        Ok(self.used()?.digest())
    }

    /// Notes for a reader, as of hunks that were placed with tolerance.
    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.used()?.notes())
    }

    /// The plan in one line.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        Ok(self.used()?.summary())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<Plan: {}>", self.used()?.summary()))
    }
}

impl PyPlan {
    pub(crate) fn new(plan: api::PlannedPatch) -> Self {
        Self(Locked::new(plan))
    }

    /// The plan, for a call.
    pub(crate) fn used(&self) -> PyResult<Used<'_, api::PlannedPatch>> {
        self.0.used()
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let plan = self.used()?;
        call(py, || plan.diff())
    }
}

/// A plan before its approval, the argument of `approve`.
#[pyclass(frozen, name = "Proposal", module = "apply_patch")]
pub(crate) struct PyProposal {
    changes: serde_json::Value,
    diff: Vec<u8>,
    digest: String,
    notes: Vec<String>,
    reasons: Vec<String>,
}

impl PyProposal {
    pub(crate) fn new(proposal: &api::Proposal<'_>) -> PyResult<Self> {
        let diff = proposal.diff().map_err(|error| Python::attach(|py| raised(py, &error)))?;
        Ok(Self {
            changes: proposal.changes(),
            diff,
            digest: proposal.digest(),
            notes: proposal.notes(),
            reasons: proposal.reasons().to_vec(),
        })
    }
}

#[pymethods]
impl PyProposal {
    /// The changed files, in the form of `Plan.changes`.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.changes)
    }

    /// The changes as a git diff. Bytes that are not UTF-8 are replaced here, and kept in
    /// `diff_bytes`.
    #[getter]
    fn diff(&self) -> String {
        String::from_utf8_lossy(&self.diff).into_owned()
    }

    /// The git diff as bytes.
    #[getter]
    fn diff_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        text_or_bytes(py, &self.diff, false)
    }

    /// A hash of the plan, 64 hexadecimal digits: equal plans have equal hashes.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    /// Notes for a reader, as of a file that does not parse any more.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The reasons why approval is needed, in words. There may be none.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.reasons.clone()
    }
}

/// A plan for files of the caller, who makes the edits.
#[pyclass(frozen, name = "HostPlan", module = "apply_patch")]
pub(crate) struct PyHostPlan(Locked<api::HostPlan>);

#[pymethods]
impl PyHostPlan {
    /// The changed files, in the form of `Plan.changes`.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.used()?.plan.changes())
    }

    /// The changes as a git diff.
    #[getter]
    fn diff(&self, py: Python<'_>) -> PyResult<String> {
        let diff = self.0.used()?.plan.diff().map_err(|error| raised(py, &error))?;
        Ok(String::from_utf8_lossy(&diff).into_owned())
    }

    /// A hash of the plan, 64 hexadecimal digits: equal plans have equal hashes.
    #[getter]
    fn digest(&self) -> PyResult<String> {
        Ok(self.0.used()?.plan.digest())
    }

    /// Notes for a reader, as of hunks that were placed with tolerance.
    #[getter]
    fn notes(&self) -> PyResult<Vec<String>> {
        Ok(self.0.used()?.plan.notes())
    }

    /// The edits of each file: dicts with `operation`, `path`, `toPath`, `version`, `text` (the
    /// whole new file, None for a file that is gone) and `edits`, the smallest replacements. A
    /// replacement has `bytes`, `start` and `end` as the Language Server Protocol counts, and
    /// `text`. Raises `PatchError` if a file has changed since it was planned.
    #[getter]
    fn edits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let plan = self.0.used()?;
        let edits = call(py, || plan.edits())?;
        let files: PyResult<Vec<_>> = edits.iter().map(|file| file_edit(py, &plan, file)).collect();
        PyList::new(py, files?)
    }
}

impl PyHostPlan {
    pub(crate) fn new(plan: api::HostPlan) -> Self {
        Self(Locked::new(plan))
    }
}

fn file_edit<'py>(
    py: Python<'py>,
    plan: &api::HostPlan,
    file: &api::FileEdit,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("operation", file.operation.as_str())?;
    dict.set_item("path", &file.path)?;
    dict.set_item("toPath", &file.to_path)?;
    dict.set_item("version", plan.version(&file.path))?;
    dict.set_item("text", file.text.as_ref().map(|text| text_or_bytes(py, text, true)))?;
    let edits: PyResult<Vec<_>> = file.edits.iter().map(|edit| text_edit(py, edit)).collect();
    dict.set_item("edits", edits?)?;
    Ok(dict)
}

fn text_edit<'py>(py: Python<'py>, edit: &api::TextEdit) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("bytes", PyTuple::new(py, [edit.bytes.start, edit.bytes.end])?)?;
    for (name, at) in [("start", edit.range.start), ("end", edit.range.end)] {
        let place = PyDict::new(py);
        place.set_item("line", at.line)?;
        place.set_item("character", at.character)?;
        dict.set_item(name, place)?;
    }
    dict.set_item("text", text_or_bytes(py, &edit.text, true))?;
    Ok(dict)
}
