//! Rewrites the committed grammar files from `grammar/apply_patch.pest`.
//!
//! `cargo run -p patch-grammar --features export --example generate`

// A tool of the repository, run in it by hand; the guard is for what others run.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::path::Path;

use patch_grammar::{
    Dialect,
    export::{self, Format},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for dialect in Dialect::ALL {
        for format in Format::ALL.into_iter().filter(|&format| format != Format::Pest) {
            let text = export::generate(format, dialect)?;
            let name = export::file_name(format, dialect);
            for folder in [here.join("../../grammar"), here.join("src/export/files")] {
                std::fs::write(folder.join(&name), &text)?;
            }
            println!("{name}: {} bytes", text.len());
        }
    }
    Ok(())
}
