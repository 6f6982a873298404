//! What a grammar for some files lets through applies to these files.

mod history;
mod law;
mod sentences;
