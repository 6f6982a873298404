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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar");
    for dialect in Dialect::ALL {
        for format in Format::ALL.into_iter().filter(|&format| format != Format::Pest) {
            let text = export::generate(format, dialect)?;
            let name = export::file_name(format, dialect);
            let file = folder.join(&name);
            // A file that is as it was is not written: all crates would be built again.
            if std::fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
                std::fs::write(file, &text)?;
            }
            println!("{name}: {} bytes", text.len());
        }
    }
    Ok(())
}
