//! Many patches in memory, each for its own files.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use apply_patch_api as api;
use apply_patch_api::engine::Cancellation;
use apply_patch_api::{ChangedFile, MemoryTree, PatchOptions, ToolError};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyMapping};

use crate::callback::PyCancellation;
use crate::functions::InMemory;
use crate::value::{bytes, call, options, raised};

/// The most items of a batch: some hundred microseconds of work. The results of so few items are
/// still in the processor's caches when Python gets them.
const ITEMS_AT_ONCE: usize = 32;

/// The bytes from which on a batch gets no more items.
const BYTES_AT_ONCE: usize = 256 << 10;

/// The files and the patch of an item.
type Native = (MemoryTree, Vec<u8>);

/// Applies each patch to its own files in memory, on `workers` threads or on all processors.
///
/// `items` are pairs of files and a patch. Returns a list with the answer of `apply_in_memory` for
/// each pair, or the exception that it raises.
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
    let rules = Rules { options, cancellation };
    let results = PyList::empty(py);
    let mut items = items.try_iter()?;
    let mut batch = Batch::read(&mut items)?;
    if batch.is_last {
        give(py, batch.given, call(py, || rules.apply(&batch.natives))?, &results)?;
        return Ok(results);
    }
    let (to_do, left) = mpsc::channel();
    let (done, finished) = mpsc::channel();
    let left = &Mutex::new(left);
    let finished = Mutex::new(finished);
    let rules = &rules;
    let mut workers_begun = 0;
    // While the workers work, this thread reads items ahead, and gives results to Python.
    thread::scope(|scope| {
        // The workers end when this end of the channel is dropped.
        let to_do = to_do;
        let mut begun = 0;
        let mut waiting = VecDeque::new();
        let mut ready = HashMap::new();
        loop {
            if workers_begun < workers.get() {
                let done = done.clone();
                match thread::Builder::new().spawn_scoped(scope, move || rules.work(left, &done)) {
                    Ok(_) => workers_begun += 1,
                    Err(error) if workers_begun == 0 => return Err(error.into()),
                    // The other workers do the work.
                    Err(_) => {}
                }
            }
            let Batch { given, natives, is_last } = batch;
            to_do.send((begun, natives)).expect("the workers wait for it");
            begun += 1;
            waiting.push_back(given);
            // Each worker has a batch, and another one waits for it.
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
                let result: Done = result;
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

/// The results of a batch, or the panic of its worker.
type Done = thread::Result<Result<Vec<OneResult>, ToolError>>;

/// The changes of one item, or its error.
type OneResult = Result<Vec<ChangedFile>, ToolError>;

/// The options of all items.
struct Rules {
    options: PatchOptions,
    cancellation: Cancellation,
}

impl Rules {
    /// Applies the patches of a batch on this thread.
    fn apply(&self, natives: &[Native]) -> Result<Vec<OneResult>, ToolError> {
        let here = NonZeroUsize::MIN;
        api::apply_many(natives, here, &self.options, &self.cancellation, |files, _| Ok(files))
    }

    /// Applies batches until none is left.
    fn work(&self, left: &Mutex<Receiver<(usize, Vec<Native>)>>, done: &Sender<(usize, Done)>) {
        while let Some((nth, natives)) = receive(left) {
            let result = panic::catch_unwind(AssertUnwindSafe(|| self.apply(&natives)));
            // After an error, nobody receives results any more.
            let _ = done.send((nth, result));
        }
    }
}

/// Waits for the next value; `None` if all senders are gone.
fn receive<T>(from: &Mutex<Receiver<T>>) -> Option<T> {
    from.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Some of the items.
struct Batch {
    /// The files of each item, or the exception of an item that cannot be read, as its result.
    given: Vec<PyResult<InMemory>>,
    /// The files and patches of the other items.
    natives: Vec<Native>,
    is_last: bool,
}

impl Batch {
    fn read(items: &mut Bound<'_, PyIterator>) -> PyResult<Self> {
        let py = items.py();
        let mut given = Vec::new();
        let mut natives = Vec::new();
        let mut size = 0;
        while given.len() < ITEMS_AT_ONCE && size < BYTES_AT_ONCE {
            let Some(item) = items.next().transpose()? else {
                return Ok(Self { given, natives, is_last: true });
            };
            match read_item(&item) {
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

fn read_item(item: &Bound<'_, PyAny>) -> PyResult<(InMemory, Vec<u8>)> {
    let (files, patch): (Bound<'_, PyMapping>, Bound<'_, PyAny>) = item.extract()?;
    Ok((InMemory::read(&files)?, bytes(&patch)?))
}

/// Adds the results of items.
fn give(
    py: Python<'_>,
    given: Vec<PyResult<InMemory>>,
    done: Vec<OneResult>,
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
