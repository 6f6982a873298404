//! Conversion of values between Python and Rust.

use std::path::PathBuf;

use apply_patch_api as api;
use apply_patch_api::{BadOptions, Language, ReadOptions, ToolError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
    PyString, PyTuple,
};
use serde_json::{Map, Number, Value};

/// The deepest nesting of a value.
const DEEPEST: usize = 100;

/// Converts JSON to a Python value.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| to_python(py, item)).collect();
            PyList::new(py, items?)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Converts a Python value to JSON: mappings, lists, tuples, text, numbers, bools and None.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    from_nested(value, 0)
}

fn from_nested(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err("the value is nested too deep"));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    if let Ok(number) = value.cast::<PyInt>() {
        return match number.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Ok(number.extract::<u64>()?.into()),
        };
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = Number::from_f64(number.value());
        return number
            .map(Value::Number)
            .ok_or_else(|| PyValueError::new_err("JSON has no such number"));
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        return value
            .try_iter()?
            .map(|item| from_nested(&item?, depth + 1))
            .collect::<PyResult<Vec<_>>>()
            .map(Value::Array);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut fields = Map::new();
        for item in mapping.items()?.iter() {
            let (FilePath(name), value): (FilePath, Bound<'_, PyAny>) = item.extract()?;
            fields.insert(name, from_nested(&value, depth + 1)?);
        }
        return Ok(fields.into());
    }
    if value.cast::<PyBytes>().is_ok() || value.hasattr("__fspath__")? {
        return Ok(value.extract::<FilePath>()?.0.into());
    }
    Err(PyTypeError::new_err(format!("{} is nothing that JSON has", value.get_type().name()?)))
}

/// Reads the options of a function from its keyword arguments; `own` names its other arguments.
pub(crate) fn options<T: ReadOptions>(
    function: &str,
    own: &[&str],
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<T> {
    Ok(options_and_json(function, own, given)?.0)
}

/// Reads the options of a function, and returns them as JSON, too.
pub(crate) fn options_and_json<T: ReadOptions>(
    function: &str,
    own: &[&str],
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<(T, Value)> {
    let Some(given) = given else { return Ok((T::default(), Value::Null)) };
    for name in given.keys() {
        let unknown = T::unknown(name.cast::<PyString>()?.to_str()?, LANGUAGE, own);
        unknown.map_or(Ok(()), |unknown| Err(bad_options(given.py(), function, unknown)))?;
    }
    let options = from_python(given.as_any())?;
    // In Python, None leaves an option open.
    let Value::Object(mut fields) = options else { return Ok((T::default(), Value::Null)) };
    fields.retain(|_, value| !value.is_null());
    let json = Value::from(fields);
    let read = T::read_for(LANGUAGE, json.clone());
    let read = read.map_err(|bad| bad_options(given.py(), function, bad))?;
    Ok((read, json))
}

/// Makes the exception of options that cannot be read; of an unknown name in the words of the
/// interpreter.
fn bad_options(py: Python<'_>, function: &str, bad: BadOptions) -> PyErr {
    match bad {
        BadOptions::Unknown { name, meant } => {
            let meant = meant.map(|meant| format!(". Did you mean '{meant}'?")).unwrap_or_default();
            PyTypeError::new_err(format!(
                "{function}() got an unexpected keyword argument '{name}'{meant}"
            ))
        }
        BadOptions::Wrong(error) => raised(py, &error),
    }
}

/// Returns the bytes of a `str`, `bytes`, `bytearray` or `memoryview`.
pub(crate) fn bytes(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    match value.cast::<PyMemoryView>() {
        Ok(view) => view.call_method0("tobytes")?.extract(),
        Err(_) => Err(PyTypeError::new_err(format!(
            "wanted str or bytes, not {}",
            value.get_type().name()?
        ))),
    }
}

/// A path of the system: `str`, `bytes`, or an `os.PathLike` of either.
pub(crate) struct SystemPath(pub(crate) PathBuf);

impl<'py> FromPyObject<'_, 'py> for SystemPath {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.py().import("os")?.call_method1("fsdecode", (value,))?.extract().map(Self)
    }
}

/// A path of a file in the workspace: `str`, `bytes`, or an `os.PathLike` of either.
pub(crate) struct FilePath(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for FilePath {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Most paths are text; the others take a microsecond more.
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Self(text.to_str()?.to_owned()));
        }
        let posix =
            value.hasattr("as_posix")?.then(|| value.call_method0("as_posix")).transpose()?;
        let path = match posix {
            Some(posix) => posix,
            None => value.py().import("os")?.call_method1("fsdecode", (value,))?,
        };
        Ok(Self(path.cast::<PyString>()?.to_str()?.to_owned()))
    }
}

/// Returns `bytes`, or with `as_text` a `str` if they are UTF-8.
pub(crate) fn text_or_bytes<'py>(
    py: Python<'py>,
    bytes: &[u8],
    as_text: bool,
) -> Bound<'py, PyAny> {
    // Python itself checks the UTF-8.
    match as_text.then(|| PyString::from_bytes(py, bytes)) {
        Some(Ok(text)) => text.into_any(),
        _ => PyBytes::new(py, bytes).into_any(),
    }
}

/// Makes a call with the interpreter released.
pub(crate) fn call<T: Send>(
    py: Python<'_>,
    run: impl FnOnce() -> Result<T, ToolError> + Send,
) -> PyResult<T> {
    py.detach(run).map_err(|error| raised(py, &error))
}

/// The language whose options errors name.
pub(crate) const LANGUAGE: Language = Language::Python;

/// Makes the exception of an error.
pub(crate) fn raised(py: Python<'_>, error: &ToolError) -> PyErr {
    exception(py, &api::told(error.clone(), LANGUAGE))
        .map_or_else(|failed| failed, PyErr::from_value)
}

fn exception<'py>(py: Python<'py>, error: &ToolError) -> PyResult<Bound<'py, PyAny>> {
    let fields =
        serde_json::to_value(error).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let errors = py.import("apply_patch._errors")?;
    errors.getattr("exception")?.call1((to_python(py, &fields)?,))
}
