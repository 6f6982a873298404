//! A client: sends lines, reads lines, answers what the server asks.

use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use apply_patch_mcp::{ServeError, ServerSettings, serve};
use patch_engine::commit::{Durability, KeyPlace};
use patch_session::Tool;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing here takes longer unless it hangs.
const HANG: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With `initialize`.
    Sessions,
    /// 2026-07-28: each request tells who asks.
    Single,
}

pub(crate) const ERAS: [Era; 2] = [Era::Sessions, Era::Single];

/// A folder with files.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
    key: TempDir,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let place = Self { dir: TempDir::new().unwrap(), key: TempDir::new().unwrap() };
        for (path, bytes) in files {
            fs::create_dir_all(place.path(path).parent().unwrap()).unwrap();
            fs::write(place.path(path), bytes).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn settings(&self) -> ServerSettings {
        let mut settings = ServerSettings::new(self.dir.path());
        // Also `edit.patch`, which is offered where it is named.
        settings.tools = Tool::usual().collect();
        settings.key_place = KeyPlace::Directory(self.key.path().join("apply-patch"));
        settings.rules.tool_settings.durability = Durability::Process;
        settings
    }

    pub(crate) fn client(&self, era: Era) -> Client {
        Client::new(self.settings(), era, json!({}))
    }
}

pub(crate) struct Client {
    to: Option<PipeWriter>,
    lines: Receiver<Value>,
    server: Option<JoinHandle<Result<(), ServeError>>>,
    era: Era,
    capabilities: Value,
    next: u64,
    /// What the server said besides answers.
    pub(crate) heard: Vec<Value>,
    /// What to say to questions, in turn.
    pub(crate) replies: Vec<Value>,
}

impl Client {
    pub(crate) fn new(settings: ServerSettings, era: Era, capabilities: Value) -> Self {
        let mut client = Self::silent(settings, era, capabilities);
        if era == Era::Sessions {
            let answer = client.initialize("2025-11-25");
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        }
        client
    }

    /// A client of a version of the protocol that has sessions.
    pub(crate) fn speaking(settings: ServerSettings, version: &str) -> Self {
        let mut client = Self::silent(settings, Era::Sessions, json!({}));
        let answer = client.initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client
    }

    /// Begins a session, and gives the answer.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        self.introduce("tester", version)
    }

    /// Begins a session under a name, and gives the answer.
    pub(crate) fn introduce(&mut self, name: &str, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities,
            "clientInfo": { "name": name, "version": "1" },
        });
        let answer = self.request("initialize", params);
        self.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        answer
    }

    /// A client that has said nothing yet.
    pub(crate) fn silent(settings: ServerSettings, era: Era, capabilities: Value) -> Self {
        let (input, to): (PipeReader, PipeWriter) = std::io::pipe().unwrap();
        let (from, output) = std::io::pipe().unwrap();
        let server = std::thread::spawn(move || serve(settings, input, output));
        let (line, lines) = channel();
        std::thread::spawn(move || {
            for text in BufReader::new(from).lines().map_while(Result::ok) {
                let value =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                if line.send(value).is_err() {
                    break;
                }
            }
        });
        let (heard, replies) = (Vec::new(), Vec::new());
        Self {
            to: Some(to),
            lines,
            server: Some(server),
            era,
            capabilities,
            next: 0,
            heard,
            replies,
        }
    }

    /// Sends a line as it is; whether the server still takes it.
    pub(crate) fn line(&mut self, text: &str) -> bool {
        let to = self.to.as_mut().expect("the client is there");
        writeln!(to, "{text}").is_ok()
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.era == Era::Single {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "tester", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let id = self.next;
        assert!(self.line(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
        ));
        id
    }

    /// The next message.
    pub(crate) fn hear(&mut self) -> Value {
        self.lines.recv_timeout(HANG).expect("the server answers")
    }

    /// Waits for the answer to a request; answers what the server asks meanwhile.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            if let (Some(asked), true) = (message.get("id"), message.get("method").is_some()) {
                let reply =
                    json!({ "jsonrpc": "2.0", "id": asked, "result": self.replies.remove(0) });
                self.line(&reply.to_string());
            }
            self.heard.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls a tool and gives its result.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": args }));
        assert!(answer.get("error").is_none(), "{tool} {args}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that has to succeed, and gives its data.
    pub(crate) fn done(&mut self, tool: &str, args: Value) -> Value {
        let result = self.call(tool, args.clone());
        assert!(result["isError"] == false, "{tool} {args}: {result}");
        assert!(result["structuredContent"]["ok"] == true, "{tool} {args}: {result}");
        let mut data = result["structuredContent"]["data"].clone();
        // The text of a file is beside its facts.
        if let Some(file) = result["content"].get(2).filter(|_| tool == "read_file") {
            data["content"] = file["text"].clone();
        }
        data
    }

    /// Calls a tool that has to fail, and gives the error.
    pub(crate) fn fails(&mut self, tool: &str, args: Value, kind: &str) -> Value {
        let result = self.call(tool, args.clone());
        assert!(result["isError"] == true, "{tool} {args}: {result}");
        assert!(result["structuredContent"]["ok"] == false, "{tool} {args}: {result}");
        let error = result["structuredContent"]["error"].clone();
        assert_eq!(error["kind"], kind, "{tool} {args}: {result}");
        error
    }

    /// The client goes; how the server ends.
    pub(crate) fn leave(&mut self) -> Result<(), ServeError> {
        self.to = None;
        self.server.take().expect("once").join().expect("no panic")
    }
}

/// What differs from a schema of the kind that the tools have: types, required keys, and what is
/// beneath.
pub(crate) fn misfit(value: &Value, schema: &Value, at: &str) -> Option<String> {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("boolean") => value.is_boolean(),
        other => return Some(format!("{at}: the schema has the type {other:?}")),
    };
    if !fits {
        return Some(format!("{at}: {value} is no {}", schema["type"]));
    }
    let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = missing.into_iter().find(|name| value.get(name).is_none()) {
        return Some(format!("{at}: {name} is missing in {value}"));
    }
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(inner) = value.get(name)
            && let Some(found) = misfit(inner, part, &format!("{at}.{name}"))
        {
            return Some(found);
        }
    }
    if let (Some(items), Some(item)) = (value.as_array(), schema.get("items")) {
        return items.iter().find_map(|value| misfit(value, item, &format!("{at}[]")));
    }
    None
}

/// No part of a change is visible, and no file of the server's is left in the way.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".apply-patch")
        .collect();
    names.sort();
    names
}
