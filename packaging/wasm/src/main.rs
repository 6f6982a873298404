//! Writes the npm package `apply-patch-wasm`, ready for `npm pack`.
//!
//! usage: make-wasm-package WASM VERSION OUT
//!
//! `WASM` is what `cargo build --profile wasm -p apply-patch-wasm --target wasm32-unknown-unknown`
//! makes. `OUT` gets the module for browsers and bundlers, and one for Node, which loads it at
//! once.
#![allow(clippy::disallowed_methods, reason = "it writes a package, and no one's workspace")]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use serde_json::json;
use wasm_bindgen_cli_support::Bindgen;

const NAME: &str = "apply-patch-wasm";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().skip(1).collect();
    let [wasm, version, out] = &args[..] else {
        return Err(format!("usage: {} WASM VERSION OUT", env!("CARGO_PKG_NAME")).into());
    };
    let out = Path::new(out);
    let bindgen = || {
        let mut bindgen = Bindgen::new();
        bindgen.input_path(wasm).out_name("apply_patch").typescript(true).remove_name_section(true);
        bindgen
    };
    bindgen().web(true)?.generate(out.join("web"))?;
    bindgen().nodejs(true)?.generate(out.join("node"))?;
    // The modules of browsers are ES modules, those made for Node are not.
    fs::write(out.join("web/package.json"), "{ \"type\": \"module\" }\n")?;
    fs::write(out.join("node/package.json"), "{ \"type\": \"commonjs\" }\n")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(root.join("crates/wasm/README.md"), out.join("README.md"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root.join(licence), out.join(licence))?;
    }
    let entry = |place: &str| json!({
        "types": format!("./{place}/apply_patch.d.ts"),
        "default": format!("./{place}/apply_patch.js"),
    });
    let package = json!({
        "name": NAME,
        "version": version,
        "description": "Applies the patches that language models write to files in memory, in \
                        browsers and on servers",
        "license": "(MIT OR Apache-2.0)",
        "repository": {
            "type": "git", "url": "git+https://github.com/apply-patch/apply-patch.git",
        },
        "homepage": "https://github.com/apply-patch/apply-patch#readme",
        "bugs": "https://github.com/apply-patch/apply-patch/issues",
        "keywords": ["patch", "diff", "llm", "agent", "undo"],
        "exports": {
            ".": { "node": entry("node"), "default": entry("web") },
            "./apply_patch_bg.wasm": "./web/apply_patch_bg.wasm",
        },
        "files": ["web", "node", "LICENSE-MIT", "LICENSE-APACHE"],
        "sideEffects": false,
    });
    fs::write(out.join("package.json"), format!("{package:#}\n"))?;
    Ok(())
}
