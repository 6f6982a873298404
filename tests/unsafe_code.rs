//! No crate of ours has unsafe code, and none can get it unnoticed.

use std::fs;
use std::path::Path;

/// The part of a manifest under `[name]`.
fn table<'t>(manifest: &'t str, name: &str) -> &'t str {
    let (_, rest) = manifest.split_once(&format!("\n[{name}]\n")).unwrap_or_default();
    rest.split("\n[").next().unwrap_or_default()
}

#[test]
fn every_crate_forbids_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let workspace = read(&root.join("Cargo.toml"));
    assert!(table(&workspace, "workspace.lints.rust").lines().any(|line| line == "unsafe_code = \"forbid\""));
    let fuzz = read(&root.join("fuzz/Cargo.toml"));
    assert!(table(&fuzz, "lints.rust").lines().any(|line| line == "unsafe_code = \"forbid\""));
    let mut count = 0;
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        let manifest = entry.expect("an entry").path().join("Cargo.toml");
        let text = read(&manifest);
        if ["python", "node", "wasm"].iter().any(|name| manifest.ends_with(format!("{name}/Cargo.toml"))) {
            // The macros of PyO3, napi and wasm-bindgen write some; nobody else may.
            assert!(table(&text, "lints.rust").lines().any(|line| line == "unsafe_code = \"deny\""));
            let sources = fs::read_dir(manifest.with_file_name("src")).expect("its sources");
            for source in sources.map(|source| source.expect("an entry").path()) {
                assert!(!read(&source).contains("unsafe"), "{}", source.display());
            }
            continue;
        }
        assert!(
            table(&text, "lints").lines().any(|line| line == "workspace = true"),
            "{} has its own lints",
            manifest.display()
        );
        count += 1;
    }
    assert!(count >= 7, "there are more crates than {count}");
}
