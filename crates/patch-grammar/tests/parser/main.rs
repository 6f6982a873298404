//! The parser, from outside. One binary, a module for each.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests read the repository, and tell what they counted"
)]

mod parse;
mod stream;

/// Files beside this one are modules.
#[test]
fn no_file_is_forgotten() {
    let source = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parser");
    for entry in std::fs::read_dir(folder).expect("the folder of the tests") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(
            module == "main" || source.contains(&format!("mod {module};")),
            "{name} is not a module of main.rs"
        );
    }
}
