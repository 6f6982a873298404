//! Functions that need no directory.

use std::collections::HashSet;
use std::io;

use apply_patch_api as api;
use apply_patch_api::{
    ChangedFile, Content, HostFile, HostTree, MemoryTree, PatchOptions, SpecRequest,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple};

use crate::callback::Raised;
use crate::plan::PyHostPlan;
use crate::value::{FilePath, bytes, call, options, text_or_bytes, to_python};

/// Files in memory.
pub(crate) struct InMemory {
    pub(crate) tree: MemoryTree,
    /// The paths of text files; `None` if all files are text.
    texts: Option<HashSet<String>>,
}

impl InMemory {
    pub(crate) fn read(given: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let mut tree = MemoryTree::new();
        let mut texts = Vec::new();
        for item in given.items()?.iter() {
            let (FilePath(path), content): (FilePath, Bound<'_, PyAny>) = item.extract()?;
            tree.insert(&path, bytes(&content)?);
            texts.push((path, content.is_instance_of::<PyString>()));
        }
        let texts = (!texts.iter().all(|(_, is_text)| *is_text)).then(|| {
            texts.into_iter().filter(|(_, is_text)| *is_text).map(|(path, _)| path).collect()
        });
        Ok(Self { tree, texts })
    }

    /// Whether a changed file is returned as text: an old file if it was given as text, a new one
    /// if any file was.
    fn is_text(&self, path: &str) -> bool {
        let Some(texts) = &self.texts else { return true };
        if self.tree.get(path).is_some() { texts.contains(path) } else { !texts.is_empty() }
    }

    /// Returns the new content of each changed path.
    pub(crate) fn changed<'py>(
        &self,
        py: Python<'py>,
        changed: Vec<ChangedFile>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for file in changed {
            let path = file.path.as_str();
            let is_text = self.is_text(path);
            let content = file.after.map(|content| text_or_bytes(py, &content.bytes, is_text));
            dict.set_item(path, content)?;
        }
        Ok(dict)
    }
}

/// Applies a patch to files in memory, a dict of contents by path. Returns a dict with the new
/// content of each changed path, None for a file that is gone; `files` stays as it is.
///
/// A file is returned as `str` or `bytes` as it was given, a new one as `str` if any file was given
/// so. Content that is not UTF-8 is always `bytes`. Raises `PatchError` if the patch does not parse
/// or does not apply.
#[pyfunction]
#[pyo3(signature = (files, patch, /, **options))]
pub(crate) fn apply_in_memory<'py>(
    py: Python<'py>,
    files: &Bound<'py, PyMapping>,
    patch: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let files = InMemory::read(files)?;
    let patch = bytes(patch)?;
    let options: PatchOptions = self::options("apply_in_memory", &[], options)?;
    let tree = &files.tree;
    let changed = call(py, || Ok(api::apply_in_memory(tree, &patch, &options)?.0))?;
    files.changed(py, changed)
}

/// Applies a diff without headers, as in the operations of the Responses API, to a text. Returns
/// the new text.
///
/// `mode` is "default" for a change, and "create" for a new text. Raises `PatchError` if the diff
/// does not parse or does not apply.
#[pyfunction]
#[pyo3(signature = (input, diff, mode="default"))]
pub(crate) fn apply_diff<'py>(
    py: Python<'py>,
    input: &str,
    diff: &str,
    mode: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let changed = call(py, || api::apply_diff(input.as_bytes(), diff, mode))?;
    // A change of whole lines makes text of text.
    Ok(text_or_bytes(py, &changed, true))
}

/// Plans a patch for files of the caller, who makes the edits. Returns a `HostPlan`.
///
/// `read(path)` returns a file: `str`, `bytes`, a tuple of one of them and the number of its
/// version, or None if there is no such file. `list(path)` returns the entries of a directory (the
/// path of the root is empty) as pairs of a name and "file", "directory", "symlink" or "other", or
/// None if there is no such directory; without `list` directories are unknown. Raises `PatchError`
/// if the patch does not parse or does not apply, and the exceptions of the callbacks.
#[pyfunction]
#[pyo3(signature = (read, patch, /, *, list=None, **options))]
pub(crate) fn plan_over(
    py: Python<'_>,
    read: Py<PyAny>,
    patch: &Bound<'_, PyAny>,
    list: Option<Py<PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyHostPlan> {
    let patch = bytes(patch)?;
    let options: PatchOptions = self::options("plan_over", &["list"], options)?;
    let thrown = Raised::default();
    let failed = {
        let thrown = thrown.clone();
        move |error: PyErr| {
            thrown.keep(error);
            io::Error::other("the callback raised an exception")
        }
    };
    let kept = failed.clone();
    let mut tree = HostTree::new(move |path| {
        Python::attach(|py| host_file(&read.bind(py).call1((path,))?)).map_err(&kept)
    });
    if let Some(list) = list {
        tree = tree.with_list(move |path| {
            Python::attach(|py| listed(&list.bind(py).call1((path,))?)).map_err(&failed)
        });
    }
    let plan = py.detach(|| api::plan_over(tree, &patch, &options));
    thrown.result(py, plan).map(PyHostPlan::new)
}

fn host_file(answer: &Bound<'_, PyAny>) -> PyResult<Option<HostFile>> {
    if answer.is_none() {
        return Ok(None);
    }
    let (content, version) = match answer.cast::<PyTuple>() {
        Ok(pair) => pair.extract::<(Bound<'_, PyAny>, Option<i64>)>()?,
        Err(_) => (answer.clone(), None),
    };
    let content = Content { bytes: bytes(&content)?.into(), mode: 0o644, link: false };
    Ok(Some(HostFile { content, version }))
}

fn listed(answer: &Bound<'_, PyAny>) -> PyResult<Option<Vec<(String, api::FileKind)>>> {
    if answer.is_none() {
        return Ok(None);
    }
    answer.try_iter()?.map(|item| named_kind(&item?)).collect::<PyResult<Vec<_>>>().map(Some)
}

fn named_kind(item: &Bound<'_, PyAny>) -> PyResult<(String, api::FileKind)> {
    let (FilePath(name), kind): (FilePath, String) = item.extract()?;
    let kind = match &*kind {
        "file" => api::FileKind::File,
        "directory" => api::FileKind::Directory,
        "symlink" => api::FileKind::Symlink,
        "other" => api::FileKind::Other,
        _ => return Err(PyTypeError::new_err(format!("{kind:?} is not a kind of a file"))),
    };
    Ok((name, kind))
}

/// Parses a patch. Returns its tree, a dict as of `apply-patch parse --json`.
///
/// Raises `ParseError` if the text is not a patch.
#[pyfunction]
#[pyo3(signature = (patch, /, **options))]
pub(crate) fn parse<'py>(
    py: Python<'py>,
    patch: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let patch = bytes(patch)?;
    let options: PatchOptions = self::options("parse", &[], options)?;
    let tree = call(py, || api::parse(&patch, &options))?;
    to_python(py, &tree)
}

/// Converts a patch to another form: "envelope", "openai", or, with its `files`, "unified" or
/// "git". Returns `str` or `bytes`, as the patch was given.
///
/// Raises `PatchError` if the patch does not parse or does not apply to the files, or if the form
/// cannot express it.
#[pyfunction]
#[pyo3(signature = (patch, to, /, *, files=None, **options))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    patch: &Bound<'py, PyAny>,
    to: &str,
    files: Option<&Bound<'py, PyMapping>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = files.map(InMemory::read).transpose()?.map(|files| files.tree);
    let as_text = patch.is_instance_of::<PyString>();
    let patch = bytes(patch)?;
    let options: PatchOptions = self::options("convert", &["files"], options)?;
    let converted = call(py, || api::convert(&patch, to, &options, tree.as_ref()))?;
    Ok(text_or_bytes(py, &converted.text, as_text))
}

fn specs(
    py: Python<'_>,
    function: &str,
    provider: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<api::Specs> {
    let options: SpecRequest = self::options(function, &[], options)?;
    call(py, || api::tool_specs(provider, &options))
}

/// Returns the file tools, or the patch tool alone (`patch_only=True`), in the shape of a provider:
/// the part of a request.
///
/// Raises `PatchError` for an unknown provider, and for an option that the provider does not take.
#[pyfunction]
#[pyo3(signature = (provider, /, **options))]
pub(crate) fn tool_specs<'py>(
    py: Python<'py>,
    provider: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &specs(py, "tool_specs", provider, options)?.value)
}

/// Returns the limits of the answer of `tool_specs` with the same arguments, a sentence each.
#[pyfunction]
#[pyo3(signature = (provider, /, **options))]
pub(crate) fn tool_caveats(
    py: Python<'_>,
    provider: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    Ok(specs(py, "tool_caveats", provider, options)?.caveats)
}

/// Returns the instructions for a model.
///
/// `dialect` is "whole", "codex" or "tight"; `channel` is "tool" (the patch is the whole input of a
/// tool), "argument" (a string among the arguments) or "message" (the whole message).
#[pyfunction]
#[pyo3(signature = (*, dialect="whole", channel="tool"))]
pub(crate) fn prompt(py: Python<'_>, dialect: &str, channel: &str) -> PyResult<String> {
    call(py, || api::prompt(dialect, channel))
}

/// Returns the grammar of patches in a notation: "pest", "lark", "gbnf", "ebnf" or "regex".
#[pyfunction]
#[pyo3(signature = (format="lark", *, dialect="whole"))]
pub(crate) fn grammar(py: Python<'_>, format: &str, dialect: &str) -> PyResult<&'static str> {
    call(py, || api::grammar(format, dialect))
}
