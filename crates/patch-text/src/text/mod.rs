//! Texts: their lines, their charsets, replacements of their bytes, and whitespace errors.

pub mod charset;
pub mod encoding;
pub mod lf_text;
pub mod lines;
pub mod splices;
pub mod whitespace;
