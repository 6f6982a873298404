//! What a grammar for some files lets through applies to these files.

mod law;
mod sentences;
