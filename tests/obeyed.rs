//! Every hint of every error of a patch can be obeyed: a caller that does what it says, without
//! thinking, changes the situation. The patch applies, or another error comes, or the hint says
//! that a person has to decide. `obeyed_tools.rs` does the same for the other tools, `hostile.rs`
//! for the attacks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use file_tools::FileTool;
use file_tools::vendor::edit_patch::EditPatch;
use patch_session::audit::Audit;
use patch_session::envelope::Failure;

use patch_engine::Options;
use patch_engine::commit::{Durability, KeyPlace, Workspace};
use patch_session::{
    Caller, FailureClass, Session, SessionName, SessionSettings, Tool, ToolError, ops,
};
use serde_json::{Value, json};

use crate::docs::reasons_in;
use crate::program;
use crate::scenarios::Scenario;
use testutils::temp::temp;

/// One way to send a patch.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// The program, with these arguments.
    Program(Vec<String>),
    /// A tool, with these arguments beside the patch.
    Tool(Tool, Value),
    /// Operations of the Responses API; the patch is the envelope that stands for them.
    Operations,
}

/// A patch and the way that it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) way: Way,
    pub(crate) patch: Vec<u8>,
}

impl Call {
    /// The exit code and the answer, in a workspace made anew; none where this way cannot send such
    /// a patch.
    fn run(&self, case: &Path) -> Option<(i32, Value)> {
        let scenario = Scenario::new(case);
        scenario.build(&scenario.workspace(), "before", "setup.txt");
        let run = |args: &[String], input: &[u8]| {
            let run = program::run(
                "apply-patch",
                &scenario.workspace(),
                scenario.home.path(),
                args,
                input,
            );
            let answer =
                run.json().unwrap_or_else(|error| panic!("{}: {self:?}: {error}", scenario.name));
            Some((run.code, answer))
        };
        match &self.way {
            Way::Program(args) => run(&[&["--json".to_owned()][..], args].concat(), &self.patch),
            // Its answer is one line: the hints are behind it.
            Way::Tool(Tool::EditPatch, _) => {
                let args: EditPatch = serde_json::from_value(self.tool_args()?).ok()?;
                let session = session(&scenario.workspace(), scenario.home.path());
                let result = args.call(&session, &mut ());
                Some(answer(result.map_err(|error| error.addressed(Caller::Tool(Tool::EditPatch)))))
            }
            Way::Tool(tool, _) => {
                let args = ["tool", tool.as_str(), "--args", "-"].map(str::to_owned);
                run(&args, self.tool_args()?.to_string().as_bytes())
            }
            Way::Operations => {
                let text = String::from_utf8(self.patch.clone()).ok()?;
                let mut options = Options::default();
                options.placement.stacked_headers_must_match = true;
                options.parse.bare_first_hunk = true;
                let result = match patch_engine::parse(&text, &options.parse) {
                    Err(error) => Err(ToolError::parse(&error)),
                    Ok(patch) => {
                        let session = session(&scenario.workspace(), scenario.home.path());
                        session
                            .apply("ops", &patch, options, patch_engine::Atomicity::Whole, &mut ())
                            .map_err(|failed| ToolError::failed(&failed))
                    }
                };
                let result = result.map(|reports| reports.len());
                Some(answer(result.map_err(|error| error.addressed(Caller::Operations))))
            }
        }
    }

    pub(crate) fn tool_args(&self) -> Option<Value> {
        let Way::Tool(_, args) = &self.way else { return None };
        let mut args = args.clone();
        args["patch"] = String::from_utf8(self.patch.clone()).ok()?.into();
        Some(args)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.patch).into_owned()
    }

    fn with_lines(&self, lines: &[String]) -> Self {
        Self { patch: (lines.join("\n") + "\n").into_bytes(), ..self.clone() }
    }

    /// The same with other arguments of the program.
    fn with_args(&self, change: impl Fn(Vec<String>) -> Vec<String>) -> Self {
        match &self.way {
            Way::Program(args) => Self { way: Way::Program(change(args.clone())), ..self.clone() },
            _ => self.clone(),
        }
    }
}

/// A session in a workspace, with a key of its own.
pub(crate) fn session(workspace: &Path, home: &Path) -> Session {
    // A child that another test starts has every lock too, until it runs its program.
    session_that_waits(workspace, home, Duration::from_secs(10))
}

/// The same, which waits so long for a lock.
pub(crate) fn session_that_waits(workspace: &Path, home: &Path, lock_timeout: Duration) -> Session {
    let workspace = Workspace::open(workspace, patch_engine::policy()).expect("a workspace");
    let workspace = workspace.with_key_place(KeyPlace::Directory(home.join("key")));
    let settings = SessionSettings {
        durability: Durability::Process,
        lock_timeout,
        max_file_size: LARGE,
        ..SessionSettings::default()
    };
    Session::new(workspace, Audit::new(SessionName::cli(), None), settings)
}

/// Larger files are too large for these tests.
pub(crate) const LARGE: u64 = 100_000;

/// What a call in this process came to, as the program would say it.
pub(crate) fn answer<T>(result: Result<T, ToolError>) -> (i32, Value) {
    match result {
        Ok(_) => (0, json!({ "ok": true })),
        Err(error) => {
            let code = if error.class == FailureClass::Usage { 2 } else { 1 };
            (code, serde_json::to_value(Failure::from(error)).expect("text keys"))
        }
    }
}

/// A patch as lines, and what stands where: lines count from 0 here.
struct Lines(Vec<String>);

impl Lines {
    fn of(call: &Call) -> Self {
        Self(call.text().split_terminator('\n').map(str::to_owned).collect())
    }

    fn is_header(line: &str) -> bool {
        line.starts_with("*** ")
            && !line.starts_with("*** End of File")
            && !line.starts_with("*** Move to")
    }

    /// The section around a line.
    fn section(&self, line: usize) -> std::ops::Range<usize> {
        let start = (0..=line.min(self.0.len() - 1))
            .rev()
            .find(|&at| Self::is_header(&self.0[at]))
            .unwrap_or(0);
        let end = (start + 1..self.0.len())
            .find(|&at| Self::is_header(&self.0[at]))
            .unwrap_or(self.0.len());
        start..end
    }

    /// The hunk that begins at a line: its body, without the `@@` lines.
    fn hunk(&self, line: usize) -> std::ops::Range<usize> {
        let start =
            (line..self.0.len()).find(|&at| !self.0[at].starts_with("@@")).unwrap_or(self.0.len());
        let ends = |line: &str| line.starts_with("@@") || line.starts_with("*** ");
        let end = (start..self.0.len()).find(|&at| ends(&self.0[at])).unwrap_or(self.0.len());
        start..end
    }
}

/// How the lines of a patch begin that name files.
const HEADERS: &[&str] = &["*** ", "diff --", "--- ", "+++ ", "rename ", "copy ", "Index: "];

/// The calls of a caller that does what the hint says; none when a person has to decide, or only
/// time helps.
pub(crate) fn obeyed(call: &Call, workspace: &Path, about: &Value, hint: &Value) -> Vec<Call> {
    let mut lines = Lines::of(call);
    let line = about["patchLine"]
        .as_u64()
        .map_or(0, |line| line as usize - 1)
        .min(lines.0.len().saturating_sub(1));
    let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| -> Vec<String> {
        hint[key]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|line| Some(line.as_str()?.to_owned()))
            .collect()
    };
    let file = |path: &str| fs::read(workspace.join(path)).unwrap_or_default();
    let flagged = |flag: &str| {
        let name = flag.split([' ', '=']).next().unwrap_or_default();
        vec![call.with_args(|mut args| {
            if let Some(at) =
                args.iter().position(|arg| arg == name || arg.starts_with(&format!("{name}=")))
            {
                let has_value = args[at] == name && flag.contains(' ');
                args.drain(at..=at + usize::from(has_value));
            }
            args.extend(flag.split(' ').map(str::to_owned));
            args
        })]
    };
    let renamed = |from: &str, to: &str| {
        let lines: Vec<String> = lines
            .0
            .iter()
            .enumerate()
            .map(|(at, line_text)| {
                if !HEADERS.iter().any(|header| line_text.starts_with(header)) {
                    line_text.clone()
                } else if from.contains('…') && at == line {
                    let head = line_text.split_once(": ").map_or("", |(head, _)| head);
                    format!("{head}: {to}")
                } else {
                    line_text.replace(from, to)
                }
            })
            .collect();
        // `--expect PATH=…`
        let expected = |arg: &str| {
            arg.strip_prefix(from)
                .filter(|rest| rest.starts_with('='))
                .map(|rest| format!("{to}{rest}"))
        };
        let args =
            |args: Vec<String>| args.into_iter().map(|arg| expected(&arg).unwrap_or(arg)).collect();
        let mut renamed = call.with_lines(&lines).with_args(args);
        if let Way::Tool(_, args) = &mut renamed.way
            && let Some(expected) = args["expectedSha256ByPath"].as_object_mut()
            && let Some(hash) = expected.remove(from)
        {
            expected.insert(to.into(), hash);
        }
        vec![renamed]
    };
    match hint["hint"].as_str().expect("a hint has a name") {
        "use_flag" => flagged(&text("flag")),
        "ask_person" => match hint["flag"].as_str().filter(|_| matches!(call.way, Way::Program(_)))
        {
            // What a label is, the person knows.
            Some(flag) if !flag.contains("LABEL") => flagged(flag),
            _ => Vec::new(),
        },
        "leave_alone" | "try_again" => Vec::new(),
        "use_argument" => {
            let Way::Tool(tool, mut args) = call.way.clone() else {
                panic!("arguments are for tools: {hint}")
            };
            args[text("argument")] = hint["value"].clone();
            vec![Call { way: Way::Tool(tool, args), ..call.clone() }]
        }
        "read_again" => {
            let path = text("path");
            let bytes = file(&path);
            // What was read is what the next patch is written against.
            let call = &call.with_args(|args| {
                let base = args.iter().position(|arg| arg == "--base");
                let other = |at: &usize| base.is_none_or(|base| *at != base && *at != base + 1);
                args.iter()
                    .enumerate()
                    .filter(|(at, _)| other(at))
                    .map(|(_, arg)| arg.clone())
                    .collect()
            });
            if about["reason"] == "stale" {
                let hash = fs_guard::Sha256::of(&bytes).to_string();
                let wrong = about["expectedSha256"].as_str().unwrap_or_default();
                return vec![call.with_args(|args| {
                    let args = args.into_iter().map(|arg| match arg.strip_suffix(wrong) {
                        Some(rest) if arg.contains('=') => format!("{rest}{hash}"),
                        _ => arg,
                    });
                    // What a file of expectations says is overruled.
                    args.chain(["--expect".into(), format!("{path}={hash}")]).collect()
                })];
            }
            let whole = String::from_utf8_lossy(&bytes).replace('\r', "");
            let found: Vec<&str> = whole.lines().collect();
            let first = hint["startLine"].as_u64().unwrap_or(1) as usize;
            let last = hint["endLine"].as_u64().unwrap_or(first as u64) as usize;
            let mut copied = (first..=last).filter_map(|number| found.get(number - 1));
            let range = lines.hunk(line);
            let mut body = Vec::new();
            let mut any = false;
            for old in &lines.0[range.clone()] {
                match old.chars().next() {
                    Some(mark @ (' ' | '-')) => {
                        any = true;
                        body.extend(copied.next().map(|text| format!("{mark}{text}")));
                    }
                    _ => body.push(old.clone()),
                }
            }
            if !any {
                body.splice(0..0, copied.map(|text| format!(" {text}")));
            }
            lines.0.splice(range, body);
            vec![call.with_lines(&lines.0)]
        }
        "replace_hunk" => {
            lines.0.splice(lines.hunk(line), list("lines"));
            vec![call.with_lines(&lines.0)]
        }
        "add_context" => {
            let range = lines.hunk(line);
            let at = if hint["below"] == true { range.end } else { range.start };
            lines.0.splice(at..at, list("lines"));
            if let Some(header) = hint["header"].as_str() {
                lines.0.splice(line..range.start, [header.to_owned()]);
            }
            vec![call.with_lines(&lines.0)]
        }
        "use_header" => {
            let body = lines.hunk(line).start;
            lines.0.splice(line..body, [text("header")]);
            vec![call.with_lines(&lines.0)]
        }
        "rename_path" => renamed(&text("from"), &text("to")),
        "choose_path" => {
            let exists = fs::read_dir(workspace).expect("the workspace").flatten();
            let files = exists.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            let mut names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let chosen = names
                .find(|name| *name != text("path"))
                .filter(|_| text("like").contains("exists"))
                .unwrap_or_else(|| "chosen.txt".into());
            renamed(&text("path"), &chosen)
        }
        // An operation is a section of the envelope that stands for all of them.
        "use_section" | "use_tool" => {
            let range = lines.section(line);
            let section = match &*text("tool") {
                "update_file" => "Update File".to_owned(),
                "delete_file" => "Delete File".to_owned(),
                _ => text("section"),
            };
            let header = format!("*** {section}: {}", text("path"));
            let bytes = file(&text("path"));
            let first =
                String::from_utf8_lossy(&bytes).lines().next().map(|line| format!(" {line}"));
            let body = lines.0[range.start + 1..range.end]
                .iter()
                .filter(|line| line.starts_with('+'))
                .cloned();
            let body: Vec<String> = match &*section {
                "Update File" => ["@@".to_owned()].into_iter().chain(first).chain(body).collect(),
                "Add File" => body.collect(),
                _ => Vec::new(),
            };
            lines.0.splice(range, [header].into_iter().chain(body));
            vec![call.with_lines(&lines.0)]
        }
        "move_hunk" => {
            let body = lines.hunk(line);
            let moved: Vec<String> = lines.0.drain(line..body.end).collect();
            let section = lines.section(line.saturating_sub(1));
            if section.len() == 1 {
                lines.0.drain(section);
            }
            let end = lines.0.len() - 1;
            lines.0.splice(
                end..end,
                [format!("*** Update File: {}", text("path"))].into_iter().chain(moved),
            );
            vec![call.with_lines(&lines.0)]
        }
        "join" => {
            // The hunk's new lines go to the other one.
            let body = lines.hunk(line);
            let gone: Vec<String> = lines.0.drain(line..body.end).collect();
            let other = hint["other"].as_u64().expect("a hunk") as usize;
            let section = lines.section(line.saturating_sub(1));
            let start = section.clone().filter(|&at| lines.0[at].starts_with("@@")).nth(other - 1);
            let end = lines.hunk(start.unwrap_or(section.start + 1)).end;
            lines.0.splice(end..end, gone.into_iter().filter(|line| line.starts_with('+')));
            vec![call.with_lines(&lines.0)]
        }
        "send_separately" => {
            let range = lines.section(line);
            lines.0.drain(range);
            vec![call.with_lines(&lines.0)]
        }
        "leave_out" => {
            let section = lines.section(line);
            match text("part").as_str() {
                "hunk" => drop(lines.0.drain(line..lines.hunk(line).end)),
                "section" => drop(lines.0.drain(section)),
                "move" => {
                    let header = lines.0[section.start].clone();
                    if let Some(path) = header.strip_prefix("*** Move File: ") {
                        let from = path.split(" -> ").next().unwrap_or_default();
                        lines.0[section.start] = format!("*** Update File: {from}");
                    }
                    lines.0.retain(|line| !line.starts_with("*** Move to"));
                }
                "end_of_file" => lines.0.retain(|line| line != "*** End of File"),
                "no_newline" => lines.0.retain(|line| !line.starts_with('\\')),
                "numbers" => {
                    let last = lines.0.iter_mut().rfind(|line| line.starts_with("@@ -"));
                    *last.expect("a hunk with numbers") = "@@".into();
                }
                "ids" => {
                    let last = lines.0.iter().rposition(|line| line.starts_with("index "));
                    lines.0.remove(last.expect("an `index` line"));
                }
                "unreadable" => lines.0.retain(|line| {
                    !(line.starts_with(' ') && line.contains(char::REPLACEMENT_CHARACTER))
                }),
                "not_ascii" => lines.0.iter_mut().for_each(|line| line.retain(|c| c.is_ascii())),
                "whitespace_errors" => {
                    for line in lines.0.iter_mut().filter(|line| line.starts_with('+')) {
                        line.truncate(line.trim_end().len());
                    }
                    while lines.0.last().is_some_and(|line| line == "+") {
                        lines.0.pop();
                    }
                }
                // The line is named; here it is one of two.
                "placeholder" => {
                    let is_one = |line: &str| line.contains("... ") || line.contains(" rest of ");
                    lines.0.retain(|line| !(line.starts_with('+') && is_one(line)));
                }
                // What is wrong is told; here it is a comma too many.
                "syntax_errors" => {
                    for line in lines.0.iter_mut().filter(|line| line.starts_with('+')) {
                        line.truncate(line.trim_end_matches(',').len());
                    }
                }
                part => panic!("{part} is not a part of a patch"),
            }
            vec![call.with_lines(&lines.0)]
        }
        "correct_line" => {
            // How to correct it is left to the reader of what is expected there.
            let at = (hint["line"].as_u64().expect("a line") as usize - 1).min(lines.0.len());
            let mut calls = Vec::new();
            let mut push = |edit: &dyn Fn(&mut Vec<String>)| {
                let mut lines = lines.0.clone();
                edit(&mut lines);
                calls.push(call.with_lines(&lines));
            };
            // The line itself, where it is known.
            let is_verbatim = |line: &&str| line.starts_with(' ') || line.starts_with("--- ");
            if let Some(line) = hint["wanted"].as_str().filter(is_verbatim) {
                push(&|lines| lines[at] = line.to_owned());
                return calls;
            }
            push(&|lines| drop(lines.drain(at..(at + 1).min(lines.len()))));
            push(&|lines| lines.push("*** End Patch".into()));
            push(&|lines| lines.insert(0, "*** Begin Patch".into()));
            push(&|lines| lines.insert(at, "@@".into()));
            push(&|lines| lines.insert(at, "+".into()));
            calls
        }
        "correct_arguments" => {
            let mut call = call.clone();
            for change in hint["arguments"].as_array().expect("a list") {
                let argument = change["argument"].as_str().expect("a name");
                match (&mut call.way, change["change"].as_str().expect("a change")) {
                    (Way::Tool(_, args), "omit") => {
                        drop(args.as_object_mut().expect("arguments").remove(argument));
                    }
                    _ => assert_eq!(argument, "patch", "{hint}"),
                }
            }
            let patch = b"*** Begin Patch\n*** Add File: chosen.txt\n+new\n*** End Patch\n";
            vec![Call { patch: patch.to_vec(), ..call }]
        }
        "send" => {
            let args = |mut args: Vec<String>| {
                if text("what").contains("--amend")
                    && let Some(at) = args.iter().position(|arg| arg == "--amend")
                {
                    args.drain(at..at + 2);
                }
                args
            };
            let patch = b"*** Begin Patch\n*** Add File: chosen.txt\n+x\n*** End Patch\n";
            vec![Call { patch: patch.to_vec(), ..call.with_args(args) }]
        }
        "split" => {
            let headers: Vec<usize> =
                (0..lines.0.len()).filter(|&at| Lines::is_header(&lines.0[at])).collect();
            match headers[..] {
                [_, _, .., last] => drop(lines.0.drain(headers[headers.len() / 2]..last)),
                _ => lines.0.truncate(lines.0.len() / 2),
            }
            vec![call.with_lines(&lines.0)]
        }
        other => panic!("no rule for {other:?}: {hint}"),
    }
}

/// What can be seen of any error: a hint, words, and nothing that two hints say against each other.
pub(crate) fn consistent(error: &Value) -> Result<(), String> {
    let hints = error["hints"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = hints.iter().filter_map(|hint| hint["hint"].as_str()).collect();
    let count = |name: &str| names.iter().filter(|other| **other == name).count();
    let action = error["suggestedNextAction"].as_str().unwrap_or_default();
    let wrong = match () {
        () if names.is_empty() || action.is_empty() => "nothing says what to do",
        () if names.len() != hints.len() => "a hint has no name",
        () if count("leave_alone") > 0 && names.len() > 1 => {
            "nothing lifts it, and yet something helps"
        }
        () if count("rename_path") > 0 && count("choose_path") > 0 => "two other paths",
        // What is done may also be left out by a setting.
        () if hints.iter().any(|hint| hint["part"] == "hunk")
            && hints.iter().any(|hint| {
                let skips = hint["flag"] == "--skip-applied" || hint["argument"] == "skipApplied";
                hint["part"] != "hunk" && !skips
            }) =>
        {
            "it is done, and yet to be done"
        }
        () if names.iter().collect::<BTreeSet<_>>().len() < names.len()
            && hints.windows(2).any(|pair| pair[0] == pair[1]) =>
        {
            "the same twice"
        }
        () if action.len() > 2000 || error.to_string().len() > 10_000 => "it is long",
        () => return Ok(()),
    };
    Err(format!("{wrong}: {error:#}"))
}

/// The error itself, and every other reject, each with what it is about and its hints.
pub(crate) fn all_of(error: &Value) -> Vec<(Value, Vec<Value>)> {
    let hints = |of: &Value| of["hints"].as_array().cloned().unwrap_or_default();
    let mut all = vec![(error["details"].clone(), hints(error))];
    for reject in error["details"]["rejects"].as_array().into_iter().flatten() {
        all.push((reject.clone(), hints(reject)));
    }
    all
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let only = std::env::var("SCENARIO").unwrap_or_default();
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("error.txt").exists() && path.to_string_lossy().contains(&only))
        .collect();
    cases.sort();
    cases
}

/// Obeys all hints of the answer to a call.
fn check(
    case: &Path,
    call: &Call,
    (kinds, reasons): &mut (BTreeSet<String>, BTreeSet<String>),
) -> Result<(), String> {
    let Some((code, answer)) = call.run(case) else { return Ok(()) };
    let error = &answer["error"];
    if answer["ok"] == true || code == 2 {
        return Ok(());
    }
    consistent(error)?;
    for (about, hints) in all_of(error) {
        reasons.extend(about["reason"].as_str().map(ToOwned::to_owned));
        for hint in hints {
            kinds.insert(hint["hint"].as_str().unwrap_or_default().to_owned());
            let scenario = Scenario::new(case);
            scenario.build(&scenario.workspace(), "before", "setup.txt");
            let calls = obeyed(call, &scenario.workspace(), &about, &hint);
            let mut answers = Vec::new();
            let changed = calls.is_empty()
                || calls.iter().any(|obedient| {
                    let again = obedient.run(case);
                    let changed =
                        again.as_ref().is_none_or(|(code, now)| *code != 2 && now != &answer);
                    answers.push((obedient.clone(), again));
                    changed
                });
            if !changed {
                return Err(format!("{hint} changes nothing: {error:#}\n{answers:#?}"));
            }
        }
    }
    Ok(())
}

/// Obeys the hints of all scenarios that this way can send; gives the hints and the reasons that
/// there were.
fn walk(way: impl Fn(&Scenario<'_>) -> Option<Call>) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut failed, mut seen) = (Vec::new(), (BTreeSet::new(), BTreeSet::new()));
    for case in cases() {
        let scenario = Scenario::new(&case);
        let Some(call) = way(&scenario) else { continue };
        if let Err(what) = check(&case, &call, &mut seen) {
            failed.push(format!("--- {}\n{what}", scenario.name));
        }
    }
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
    seen
}

/// Texts that no scenario has: each is not a patch, for another reason.
fn no_patches() -> Vec<(&'static str, String)> {
    let git = |lines: &str| ("unified", format!("diff --git a/f b/f\n{lines}"));
    let diff = |hunks: &str| ("unified", format!("--- a/f\n+++ b/f\n{hunks}"));
    let envelope = |body: &str| ("envelope", format!("*** Begin Patch\n{body}*** End Patch\n"));
    vec![
        ("envelope", "hello\n".into()),
        ("auto", "hello\n".into()),
        envelope("*** Move File: f\n"),
        envelope(&"*** Delete File: f\n".repeat(10_001)),
        ("unified", "hello\n".into()),
        ("unified", "@@ -1 +1 @@\n-a\n+b\n".into()),
        ("unified", "--- \"a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n".into()),
        diff(""),
        diff("@@ -1,9 +1 @@\n-a\n--- a/y\n+++ b/y\n"),
        git("old mode 99\nnew mode 100755\n"),
        git("index 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-y\n+z\n"),
        ("auto", "*** Begin Patch\n*** Delete File: f\n*** End Patch\n@@\n-a\n+b\n".into()),
        ("auto", "<!--\n*** Begin Patch\n*** Delete File: f\n*** End Patch\n-->\n".into()),
        ("blocks", "f\n<<<<<<< SEARCH\na\n=======\nb\n".into()),
        (
            "unified",
            "diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n".into(),
        ),
    ]
}

fn patch_of(scenario: &Scenario<'_>) -> Vec<u8> {
    fs::read(scenario.case().join("patch.txt")).expect("patch.txt")
}

#[test]
fn every_hint_of_the_program_can_be_obeyed() {
    let (hints, reasons) = walk(|scenario| {
        let args = scenario.args();
        let other = args.first().is_some_and(|arg| arg.starts_with("as "));
        (!other).then(|| Call { way: Way::Program(args), patch: patch_of(scenario) })
    });
    if std::env::var_os("SCENARIO").is_some() {
        return;
    }
    for hint in [
        "use_flag",
        "read_again",
        "replace_hunk",
        "add_context",
        "rename_path",
        "leave_out",
        "ask_person",
    ] {
        assert!(hints.contains(hint), "no scenario gives {hint}: {hints:?}");
    }
    let (mut hints, mut reasons) = (hints, reasons);
    for (form, text) in no_patches() {
        let case = temp();
        fs::create_dir(case.path().join("before")).expect("a folder");
        fs::write(case.path().join("before/f"), "a\n").expect("a file");
        let call = Call {
            way: Way::Program(vec!["--from".into(), form.into()]),
            patch: text.clone().into_bytes(),
        };
        let mut seen = (BTreeSet::new(), BTreeSet::new());
        check(case.path(), &call, &mut seen)
            .unwrap_or_else(|what| panic!("{text:.200}: {what:.2000}"));
        assert!(!seen.1.is_empty(), "{text:.200} is a patch");
        hints.extend(seen.0);
        reasons.extend(seen.1);
    }
    assert!(hints.contains("split"), "{hints:?}");
    // A reason that is new needs a scenario. The last word of the parser is for what it has no
    // better word for.
    reasons.insert("unexpected".into());
    // What a formatter wants is for it to say; tests/format_with.rs has its hints.
    reasons.insert("not_formatted".into());
    // No patch deletes a directory; a test of the tool that does, in
    // tools/tests/tools/trash.rs, obeys this one's hint.
    reasons.insert("too_many_files".into());
    let known = [
        "patch-engine/src/plan/reject.rs",
        "patch-text/src/locate/reject.rs",
        "patch-grammar/src/error.rs",
    ];
    let known = reasons_in(&known);
    let missing: Vec<_> = known.difference(&reasons).collect();
    assert_eq!(missing, [] as [&String; 0], "no scenario is refused for these");
}

/// Runs the program on no patch, and on a patch for one that is not kept; both name what to send.
#[test]
fn what_to_send_can_be_sent() {
    let section = "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\n";
    let program =
        |args: [&str; 2]| Way::Program(args.iter().map(|arg| (*arg).to_owned()).collect());
    for (way, patch, hint) in [
        (program(["--amend", "p-0000"]), section, "send"),
        (program(["--from", "openai"]), "7", "send"),
        (Way::Tool(Tool::ApplyPatch, json!({ "amend": "p-0" })), section, "correct_arguments"),
    ] {
        let case = temp();
        fs::create_dir(case.path().join("before")).expect("a folder");
        let call = Call { way, patch: patch.into() };
        let mut seen = (BTreeSet::new(), BTreeSet::new());
        check(case.path(), &call, &mut seen).unwrap_or_else(|what| panic!("{what:.2000}"));
        assert!(seen.0.contains(hint), "{call:?}: {seen:?}");
    }
}

#[test]
fn an_unknown_tool_is_answered_by_a_command() {
    let (home, workspace) = (temp(), temp());
    let run = |args: &[&str]| {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        program::run("apply-patch", workspace.path(), home.path(), &args, b"")
    };
    let refused = run(&["tool", "nosuch", "--args", "{}"]);
    let answer = refused.json().expect("JSON");
    let command = answer["error"]["hints"][0]["command"].as_str().expect("a command").to_owned();
    assert_eq!(refused.code, 2, "{answer}");
    let shown = run(&command.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(shown.code, 0, "{command}");
    assert!(shown.stdout.contains("read_file"), "{command}");
}

#[test]
fn every_hint_of_the_patch_tools_can_be_obeyed() {
    for tool in [Tool::ApplyPatch, Tool::EditPatch] {
        let (hints, _) = walk(|scenario| {
            let args = match &scenario.args()[..] {
                [] => json!({}),
                [flag, profile] if flag == "--profile" && tool == Tool::ApplyPatch => {
                    json!({ "profile": profile })
                }
                _ => return None,
            };
            Some(Call { way: Way::Tool(tool, args), patch: patch_of(scenario) })
        });
        assert!(!hints.contains("use_flag"), "{tool:?}: a tool has no flags");
        assert!(
            std::env::var_os("SCENARIO").is_some() || hints.contains("use_argument"),
            "{tool:?}: {hints:?}"
        );
    }
}

#[test]
fn every_hint_of_operations_can_be_obeyed() {
    let (hints, _) = walk(|scenario| {
        let text =
            String::from_utf8(patch_of(scenario)).ok().filter(|_| scenario.args().is_empty())?;
        let patch = patch_engine::parse(&text, &Options::default().parse).ok()?;
        let calls = ops::from_patch(&patch, false).ok()?;
        Some(Call { way: Way::Operations, patch: ops::to_envelope(&calls).ok()? })
    });
    assert!(!hints.contains("use_flag"), "{hints:?}");
    assert!(!hints.contains("use_argument"), "{hints:?}");
    assert!(!hints.contains("use_section"), "{hints:?}");
    assert!(std::env::var_os("SCENARIO").is_some() || hints.contains("use_tool"), "{hints:?}");
}

/// A patch that is refused, and what was meant by it.
struct Meant {
    kind: &'static str,
    patch: String,
    path: &'static str,
    wanted: String,
}

/// The file that the patches below are for.
const MODULE: &str = "\
import os


def load(path):
    data = open(path).read()
    return data


def save(path, data):
    with open(path, 'w') as f:
        f.write(data)
    return caf\u{65}\u{301}


\tx = '\u{201c}a\u{201d}'
";

/// Patches that are refused, one or more of each kind.
fn refused() -> Vec<Meant> {
    let section = |path: &str, body: &str| {
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n{body}*** End Patch\n")
    };
    let done = MODULE.replace("open(path).read()", "read(path)");
    let change = " def load(path):\n-    data = open(path).read()\n+    data = read(path)\n";
    let meant = |kind: &'static str, patch: String, wanted: &str| Meant {
        kind,
        patch,
        path: "src/a.py",
        wanted: wanted.to_owned(),
    };
    let mut all: Vec<Meant> = [
        "src/a.py:6",
        "src/a.py#L6",
        "src/a.py (lines 4-6)",
        "[a.py](src/a.py)",
        "src%2Fa.py",
        "@src/a.py",
        "src/a.py (modified)",
        "/mnt/d/proj/src/a.py",
        "file:///home/me/src/a.py",
        "d:/proj/src/a.py",
        "lib/a.py",
        "src/A.py",
    ]
    .map(|path| meant("a decorated name", section(path, change), &done))
    .into();
    for patch in [
        "*** Begin Patch\n*** Update File: n/new.txt\n@@\n+y\n*** End Patch\n",
        "--- a/n/new.txt\n+++ b/n/new.txt\n@@ -1,0 +1 @@\n+y\n",
    ] {
        let wanted = "y\n".to_owned();
        all.push(Meant { kind: "a new file", patch: patch.into(), path: "n/new.txt", wanted });
    }
    let later = format!(
        "*** Begin Patch\n*** Update File: src/a.py\n@@\n{change}*** Update File: src/a.py\n@@\n{}*** \
         End Patch\n",
        " def load(path):\n     data = open(path).read()\n-    return data\n+    return data or None\n"
    );
    let both = done.replacen("return data", "return data or None", 1);
    all.push(meant("a later section", later, &both));
    let cafe = MODULE.replace("return caf\u{65}\u{301}", "return None");
    for (kind, body, wanted) in [
        (
            "an empty line",
            " def load(path):\n-    data = open(path).read()\n+    data = read(path)\n \n",
            &done,
        ),
        ("blanks", "-  data = open(path).read()\n+  data = read(path)\n", &done),
        (
            "a slip",
            " def load(path):\n-    data = open(path).raed()\n+    data = read(path)\n     return data\n",
            &done,
        ),
        ("normalisation", "-    return caf\u{e9}\n+    return None\n", &cafe),
        (
            "tabs",
            "-\\tx = '\u{201c}a\u{201d}'\n+\\tx = 1\n",
            &MODULE.replace("'\u{201c}a\u{201d}'", "1"),
        ),
        (
            "punctuation",
            "-\tx = '\"a\"'\n+\tx = '\"b\"'\n",
            &MODULE.replace("\u{201c}a", "\u{201c}b"),
        ),
    ] {
        all.push(meant(kind, section("src/a.py", body), wanted));
    }
    all
}

/// A reader who does what the first hint says, at most three times, and knows nothing else.
fn reader(meant: &Meant) -> Result<(), String> {
    let dir = program::place(&[("w/src/a.py", MODULE)]);
    let workspace = dir.path().join("w");
    let mut call = Call { way: Way::Program(Vec::new()), patch: meant.patch.clone().into() };
    for step in 0..4 {
        let Way::Program(args) = &call.way else { break };
        let args = [&["--json".to_owned()][..], args].concat();
        let run = program::run("apply-patch", &workspace, dir.path(), &args, &call.patch);
        let answer = run.json().map_err(|error| error.to_string())?;
        if answer["ok"] == true {
            let found = fs::read_to_string(workspace.join(meant.path)).unwrap_or_default();
            return match (step, found == meant.wanted) {
                (0, _) => Err("it was not refused".into()),
                (_, true) => Ok(()),
                (_, false) => Err(format!("another result: {found}")),
            };
        }
        let (about, hints) = all_of(&answer["error"]).swap_remove(0);
        let next = hints.first().map(|hint| obeyed(&call, &workspace, &about, hint));
        call = next
            .and_then(|calls| calls.into_iter().next())
            .ok_or_else(|| format!("nothing to obey: {answer:#}"))?;
    }
    Err(format!("no end: {}", call.text()))
}

#[test]
#[allow(clippy::print_stdout, reason = "the share is what a person wants to see")]
fn a_reader_of_the_first_hint_gets_what_was_meant() {
    let all = refused();
    let failed: Vec<_> = all
        .iter()
        .filter_map(|meant| Some((meant.kind, &meant.patch, reader(meant).err()?)))
        .collect();
    println!("{} of {} refused patches come right", all.len() - failed.len(), all.len());
    let failed: Vec<_> =
        failed.iter().map(|(kind, patch, why)| format!("{kind}: {patch}{why}")).collect();
    assert!(failed.is_empty(), "{} of {}: {}", failed.len(), all.len(), failed.join("\n---\n"));
}
