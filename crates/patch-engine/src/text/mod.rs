//! Files as text: which there are, their lines, their charsets and conventions, and replacements of
//! their bytes.

pub(crate) mod charset;
pub(crate) mod conventions;
pub(crate) mod encoding;
pub(crate) mod files;
pub(crate) mod lines;
pub(crate) mod splices;
pub(crate) mod whitespace;
