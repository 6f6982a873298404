//! Constrained decoding of patches that apply.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use apply_patch_api::decode::{Binder, Bound as BoundText, Matcher, Operations, Vocabulary};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PySlice};

use crate::value::{FilePath, bytes};

/// The tokens of a model: for each id the bytes that it adds to the output, and the ids that end an
/// output.
///
/// A token with None or without bytes is never allowed.
#[pyclass(frozen, name = "Vocabulary", module = "apply_patch")]
pub(crate) struct PyVocabulary(Arc<Vocabulary>);

#[pymethods]
impl PyVocabulary {
    #[new]
    fn new(py: Python<'_>, tokens: &Bound<'_, PyAny>, end: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for token in tokens.try_iter()? {
            let token = token?;
            texts.push(if token.is_none() { Vec::new() } else { bytes(&token)? });
        }
        let ends: Vec<u32> =
            end.try_iter()?.map(|id| id.and_then(|id| id.extract())).collect::<PyResult<_>>()?;
        let vocabulary = py.detach(|| Vocabulary::new(texts, &ends));
        vocabulary
            .map(|vocabulary| Self(Arc::new(vocabulary)))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The number of bytes of a mask, a multiple of 4.
    #[getter]
    fn mask_len(&self) -> usize {
        4 * self.0.mask_len()
    }
}

/// Files as they are now, prepared for the patches that may be written for them.
///
/// `files` are the contents by path, `paths` further files of the workspace, with which new files
/// must not collide, and `operations` some of "update", "add", "delete" and "move". Raises
/// `ValueError` for a file that no patch can show, and if no patch is possible.
#[pyclass(frozen, name = "BoundFiles", module = "apply_patch")]
pub(crate) struct PyBoundFiles(Arc<BoundText>);

#[pymethods]
impl PyBoundFiles {
    #[new]
    #[pyo3(signature = (files, *, paths = None, operations = None))]
    fn new(
        py: Python<'_>,
        files: &Bound<'_, PyMapping>,
        paths: Option<Vec<String>>,
        operations: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let operations = self::operations(operations.as_deref())?;
        let mut binder = Binder::new(operations);
        for item in files.items()?.iter() {
            let (FilePath(path), content): (FilePath, Bound<'_, PyAny>) = item.extract()?;
            binder = binder.file(&path, bytes(&content)?);
        }
        binder = paths.unwrap_or_default().iter().fold(binder, |binder, path| binder.path(path));
        let bound = py.detach(|| binder.bind());
        bound
            .map(|bound| Self(Arc::new(bound)))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

fn operations(names: Option<&[String]>) -> PyResult<Operations> {
    let Some(names) = names else { return Ok(Operations::default()) };
    let mut operations = Operations { update: false, ..Operations::default() };
    for name in names {
        match name.as_str() {
            "update" => operations.update = true,
            "add" => operations.add = true,
            "delete" => operations.delete = true,
            "move" => operations.rename = true,
            other => {
                let message = format!("{other:?} is not one of update, add, delete and move");
                return Err(PyValueError::new_err(message));
            }
        }
    }
    Ok(operations)
}

/// Follows one output token by token, and tells which tokens may follow.
#[pyclass(frozen, name = "Matcher", module = "apply_patch")]
pub(crate) struct PyMatcher(Mutex<Matcher>);

impl PyMatcher {
    fn lock(&self) -> MutexGuard<'_, Matcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mask(&self) -> Vec<u8> {
        let mut matcher = self.lock();
        let mut mask = vec![0_u32; matcher.vocabulary().mask_len()];
        matcher.allowed(&mut mask);
        mask.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

#[pymethods]
impl PyMatcher {
    #[new]
    fn new(vocabulary: &PyVocabulary, files: &PyBoundFiles) -> Self {
        Self(Mutex::new(Matcher::new(Arc::clone(&vocabulary.0), Arc::clone(&files.0))))
    }

    /// Returns the mask of the tokens that may follow as bytes, or writes it into a writable buffer
    /// (a NumPy array, a bytearray). The bit of token `id` is bit `id % 32` of word `id // 32`.
    #[pyo3(signature = (mask = None))]
    fn allowed<'py>(
        &self,
        py: Python<'py>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bits = py.detach(|| self.mask());
        let bits = PyBytes::new(py, &bits);
        let Some(mask) = mask else { return Ok(Some(bits)) };
        // The stable interface of Python 3.10 has no buffers.
        let view = py.import("builtins")?.getattr("memoryview")?.call1((mask,))?;
        let view = view.call_method1("cast", ("B",))?;
        let len = bits.as_bytes().len().cast_signed();
        view.set_item(PySlice::new(py, 0, len, 1), bits)?;
        Ok(None)
    }

    /// Takes the next token. Raises `ValueError` if the token may not follow; the matcher stays as
    /// it was.
    fn accept(&self, py: Python<'_>, token: u32) -> PyResult<()> {
        let accepted = py.detach(|| self.lock().accept(token));
        accepted.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the next bytes that have no alternative, for an engine to add without the model.
    fn forced<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let forced = py.detach(|| self.lock().forced());
        PyBytes::new(py, &forced)
    }

    /// Takes back the last tokens, or all if there are fewer. Returns their number.
    fn rollback(&self, py: Python<'_>, tokens: usize) -> usize {
        py.detach(|| self.lock().rollback(tokens))
    }

    /// Returns a matcher with the same output so far.
    fn copy(&self, py: Python<'_>) -> Self {
        Self(Mutex::new(py.detach(|| self.lock().clone())))
    }

    /// Whether the output is a whole patch.
    #[getter]
    fn is_finished(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().is_finished())
    }

    /// Whether the next byte is in the text of an old line. If the mask takes most of the
    /// probability there, the model means a text that the file does not have.
    #[getter]
    fn is_in_old_line(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().is_in_old_line())
    }

    /// Whether the output has ended with one of the `end` ids.
    #[getter]
    fn has_ended(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().has_ended())
    }

    /// The output so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let text = py.detach(|| self.lock().text().to_vec());
        PyBytes::new(py, &text)
    }
}
