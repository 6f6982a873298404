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
    let call = |tool: &str, args: Value| -> Result<Value, Box<dyn std::error::Error>> {
        let reply = tools.call(tool, &args, &mut ()).to_json();
        println!("{tool} {args}\n  -> {reply}");
        Ok(serde_json::from_str(&reply)?)
    };

    // 1. Read: the hash is what a write is bound to.
    let read = call("read_file", json!({ "path": "config.toml" }))?;
    let mut hash = read["data"]["sha256"].clone();

    // A person saves the file meanwhile.
    std::fs::write(&file, "retries = 3\ntimeout = 10\n")?;

    // 2. Write: refused, for the next line changed too, and nothing is lost. An edit further away
    //    would have been carried.
    let edits = json!([{ "oldText": "retries = 3", "newText": "retries = 5" }]);
    let args =
        |hash: &Value| json!({ "path": "config.toml", "expectedSha256": hash, "edits": edits });
    let refused = call("edit_file", args(&hash))?;
    assert_eq!(refused["error"]["kind"], "stale_file");

    // 3. Read again, and write against what is there now.
    let read = call("read_file", json!({ "path": "config.toml" }))?;
    hash = read["data"]["sha256"].clone();
    let done = call("edit_file", args(&hash))?;
    assert_eq!(done["ok"], true);
    assert_eq!(std::fs::read_to_string(&file)?, "retries = 5\ntimeout = 10\n");
    Ok(())
}
