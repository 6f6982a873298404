//! The engine, from outside: where hunks go, what is planned, asked, committed, recovered and
//! undone. One binary, a module for each.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests look at files from outside"
)]

mod applied;
mod approval;
mod bytes;
mod capability;
mod carry;
mod diffs;
mod memory;
mod placement;
mod prefetch;
mod refused;
mod reverse;
mod snapshots;
mod transaction;
mod turn_diff;

/// Files beside this one, and in the folders beneath, are modules.
#[test]
fn no_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine");
    for (folder, list) in [(folder.clone(), "main.rs"), (folder.join("transaction"), "mod.rs")] {
        let source = std::fs::read_to_string(folder.join(list)).expect("the list of modules");
        for entry in std::fs::read_dir(&folder).expect("the folder of the tests") {
            let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
            let module = name.strip_suffix(".rs").unwrap_or(&name);
            let known = name == list || source.contains(&format!("mod {module};"));
            assert!(known, "{name} is not a module of {list}");
        }
    }
}
