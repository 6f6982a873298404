//! Every hint of every error can be obeyed: whoever does what it says, without thinking, has another situation. It applies, or
//! another error comes, or the hint says that a person has to decide.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program;
use crate::scenarios::Scenario;

/// One way to send a patch.
#[derive(Debug, Clone)]
struct Call {
    args: Vec<String>,
    patch: Vec<u8>,
    /// The arguments of `apply_patch`, beside the patch, if it is the tool that is called.
    tool: Option<Value>,
}

impl Call {
    /// The exit code and the answer, in a workspace made anew.
    fn run(&self, case: &Path) -> Option<(i32, Value)> {
        let scenario = Scenario::new(case);
        scenario.build(&scenario.workspace(), "before", "setup.txt");
        let mut args = vec!["--json".to_owned()];
        let mut input = self.patch.clone();
        match &self.tool {
            None => args.extend_from_slice(&self.args),
            Some(tool) => {
                let mut tool = tool.clone();
                tool["patch"] = String::from_utf8(self.patch.clone()).ok()?.into();
                input = tool.to_string().into_bytes();
                args = ["tool", "apply_patch", "--args", "-"].map(str::to_owned).to_vec();
            }
        }
        let run = program::run("apply-patch", &scenario.workspace(), scenario.home.path(), &args, &input);
        let answer = run.json().unwrap_or_else(|error| panic!("{}: {self:?}: {error}", scenario.name));
        Some((run.code, answer))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.patch).into_owned()
    }

    fn with_lines(&self, lines: &[String]) -> Self {
        Self { patch: (lines.join("\n") + "\n").into_bytes(), ..self.clone() }
    }
}

/// A patch as lines, and what stands where: lines count from 0 here.
struct Lines(Vec<String>);

impl Lines {
    fn of(call: &Call) -> Self {
        Self(call.text().split_terminator('\n').map(str::to_owned).collect())
    }

    fn is_header(line: &str) -> bool {
        line.starts_with("*** ") && !line.starts_with("*** End of File") && !line.starts_with("*** Move to")
    }

    /// The section around a line.
    fn section(&self, line: usize) -> std::ops::Range<usize> {
        let start = (0..=line.min(self.0.len() - 1)).rev().find(|&at| Self::is_header(&self.0[at])).unwrap_or(0);
        let end = (start + 1..self.0.len()).find(|&at| Self::is_header(&self.0[at])).unwrap_or(self.0.len());
        start..end
    }

    /// The hunk that begins at a line: its body, without the `@@` lines.
    fn hunk(&self, line: usize) -> std::ops::Range<usize> {
        let start = (line..self.0.len()).find(|&at| !self.0[at].starts_with("@@")).unwrap_or(self.0.len());
        let ends = |line: &str| line.starts_with("@@") || line.starts_with("*** ");
        let end = (start..self.0.len()).find(|&at| ends(&self.0[at])).unwrap_or(self.0.len());
        start..end
    }
}

/// The calls that a caller makes who does what the hint says; none when a person has to decide, or only time helps.
fn obeyed(call: &Call, case: &Path, about: &Value, hint: &Value) -> Vec<Call> {
    let mut lines = Lines::of(call);
    let line = about["patchLine"].as_u64().map_or(0, |line| line as usize - 1).min(lines.0.len().saturating_sub(1));
    let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
    let list = |key: &str| -> Vec<String> {
        hint[key].as_array().into_iter().flatten().filter_map(|line| Some(line.as_str()?.to_owned())).collect()
    };
    let file = |path: &str| {
        let scenario = Scenario::new(case);
        scenario.build(&scenario.workspace(), "before", "setup.txt");
        fs::read(scenario.workspace().join(path)).unwrap_or_default()
    };
    let flagged = |flag: &str| {
        let name = flag.split([' ', '=']).next().unwrap_or_default();
        let mut args = call.args.clone();
        if let Some(at) = args.iter().position(|arg| arg == name || arg.starts_with(&format!("{name}="))) {
            let has_value = args[at] == name && flag.contains(' ');
            args.drain(at..=at + usize::from(has_value));
        }
        args.extend(flag.split(' ').map(str::to_owned));
        vec![Call { args, ..call.clone() }]
    };
    let renamed = |from: &str, to: &str| {
        let lines: Vec<String> = lines
            .0
            .iter()
            .enumerate()
            .map(|(at, line_text)| match line_text.starts_with("*** ") {
                true if from.contains('…') && at == line => {
                    let head = line_text.split_once(": ").map_or("", |(head, _)| head);
                    format!("{head}: {to}")
                }
                true => line_text.replace(from, to),
                false => line_text.clone(),
            })
            .collect();
        let args = call.args.iter().map(|arg| arg.replace(from, to)).collect();
        vec![Call { args, ..call.with_lines(&lines) }]
    };
    match hint["hint"].as_str().expect("a hint has a name") {
        "use_flag" => flagged(&text("flag")),
        "ask_person" => match hint["flag"].as_str().filter(|_| call.tool.is_none()) {
            // What a label is, the person knows.
            Some(flag) if !flag.contains("LABEL") => flagged(flag),
            _ => Vec::new(),
        },
        "leave_alone" | "try_again" => Vec::new(),
        "use_argument" => {
            let mut tool = call.tool.clone().expect("arguments are for tools");
            tool[text("argument")] = hint["value"].clone();
            vec![Call { tool: Some(tool), ..call.clone() }]
        }
        "read_again" => {
            let path = text("path");
            let bytes = file(&path);
            if about["reason"] == "stale" {
                let hash = fs_guard::Sha256::of(&bytes).to_string();
                let wrong = about["expectedSha256"].as_str().unwrap_or_default();
                let args = call.args.iter().map(|arg| match arg.strip_suffix(wrong) {
                    Some(rest) if arg.contains('=') => format!("{rest}{hash}"),
                    _ => arg.clone(),
                });
                let mut args: Vec<String> = args.collect();
                // What a file of expectations says is overruled.
                args.extend(["--expect".into(), format!("{path}={hash}")]);
                return vec![Call { args, ..call.clone() }];
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
            vec![call.with_lines(&lines.0)]
        }
        "use_header" => {
            let body = lines.hunk(line).start;
            lines.0.splice(line..body, [text("header")]);
            vec![call.with_lines(&lines.0)]
        }
        "rename_path" => renamed(&text("from"), &text("to")),
        "choose_path" => {
            let scenario = Scenario::new(case);
            scenario.build(&scenario.workspace(), "before", "setup.txt");
            let exists = fs::read_dir(scenario.workspace()).expect("the workspace").flatten();
            let files = exists.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            let mut names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let chosen = names
                .find(|name| *name != text("path"))
                .filter(|_| text("like").contains("exists"))
                .unwrap_or_else(|| "chosen.txt".into());
            renamed(&text("path"), &chosen)
        }
        "use_section" => {
            let range = lines.section(line);
            let header = format!("*** {}: {}", text("section"), text("path"));
            let bytes = file(&text("path"));
            let first = String::from_utf8_lossy(&bytes).lines().next().map(|line| format!(" {line}"));
            let body = lines.0[range.start + 1..range.end].iter().filter(|line| line.starts_with('+')).cloned();
            let body: Vec<String> = match text("section").as_str() {
                "Update File" => ["@@".to_owned()].into_iter().chain(first).chain(body).collect(),
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
            lines.0.splice(end..end, [format!("*** Update File: {}", text("path"))].into_iter().chain(moved));
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
                "not_ascii" => lines.0.iter_mut().for_each(|line| line.retain(|c| c.is_ascii())),
                part => panic!("{part} is no part of a patch"),
            }
            vec![call.with_lines(&lines.0)]
        }
        "correct_line" => {
            // How to correct it is left to who reads what is expected there.
            let at = (hint["line"].as_u64().expect("a line") as usize - 1).min(lines.0.len());
            let mut calls = Vec::new();
            let mut push = |edit: &dyn Fn(&mut Vec<String>)| {
                let mut lines = lines.0.clone();
                edit(&mut lines);
                calls.push(call.with_lines(&lines));
            };
            push(&|lines| drop(lines.drain(at..(at + 1).min(lines.len()))));
            push(&|lines| lines.push("*** End Patch".into()));
            push(&|lines| lines.insert(0, "*** Begin Patch".into()));
            push(&|lines| lines.insert(at, "@@".into()));
            push(&|lines| lines.insert(at, "+".into()));
            calls
        }
        "split" => {
            let headers: Vec<usize> = (0..lines.0.len()).filter(|&at| Lines::is_header(&lines.0[at])).collect();
            lines.0.drain(headers[headers.len() / 2]..headers[headers.len() - 1]);
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
        () if count("leave_alone") > 0 && names.len() > 1 => "nothing lifts it, and yet something helps",
        () if count("rename_path") > 0 && count("choose_path") > 0 => "two other paths",
        () if hints.iter().any(|hint| hint["part"] == "hunk") && names.len() > 1 => "it is done, and yet to be done",
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
fn told(error: &Value) -> Vec<(Value, Vec<Value>)> {
    let hints = |of: &Value| of["hints"].as_array().cloned().unwrap_or_default();
    let mut told = vec![(error["details"].clone(), hints(error))];
    for reject in error["details"]["rejects"].as_array().into_iter().flatten() {
        told.push((reject.clone(), hints(reject)));
    }
    told
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
fn check(case: &Path, call: &Call, kinds: &mut BTreeSet<String>) -> Result<(), String> {
    let Some((code, answer)) = call.run(case) else { return Ok(()) };
    let error = &answer["error"];
    if answer["ok"] == true || code == 2 {
        return Ok(());
    }
    consistent(error)?;
    for (about, hints) in told(error) {
        for hint in hints {
            kinds.insert(hint["hint"].as_str().unwrap_or_default().to_owned());
            let calls = obeyed(call, case, &about, &hint);
            let mut answers = Vec::new();
            let changed = calls.is_empty()
                || calls.iter().any(|obedient| {
                    let again = obedient.run(case);
                    let changed = again.as_ref().is_none_or(|(code, now)| *code != 2 && now != &answer);
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

#[test]
fn every_hint_of_the_program_can_be_obeyed() {
    let (mut failed, mut kinds) = (Vec::new(), BTreeSet::new());
    for case in cases() {
        let scenario = Scenario::new(&case);
        let args = scenario.args();
        if args.first().is_some_and(|arg| arg.starts_with("as ")) {
            continue;
        }
        let patch = fs::read(case.join("patch.txt")).expect("patch.txt");
        if let Err(what) = check(&case, &Call { args, patch, tool: None }, &mut kinds) {
            failed.push(format!("--- {}\n{what}", scenario.name));
        }
    }
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
    if std::env::var_os("SCENARIO").is_none() {
        for kind in ["use_flag", "read_again", "replace_hunk", "add_context", "rename_path", "leave_out", "ask_person"]
        {
            assert!(kinds.contains(kind), "no scenario gives {kind}: {kinds:?}");
        }
    }
}

#[test]
fn every_hint_of_the_tool_can_be_obeyed() {
    let (mut failed, mut kinds) = (Vec::new(), BTreeSet::new());
    for case in cases() {
        let scenario = Scenario::new(&case);
        let tool = match &scenario.args()[..] {
            [] => json!({}),
            [flag, profile] if flag == "--profile" => json!({ "profile": profile }),
            _ => continue,
        };
        let patch = fs::read(case.join("patch.txt")).expect("patch.txt");
        if let Err(what) = check(&case, &Call { args: Vec::new(), patch, tool: Some(tool) }, &mut kinds) {
            failed.push(format!("--- {}\n{what}", scenario.name));
        }
    }
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
    assert!(!kinds.contains("use_flag"), "a tool has no flags");
    assert!(std::env::var_os("SCENARIO").is_some() || kinds.contains("use_argument"), "{kinds:?}");
}
