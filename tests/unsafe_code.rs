//! No crate of ours has unsafe code but for two files, and none can get it unnoticed.

use std::fs;
use std::path::Path;

use testutils::tree::beneath;

/// The part of a manifest under `[name]`.
fn table<'t>(manifest: &'t str, name: &str) -> &'t str {
    let (_, rest) = manifest.split_once(&format!("\n[{name}]\n")).unwrap_or_default();
    rest.split("\n[").next().unwrap_or_default()
}

#[test]
fn every_crate_forbids_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let workspace = read(&root.join("Cargo.toml"));
    assert!(
        table(&workspace, "workspace.lints.rust")
            .lines()
            .any(|line| line == "unsafe_code = \"forbid\"")
    );
    let fuzz = read(&root.join("fuzz/Cargo.toml"));
    assert!(table(&fuzz, "lints.rust").lines().any(|line| line == "unsafe_code = \"forbid\""));
    let mut count = 0;
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        let manifest = entry.expect("an entry").path().join("Cargo.toml");
        let text = read(&manifest);
        if ["python", "node", "wasm"]
            .iter()
            .any(|name| manifest.ends_with(format!("{name}/Cargo.toml")))
        {
            // The macros of PyO3, napi and wasm-bindgen write some; nobody else may.
            assert!(
                table(&text, "lints.rust").lines().any(|line| line == "unsafe_code = \"deny\"")
            );
            let sources = fs::read_dir(manifest.with_file_name("src")).expect("its sources");
            for source in sources.map(|source| source.expect("an entry").path()) {
                assert!(!read(&source).contains("unsafe"), "{}", source.display());
            }
            continue;
        }
        if manifest.ends_with("fs-guard/Cargo.toml") {
            only_the_calls_of_windows_and_macos(
                manifest.parent().expect("a folder"),
                &text,
                &workspace,
            );
            count += 1;
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

/// What opens, renames and removes by handle on Windows is in no safe library: `cap-std` opens by
/// path there, and `windows` and `windows-sys` have the calls as they are. Access lists of macOS
/// have safe calls by path only. All of them are in one file for each system, which is compiled
/// there alone; elsewhere the crate forbids unsafe code. Each block says why it is sound.
fn only_the_calls_of_windows_and_macos(folder: &Path, manifest: &str, workspace: &str) {
    let lints = |text: &str, name: &str| {
        let lines = table(text, name)
            .lines()
            .map(|line| line.split(['#', '[']).next().unwrap_or_default().trim());
        lines
            .filter(|line| !line.is_empty())
            .map(|line| line.replace("\"forbid\"", "\"deny\""))
            .collect::<Vec<_>>()
    };
    for kind in ["rust", "clippy"] {
        assert_eq!(
            lints(manifest, &format!("lints.{kind}")),
            lints(workspace, &format!("workspace.lints.{kind}"))
        );
    }
    let source = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let library = source(&folder.join("src/lib.rs"));
    assert!(
        library.contains(
            "#![cfg_attr(not(any(windows, target_os = \"macos\")), forbid(unsafe_code))]"
        )
    );
    for (_, entry) in beneath(&folder.join("src")) {
        if entry.file_type().is_dir() {
            continue;
        }
        let entry = entry.path();
        let text = source(entry);
        let may = entry.ends_with("sys/windows/nt.rs") || entry.ends_with("sys/macos.rs");
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        let is_comment = |line: &str| line.starts_with("//");
        for (at, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !is_comment(line) && line.contains("unsafe {"))
        {
            assert!(may, "{}: {line}", entry.display());
            // The comment is right above the statement, which may begin a line before the
            // block.
            let above = lines[at.saturating_sub(1)..at]
                .iter()
                .rev()
                .chain(lines[..at.saturating_sub(1)].iter().rev());
            let said =
                above.skip_while(|line| !is_comment(line)).take_while(|line| is_comment(line));
            let near = lines[at.saturating_sub(2)..at].iter().any(|line| is_comment(line));
            assert!(near, "{}: {line}", entry.display());
            assert!(
                said.clone().any(|line| line.starts_with("// SAFETY: ")),
                "{}: {line}",
                entry.display()
            );
        }
        let other = ["unsafe fn", "unsafe impl", "unsafe extern", "allow(unsafe_code"];
        let known = |word: &str| match word {
            "allow(unsafe_code" => may,
            "unsafe extern" => entry.ends_with("sys/macos.rs"),
            _ => false,
        };
        for word in other.into_iter().filter(|word| !known(word)) {
            assert!(!lines.iter().any(|line| line.contains(word)), "{}: {word}", entry.display());
        }
    }
}
