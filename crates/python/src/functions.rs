//! What needs no directory.

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
    /// Which are text; `None` where all are.
    texts: Option<HashSet<String>>,
}

impl InMemory {
    pub(crate) fn read(given: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let (mut tree, mut texts) = (MemoryTree::new(), Vec::new());
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

    /// Whether a changed file is given back as text: where text was given, and a new one where any
    /// was.
    fn is_text(&self, path: &str) -> bool {
        let Some(texts) = &self.texts else { return true };
        if self.tree.get(path).is_some() { texts.contains(path) } else { !texts.is_empty() }
    }

    /// What is at each path that changes.
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

/// Applies a patch to files in memory, which stay as they are: a dict of what changes, None for a
/// file that goes away.
///
/// A file comes back as `str` or `bytes` as it was given; a new one as `bytes` if all that were
/// given are, else as `str`. What is not UTF-8 is `bytes` in any case.
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

/// Applies a diff without headers, as the operations of the Responses API have them, to a text.
///
/// `mode` is "default" for a change, "create" for a new text.
#[pyfunction]
#[pyo3(signature = (input, diff, mode="default"))]
pub(crate) fn apply_diff<'py>(
    py: Python<'py>,
    input: &str,
    diff: &str,
    mode: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let changed = call(py, || api::apply_diff(input.as_bytes(), diff, mode))?;
    // What a change of text in lines makes of text is text.
    Ok(text_or_bytes(py, &changed, true))
}

/// Plans a patch for files that the caller has, and changes itself.
///
/// `read(path)` gives the file: `str`, `bytes`, one of them in a tuple with the number of its
/// version, or None. `list(path)` gives the names in a directory (the root's path is empty) with a
/// word for each, "file", "directory", "symlink" or "other", as pairs; None when there is no such
/// directory. Without it directories are not known.
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
    thrown.result(py, plan).map(PyHostPlan)
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
    let one = |item: PyResult<Bound<'_, PyAny>>| {
        let (FilePath(name), kind): (FilePath, String) = item?.extract()?;
        let kind = match &*kind {
            "file" => api::FileKind::File,
            "directory" => api::FileKind::Directory,
            "symlink" => api::FileKind::Symlink,
            "other" => api::FileKind::Other,
            _ => return Err(PyTypeError::new_err(format!("{kind:?} is not a kind of a file"))),
        };
        Ok((name, kind))
    };
    answer.try_iter()?.map(one).collect::<PyResult<Vec<_>>>().map(Some)
}

/// The tree of a patch.
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

/// The same change in another form: "envelope", "openai", or, for the files that it is for,
/// "unified" or "git".
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

/// The file tools, or the patch tool alone (`patch_only=True`), in the shape that a provider wants.
#[pyfunction]
#[pyo3(signature = (provider, /, **options))]
pub(crate) fn tool_specs<'py>(
    py: Python<'py>,
    provider: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &specs(py, "tool_specs", provider, options)?.value)
}

/// What the answer of `tool_specs` cannot express, a sentence each.
#[pyfunction]
#[pyo3(signature = (provider, /, **options))]
pub(crate) fn tool_caveats(
    py: Python<'_>,
    provider: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    Ok(specs(py, "tool_caveats", provider, options)?.caveats)
}

/// The instructions for a model.
#[pyfunction]
#[pyo3(signature = (*, dialect="whole", channel="tool"))]
pub(crate) fn prompt(py: Python<'_>, dialect: &str, channel: &str) -> PyResult<String> {
    call(py, || api::prompt(dialect, channel))
}

/// The grammar of the language, in a notation: "pest", "lark", "gbnf", "ebnf" or "regex".
#[pyfunction]
#[pyo3(signature = (format="lark", *, dialect="whole"))]
pub(crate) fn grammar(py: Python<'_>, format: &str, dialect: &str) -> PyResult<&'static str> {
    call(py, || api::grammar(format, dialect))
}
