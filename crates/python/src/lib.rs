//! The module `apply_patch._native` of the Python package, over `apply-patch-api`.
//!
//! ```python
//! from apply_patch import Workspace
//!
//! workspace = Workspace("project")
//! plan = workspace.plan(patch)
//! print(plan.diff)
//! workspace.apply(plan)
//! ```
//!
//! Options are keyword arguments, answers are dicts, and failed calls raise a `PatchError`. The
//! interpreter is released during every call, and taken again for callbacks. An exception of a
//! callback is raised by the call.

mod callback;
mod decode;
mod fit;
mod fork;
mod functions;
mod git;
mod many;
mod plan;
mod stream;
mod value;
mod workspace;

use pyo3::prelude::*;

/// The compiled half of the package. Import its names from `apply_patch`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::fork::watch(module)
    }

    #[pymodule_export]
    use crate::callback::PyCancellation;
    #[pymodule_export]
    use crate::decode::{PyBoundFiles, PyMatcher, PyVocabulary, few_tokens, fill_masks};
    #[pymodule_export]
    use crate::fit::{PyFittedGrammar, fit};
    #[pymodule_export]
    use crate::functions::{
        apply_diff, apply_in_memory, convert, grammar, parse, plan_over, prompt, tool_caveats,
        tool_specs,
    };
    #[pymodule_export]
    use crate::git::PyGitTree;
    #[pymodule_export]
    use crate::many::apply_many;
    #[pymodule_export]
    use crate::plan::{PyHostPlan, PyPlan, PyProposal};
    #[pymodule_export]
    use crate::stream::PyPatchStream;
    #[pymodule_export]
    use crate::workspace::PyWorkspace;
}
