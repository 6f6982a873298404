//! Constrained decoding of patches that apply.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::{ptr, thread};

use apply_patch_api::decode::{
    Binder, Bound as BoundText, Matcher, Operations, TooFew, Vocabulary, allowed_batch,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyMemoryView, PySlice, PyType};

use crate::fork::{Call, Calls, Locked, Used};
use crate::value::{FilePath, bytes};

/// The tokens of a model: for each id the bytes that it adds to the output, and the ids that end an
/// output.
///
/// A token with None or without bytes is never allowed. Raises `ValueError` for an id of `end` that
/// is beyond the tokens.
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
        Ok(Self(Arc::new(vocabulary.map_err(refused)?)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The number of bytes of a mask, a multiple of 4.
    #[getter]
    fn mask_len(&self) -> usize {
        4 * self.0.mask_len()
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
        let py = slf.py();
        let vocabulary = slf.get();
        let packed = py.detach(|| vocabulary.0.to_bytes());
        Ok((unpacker(slf)?, (PyBytes::new(py, &packed),)))
    }

    /// Makes a pickled vocabulary again.
    #[classmethod]
    fn _unpack(_: &Bound<'_, PyType>, py: Python<'_>, packed: &[u8]) -> PyResult<Self> {
        let vocabulary = py.detach(|| Vocabulary::from_bytes(packed)).map_err(refused)?;
        Ok(Self(Arc::new(vocabulary)))
    }
}

/// A value for `pickle`: a function, and its arguments.
type Reduced<'py, Arguments> = (Bound<'py, PyAny>, Arguments);

/// The function that makes a pickled value of a class again.
fn unpacker<'py, T>(value: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    value.as_any().get_type().getattr("_unpack")
}

fn refused(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Files as they are now, prepared for the patches that may be written for them.
///
/// `files` are the contents by path, `paths` further files of the workspace, with which new files
/// must not collide, and `operations` some of "update", "add", "delete" and "move". Raises
/// `ValueError` for a file that no patch can show, and if no patch is possible.
#[pyclass(frozen, name = "BoundFiles", module = "apply_patch")]
pub(crate) struct PyBoundFiles {
    bound: Arc<BoundText>,
    /// The calls of all matchers for these files: they share a cache.
    calls: Calls,
}

impl PyBoundFiles {
    fn of(bound: BoundText) -> Self {
        Self { bound: Arc::new(bound), calls: Calls::default() }
    }
}

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
        py.detach(|| binder.bind()).map(Self::of).map_err(refused)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
        let py = slf.py();
        let files = slf.get();
        let packed = py.detach(|| files.bound.to_bytes());
        Ok((unpacker(slf)?, (PyBytes::new(py, &packed),)))
    }

    /// Binds pickled files again.
    #[classmethod]
    fn _unpack(_: &Bound<'_, PyType>, py: Python<'_>, packed: &[u8]) -> PyResult<Self> {
        py.detach(|| BoundText::from_bytes(packed)).map(Self::of).map_err(refused)
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
pub(crate) struct PyMatcher {
    vocabulary: Py<PyVocabulary>,
    files: Py<PyBoundFiles>,
    matcher: Locked<Mutex<Matcher>>,
}

/// A matcher during a call.
struct UsedMatcher<'m> {
    matcher: Used<'m, Mutex<Matcher>>,
    _files: Call<'m>,
}

impl UsedMatcher<'_> {
    fn lock(&self) -> MutexGuard<'_, Matcher> {
        self.matcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PyMatcher {
    fn of(vocabulary: Py<PyVocabulary>, files: Py<PyBoundFiles>, matcher: Matcher) -> Self {
        Self { vocabulary, files, matcher: Locked::new(Mutex::new(matcher)) }
    }

    /// Begins a call.
    fn used(&self) -> PyResult<UsedMatcher<'_>> {
        Ok(UsedMatcher { matcher: self.matcher.used()?, _files: self.files.get().calls.begin()? })
    }

    /// Makes a call with the interpreter released, as another thread may have the lock.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Matcher) -> T + Send,
    ) -> PyResult<T> {
        let used = self.used()?;
        // It ends before the interpreter is waited for, so that few forks are within it.
        Ok(py.detach(move || {
            let used = used;
            call(&mut used.lock())
        }))
    }

    /// The bytes of a mask.
    fn mask_len(&self) -> usize {
        4 * self.vocabulary.get().0.mask_len()
    }
}

#[pymethods]
impl PyMatcher {
    #[new]
    #[pyo3(signature = (vocabulary, files, *, max_added_lines = None))]
    fn new(
        py: Python<'_>,
        vocabulary: Py<PyVocabulary>,
        files: Py<PyBoundFiles>,
        max_added_lines: Option<u32>,
    ) -> PyResult<Self> {
        let tokens = Arc::clone(&vocabulary.get().0);
        let bound = Arc::clone(&files.get().bound);
        let call = files.get().calls.begin()?;
        let matcher = py.detach(|| match max_added_lines {
            Some(most) => Matcher::with_max_added_lines(tokens, bound, most),
            None => Ok(Matcher::new(tokens, bound)),
        });
        drop(call);
        let matcher =
            matcher.map_err(|error| PyValueError::new_err(format!("max_added_lines: {error}")))?;
        Ok(Self::of(vocabulary, files, matcher))
    }

    /// Returns the mask of the tokens that may follow as bytes, or writes it into a writable buffer
    /// (a NumPy array, a bytearray). The bit of token `id` is bit `id % 32` of word `id // 32`. What
    /// the buffer has beyond the mask is cleared.
    ///
    /// With `max_tokens_left`, only tokens after which the patch can be finished in time are in it;
    /// the token itself counts, and the one that ends the output. Raises `ValueError` if there are
    /// too few.
    #[pyo3(signature = (mask = None, *, max_tokens_left = None))]
    fn allowed<'py>(
        slf: &Bound<'py, Self>,
        mask: Option<&Bound<'py, PyAny>>,
        max_tokens_left: Option<u32>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = slf.py();
        let Some(mask) = mask else {
            let mask = masks(py, &[slf.get()], slf.get().mask_len(), max_tokens_left)?;
            return Ok(Some(mask));
        };
        let view = PyMemoryView::from(mask)?.call_method1("cast", ("B",))?;
        let row = view.len()?;
        write_masks(py, &[Some(slf.clone())], &view, row, max_tokens_left).map(|()| None)
    }

    /// Takes the next token. Raises `ValueError` if the token may not follow; the matcher stays as
    /// it was.
    fn accept(&self, py: Python<'_>, token: u32) -> PyResult<()> {
        self.call(py, |matcher| matcher.accept(token))?.map_err(refused)
    }

    /// Returns the next bytes that have no alternative, for an engine to add without the model.
    fn forced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.call(py, Matcher::forced)?))
    }

    /// Takes back the last tokens, or all if there are fewer. Returns their number.
    fn rollback(&self, py: Python<'_>, tokens: usize) -> PyResult<usize> {
        self.call(py, |matcher| matcher.rollback(tokens))
    }

    /// Returns a matcher with the same output so far.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let matcher = self.call(py, |matcher| matcher.clone())?;
        Ok(Self::of(self.vocabulary.clone_ref(py), self.files.clone_ref(py), matcher))
    }

    /// Whether the output is a whole patch.
    #[getter]
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, |matcher| matcher.is_finished())
    }

    /// Whether the next byte is in the text of an old line. If the mask takes most of the
    /// probability there, the model means a text that the file does not have.
    #[getter]
    fn is_in_old_line(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, |matcher| matcher.is_in_old_line())
    }

    /// Whether the output has ended with one of the `end` ids.
    #[getter]
    fn has_ended(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, |matcher| matcher.has_ended())
    }

    /// The output so far.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.call(py, |matcher| matcher.text().to_vec())?))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, PackedMatcher<'py>>> {
        let py = slf.py();
        let this = slf.get();
        let packed = this.call(py, |matcher| matcher.to_bytes())?;
        let vocabulary = this.vocabulary.clone_ref(py);
        let files = this.files.clone_ref(py);
        Ok((unpacker(slf)?, (vocabulary, files, PyBytes::new(py, &packed))))
    }

    /// Makes a pickled matcher again.
    #[classmethod]
    fn _unpack(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        vocabulary: Py<PyVocabulary>,
        files: Py<PyBoundFiles>,
        packed: &[u8],
    ) -> PyResult<Self> {
        let tokens = Arc::clone(&vocabulary.get().0);
        let bound = Arc::clone(&files.get().bound);
        let matcher = {
            let _call = files.get().calls.begin()?;
            py.detach(|| Matcher::from_bytes(tokens, bound, packed)).map_err(refused)?
        };
        Ok(Self::of(vocabulary, files, matcher))
    }
}

/// A pickled matcher; `pickle` keeps the vocabulary and the files once for all matchers.
type PackedMatcher<'py> = (Py<PyVocabulary>, Py<PyBoundFiles>, Bound<'py, PyBytes>);

/// Writes the masks of matchers into rows of `row` bytes of a buffer, on all processors. The row of
/// None stays as it is. With `max_tokens_left`, each output can be finished in so many tokens.
#[pyfunction]
#[pyo3(signature = (matchers, view, row, max_tokens_left = None))]
pub(crate) fn fill_masks(
    py: Python<'_>,
    matchers: Vec<Option<Bound<'_, PyMatcher>>>,
    view: &Bound<'_, PyAny>,
    row: usize,
    max_tokens_left: Option<u32>,
) -> PyResult<()> {
    write_masks(py, &matchers, view, row, max_tokens_left)
}

/// Returns the tokens of a mask if there are so many at most, as in most headers and old lines.
#[pyfunction]
pub(crate) fn few_tokens(mask: &[u8], at_most: usize) -> Option<Vec<usize>> {
    let mut tokens = Vec::new();
    for (nth, &byte) in mask.iter().enumerate().filter(|(_, byte)| **byte != 0) {
        tokens.extend((0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| 8 * nth + bit));
        if tokens.len() > at_most {
            return None;
        }
    }
    Some(tokens)
}

fn write_masks(
    py: Python<'_>,
    matchers: &[Option<Bound<'_, PyMatcher>>],
    view: &Bound<'_, PyAny>,
    row: usize,
    max_tokens_left: Option<u32>,
) -> PyResult<()> {
    let given: Vec<&PyMatcher> = matchers.iter().flatten().map(Bound::get).collect();
    if let Some(matcher) = given.iter().find(|matcher| matcher.mask_len() > row) {
        return Err(PyValueError::new_err(format!(
            "a mask of this vocabulary has {} bytes, and there is room for {row}",
            matcher.mask_len()
        )));
    }
    if !row.is_multiple_of(4) {
        let message = format!("a mask has words of 4 bytes, and there is room for {row} bytes");
        return Err(PyValueError::new_err(message));
    }
    let masks = PyMemoryView::from(masks(py, &given, row, max_tokens_left)?.as_any())?;
    // The stable interface of Python 3.10 has no buffers: one memoryview is copied to another.
    let rows = |first: usize, count: usize| {
        let [start, end] = [first * row, (first + count) * row].map(usize::cast_signed);
        PySlice::new(py, start, end, 1)
    };
    let mut at = 0;
    let mut written = 0;
    for run in matchers.chunk_by(|one, other| one.is_some() == other.is_some()) {
        if run[0].is_some() {
            view.set_item(rows(at, run.len()), masks.get_item(rows(written, run.len()))?)?;
            written += run.len();
        }
        at += run.len();
    }
    Ok(())
}

/// Returns the masks of matchers, `row` bytes each, as they lie in memory.
fn masks<'py>(
    py: Python<'py>,
    matchers: &[&PyMatcher],
    row: usize,
    max_tokens_left: Option<u32>,
) -> PyResult<Bound<'py, PyBytes>> {
    thread_local! {
        /// The masks of the last call: to allocate a megabyte takes as long as to fill it.
        static WORDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    let used: Vec<_> = matchers.iter().map(|matcher| matcher.used()).collect::<PyResult<_>>()?;
    // Calls that take the same locks in another order would wait for each other.
    let mut order: Vec<usize> = (0..matchers.len()).collect();
    order.sort_unstable_by_key(|&nth| ptr::from_ref(matchers[nth]).addr());
    if order.windows(2).any(|pair| ptr::eq(matchers[pair[0]], matchers[pair[1]])) {
        return Err(PyValueError::new_err("a matcher is given twice"));
    }
    WORDS.with_borrow_mut(|words| {
        words.resize(matchers.len() * row / 4, 0);
        let masks = &mut *words;
        py.detach(move || {
            let used = used;
            let mut locked: Vec<_> = order.iter().map(|&nth| (nth, used[nth].lock())).collect();
            locked.sort_unstable_by_key(|(nth, _)| *nth);
            let mut all: Vec<&mut Matcher> = locked.iter_mut().map(|(_, one)| &mut **one).collect();
            let Some(left) = max_tokens_left else {
                let threads = if all.len() > 1 { *PROCESSORS } else { 1 };
                allowed_batch(&mut all, masks, row / 4, threads);
                return Ok(());
            };
            let mut rows = all.iter_mut().zip(masks.chunks_mut((row / 4).max(1)));
            rows.try_for_each(|(matcher, mask)| matcher.allowed_within(mask, left))
        })
        .map_err(|error: TooFew| PyValueError::new_err(format!("max_tokens_left: {error}")))?;
        Ok(PyBytes::new(py, bytemuck::cast_slice(words)))
    })
}

/// The number of processors. To ask for it takes longer than a mask.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
