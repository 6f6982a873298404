//! What `testutils` knows of each tool, in the workspaces of these tests.

use patch_session::Tool;
use serde_json::{Value, json};
use testutils::tools::{FILES, filled, known, prepared};

use crate::support::{Bench, sha};

/// A workspace, and for each tool a call that succeeds there, with the arguments that it needs.
pub(crate) fn every_call() -> (Bench, Vec<(Tool, Value)>) {
    let bench = Bench::new(FILES);
    let calls = prepared(|tool, args| bench.done(tool, &args));
    bench.tools.begin_turn(None).unwrap();
    bench.done("create_file", &json!({ "path": "of-turn", "content": "" }));
    bench.tools.end_turn().unwrap();
    (bench, Tool::ALL.map(|tool| (tool, calls[tool.as_str()].clone())).to_vec())
}

/// Arguments of a call that does something where `a.txt` has two lines.
pub(crate) fn usual(tool: Tool) -> Value {
    filled(&known(tool.as_str()).usual, "{sha}", &sha(b"line\nx\n"))
}

#[test]
fn every_tool_is_known() {
    let names = testutils::tools::all().iter().map(|known| known.name).collect::<Vec<_>>();
    Tool::ALL.iter().for_each(|tool| drop(known(tool.as_str())));
    assert_eq!(names, Tool::ALL.map(Tool::as_str), "in the order of `each_tool!`");
}
