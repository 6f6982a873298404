//! Tools of vendors, in the shapes that their models were trained on. The file tools do their work.

pub mod edit_patch;
pub(crate) mod editor;
