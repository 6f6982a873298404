//! The types of answers, for Python and for Node, are those of the answers.
//!
//! `packaging/npm/lib/answers.d.ts` is written by hand. The types of the tools, and all types of
//! Python, are made of it and of the schemas: `UPDATE_TOOLS=1 cargo test -p apply-patch-api`.
#![forbid(unsafe_code)]
#![cfg(feature = "workspace")]
#![allow(clippy::disallowed_methods, reason = "tests read the files of the project")]

use std::collections::BTreeMap;
use std::fs;

use apply_patch_api::engine::Cancellation;
use apply_patch_api::{
    self as api, Callbacks, Decision, JsonStream, NetRequest, OpenWorkspace, PatchOptions,
    ReadOptions as _, RedoRequest, UndoRequest, WorkspaceOptions,
};
use file_tools::schemas;
use patch_session::Tool;
use serde_json::{Value, json};
use testutils::tools::{FILES, OBJECTS, prepared};

const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/npm/lib/");
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/python/apply_patch/");

/// The fields of tools that have one of a few words.
const WORDS: &[(&str, &str)] = &[
    ("type", r#""file" | "directory" | "symlink" | "other""#),
    ("newlineStyle", r#""lf" | "crlf" | "mixed" | "none""#),
];

/// An interface.
#[derive(Debug, Clone, Default)]
struct Shape {
    doc: String,
    /// The interface that it extends, or nothing.
    base: String,
    /// All fields: those of the other interface come first.
    fields: Vec<Field>,
    /// It may have other fields too.
    open: bool,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    optional: bool,
    /// Its type, as TypeScript writes it.
    kind: String,
    doc: String,
}

/// The interfaces and the unions of a file, in order.
#[derive(Debug, Default)]
struct Types {
    shapes: Vec<(String, Shape)>,
    unions: Vec<(String, String)>,
}

impl Types {
    fn shape(&self, name: &str) -> &Shape {
        let found = self.shapes.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("there is no interface {name}")).1
    }

    /// Adds what a file declares.
    fn read(&mut self, text: &str) {
        let (mut doc, mut shape, mut union) = (String::new(), None, None);
        for line in text.lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("/** ") {
                doc = text.trim_end_matches(" */").to_owned();
            } else if let Some(head) = line.strip_prefix("export interface ") {
                let head = head.trim_end_matches(" {");
                let (name, base) = head.split_once(" extends ").unwrap_or((head, ""));
                let fields =
                    if base.is_empty() { Vec::new() } else { self.shape(base).fields.clone() };
                let doc = std::mem::take(&mut doc);
                let base = base.to_owned();
                shape = Some((name.to_owned(), Shape { doc, base, fields, open: false }));
            } else if let Some(head) = line.strip_prefix("export type ") {
                let (name, kind) = head.split_once(" =").expect("a type");
                union = Some((name.to_owned(), kind.trim().to_owned()));
                doc.clear();
            } else if line == "}" {
                self.shapes.extend(shape.take());
            } else if let (Some((_, shape)), Some((name, kind))) =
                (&mut shape, line.trim_end_matches(';').split_once(": "))
            {
                let (name, optional) = (name.trim_end_matches('?'), name.ends_with('?'));
                shape.open |= name == "[more";
                if name != "[more" {
                    let (name, kind) = (name.to_owned(), kind.to_owned());
                    let doc = std::mem::take(&mut doc);
                    shape.fields.push(Field { name, optional, kind, doc });
                }
            } else if let Some((_, kind)) = &mut union {
                *kind += &format!(" {line}");
            }
            if line.ends_with(';') && union.is_some() && shape.is_none() {
                let (name, kind) = union.take().expect("a type");
                let kind = kind.trim_end_matches(';').trim().trim_start_matches("| ").to_owned();
                self.unions.push((name, kind));
            }
        }
    }

    /// Writes the type of a schema, and adds the interfaces that it needs and nobody wrote.
    fn of_schema(&mut self, field: &str, schema: &Value) -> String {
        if let Some((_, words)) = WORDS.iter().find(|(name, _)| *name == field) {
            return (*words).to_owned();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
        }
        if let Some(several) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
            let kinds: Vec<_> = several.iter().map(|one| self.of_schema(field, one)).collect();
            return kinds.join(" | ");
        }
        match schema["type"].as_str() {
            Some("string") => "string".into(),
            Some("integer" | "number") => "number".into(),
            Some("boolean") => "boolean".into(),
            Some("array") => format!("{}[]", self.of_schema("", &schema["items"])),
            Some("object") if schema.get("properties").is_some() => self.named(schema),
            Some("object") => {
                let values = &schema["additionalProperties"];
                let kind =
                    if values.is_object() { self.of_schema("", values) } else { "unknown".into() };
                format!("Record<string, {kind}>")
            }
            _ => "unknown".into(),
        }
    }

    /// The interface with the fields of an object.
    fn named(&mut self, schema: &Value) -> String {
        let mut wanted = self.fields(schema);
        wanted.sort_by(|one, other| one.name.cmp(&other.name));
        let same = |shape: &Shape| {
            let mut names: Vec<_> =
                shape.fields.iter().map(|field| (&field.name, field.optional)).collect();
            names.sort();
            names == wanted.iter().map(|field| (&field.name, field.optional)).collect::<Vec<_>>()
        };
        if let Some((name, _)) = self.shapes.iter().find(|(_, shape)| same(shape)) {
            return name.clone();
        }
        let names = wanted.iter().map(|field| &*field.name).collect::<Vec<_>>().join(" ");
        let found = OBJECTS.iter().find(|(_, fields)| *fields == names);
        let (name, _) = found.unwrap_or_else(|| {
            panic!("give the object of {names} a name in crates/testutils/src/tools.rs")
        });
        self.add(name, "", schema);
        (*name).to_owned()
    }

    fn fields(&mut self, schema: &Value) -> Vec<Field> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        // In an order that does not depend on how `serde_json` is built.
        let properties: BTreeMap<String, Value> =
            serde_json::from_value(schema["properties"].clone()).expect("an object");
        let field = |(name, field): (String, Value)| Field {
            optional: !required.contains(&name.as_str().into()),
            kind: self.of_schema(&name, &field),
            doc: field["description"].as_str().unwrap_or_default().replace('\n', " "),
            name,
        };
        properties.into_iter().map(field).collect()
    }

    fn add(&mut self, name: &str, doc: &str, schema: &Value) {
        let shape = Shape { doc: doc.into(), fields: self.fields(schema), ..Shape::default() };
        self.shapes.push((name.to_owned(), shape));
    }

    /// Says where a value is not of a type.
    fn differences(&self, at: &str, kind: &str, value: &Value) -> Vec<String> {
        let wrong = || vec![format!("{at} is not {kind}: {value}")];
        let fine = |is: bool| if is { Vec::new() } else { wrong() };
        let literal =
            || fine(serde_json::from_str(kind).is_ok_and(|wanted: Value| wanted == *value));
        if let Some((_, union)) = self.unions.iter().find(|(name, _)| name == kind) {
            return self.differences(at, union, value);
        }
        let several: Vec<_> = kind.split(" | ").collect();
        if several.len() > 1 {
            let found: Vec<_> =
                several.iter().map(|one| self.differences(at, one, value)).collect();
            return found.into_iter().min_by_key(Vec::len).unwrap_or_default();
        }
        if let Some(item) = kind.strip_suffix("[]") {
            let Some(items) = value.as_array() else { return wrong() };
            let items = items.iter().enumerate();
            return items
                .flat_map(|(nth, one)| self.differences(&format!("{at}[{nth}]"), item, one))
                .collect();
        }
        match kind {
            "unknown" => Vec::new(),
            "string" => fine(value.is_string()),
            "number" => fine(value.is_number()),
            "boolean" => fine(value.is_boolean()),
            "null" | "true" | "false" => literal(),
            "Record<string, unknown>" => fine(value.is_object()),
            word if word.starts_with('"') => literal(),
            name => {
                let (shape, Some(object)) = (self.shape(name), value.as_object()) else {
                    return wrong();
                };
                let mut found: Vec<_> = shape
                    .fields
                    .iter()
                    .flat_map(|Field { name, optional, kind, .. }| match object.get(name) {
                        Some(value) => self.differences(&format!("{at}.{name}"), kind, value),
                        None if *optional => Vec::new(),
                        None => vec![format!("{at} has no {name}")],
                    })
                    .collect();
                let known = |key: &String| shape.fields.iter().any(|field| field.name == *key);
                let more = object.keys().filter(|key| !shape.open && !known(key));
                found.extend(more.map(|key| format!("{at}.{key} is not in {name}")));
                found
            }
        }
    }
}

/// `read_file` as `ReadFile`.
fn camel(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split(['_', '.']).map(word).collect()
}

/// The types that are written by hand, and the names of those of the tools.
fn types() -> (Types, Vec<(Tool, String, String)>) {
    let mut types = Types::default();
    types.read(&fs::read_to_string(format!("{NODE}answers.d.ts")).expect("a file"));
    let tools = Tool::ALL.into_iter().map(|tool| {
        let (arguments, answer) = schemas(tool);
        let name = camel(tool.as_str());
        types.add(
            &format!("{name}Arguments"),
            &format!("The arguments of `{}`.", tool.as_str()),
            &arguments,
        );
        let data = if tool == Tool::EditPatch { &answer } else { &answer["properties"]["data"] };
        let data = if tool == Tool::ApplyPatch {
            types.named(data)
        } else {
            let data_name = format!("{name}Data");
            types.add(&data_name, &format!("What `{}` answers.", tool.as_str()), data);
            data_name
        };
        (tool, name, data)
    });
    let tools = tools.collect();
    (types, tools)
}

fn of_node(types: &Types, tools: &[(Tool, String, String)], hand: usize) -> String {
    let names = types.shapes[..hand].iter().map(|(name, _)| name);
    let made = &types.shapes[hand..];
    let used = |name: &&String| {
        let is = |kind: &str| kind.split(|c: char| !c.is_alphanumeric()).any(|word| word == **name);
        made.iter().any(|(_, shape)| shape.fields.iter().any(|field| is(&field.kind)))
            || tools.iter().any(|(_, _, data)| data == *name)
    };
    let used: Vec<_> = names.filter(used).cloned().collect();
    let mut text = format!(
        "// Made of the schemas of the tools by crates/api/tests/answers.rs.\n\
         import type {{ {} }} from \"./answers\";\n",
        used.join(", ")
    );
    for (name, shape) in made {
        text += "\n";
        if !shape.doc.is_empty() {
            text += &format!("/** {} */\n", shape.doc);
        }
        text += &format!("export interface {name} {{\n");
        for Field { name, optional, kind, doc } in &shape.fields {
            if !doc.is_empty() {
                text += &format!("  /** {doc} */\n");
            }
            let mark = if *optional { "?" } else { "" };
            text += &format!("  {name}{mark}: {kind};\n");
        }
        text += "}\n";
    }
    text += "\n/** The arguments and the answer of each tool. */\nexport interface Tools {\n";
    for (tool, name, data) in tools {
        text += &format!("  {:?}: [{name}Arguments, {data}];\n", tool.as_str());
    }
    text + "}\n"
}

/// A type as Python writes it.
fn python(kind: &str) -> String {
    let several: Vec<_> = kind.split(" | ").collect();
    if several.iter().all(|one| one.starts_with('"')) {
        return format!("Literal[{}]", several.join(", "));
    }
    if several.len() > 1 {
        return several.iter().map(|one| python(one)).collect::<Vec<_>>().join(" | ");
    }
    if let Some(item) = kind.strip_suffix("[]") {
        return format!("list[{}]", python(item));
    }
    if let Some(values) = kind.strip_prefix("Record<string, ") {
        return format!("dict[str, {}]", python(values.trim_end_matches('>')));
    }
    match kind {
        "string" => "str",
        "number" => "int",
        "boolean" => "bool",
        "null" => "None",
        "unknown" => "Any",
        "true" => "Literal[True]",
        "false" => "Literal[False]",
        name => name,
    }
    .to_owned()
}

/// The words that are not names in Python.
fn is_keyword(name: &str) -> bool {
    matches!(name, "from" | "in" | "is" | "not" | "with" | "as" | "pass" | "global" | "class")
}

/// What may be missing is in a class of its own: Python 3.10 has no other way to say it.
fn of_python(types: &Types, tools: &[(Tool, String, String)]) -> String {
    let mut text = String::from(
        "\"\"\"What calls answer, as types: dicts, so that nothing here is needed to use them.\n\n\
         Made of `answers.d.ts` of the npm package, and of the schemas of the tools, by\n\
         `crates/api/tests/answers.rs`.\n\"\"\"\n\nfrom __future__ import annotations\n\n\
         from typing import Any, Literal, TypedDict, Union\n",
    );
    let class = |text: &mut String, name: &str, base: &str, doc: &str, fields: &[&Field]| {
        let (words, fields): (Vec<&Field>, Vec<&Field>) =
            fields.iter().partition(|field| is_keyword(&field.name));
        let mut base = base.to_owned();
        if !words.is_empty() {
            let own = format!("_{}Words", name.trim_start_matches('_'));
            let fields: Vec<_> = words
                .iter()
                .map(|field| format!("\"{}\": '{}'", field.name, python(&field.kind)))
                .collect();
            let total = if base.ends_with("total=False") { ", total=False" } else { "" };
            *text +=
                &format!("\n\n{own} = TypedDict(\"{own}\", {{{}}}{total})\n", fields.join(", "));
            let more = format!("{own}, ");
            base = base.replace("TypedDict, ", "").replace("TypedDict", "");
            base = format!("{more}{base}").trim_end_matches(", ").to_owned();
        }
        *text += &format!("\n\nclass {name}({base}):\n    \"\"\"{doc}\"\"\"\n\n");
        for field in fields {
            if !field.doc.is_empty() {
                *text += &format!("    # {}\n", field.doc);
            }
            *text += &format!("    {}: {}\n", field.name, python(&field.kind));
        }
    };
    for (name, shape) in &types.shapes {
        let (base, inherited) = if shape.base.is_empty() {
            ("TypedDict", 0)
        } else {
            (&*shape.base, types.shape(&shape.base).fields.len())
        };
        let (optional, required): (Vec<&Field>, Vec<&Field>) =
            shape.fields[inherited..].iter().partition(|field| field.optional);
        let doc = if shape.doc.is_empty() { "One of a list." } else { &shape.doc };
        match (required.is_empty(), optional.is_empty()) {
            (false, true) => class(&mut text, name, base, doc, &required),
            (true, _) => class(&mut text, name, &format!("{base}, total=False"), doc, &optional),
            (false, false) => {
                class(&mut text, &format!("_{name}"), base, "What it always has.", &required);
                class(&mut text, name, &format!("_{name}, total=False"), doc, &optional);
            }
        }
    }
    text += "\n\nclass _Succeeded(TypedDict):\n    \"\"\"What it always has.\"\"\"\n\
             \n    ok: Literal[True]\n    output: str\n\n\n\
             class Succeeded(_Succeeded, total=False):\n    \"\"\"The answer of a file tool that \
             did it.\"\"\"\n\n\
             \x20   # What was taken in another form than it was sent in.\n    normalised: \
             list[str]\n\n\
             \x20   # What is wrong with the new files.\n    warnings: list[str]\n";
    for (tool, name, data) in tools {
        if *tool == Tool::EditPatch {
            text += &format!("\n\n{name}Answer = {data}\n");
            continue;
        }
        text += &format!(
            "\n\nclass {name}Succeeded(Succeeded):\n    \"\"\"The answer of `{}`.\"\"\"\n\
             \n    data: {data}\n\n\n\
             {name}Answer = Union[{name}Succeeded, FailedCall]\n",
            tool.as_str()
        );
    }
    text += "\n\nclass AnySucceeded(Succeeded):\n    \"\"\"The answer of any tool.\"\"\"\n\
             \n    data: dict[str, Any]\n\n\n\
             Answer = Union[AnySucceeded, FailedCall]\n";
    for (name, union) in &types.unions {
        let union = if union.starts_with('"') {
            let words: Vec<_> = union.split(" | ").collect();
            format!("Literal[\n    {},\n]", words.join(",\n    "))
        } else {
            format!("Union[{}]", union.replace(" | ", ", "))
        };
        text += &format!("\n{name} = {union}\n");
    }
    text
}

/// The overloads of `call`.
fn of_calls(tools: &[(Tool, String, String)]) -> String {
    let mut names: Vec<_> = tools
        .iter()
        .flat_map(|(_, name, _)| [format!("{name}Arguments"), format!("{name}Answer")])
        .chain(["Answer".into(), "Event".into()])
        .collect();
    names.sort();
    let mut text = format!(
        "# Made of the schemas of the tools by crates/api/tests/answers.rs.\n\
         from collections.abc import Awaitable, Callable, Mapping\n\
         from typing import Any, Literal, TypedDict, overload\n\n\
         from typing_extensions import Unpack\n\n\
         from ._native import Cancellation, Proposal\n\
         from .types import (\n    {},\n)\n\n\
         class Edited(TypedDict):\n    patch: str | bytes\n\n\
         Decision = bool | Literal[\"turn\", \"session\"] | Edited\n\n\
         class Callbacks(TypedDict, total=False):\n    approve: Callable[[Proposal], Decision] | \
         None\n    observe: Callable[[Event], object] | None\n    cancellation: Cancellation | \
         None\n\n\
         AsyncApprove = Callable[[Proposal], Decision | Awaitable[Decision]]\n\n\
         class AsyncCallbacks(TypedDict, total=False):\n    approve: AsyncApprove | None\n    \
         observe: Callable[[Event], object] | None\n",
        names.join(",\n    ")
    );
    for (class, callbacks, kind) in
        [("Calls", "Callbacks", "def"), ("AsyncCalls", "AsyncCallbacks", "async def")]
    {
        text += &format!("\nclass {class}:\n");
        for (tool, name, _) in tools {
            let word = tool.as_str();
            text += &format!(
                "    @overload\n    {kind} call(\n        self, tool: Literal[\"{word}\"], \
                 arguments: {name}Arguments, /, **callbacks: Unpack[{callbacks}]\n    ) -> \
                 {name}Answer: ...\n"
            );
        }
        text += &format!(
            "    @overload\n    {kind} call(\n        self, tool: str, arguments: Mapping[str, \
             Any] | None = None, /, **callbacks: Unpack[{callbacks}]\n    ) -> Answer: ...\n"
        );
    }
    text
}

#[test]
fn the_types_are_made_of_the_schemas() {
    let mut hand = Types::default();
    hand.read(&fs::read_to_string(format!("{NODE}answers.d.ts")).expect("a file"));
    let (types, tools) = types();
    for (path, text) in [
        (format!("{NODE}tools.d.ts"), of_node(&types, &tools, hand.shapes.len())),
        (format!("{PYTHON}types.py"), of_python(&types, &tools)),
        (format!("{PYTHON}_calls.pyi"), of_calls(&tools)),
    ] {
        if std::env::var_os("UPDATE_TOOLS").is_some() {
            fs::write(&path, &text).expect("it is written");
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == text, "{path} is not up to date: see the head of this file");
    }
}

/// Collects where answers are not of their types.
struct Checked {
    types: Types,
    tools: Vec<(Tool, String, String)>,
    wrong: Vec<String>,
}

impl Checked {
    fn is(&mut self, kind: &str, value: &Value) {
        self.wrong.extend(self.types.differences(kind, kind, value));
    }

    fn tool(&mut self, workspace: &OpenWorkspace, name: &str, arguments: &Value) -> Value {
        let answer = workspace.call(name, arguments, Callbacks::default());
        if answer["ok"] == false && name != "edit.patch" {
            self.is("FailedCall", &answer);
        } else if let Some((_, short, data)) =
            self.tools.iter().find(|(tool, _, _)| tool.as_str() == name).cloned()
        {
            self.is(&format!("{short}Arguments"), arguments);
            let value = if name == "edit.patch" { &answer } else { &answer["data"] };
            self.is(&data, value);
        }
        answer
    }
}

fn patch(body: &str) -> Vec<u8> {
    format!("*** Begin Patch\n{body}\n*** End Patch\n").into_bytes()
}

#[test]
fn answers_are_of_their_types() {
    if !testutils::home::is_there("answers_are_of_their_types") {
        return;
    }
    let (types, tools) = types();
    let mut checked = Checked { types, tools, wrong: Vec::new() };
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("a"), "one\ntwo\nthree\n").expect("a file");
    fs::write(dir.path().join("x"), "x\nx\n").expect("a file");
    let options = WorkspaceOptions::read(json!({ "durability": "none", "agent": "tester" }));
    let options = options.expect("options");
    let here = OpenWorkspace::open(dir.path(), &options).expect("a directory");
    let how = |value: Value| PatchOptions::read(value).expect("options");

    let mut events = Vec::new();
    let observing =
        Callbacks { observe: Some(Box::new(|event| events.push(event))), ..Callbacks::default() };
    let body = "*** Update File: a\n*** Move to: b\n@@\n-two\n+2\n*** Add File: c\n+c";
    let done = here.apply(&patch(body), &how(json!({ "diff": "stat" })), observing);
    checked.is("Applied", &done.expect("it applies"));
    assert!(events.len() > 3, "{events:?}");
    events.iter().for_each(|event| checked.is("Event", event));
    let again = here.apply(&patch(body), &how(json!({})), Callbacks::default());
    checked.is("Applied", &again.expect("it is done"));
    let undo = UndoRequest::read(json!({ "diff": "full" })).expect("options");
    checked.is("Undone", &here.undo(&undo, Callbacks::default()).expect("it is undone"));
    let redo = RedoRequest::default();
    let redone = here.redo(redo.id.as_deref(), redo.diff, Callbacks::default());
    checked.is("Undone", &redone.expect("it is redone"));
    here.begin_turn(None).expect("it begins");
    let added = here.apply(&patch("*** Add File: t\n+t"), &how(json!({})), Callbacks::default());
    added.expect("it applies");
    checked.is("TurnSummary", &here.turn_so_far().expect("it is open"));
    checked.is("TurnSummary", &here.end_turn().expect("it was open"));
    assert!(here.turn_so_far().expect("a history").is_null());
    checked.is("Log", &here.log(None, None, true).expect("a log"));
    checked.is("Log", &here.log(None, None, false).expect("a log"));
    let since = NetRequest::read(json!({ "since": "1h" })).expect("options");
    fs::write(dir.path().join("t"), "t\nmore\n").expect("a file");
    let more = here.apply(
        &patch("*** Update File: t\n@@\n t\n more\n+end"),
        &how(json!({})),
        Callbacks::default(),
    );
    more.expect("it applies");
    let net = here.net_changes(&since).expect("transactions");
    assert_eq!(net["changedBetween"][0]["path"], "t", "{net}");
    checked.is("NetChanges", &net);
    let undone = here.undo(&UndoRequest::default(), Callbacks::default());
    undone.expect("the last one");
    fs::write(dir.path().join("t"), "t\n").expect("a file");
    let undone = here.undo(&UndoRequest::default(), Callbacks::default()).expect("a turn");
    assert!(undone["turnId"].is_string(), "{undone}");
    checked.is("Undone", &undone);
    let plan = here.plan(&patch("*** Delete File: c"), &how(json!({})), &Cancellation::NEVER);
    checked.is("ChangedFile[]", &plan.expect("a plan").changes());

    for (body, options) in [
        ("*** Update File: x\n@@\n-x\n+y", json!({})),
        ("*** Update File: b\n@@\n one\n-tow\n+2", json!({})),
        ("*** Update File: b\n@@\n-one\n+1", json!({ "expected": { "b": "0".repeat(64) } })),
        ("*** Delete File: nope\n*** Update File: x\n@@\n-x\n+y\n*** Add File: b\n+b", json!({})),
        ("*** Delete File: c\n*** Update File: x\n@@\n-x\n+y", json!({ "partial": true })),
        ("*** Frobnicate", json!({})),
        ("*** Add File: ../d\n+d", json!({})),
        ("*** Add File: d\n+d", json!({ "amend": "p-000000000000" })),
    ] {
        let error = here.apply(&patch(body), &how(options), Callbacks::default());
        checked.is("ErrorFields", &json!(error.expect_err(body)));
    }
    let declines =
        Callbacks { approve: Some(Box::new(|_| Decision::Decline)), ..Callbacks::default() };
    let declined = here.apply(&patch("*** Add File: d\n+d"), &how(json!({})), declines);
    let declined = json!(declined.expect_err("it is declined"));
    checked.is("ErrorFields", &declined);
    assert_eq!(declined["details"]["reason"], "declined");
    let given_up = Cancellation::new(|| true);
    let given_up = here.plan(&patch("*** Add File: d\n+d"), &how(json!({})), &given_up);
    assert_eq!(given_up.expect_err("it is cancelled").kind.as_str(), "cancelled");

    let delete = "*** Begin Patch\n*** Delete File: x\n*** End Patch\n";
    for (tool, arguments) in [
        ("list_directory", json!({ "recursive": true })),
        ("read_file", json!({ "path": "b", "lineNumbers": true })),
        ("read_file", json!({ "path": "nope" })),
        ("edit_file", json!({ "path": "b", "edits": [{ "oldText": "one", "newText": "1" }] })),
        ("edit_file", json!({ "path": "b", "edits": [{ "oldText": "four", "newText": "4" }] })),
        ("create_file", json!({ "path": "f", "content": "f\n", "diff": "stat" })),
        ("read_file", json!({ "path": "f" })),
        ("write_file", json!({ "path": "f", "content": "g\n" })),
        ("move_file", json!({ "fromPath": "f", "toPath": "g" })),
        ("read_file", json!({ "path": "x" })),
        ("apply_patch", json!({ "patch": delete, "dryRun": true })),
        ("apply_patch", json!({ "patch": delete })),
        ("undo", json!({ "diff": "full" })),
        ("edit.patch", json!({ "patch": delete })),
        ("edit.patch", json!({ "patch": "no" })),
        ("nope", json!({})),
    ] {
        checked.tool(&here, tool, &arguments);
    }
    let other = tempfile::tempdir().expect("a directory");
    for (path, bytes) in FILES {
        fs::write(other.path().join(path), bytes).expect("a file");
    }
    let there = OpenWorkspace::open(other.path(), &options).expect("a directory");
    let calls = prepared(|tool, args| checked.tool(&there, tool, &args)["data"].clone());
    for tool in Tool::usual().map(Tool::as_str) {
        checked.tool(&there, tool, &calls[tool]);
    }
    let deleted = checked.tool(&here, "delete_file", &json!({ "path": "g" }));
    let trashed = &deleted["data"]["trashedTo"];
    let restored = checked.tool(&here, "restore_file", &json!({ "trashedPath": trashed }));
    assert_eq!(restored["ok"], true, "{restored}");

    checked.tool(&here, "read_file", &json!({ "path": "b" }));
    let before = fs::read_to_string(dir.path().join("b")).expect("a file");
    fs::write(dir.path().join("b"), format!("zero\n{before}")).expect("a file");
    let edit = json!({ "path": "b", "edits": [{ "oldText": "three", "newText": "3" }] });
    let carried = checked.tool(&here, "edit_file", &edit);
    assert_eq!(carried["data"]["carried"][0]["changedBy"]["byApplyPatch"], false, "{carried}");
    let stale = PatchOptions::read(json!({ "expected": { "b": "0".repeat(64) } }));
    let stale = here.apply(
        &patch("*** Update File: b\n@@\n-3\n+III"),
        &stale.expect("options"),
        Callbacks::default(),
    );
    let stale = json!(stale.expect_err("it is stale"));
    assert_eq!(stale["details"]["changedBy"]["ownSession"], true, "{stale}");
    checked.is("ErrorFields", &stale);

    proposals(&mut checked, &here, dir.path());

    let tree = api::parse(&patch(body), &how(json!({}))).expect("a patch");
    checked.is("ParsedPatch", &tree);
    for text in [patch(body), b"garbage\n".to_vec()] {
        let mut stream = JsonStream::new(&how(json!({}))).expect("options");
        let mut events = stream.push(&text);
        events.extend(stream.end());
        assert!(!events.is_empty());
        events.iter().for_each(|event| checked.is("StreamEvent", event));
    }
    assert!(checked.wrong.is_empty(), "{}", checked.wrong.join("\n"));
}

/// The answers about proposals.
fn proposals(checked: &mut Checked, here: &OpenWorkspace, dir: &std::path::Path) {
    fs::write(dir.join("later"), "1\n2\n3\n4\n5\n").expect("a file");
    let to = |line: &str| patch(&format!("*** Update File: later\n@@\n-3\n+{line}"));
    let none = PatchOptions::default();
    let id = |made: &Value| made["proposalId"].as_str().expect("an id").to_owned();
    let made = here.propose(&to("three"), &none, Some("words")).expect("a proposal");
    checked.is("PlannedProposal", &made);
    let delete = patch("*** Delete File: later");
    let other = here.propose(&delete, &none, None).expect("a proposal");
    assert_eq!(other["reasons"][0], "later is deleted", "{other}");
    checked.is("PlannedProposal", &other);
    checked.is("KeptProposals", &here.proposals().expect("a list"));
    fs::write(dir.join("later"), "0\n1\n2\n3\n4\n5\n").expect("a file");
    let now = here.proposal(&id(&made)).expect("a proposal");
    assert_eq!((&now["differs"], now["carried"].is_array()), (&json!(true), true), "{now}");
    checked.is("PlannedProposal", &now);
    let stale = here.approve(&id(&made), None, Callbacks::default());
    let stale = json!(stale.expect_err("it differs"));
    assert_eq!(stale["details"]["digest"], now["digestNow"], "{stale}");
    checked.is("ErrorFields", &stale);
    let digest = now["digestNow"].as_str().expect("a digest");
    let mut events = Vec::new();
    let observing =
        Callbacks { observe: Some(Box::new(|event| events.push(event))), ..Callbacks::default() };
    let done = here.approve(&id(&made), Some(digest), observing).expect("it is approved");
    checked.is("Applied", &done);
    events.iter().for_each(|event| checked.is("Event", event));
    assert!(events.len() > 3, "{events:?}");
    let again = here.approve(&id(&made), None, Callbacks::default()).expect("it is done");
    assert_eq!(again["alreadyDone"], true, "{again}");
    checked.is("Applied", &again);
    let approved = here.proposal(&id(&made)).expect("a proposal");
    assert_eq!(approved["transactionIds"][0], done["transactionId"], "{approved}");
    checked.is("PlannedProposal", &approved);
    let stale = here.proposal(&id(&other)).expect("a proposal");
    assert_eq!(stale["error"]["kind"], "stale_file", "{stale}");
    checked.is("PlannedProposal", &stale);
    checked.is("KeptProposal", &here.decline(&id(&other), Some("no")).expect("declined"));
    let decided = here.decline(&id(&other), None).expect_err("it is decided");
    checked.is("ErrorFields", &json!(decided));
    let partial = PatchOptions { partial: true, ..PatchOptions::default() };
    let refused = here.propose(&to("x"), &partial, None).expect_err("a whole patch only");
    checked.is("ErrorFields", &json!(refused));
    let wrong = here.approve(&id(&other), Some("x"), Callbacks::default());
    checked.is("ErrorFields", &json!(wrong.expect_err("no digest")));
}
