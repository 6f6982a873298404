//! Files of a commit.

use apply_patch_api as api;
use apply_patch_api::{GitOptions, PatchOptions, WorkspaceOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::callback::{PyCallbacks, PyCancellation};
use crate::fork::Locked;
use crate::plan::PyPlan;
use crate::value::{FilePath, SystemPath, bytes, call, options};

/// The files of a commit in a git repository, without a checkout.
///
/// `repository` is a git directory or a work tree, `revision` a branch, a tag or an object id.
/// Raises `PatchError` if there is no such repository or commit.
#[pyclass(frozen, name = "GitTree", module = "apply_patch")]
pub(crate) struct PyGitTree(Locked<api::GitTree>);

#[pymethods]
impl PyGitTree {
    #[new]
    #[pyo3(signature = (repository, revision="HEAD", /, **options))]
    fn new(
        py: Python<'_>,
        repository: SystemPath,
        revision: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options: WorkspaceOptions = self::options("GitTree", &[], options)?;
        let tree = call(py, || api::GitTree::open(&repository.0, revision, &options))?;
        Ok(Self(Locked::new(tree)))
    }

    /// Opens another revision of the same repository, and shares what was read of it.
    #[pyo3(signature = (revision, /))]
    fn at(&self, py: Python<'_>, revision: &str) -> PyResult<Self> {
        let tree = self.0.used()?;
        let other = call(py, || tree.at(revision))?;
        Ok(Self(self.0.sharing(other)))
    }

    /// The object id of the commit. It stays the same when the revision moves.
    #[getter]
    fn commit(&self) -> String {
        self.0.unlocked().commit()
    }

    /// The object id of the commit's tree.
    #[getter]
    fn tree(&self) -> String {
        self.0.unlocked().tree()
    }

    /// Returns the bytes of a file, or the target of a link as bytes; None if there is neither.
    #[pyo3(signature = (path, /))]
    fn read<'py>(&self, py: Python<'py>, path: FilePath) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let tree = self.0.used()?;
        let read = call(py, || tree.read(&path.0))?;
        Ok(read.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Returns the paths of all files and links that the guard allows to read.
    fn list(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let tree = self.0.used()?;
        call(py, || tree.list())
    }

    /// Plans a patch over the commit, and writes nothing. Raises `PatchError` if the patch does not
    /// parse or does not apply.
    #[pyo3(signature = (patch, /, **options))]
    fn plan(
        &self,
        py: Python<'_>,
        patch: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyPlan> {
        let patch = bytes(patch)?;
        let options: PatchOptions = self::options("GitTree.plan", &[], options)?;
        let tree = self.0.used()?;
        call(py, || tree.plan(&patch, &options)).map(PyPlan::new)
    }

    /// Returns the object id of the tree that a plan of this object makes, and writes nothing.
    #[pyo3(signature = (plan, /))]
    fn tree_of(&self, py: Python<'_>, plan: &PyPlan) -> PyResult<String> {
        let tree = self.0.used()?;
        let plan = plan.used()?;
        call(py, || tree.tree_of(&plan))
    }

    /// Applies a patch: makes a commit of it, and moves a branch there. Returns a dict with
    /// `commit`, `tree`, `onto`, `branch` and the changes.
    ///
    /// Raises `PatchError` if the patch does not parse, does not apply or is not approved, or if
    /// the branch has moved meanwhile. Then the branch stays where it is.
    #[pyo3(signature = (patch, /, *, branch=None, message=None, author=None, carry=false, allow_checked_out=false,
                        approve=None, observe=None, cancellation=None, **options))]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        patch: &Bound<'py, PyAny>,
        branch: Option<String>,
        message: Option<String>,
        author: Option<String>,
        carry: bool,
        allow_checked_out: bool,
        approve: Option<Py<PyAny>>,
        observe: Option<Py<PyAny>>,
        cancellation: Option<PyCancellation>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        /// The arguments beside the options of a patch.
        const OWN: &[&str] = &[
            "branch",
            "message",
            "author",
            "carry",
            "allow_checked_out",
            "approve",
            "observe",
            "cancellation",
        ];
        let patch = bytes(patch)?;
        let options: PatchOptions = self::options("GitTree.apply", OWN, options)?;
        let git = GitOptions { branch, message, author, carry, allow_checked_out };
        let tree = self.0.used()?;
        PyCallbacks { approve, observe, cancellation }
            .run(py, |host| tree.apply(&patch, &options, &git, host))
    }

    fn __repr__(&self) -> String {
        format!("<GitTree {}>", self.0.unlocked().commit())
    }
}
