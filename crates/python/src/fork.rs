//! Forks of the process.
//!
//! A forked child has only the thread that forked. Locks that other threads held stay locked in
//! it, and whoever waits for one of them waits forever. So an object that another thread was
//! calling at the fork refuses its calls in the child. All other objects can be used there.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apply_patch_api::{self as api, MemoryTree, PatchOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How many forks are between the first process and this one.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Counts the calls of an object that are under way.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    under_way: AtomicUsize,
    /// The value of [`FORKS`] at the last call.
    forks: AtomicUsize,
}

/// A call of an object.
pub(crate) struct Call<'c>(&'c Calls);

impl Calls {
    /// Begins a call. Fails in a forked child if a call was under way at the fork.
    pub(crate) fn begin(&self) -> PyResult<Call<'_>> {
        let forks = FORKS.load(Ordering::Acquire);
        if self.forks.load(Ordering::Acquire) != forks {
            if self.under_way.load(Ordering::Acquire) > 0 {
                return Err(PyRuntimeError::new_err(
                    "this process was forked during a call of this object, which cannot be used \
                     here: make another one, or start processes by `spawn`",
                ));
            }
            self.forks.store(forks, Ordering::Release);
        }
        self.under_way.fetch_add(1, Ordering::AcqRel);
        Ok(Call(self))
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A value with locks in it, which is used by calls only.
#[derive(Debug)]
pub(crate) struct Locked<T> {
    value: T,
    calls: Arc<Calls>,
}

/// The value of a [`Locked`] during a call.
pub(crate) struct Used<'v, T> {
    value: &'v T,
    _call: Call<'v>,
}

impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value, calls: Arc::default() }
    }

    /// Makes a value that shares locks with this one.
    pub(crate) fn sharing(&self, value: T) -> Self {
        Self { value, calls: Arc::clone(&self.calls) }
    }

    /// Begins a call, as [`Calls::begin`] does.
    pub(crate) fn used(&self) -> PyResult<Used<'_, T>> {
        Ok(Used { value: &self.value, _call: self.calls.begin()? })
    }

    /// The value, for what takes no lock.
    pub(crate) fn unlocked(&self) -> &T {
        &self.value
    }
}

impl<T> Deref for Used<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

/// Makes what all calls share and the first one makes: a child cannot wait for a thread that makes
/// it.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    const PATCH: &[u8] = b"*** Begin Patch\n*** Add File: a\n+a\n*** End Patch\n";
    py.detach(|| {
        api::apply_in_memory(&MemoryTree::new(), PATCH, &PatchOptions::default())
            .expect("the file is not there")
    });
}

#[pyfunction]
fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

/// Has forks of this interpreter noticed, where the system has them.
pub(crate) fn watch(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let Ok(register) = py.import("os")?.getattr("register_at_fork") else { return Ok(()) };
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    register.call((), Some(&hooks)).map(drop)
}
