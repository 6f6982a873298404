//! `search_files` and `glob`.

use serde_json::{Value, json};

use crate::support::Bench;

fn bench() -> Bench {
    Bench::new(&[
        ("src/main.rs", b"fn main() {\r\n    let x = 1;\r\n}\r\n"),
        ("src/lib.rs", "\u{feff}// é fn main\nfn other() {}\n".as_bytes()),
        ("README.md", b"main things\n"),
        ("bin", b"fn main\0"),
        (".env", b"fn main\n"),
        ("secrets/s", b"fn main\n"),
        (".git/x", b"fn main\n"),
        ("node_modules/m.rs", b"fn main\n"),
        ("gen/out.rs", b"fn main\n"),
        ("gen/kept.rs", b"fn main\n"),
        (".gitignore", b"/gen/*\n!kept.rs\n"),
        (".github/w.yml", b"fn main\n"),
    ])
}

fn found(bench: &Bench, args: &Value) -> Vec<String> {
    let data = bench.done("search_files", args);
    let place = |found: &Value| match found["line"].as_u64() {
        Some(line) => format!("{}:{line}:{}", found["path"].as_str().unwrap(), found["column"]),
        None => found["path"].as_str().unwrap().to_owned(),
    };
    data["matches"].as_array().unwrap().iter().map(place).collect()
}

#[test]
fn finds_lines_and_paths_and_nothing_that_is_forbidden() {
    let bench = bench();
    for (args, expected) in [
        (
            json!({ "query": "fn main", "mode": "text" }),
            &[".github/w.yml:1:1", "gen/kept.rs:1:1", "src/lib.rs:1:6", "src/main.rs:1:1"][..],
        ),
        (json!({ "query": "fn .ain\\(", "mode": "regex" }), &["src/main.rs:1:1"]),
        (json!({ "query": "1;$", "mode": "regex" }), &["src/main.rs:2:13"]),
        (json!({ "query": "[}]$", "mode": "regex" }), &["src/lib.rs:2:13", "src/main.rs:3:1"]),
        (
            json!({ "query": "^fn.*$", "mode": "regex", "root": "src" }),
            &["src/lib.rs:2:1", "src/main.rs:1:1"],
        ),
        (
            json!({ "query": r"\A(fn.*[{}]|\})\z", "mode": "regex", "root": "src" }),
            &["src/lib.rs:2:1", "src/main.rs:1:1", "src/main.rs:3:1"],
        ),
        (json!({ "query": "fn .ain(", "mode": "text" }), &[]),
        (json!({ "query": "MAIN", "mode": "text" }), &[]),
        (json!({ "query": "main", "mode": "text", "includeGlobs": ["*.md"] }), &["README.md:1:1"]),
        (
            json!({ "query": "fn", "mode": "text", "includeGlobs": ["gen/*.rs"] }),
            &["gen/kept.rs:1:1", "gen/out.rs:1:1"],
        ),
        (
            json!({ "query": "fn", "mode": "text", "root": "src", "excludeGlobs": ["lib.rs"] }),
            &["src/main.rs:1:1"],
        ),
        (
            json!({ "query": "fn main", "mode": "text", "root": "node_modules" }),
            &["node_modules/m.rs:1:1"],
        ),
        // A model that has to give the argument gives an empty pattern.
        (
            json!({
                "query": "fn m", "mode": "text", "includeGlobs": [""], "excludeGlobs": ["", "gen"],
            }),
            &[".github/w.yml:1:1", "src/lib.rs:1:6", "src/main.rs:1:1"],
        ),
        (json!({ "query": "readme", "mode": "path" }), &["README.md"]),
        (json!({ "query": "src/l", "mode": "path" }), &["src/lib.rs"]),
        (json!({ "query": "env", "mode": "path" }), &[]),
    ] {
        assert_eq!(found(&bench, &args), expected, "{args}");
    }
}

#[test]
fn gives_context_and_cuts_what_is_long() {
    let bench = Bench::new(&[("f", b"1\n2\n3\n4\n"), ("long", "x".repeat(9000).as_bytes())]);
    let data =
        bench.done("search_files", &json!({ "query": "3", "mode": "text", "contextLines": 1 }));
    assert_eq!(data["matches"][0]["preview"], "2\n3\n4");
    let data = bench.done("search_files", &json!({ "query": "x", "mode": "text" }));
    assert!(data["matches"][0]["preview"].as_str().unwrap().len() < 500);
    bench.write("many", "y\n".repeat(200).as_bytes());
    let data = bench.done("search_files", &json!({ "query": "y", "mode": "text" }));
    assert_eq!(data["matches"].as_array().unwrap().len(), 100);
    assert_eq!(&data["truncated"], &json!(true));
    let data =
        bench.done("search_files", &json!({ "query": "y", "mode": "text", "maxResults": 200 }));
    assert_eq!(data["matches"].as_array().unwrap().len(), 200);
    assert_eq!(&data["truncated"], &json!(false));
    bench.write("large", "y\n".repeat((4 << 20) / 2 + 1).as_bytes());
    let data = bench
        .done("search_files", &json!({ "query": "y", "mode": "text", "includeGlobs": ["large"] }));
    assert_eq!(data["matches"], json!([]), "larger than is searched");
}

#[test]
fn text_is_searched_for_unless_the_call_says_otherwise() {
    let bench = Bench::new(&[("a.c", b"x(\n")]);
    for args in [json!({ "query": "x(" }), json!({ "query": "x(", "mode": null })] {
        assert_eq!(bench.done("search_files", &args)["matches"][0]["path"], "a.c", "{args}");
    }
    assert_eq!(bench.done("search_files", &json!({ "query": "a.c" }))["matches"], json!([]));
}

#[test]
fn refuses_what_cannot_be_searched_for() {
    let bench = Bench::new(&[("f", b"")]);
    for (args, kind) in [
        (json!({ "query": "(", "mode": "regex" }), "command_failed"),
        (json!({ "query": "", "mode": "text" }), "command_failed"),
        (json!({ "query": "a\nb", "mode": "text" }), "command_failed"),
        (json!({ "query": "a", "mode": "text", "includeGlobs": ["[" ] }), "command_failed"),
        (json!({ "query": "a", "mode": "text", "root": "none" }), "not_found"),
        (json!({ "query": "a", "mode": "text", "root": "f" }), "not_found"),
        (json!({ "query": "a", "mode": "text", "root": "../" }), "outside_workspace"),
    ] {
        bench.fails("search_files", &args, kind);
    }
    for pattern in ["{a", "", "/", "./", "/f", "../*", "a/../*"] {
        bench.fails("glob", &json!({ "pattern": pattern }), "command_failed");
    }
    let elsewhere = json!({ "pattern": bench.path("*"), "root": "d" });
    bench.write("d/x", b"");
    bench.fails("glob", &elsewhere, "command_failed");
    bench.fails("glob", &json!({ "pattern": "a", "root": "none" }), "not_found");
}

#[test]
fn finds_paths_by_pattern() {
    let bench = bench();
    for (args, expected) in [
        (json!({ "pattern": "*.md" }), &["README.md"][..]),
        (json!({ "pattern": "**/*.rs" }), &["gen/kept.rs", "src/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "src" }), &["src"]),
        (json!({ "pattern": "*.rs", "root": "src" }), &["src/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "**/*.rs", "excludeGlobs": ["lib.rs", "gen"] }), &["src/main.rs"]),
        (json!({ "pattern": "src/*", "excludeGlobs": [""] }), &["src/lib.rs", "src/main.rs"]),
        (json!({ "pattern": "node_modules/*" }), &["node_modules/m.rs"]),
        (json!({ "pattern": ".github/*" }), &[".github/w.yml"]),
        (
            json!({ "pattern": "{.github,node_modules,src/}/*" }),
            &[".github/w.yml", "node_modules/m.rs"],
        ),
        (json!({ "pattern": "{.github/*,src/l*}" }), &[".github/w.yml", "src/lib.rs"]),
        (json!({ "pattern": "**/*{.yml,.md}" }), &["README.md"]),
        (json!({ "pattern": "sr*/" }), &["src"]),
        (json!({ "pattern": "README*/" }), &[]),
        (json!({ "pattern": bench.path("src/*.rs") }), &["src/lib.rs", "src/main.rs"]),
        (
            json!({ "pattern": bench.path("src/*.rs"), "root": "src" }),
            &["src/lib.rs", "src/main.rs"],
        ),
        (json!({ "pattern": "**/.env" }), &[]),
        (json!({ "pattern": "secrets/*" }), &[]),
    ] {
        let data = bench.done("glob", &args);
        let paths: Vec<_> = data["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, expected, "{args}");
    }
    let data = bench.done("glob", &json!({ "pattern": "**/*.rs", "maxResults": 1 }));
    assert_eq!(data["truncated"], true);
    for (pattern, hinted) in [("*.none", true), ("**", false)] {
        let args = json!({ "pattern": pattern, "excludeGlobs": ["*"] });
        let answer = bench.call("glob", &args);
        let told = answer["output"].as_str().unwrap().contains("one directory only");
        assert_eq!(told, hinted, "{answer}");
    }
}
