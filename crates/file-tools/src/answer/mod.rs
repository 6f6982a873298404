//! What a call answers: a result in one shape, in as many characters as the caller takes.

pub(crate) mod changed_by;
pub mod changes;
pub mod envelope;
pub(crate) mod error;
pub(crate) mod fit;
pub mod hints;
pub(crate) mod page;
pub(crate) mod reason;
pub mod shown;
pub mod statistics;
pub(crate) mod text;
