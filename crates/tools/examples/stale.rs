//! The three steps of every editing agent: read, write, and on `stale_file` read again.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints, and plays the other writer"
)]

use file_tools::Tools as _;
use patch_engine::commit::{KeyPlace, Workspace};
use patch_session::audit::Audit;
use patch_session::{Session, SessionName, SessionSettings};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "retries = 3\n")?;
    let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
    let workspace = workspace.with_key_place(KeyPlace::Nowhere);
    let tools = Session::new(
        workspace,
        Audit::new(SessionName::random()?, None),
        SessionSettings::default(),
    );

    // 1. Read: the next write is bound to the hash.
    let read = call(&tools, "read_file", json!({ "path": "config.toml" }))?;
    let hash = read["data"]["sha256"].clone();

    // A person saves the file meanwhile.
    std::fs::write(&file, "retries = 3\ntimeout = 10\n")?;

    // 2. Write: refused, because the person changed the next line, and nothing is lost. An edit
    //    further away would have been carried.
    let edits = json!([{ "oldText": "retries = 3", "newText": "retries = 5" }]);
    let mut args = json!({ "path": "config.toml", "expectedSha256": hash, "edits": edits });
    let refused = call(&tools, "edit_file", args.clone())?;
    assert_eq!(refused["error"]["kind"], "stale_file");

    // 3. Read again, and edit the file as it is now.
    let read = call(&tools, "read_file", json!({ "path": "config.toml" }))?;
    args["expectedSha256"] = read["data"]["sha256"].clone();
    let done = call(&tools, "edit_file", args)?;
    assert_eq!(done["ok"], true);
    assert_eq!(std::fs::read_to_string(&file)?, "retries = 5\ntimeout = 10\n");
    Ok(())
}

/// Calls a tool, and prints the call and its answer.
fn call(tools: &Session, tool: &str, args: Value) -> Result<Value, Box<dyn std::error::Error>> {
    let reply = tools.call(tool, &args, &mut ()).to_json();
    println!("{tool} {args}\n  -> {reply}");
    Ok(serde_json::from_str(&reply)?)
}
