//! Many patches in memory, each for files of its own.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;

use apply_patch_api as api;
use apply_patch_api::{ChangedFile, MemoryTree, PatchOptions, ToolError};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyMapping};

use crate::callback::PyCancellation;
use crate::functions::InMemory;
use crate::value::{bytes, call, options, raised};

/// The most items of a batch: some hundred microseconds of work. What fewer leave behind is still
/// in the processor's caches when Python gets it.
const ITEMS_AT_ONCE: usize = 32;

/// From this many bytes on a batch is not filled up.
const BYTES_AT_ONCE: usize = 256 << 10;

/// The files and the patch of an item.
type Native = (MemoryTree, Vec<u8>);

/// Applies each patch to its own files in memory, on all processors or as many `workers`: a list
/// with what `apply_in_memory` returns for each pair of files and patch, or the exception that it
/// raises.
#[pyfunction]
#[pyo3(signature = (items, /, workers=None, *, cancellation=None, **options))]
pub(crate) fn apply_many<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    workers: Option<usize>,
    cancellation: Option<PyCancellation>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let workers = match workers {
        Some(workers) => NonZeroUsize::new(workers)
            .ok_or_else(|| PyValueError::new_err("there has to be a worker"))?,
        None => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    let own = &["workers", "cancellation"];
    let options: PatchOptions = self::options("apply_many", own, options)?;
    let cancellation = cancellation.unwrap_or_default().polled();
    let work = |natives: &[Native]| {
        let here = NonZeroUsize::MIN;
        api::apply_many(natives, here, &options, &cancellation, |files, _| Ok(files))
    };
    let (results, mut items) = (PyList::empty(py), items.try_iter()?);
    let mut batch = Batch::read(&mut items)?;
    if batch.is_last {
        give(py, batch.given, call(py, || work(&batch.natives))?, &results)?;
        return Ok(results);
    }
    let (to_do, left) = mpsc::channel::<(usize, Vec<Native>)>();
    let (done, finished) = mpsc::channel();
    let (left, finished) = (Mutex::new(left), Mutex::new(finished));
    let worker = |done: mpsc::Sender<_>| {
        while let Some((nth, natives)) = receive(&left) {
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(&natives)));
            // Nobody wants it after an error.
            let _ = done.send((nth, result));
        }
    };
    let (worker, mut workers_begun) = (&worker, 0);
    // While the workers work, this thread reads items ahead, and gives results to Python.
    thread::scope(|scope| {
        // The workers end when this is gone.
        let to_do = to_do;
        let (mut begun, mut waiting, mut ready) = (0, VecDeque::new(), HashMap::new());
        loop {
            if workers_begun < workers.get() {
                let done = done.clone();
                match thread::Builder::new().spawn_scoped(scope, move || worker(done)) {
                    Ok(_) => workers_begun += 1,
                    Err(error) if workers_begun == 0 => return Err(error.into()),
                    // Without this thread there is only less help.
                    Err(_) => {}
                }
            }
            let Batch { given, natives, is_last } = batch;
            to_do.send((begun, natives)).expect("the workers wait for it");
            begun += 1;
            waiting.push_back(given);
            // Each worker has a batch, and finds another one.
            let ahead = if is_last { 0 } else { 2 * workers_begun };
            while waiting.len() > ahead {
                let oldest = begun - waiting.len();
                let result = loop {
                    if let Some(result) = ready.remove(&oldest) {
                        break result;
                    }
                    let next = py.detach(|| receive(&finished));
                    ready.extend(next);
                };
                let result: thread::Result<Result<_, _>> = result;
                let done = result.unwrap_or_else(|panic| panic::resume_unwind(panic));
                let given = waiting.pop_front().expect("there is one");
                give(py, given, done.map_err(|error| raised(py, &error))?, &results)?;
            }
            if is_last {
                return Ok(results);
            }
            py.check_signals()?;
            batch = Batch::read(&mut items)?;
        }
    })
}

/// Waits for what comes next; `None` if nothing will.
fn receive<T>(from: &Mutex<Receiver<T>>) -> Option<T> {
    from.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Some of the items.
struct Batch {
    /// The files of each, or why it cannot be read, which is its result.
    given: Vec<PyResult<InMemory>>,
    /// What is to be done with those that can be.
    natives: Vec<Native>,
    is_last: bool,
}

impl Batch {
    fn read(items: &mut Bound<'_, PyIterator>) -> PyResult<Self> {
        let (py, mut given, mut natives, mut size) = (items.py(), Vec::new(), Vec::new(), 0);
        while given.len() < ITEMS_AT_ONCE && size < BYTES_AT_ONCE {
            let Some(item) = items.next().transpose()? else {
                return Ok(Self { given, natives, is_last: true });
            };
            let read = || -> PyResult<_> {
                let (files, patch): (Bound<'_, PyMapping>, Bound<'_, PyAny>) = item.extract()?;
                Ok((InMemory::read(&files)?, bytes(&patch)?))
            };
            match read() {
                Ok((files, patch)) => {
                    size += patch.len();
                    size += files.tree.iter().map(|(_, file)| file.bytes.len()).sum::<usize>();
                    natives.push((files.tree.clone(), patch));
                    given.push(Ok(files));
                }
                Err(error) if error.is_instance_of::<PyException>(py) => given.push(Err(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { given, natives, is_last: false })
    }
}

/// Adds the results of items.
fn give(
    py: Python<'_>,
    given: Vec<PyResult<InMemory>>,
    done: Vec<Result<Vec<ChangedFile>, ToolError>>,
    results: &Bound<'_, PyList>,
) -> PyResult<()> {
    let mut done = done.into_iter();
    for files in given {
        let result = files.and_then(|files| {
            let changed = done.next().expect("BUG: there is an answer for each");
            files.changed(py, changed.map_err(|error| raised(py, &error))?)
        });
        match result {
            Ok(changed) => results.append(changed)?,
            Err(error) => results.append(error.into_value(py))?,
        }
    }
    Ok(())
}
