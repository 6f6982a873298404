//! What was overlooked to place a hunk is told in every output.

use std::fs;

use serde_json::json;

use crate::program::run;
use testutils::temp::temp;

const PATCH: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n all:\n-    one\n+    two\n*** End Patch\n";

#[test]
fn each_output_names_the_pass_that_a_hunk_needed() {
    let call = json!({ "patch": PATCH }).to_string();
    let dry = json!({ "patch": PATCH, "dryRun": true }).to_string();
    let serve = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "apply_patch", "arguments": { "patch": PATCH },
        } }),
    ];
    let serve: String = serve.iter().map(|message| format!("{message}\n")).collect();
    let operations = json!([{
        "type": "apply_patch_call", "call_id": "1",
        "operation": {
            "type": "update_file", "path": "a", "diff": "@@\n all:\n-    one\n+    two\n",
        },
    }])
    .to_string();
    for (name, args, input) in [
        ("apply-patch", &[][..], PATCH),
        ("apply-patch", &["--json"], PATCH),
        ("apply-patch", &["--stat"], PATCH),
        ("apply-patch", &["-n"], PATCH),
        ("apply-patch", &["-n", "--json"], PATCH),
        ("apply-patch", &["check"], PATCH),
        ("apply-patch", &["--check", "--json"], PATCH),
        ("apply-patch", &["explain"], PATCH),
        ("apply-patch", &["explain", "--json"], PATCH),
        ("apply-patch", &["--events", "jsonl"], PATCH),
        ("apply-patch", &["--events", "codex"], PATCH),
        ("apply-patch", &["--events", "acp"], PATCH),
        ("apply_patch", &[], PATCH),
        ("apply-patch", &["ops"], &operations),
        ("apply-patch", &["tool", "apply_patch", "--args", "-"], &call),
        ("apply-patch", &["tool", "apply_patch", "--args", "-"], &dry),
        ("apply-patch", &["tool", "edit.patch", "--args", "-"], &call),
        ("apply-patch", &["serve", "--mcp"], &serve),
    ] {
        let (dir, home) = (temp(), temp());
        let config = home.path().join("config/apply-patch");
        fs::create_dir_all(&config).expect("a folder");
        fs::write(config.join("config.toml"), "fuzz = \"blanks\"\n").expect("a file");
        fs::write(dir.path().join("a"), "all:\n\tone\n").expect("a file");
        let run = run(name, dir.path(), home.path(), args, input.as_bytes());
        assert_eq!(run.code, 0, "{name} {args:?}: {run:?}");
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains("matched with fuzz `blanks`"), "{name} {args:?}: {run:?}");
        let after = fs::read_to_string(dir.path().join("a")).expect("a file");
        assert!(
            ["all:\n\tone\n", "all:\n\ttwo\n"].contains(&&*after),
            "{name} {args:?}: {after:?}"
        );
    }
}
