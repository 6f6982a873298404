//! The answer of a call: a result in one shape, cut to the length the caller takes.

pub mod arguments;
pub(crate) mod changed_by;
pub mod changes;
pub mod envelope;
pub mod error;
pub mod fit;
pub mod hints;
pub mod reason;
pub mod shown;
pub mod statistics;
