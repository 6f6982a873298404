//! The types that the packages declare have every setting.
#![allow(clippy::disallowed_methods, reason = "tests read the files of the project")]

use file_tools::settings::{Layer, Scope};

#[test]
fn the_packages_declare_every_setting() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).expect(path);
    let node = read("packaging/npm/lib/index.d.ts");
    let python = read("packaging/python/apply_patch/_native.pyi");
    let wasm = read("crates/wasm/src/lib.rs");
    let part = |text: &str, from: &str, to: &str| {
        let text = text.split_once(from).expect(from).1;
        text.split_once(to).expect(to).0.to_owned()
    };
    let ts = ("export interface ", "\n}");
    let pyi = ("class _", "\n\n");
    for (text, (before, after), of, camel, scopes) in [
        (&node, ts, "PatchOptions", true, &[Scope::Patch][..]),
        (&node, ts, "WorkspaceOptions", true, &[Scope::Patch, Scope::Workspace]),
        (&python, pyi, "PatchOptions", false, &[Scope::Patch]),
        (&python, pyi, "WorkspaceOptions", false, &[Scope::Patch, Scope::Workspace]),
        (&wasm, ts, "PatchOptions", true, &[Scope::Patch]),
    ] {
        let declared = part(text, &format!("{before}{of}"), after);
        for (key, scope) in Layer::KEYS {
            let name: String = if camel {
                let word = |word: &str| word[..1].to_uppercase() + &word[1..];
                let mut words = key.split('-');
                let first = words.next().expect("a word").to_owned();
                words.fold(first, |name, next| name + &word(next)) + "?:"
            } else {
                key.replace('-', "_") + ":"
            };
            let has = declared.lines().any(|line| line.trim_start().starts_with(&name));
            assert_eq!(has, scopes.contains(scope), "{name} in {before}{of}");
        }
    }
}
