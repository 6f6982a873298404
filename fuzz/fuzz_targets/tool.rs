//! Any call of a tool: never panics, answers in the one shape, changes nothing when it fails or
//! only reads, and nothing outside in any case.
#![no_main]

use std::cell::RefCell;

use apply_patch_fuzz::{Bench, LINES, PATHS, SECRET, look};
use file_tools::Tools as _;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::commit::Durability;
use patch_session::audit::Audit;
use patch_session::{ErrorKind, FailureClass, Session, SessionName, SessionSettings, Tool};
use serde_json::{Map, Value, json};

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    Text(u8, &'a str),
    Made(u8, Vec<(u8, Made<'a>)>),
}

#[derive(Debug, Arbitrary)]
enum Made<'a> {
    Path(u8),
    Line(u8),
    Bool(bool),
    Number(i64),
    Float(f64),
    Free(&'a str),
    Sha(u8),
    Null,
    Edits(Vec<(u8, u8, bool)>),
    Patch(Vec<(u8, u8)>),
    List(Vec<u8>),
}

const KEYS: &[&str] = &[
    "path",
    "content",
    "expectedSha256",
    "edits",
    "patch",
    "fromPath",
    "toPath",
    "query",
    "mode",
    "pattern",
    "root",
    "includeGlobs",
    "excludeGlobs",
    "maxResults",
    "contextLines",
    "recursive",
    "maxDepth",
    "includeHidden",
    "startLine",
    "endLine",
    "maxBytes",
    "allowBinary",
    "permanent",
    "createParentDirectories",
    "overwrite",
    "trashedPath",
    "trashId",
    "targetPath",
    "atomic",
    "dryRun",
    "profile",
    "dry_run",
    "allow_delete",
    "allow_move",
    "workspace_root",
    "expectedSha256ByPath",
];

const SHAS: &[&str] =
    &["", "0000000000000000000000000000000000000000000000000000000000000000", "xyz"];

const WORDS: &[&str] = &[
    "path", "text", "regex", "strict", "codex", "**", "**/*", "*.txt", "(", "[a-", "{a,b", "o.*e",
    "../**", "/**", "out/**",
];

fn path(at: u8) -> &'static str {
    PATHS[usize::from(at) % PATHS.len()]
}

fn line(at: u8) -> &'static str {
    LINES[usize::from(at) % LINES.len()]
}

impl Made<'_> {
    fn value(&self) -> Value {
        match self {
            Self::Path(at) => json!(path(*at)),
            Self::Line(at) => {
                let all = LINES.len() + WORDS.len();
                let at = usize::from(*at) % all;
                json!(LINES.get(at).or_else(|| WORDS.get(at - LINES.len())))
            }
            Self::Bool(yes) => json!(yes),
            Self::Number(number) => json!(number),
            Self::Float(number) => json!(number),
            Self::Free(text) => json!(text),
            Self::Sha(at) => match usize::from(*at) % (SHAS.len() + 2) {
                at if at < SHAS.len() => json!(SHAS[at]),
                at if at == SHAS.len() => json!(
                    fs_guard::Sha256::of(
                        b"one\ntwo\n\
                                                                       three\n"
                    )
                    .to_string()
                ),
                _ => json!(fs_guard::Sha256::of(b"x\r\ny\r\nx\r\n").to_string()),
            },
            Self::Null => Value::Null,
            Self::Edits(edits) => edits
                .iter()
                .map(|(old, new, all)| {
                    json!({
                        "oldText": line(*old), "newText": line(*new), "replaceAll": all,
                    })
                })
                .collect(),
            Self::Patch(sections) => {
                let mut text = String::from("*** Begin Patch\n");
                for (at, kind) in sections {
                    text += &match kind % 4 {
                        0 => format!("*** Add File: {}\n+{}\n", path(*at), line(*kind)),
                        1 => format!("*** Delete File: {}\n", path(*at)),
                        2 => {
                            format!("*** Update File: {}\n@@\n-one\n+{}\n", path(*at), line(*kind))
                        }
                        _ => format!("*** Move File: {} -> {}\n", path(*at), path(kind / 4)),
                    };
                }
                json!(text + "*** End Patch\n")
            }
            Self::List(list) => {
                list.iter().map(|at| json!(WORDS[usize::from(*at) % WORDS.len()])).collect()
            }
        }
    }
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench::new());
}

fuzz_target!(|input: Input<'_>| {
    let (tool, args) = match &input {
        Input::Text(tool, text) => match serde_json::from_str(text) {
            Ok(args) => (*tool, args),
            Err(_) => return,
        },
        Input::Made(tool, made) => {
            let args: Map<_, _> = made
                .iter()
                .map(|(key, value)| {
                    (KEYS[usize::from(*key) % KEYS.len()].to_owned(), value.value())
                })
                .collect();
            (*tool, Value::Object(args))
        }
    };
    // What the caller says itself is not a secret.
    if args.to_string().contains(SECRET) {
        return;
    }
    let tool = Tool::ALL[usize::from(tool) % Tool::ALL.len()];
    BENCH.with_borrow_mut(|bench| {
        let before = bench.fresh();
        let settings =
            SessionSettings { durability: Durability::None, ..SessionSettings::default() };
        let audit = Audit::new(SessionName::cli(), None);
        let tools = Session::new(bench.open(), audit, settings);
        let reply = tools.call(tool.as_str(), &args, &mut ());
        let text = reply.to_json();
        assert!(!text.contains(SECRET), "{tool:?} {args}: {text}");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(answer["ok"], reply.is_ok(), "{text}");
        if let Some(kind) = answer["error"]["kind"].as_str() {
            assert!(ErrorKind::ALL.iter().any(|known| known.as_str() == kind), "{text}");
        }
        bench.check_outside();
        let after = look(&bench.root());
        let may_change =
            !tool.is_read_only() && (reply.is_ok() || reply.class() == Some(FailureClass::Partial));
        assert!(may_change || after == before, "{tool:?} {args} changed something: {text}");
        if after != before {
            bench.changed();
        }
    });
});
