//! Edits that name lines by their tags: they are made on the lines that were printed, or not at
//! all.

use patch_session::line_tags::LineTags;
use patch_session::{Session, SessionSettings};
use serde_json::{Value, json};

use crate::support::{Bench, done, fails, patch, settings, sha};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

/// The name of a line, as it is printed.
fn name(text: &str, number: usize) -> String {
    format!("{number}#{}", LineTags::of(text.as_bytes(), number..=number).tag(number).unwrap())
}

/// Reads a file with tags, and returns the text without them.
fn read(tools: &Session, args: &Value) -> String {
    let mut args = args.clone();
    args["tags"] = json!(true);
    done(tools, "read_file", &args)["content"].as_str().unwrap().to_owned()
}

fn bench(text: &str) -> Bench {
    let bench = Bench::new(&[("f", text.as_bytes())]);
    read(&bench.tools, &json!({ "path": "f" }));
    bench
}

fn edit(edits: Value) -> Value {
    json!({ "path": "f", "edits": edits })
}

/// The lines with tags in the first hint of an error.
fn offered(error: &Value) -> Vec<&str> {
    let hint = &error["hints"][0];
    assert_eq!(hint["hint"], "use_tags", "{error}");
    let lines = hint["lines"].as_array().unwrap().iter();
    let lines: Vec<_> = lines.map(|line| line.as_str().unwrap()).collect();
    let next = error["suggestedNextAction"].as_str().unwrap();
    assert!(lines.iter().all(|line| next.contains(line)), "{next}");
    lines
}

#[test]
fn files_are_printed_with_tags() {
    let bench = Bench::new(&[("f", b"\xef\xbb\xbfa\r\nb\r\n\r\nc")]);
    let text = "a\nb\n\nc";
    let wanted = |numbers: std::ops::RangeInclusive<usize>| {
        let lines = numbers.map(|number| {
            format!("{}|{}", name(text, number), text.lines().nth(number - 1).unwrap())
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let whole = json!({ "path": "f" });
    assert_eq!(read(&bench.tools, &whole), wanted(1..=4));
    let numbers = json!({ "path": "f", "lineNumbers": true });
    assert_eq!(read(&bench.tools, &numbers), wanted(1..=4), "the numbers are there");
    let part = json!({ "path": "f", "startLine": 2, "endLine": 3 });
    assert_eq!(read(&bench.tools, &part), wanted(2..=3) + "\n");
    let search = json!({ "query": "b", "tags": true, "contextLines": 1 });
    assert_eq!(bench.done("search_files", &search)["matches"][0]["preview"], wanted(1..=3));
    let plain = bench.done("read_file", &json!({ "path": "f", "tags": false }));
    assert_eq!(plain["content"], text);
}

/// The parts of an answer that is cut have the tags of the whole file, and each is as long as it
/// may be.
#[test]
fn parts_have_the_tags_of_the_whole() {
    let text: String = (0..400).map(|line| format!("line \"{}\"\n", line % 7)).collect();
    let bench = Bench::new(&[("f", text.as_bytes())]);
    let whole = read(&bench.tools, &json!({ "path": "f" }));
    for bound in ["maxResultBytes", "maxBytes"] {
        let mut all = String::new();
        let mut cursor = json!("");
        loop {
            let args = json!({ "path": "f", "tags": true, bound: 1500, "cursor": cursor });
            let reply = bench.call("read_file", &args);
            assert!(bound == "maxBytes" || reply.to_string().len() <= 1600, "{reply}");
            all += reply["data"]["content"].as_str().unwrap();
            match reply["data"].get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert_eq!(all, whole, "{bound}");
    }
}

#[test]
fn lines_are_replaced_inserted_and_deleted() {
    let two = || name(TEXT, 2);
    let four = || name(TEXT, 4);
    let last = || name(TEXT, 5);
    for (edits, wanted) in [
        (json!([{ "from": two(), "newText": "2" }]), "one\n2\nthree\nfour\nfive\n"),
        (json!([{ "from": two(), "newText": "2\n" }]), "one\n2\nthree\nfour\nfive\n"),
        (json!([{ "from": two(), "newText": "2\n\n" }]), "one\n2\n\nthree\nfour\nfive\n"),
        (json!([{ "from": two(), "newText": "\n" }]), "one\n\nthree\nfour\nfive\n"),
        (json!([{ "from": two(), "to": four(), "newText": "x\r\ny" }]), "one\nx\ny\nfive\n"),
        (json!([{ "from": two(), "to": two(), "newText": "" }]), "one\nthree\nfour\nfive\n"),
        (json!([{ "after": two(), "newText": "x" }]), "one\ntwo\nx\nthree\nfour\nfive\n"),
        (json!([{ "after": last(), "newText": "x" }]), "one\ntwo\nthree\nfour\nfive\nx\n"),
        (json!([{ "after": "0", "newText": "x\ny\n" }]), "x\ny\none\ntwo\nthree\nfour\nfive\n"),
        // The order of the edits means nothing, and all are of the file before the call.
        (
            json!([
                { "from": last(), "newText": "5\n6" },
                { "oldText": "hree", "newText": "HREE" },
                { "after": two(), "newText": "x" },
                { "from": two(), "newText": "2\n2" },
                { "after": "0", "newText": "0" },
            ]),
            "0\none\n2\n2\nx\ntHREE\nfour\n5\n6\n",
        ),
        // As it was printed, and as one that cuts blanks prints it.
        (json!([{ "from": two() + "|two", "newText": "2" }]), "one\n2\nthree\nfour\nfive\n"),
        (
            json!([{ "from": format!(" {}|two \n", two()), "to": four() + "|four", "newText": "x" }]),
            "one\nx\nfive\n",
        ),
    ] {
        let bench = bench(TEXT);
        let data = bench.done("edit_file", &edit(edits.clone()));
        assert_eq!(String::from_utf8(bench.read("f")).unwrap(), wanted, "{edits}");
        assert_eq!(data["appliedEdits"], edits.as_array().unwrap().len());
        assert_eq!(data["beforeSha256"], sha(TEXT.as_bytes()));
        let undo = json!({ "transactionId": data["transactionId"] });
        bench.done("undo", &undo);
        assert_eq!(bench.read("f"), TEXT.as_bytes());
    }
}

#[test]
fn line_ends_are_those_of_the_file() {
    for (text, edits, wanted) in [
        ("a\r\nb\r\n", json!([{ "from": 1, "newText": "x\ny" }]), "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", json!([{ "after": 2, "newText": "x\ny" }]), "a\r\nb\r\nx\r\ny\r\n"),
        ("a\nb\r\nc\n", json!([{ "from": 2, "newText": "x" }]), "a\nx\r\nc\n"),
        ("\u{feff}a\nb\n", json!([{ "from": 1, "newText": "x" }]), "\u{feff}x\nb\n"),
        ("\u{feff}a\nb\n", json!([{ "after": 0, "newText": "x" }]), "\u{feff}x\na\nb\n"),
        // The end of the file stays without a line feed.
        ("a\nb", json!([{ "from": 2, "newText": "x" }]), "a\nx"),
        ("a\nb", json!([{ "from": 2, "newText": "x\ny\n" }]), "a\nx\ny"),
        ("a\nb", json!([{ "after": 2, "newText": "x" }]), "a\nb\nx"),
        ("a\r\nb", json!([{ "after": 2, "newText": "x\n" }]), "a\r\nb\r\nx"),
        ("a\nb", json!([{ "from": 2, "newText": "" }]), "a\n"),
        ("a", json!([{ "after": 1, "newText": "\n" }]), "a\n"),
        ("a", json!([{ "after": 0, "newText": "x" }]), "x\na"),
        ("", json!([{ "after": 0, "newText": "x" }]), "x\n"),
    ] {
        let bench = bench(text);
        let mut edits = edits;
        for field in ["from", "after"] {
            if let Some(number) = edits[0][field].as_u64() {
                let number = usize::try_from(number).unwrap();
                let text = text.trim_start_matches('\u{feff}');
                let named = if number == 0 { "0".into() } else { name(text, number) };
                edits[0][field] = named.into();
            }
        }
        bench.done("edit_file", &edit(edits.clone()));
        let now = String::from_utf8(bench.read("f")).unwrap();
        assert_eq!(now, wanted, "{text:?} {edits}");
    }
}

#[test]
fn names_that_do_not_fit_change_nothing() {
    let two = || name(TEXT, 2);
    let four = || name(TEXT, 4);
    let (kind, bad) = ("command_failed", "bad_tag");
    let (none, not_found) = ("old_text_not_found", "tag_not_found");
    let other = TEXT.replace("two", "2");
    let huge = format!("{}#zz", usize::MAX);
    for (edits, kind, reason, words) in [
        (json!([{ "from": "two", "newText": "" }]), kind, bad, "two is not a number and a tag"),
        (json!([{ "from": "2#", "newText": "" }]), kind, bad, "is not a number and a tag"),
        (json!([{ "from": "2", "newText": "" }]), kind, bad, "line 2 without its tag"),
        (json!([{ "from": "0", "newText": "" }]), kind, bad, "counted from 1"),
        (
            json!([{ "from": four(), "to": two(), "newText": "" }]),
            kind,
            bad,
            "`to` is above `from`",
        ),
        (json!([{ "to": two(), "newText": "" }]), kind, bad, "`from` the first"),
        (json!([{ "from": two(), "after": two(), "newText": "" }]), kind, bad, "replaces no lines"),
        (json!([{ "after": two(), "to": four(), "newText": "" }]), kind, bad, "replaces no lines"),
        (
            json!([{ "from": two(), "oldText": "two", "newText": "" }]),
            kind,
            bad,
            "`oldText` says nothing",
        ),
        (
            json!([{ "from": two(), "replaceAll": true, "newText": "" }]),
            kind,
            bad,
            "`replaceAll` says",
        ),
        (
            json!([{ "from": two(), "expectedOccurrences": 2, "newText": "" }]),
            kind,
            bad,
            "`expectedOccurrences` says",
        ),
        (json!([{ "from": "2#zz", "newText": "" }]), none, not_found, "does not have the tag zz"),
        (
            json!([{ "from": format!("2#{}", &name(TEXT, 3)[2..]), "newText": "" }]),
            none,
            not_found,
            "line 2 does not have the tag",
        ),
        (json!([{ "from": name(&other, 2), "newText": "" }]), none, not_found, "does not have"),
        (json!([{ "from": "6#zz", "newText": "" }]), none, not_found, "not printed"),
        (json!([{ "after": "0#zz", "newText": "x" }]), none, not_found, "line 0 has no tag"),
        (json!([{ "from": huge, "newText": "" }]), none, not_found, "not printed"),
        (json!([{ "after": huge, "newText": "x" }]), none, not_found, "not printed"),
        (json!([{ "from": two(), "to": huge, "newText": "" }]), none, not_found, "not all printed"),
        (json!([{ "from": format!("9{huge}"), "newText": "" }]), kind, bad, "is not a number"),
        (
            json!([{ "from": "2#".to_owned() + &"z".repeat(9999), "newText": "" }]),
            none,
            not_found,
            "z",
        ),
        (json!([{ "from": "2\u{0}#zz", "newText": "" }]), kind, bad, "is not a number and a tag"),
        (json!([{ "from": "\u{662}#zz", "newText": "" }]), kind, bad, "is not a number and a tag"),
        (
            json!([{ "from": two() + "|twos", "newText": "" }]),
            none,
            not_found,
            "has another text than `from`",
        ),
        (json!([{ "from": two(), "newText": "two" }]), kind, "no_change", "changes nothing"),
        (json!([{ "after": two(), "newText": "" }]), kind, "no_change", "changes nothing"),
        (json!([{ "newText": "x" }]), kind, "empty_old_text", "oldText of edit 1 is empty"),
    ] {
        let bench = bench(TEXT);
        let error = bench.fails("edit_file", &edit(edits.clone()), kind);
        assert_eq!(error["details"]["reason"], reason, "{edits}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{edits}: {message}");
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
        assert!(error.to_string().len() < 4000, "{error}");
        assert_eq!(bench.read("f"), TEXT.as_bytes());
    }
}

#[test]
fn edits_of_the_same_lines_are_refused() {
    let at = |number| name(TEXT, number);
    for (edits, wanted) in [
        (json!([{ "from": at(2), "newText": "x" }, { "from": at(2), "newText": "y" }]), [0, 1]),
        (
            json!([{ "from": at(2), "to": at(4), "newText": "x" }, { "from": at(4), "newText": "" }]),
            [0, 1],
        ),
        (
            json!([{ "after": at(3), "newText": "x" }, { "from": at(2), "to": at(4), "newText": "" }]),
            [0, 1],
        ),
        // Nothing says which of them comes first.
        (json!([{ "after": at(2), "newText": "x" }, { "after": at(2), "newText": "y" }]), [0, 1]),
        (
            json!([{ "oldText": "wo\nth", "newText": "x" }, { "after": at(2), "newText": "y" }]),
            [0, 1],
        ),
    ] {
        let bench = bench(TEXT);
        let error = bench.fails("edit_file", &edit(edits), "overlapping_edits");
        assert_eq!(error["details"]["conflictingEditIndices"], json!(wanted));
        assert_eq!(bench.read("f"), TEXT.as_bytes());
    }
    // The last line gets a line feed for what follows it, and so cannot go.
    let bench = bench("a\nb");
    let last = name("a\nb", 2);
    let both = json!([{ "from": last, "newText": "" }, { "after": last, "newText": "x" }]);
    bench.fails("edit_file", &edit(both), "overlapping_edits");
}

#[test]
fn an_edit_goes_where_the_lines_are_now() {
    let bench = bench(TEXT);
    bench.write("f", format!("zero\n{TEXT}six\n").as_bytes());
    let edits = json!([
        { "from": name(TEXT, 2), "to": name(TEXT, 3), "newText": "2\n3" },
        { "after": name(TEXT, 4), "newText": "x" },
    ]);
    let data = bench.done("edit_file", &edit(edits));
    assert_eq!(bench.read("f"), b"zero\none\n2\n3\nfour\nx\nfive\nsix\n");
    assert_eq!(data["carried"].as_array().unwrap().len(), 2, "{data}");
    // Nothing is carried against the caller's will.
    let bench = self::bench(TEXT);
    bench.write("f", format!("zero\n{TEXT}").as_bytes());
    let mut args = edit(json!([{ "from": name(TEXT, 2), "newText": "2" }]));
    args["carry"] = json!(false);
    bench.fails("edit_file", &args, "stale_file");
}

/// A caller goes on with the tags that it has after its own edits, with or without the hash of
/// the answer.
#[test]
fn tags_last_over_edits_of_the_same_session() {
    let bench = bench(TEXT);
    let first = bench.done("edit_file", &edit(json!([{ "after": "0", "newText": "a\nb" }])));
    bench.done("edit_file", &edit(json!([{ "from": name(TEXT, 2), "newText": "2" }])));
    let now = b"a\nb\none\n2\nthree\nfour\nfive\n";
    assert_eq!(bench.read("f"), now);
    let mut args = edit(json!([{ "from": name(TEXT, 5), "newText": "5" }]));
    args["expectedSha256"] = sha(now).into();
    bench.done("edit_file", &args);
    assert_eq!(bench.read("f"), b"a\nb\none\n2\nthree\nfour\n5\n");
    // Another hash is of a version that is neither the present one nor that of the tags.
    args["expectedSha256"] = first["afterSha256"].clone();
    bench.fails("edit_file", &args, "stale_file");
    // The session knows all of the file, and so may replace texts of each edit.
    for text in ["a\n", "2\n", "5\n"] {
        bench.done("edit_file", &edit(json!([{ "oldText": text, "newText": "" }])));
    }
    assert_eq!(bench.read("f"), b"b\none\nthree\nfour\n");
}

/// A changed line is refused with the tags of its surroundings, and they do.
#[test]
fn lines_that_changed_are_refused_with_their_new_tags() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    for (now, at) in [
        // Changed, and moved by three lines.
        (format!("a\nb\nc\n{}", text.replace("line 20\n", "line twenty\n")), 23),
        // A neighbour changed.
        (text.replace("line 21\n", "line 21 \n"), 20),
        // A line between, and one within.
        (text.replace("line 20\n", "line 20\nnew\n"), 20),
        (text.replace("line 20\n", "line 20\nline 20\n"), 20),
        // Gone.
        (text.replace("line 20\n", ""), 20),
    ] {
        let bench = bench(&text);
        bench.write("f", now.as_bytes());
        let args = edit(json!([{ "from": name(&text, 20), "newText": "XX" }]));
        let error = bench.fails("edit_file", &args, "stale_file");
        assert_eq!(bench.read("f"), now.as_bytes());
        let offered = offered(&error);
        assert!(offered.len() <= 8, "{offered:?}");
        let line = now.lines().nth(at - 1).unwrap();
        let wanted = format!("{}|{line}", name(&now, at));
        assert!(offered.contains(&&*wanted), "{wanted}: {offered:?}");
        bench.done("edit_file", &edit(json!([{ "from": wanted, "newText": "XX" }])));
        let lines: Vec<_> = now.lines().enumerate().collect();
        let lines = lines.into_iter().map(|(nth, line)| if nth + 1 == at { "XX" } else { line });
        let wanted = lines.map(|line| line.to_owned() + "\n").collect::<String>();
        assert_eq!(String::from_utf8(bench.read("f")).unwrap(), wanted);
    }
}

/// The tags of the lines of all edits are offered, so that the call can be made again with them.
#[test]
fn the_new_tags_of_all_edits_are_offered() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let now = format!("new\n{}", text.replace("line 30\n", "changed\n"));
    let bench = bench(&text);
    bench.write("f", now.as_bytes());
    let edits = |names: [String; 2]| {
        let [one, other] = names;
        edit(json!([{ "from": one, "newText": "a" }, { "from": other, "newText": "b" }]))
    };
    let error = bench.fails("edit_file", &edits([10, 30].map(|at| name(&text, at))), "stale_file");
    let offered = offered(&error);
    for at in [11, 31] {
        let name = name(&now, at) + "|";
        assert!(offered.iter().any(|line| line.starts_with(&name)), "{name}: {offered:?}");
    }
    // One of them alone is of another version than the rest.
    let mixed = [name(&text, 25), name(&now, 31)];
    let error = bench.fails("edit_file", &edits(mixed), "stale_file");
    assert!(error["message"].as_str().unwrap().contains("different versions"), "{error}");
    bench.done("edit_file", &edits([11, 31].map(|at| name(&now, at))));
}

/// Of equal lines, another one was deleted: that is not the wanted change, though it looks the same.
#[test]
fn a_line_is_not_deleted_twice_without_effect() {
    let text = "a\n\n\n\nb\n";
    let bench = bench(text);
    bench.done("edit_file", &edit(json!([{ "from": name(text, 2), "newText": "" }])));
    let args = edit(json!([{ "from": name(text, 3), "newText": "" }]));
    let error = bench.fails("edit_file", &args, "stale_file");
    let offered = offered(&error);
    let line = offered.iter().find(|line| line.starts_with("2#")).unwrap();
    bench.done("edit_file", &edit(json!([{ "from": line, "newText": "" }])));
    assert_eq!(bench.read("f"), b"a\n\nb\n");
}

/// Equal lines have different tags, and a number means the version in which it was printed last.
#[test]
fn equal_lines_are_not_taken_for_each_other() {
    let text = "{\n  1\n},\n".repeat(30);
    let bench = bench(&text);
    let insert = edit(json!([{ "after": "0", "newText": "{\n  1\n}," }]));
    bench.done("edit_file", &insert);
    // The line of this number looks the same now, but is another one.
    let args = edit(json!([{ "from": name(&text, 44), "newText": "  X" }]));
    bench.fails("edit_file", &args, "stale_file");
    // Once it is printed again, it is meant.
    read(&bench.tools, &json!({ "path": "f", "startLine": 40, "endLine": 50 }));
    let now = String::from_utf8(bench.read("f")).unwrap();
    bench.done("edit_file", &edit(json!([{ "from": name(&now, 44), "newText": "  X" }])));
    let now = String::from_utf8(bench.read("f")).unwrap();
    assert_eq!(now.lines().position(|line| line == "  X"), Some(43));
}

#[test]
fn only_lines_that_were_printed_are_replaced() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let bench = Bench::new(&[("f", text.as_bytes()), ("long", "x".repeat(500).as_bytes())]);
    let five = edit(json!([{ "from": name(&text, 5), "newText": "5" }]));
    // Nothing was read.
    let error = bench.fails("edit_file", &five, "command_failed");
    assert_eq!(error["details"]["reason"], "unread");
    // It was read, but without tags.
    bench.done("read_file", &json!({ "path": "f" }));
    let error = bench.fails("edit_file", &five, "old_text_not_found");
    assert!(error["message"].as_str().unwrap().contains("line 5 was not printed with tags"));
    assert!(offered(&error).contains(&&*(name(&text, 5) + "|line 5")));
    bench.done("edit_file", &five);
    let now = text.replace("line 5\n", "5\n");
    // A search prints lines too, but not those between.
    let search = json!({ "query": "line 2", "tags": true, "includeGlobs": ["f"] });
    bench.done("search_files", &search);
    let to = |first, last| {
        edit(json!([{ "from": name(&now, first), "to": name(&now, last), "newText": "x" }]))
    };
    bench.fails("edit_file", &to(2, 20), "old_text_not_found");
    bench.done("edit_file", &to(20, 29));
    // A line that is cut is not known.
    bench.done("search_files", &json!({ "query": "xxx", "tags": true, "includeGlobs": ["long"] }));
    let long = "x".repeat(500);
    let args = json!({ "path": "long", "edits": [{ "from": name(&long, 1), "newText": "" }] });
    bench.fails("edit_file", &args, "command_failed");
}

/// A hash serves a caller whose process remembers nothing.
#[test]
fn a_hash_names_the_version_where_nothing_is_remembered() {
    let bench = bench(TEXT);
    let other = bench.with(settings());
    let mut args = edit(json!([{ "from": name(TEXT, 2), "newText": "2" }]));
    args["expectedSha256"] = sha(TEXT.as_bytes()).into();
    let mut wrong = args.clone();
    wrong["edits"][0]["from"] = "2#zz".into();
    fails(&other, "edit_file", &wrong, "old_text_not_found");
    let other = bench.with(settings());
    let changed = format!("zero\n{TEXT}");
    bench.write("f", changed.as_bytes());
    done(&other, "edit_file", &args);
    assert_eq!(bench.read("f"), b"zero\none\n2\nthree\nfour\nfive\n");
    // Without the bytes of that version nothing is carried.
    let without = SessionSettings { max_snapshots: 0, ..settings() };
    let bench = Bench::new(&[("f", TEXT.as_bytes())]);
    let other = bench.with(without);
    read(&other, &json!({ "path": "f" }));
    bench.write("f", changed.as_bytes());
    let error = fails(&other, "edit_file", &args, "stale_file");
    offered(&error);
}

/// A session is taken up by another process.
#[test]
fn tags_are_remembered_with_the_session() {
    let bench = Bench::new(&[("f", TEXT.as_bytes())]);
    let tools = bench.resume("kept");
    read(&tools, &json!({ "path": "f", "startLine": 1, "endLine": 3 }));
    bench.write("f", format!("zero\n{TEXT}").as_bytes());
    let tools = bench.resume("kept");
    let four = edit(json!([{ "from": name(TEXT, 4), "newText": "4" }]));
    // The error prints other lines with these numbers, but no other line with this name.
    fails(&tools, "edit_file", &four, "old_text_not_found");
    done(&tools, "edit_file", &edit(json!([{ "from": name(TEXT, 2), "newText": "2" }])));
    assert_eq!(bench.read("f"), b"zero\none\n2\nthree\nfour\nfive\n");
}

#[test]
fn tags_are_not_written_into_files() {
    let tagged = name(TEXT, 2) + "|deux";
    for edits in [
        json!([{ "from": name(TEXT, 2), "newText": tagged }]),
        json!([{ "from": name(TEXT, 2), "newText": format!("first\n{tagged}\n") }]),
        // Made up for a new line.
        json!([{ "after": name(TEXT, 2), "newText": "3#bb|deux" }]),
        json!([{ "oldText": "two", "newText": tagged }]),
    ] {
        let bench = bench(TEXT);
        let error = bench.fails("edit_file", &edit(edits.clone()), "command_failed");
        assert_eq!(error["details"]["reason"], "tags_in_text", "{error}");
        assert_eq!(bench.read("f"), TEXT.as_bytes());
        // The hint is the text without them.
        let change = &error["hints"][0];
        let mut edits = edits;
        edits[0]["newText"] = change["value"].clone();
        bench.done("edit_file", &edit(edits));
        let now = String::from_utf8(bench.read("f")).unwrap();
        assert!(now.contains("deux") && !now.contains('#'), "{now}");
    }
    // A whole file, copied from what was printed.
    let bench = bench(TEXT);
    let whole = json!({ "path": "f", "content": format!("{tagged}\n") });
    let error = bench.fails("write_file", &whole, "command_failed");
    assert_eq!(error["details"]["reason"], "tags_in_text", "{error}");
    let copied = TEXT.lines().enumerate();
    let copied = copied.map(|(nth, line)| format!("{}|{line}\n", name(TEXT, nth + 1)));
    let new = json!({ "path": "new", "content": copied.collect::<String>() });
    let error = bench.fails("create_file", &new, "command_failed");
    assert_eq!(error["hints"][0]["value"], TEXT, "{error}");
    let mut new = new;
    new["expectedSha256"] = "".into();
    bench.fails("write_file", &new, "command_failed");
    assert!(!bench.exists("new"));
    // A new page that has an example in it is not a copy.
    let page = json!({ "path": "page", "content": format!("For example:\n{tagged}\n") });
    bench.done("create_file", &page);
    // A file that has such lines may get more, and so may one that was not printed with tags.
    let page = "2#bb|an example\n";
    let bench = self::bench(page);
    let args = edit(json!([{ "after": name(page, 1), "newText": "3#bb|another" }]));
    bench.done("edit_file", &args);
    let bench = Bench::new(&[("f", TEXT.as_bytes())]);
    bench.done("read_file", &json!({ "path": "f" }));
    bench.done("edit_file", &edit(json!([{ "oldText": "two", "newText": tagged }])));
}

/// An old text that was copied with its tags is found without them.
#[test]
fn an_old_text_with_tags_is_answered_with_the_text() {
    let bench = bench(TEXT);
    let old = format!("{}|two\n{}|three", name(TEXT, 2), name(TEXT, 3));
    let args = edit(json!([{ "oldText": old, "newText": "2" }]));
    let error = bench.fails("edit_file", &args, "old_text_not_found");
    let hint = &error["hints"][0]["arguments"][0];
    assert_eq!(hint["value"], "two\nthree", "{error}");
}

/// An engine that holds a model to the schema allows the lines that can be named, and no others.
#[test]
fn the_schema_for_a_file_has_the_lines_that_were_printed() {
    let text: String = (1..=9).map(|line| format!("line {line}\n")).collect();
    let fields = |tools: &Session| {
        let info = file_tools::ToolInfo::for_printed(tools, "f").unwrap();
        let properties = info.input_schema["properties"].clone();
        assert_eq!(properties["path"]["enum"], json!(["f"]));
        let fields = properties["edits"]["items"]["properties"].clone();
        assert_eq!(fields["to"]["enum"], fields["from"]["enum"]);
        ["from", "after"].map(|field| {
            let names = fields[field]["enum"].as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        })
    };
    let bench = Bench::new(&[("f", text.as_bytes())]);
    assert_eq!(fields(&bench.tools), [[""], [""]]);
    read(&bench.tools, &json!({ "path": "f", "startLine": 1, "endLine": 3 }));
    let now = format!("new\n{text}");
    bench.write("f", now.as_bytes());
    read(&bench.tools, &json!({ "path": "f", "startLine": 8, "endLine": 9 }));
    let printed = [1, 2, 3].map(|at| name(&text, at)).into_iter();
    let printed: Vec<_> = printed.chain([8, 9].map(|at| name(&now, at))).collect();
    let [from, after] = fields(&bench.tools);
    assert_eq!(from, [&["".to_owned()][..], &printed].concat());
    assert_eq!(after, [&["".to_owned(), "0".to_owned()][..], &printed].concat());
    // Each of them can be given, and another cannot.
    for name in &printed {
        let edit = edit(json!([{ "from": name, "newText": "X" }]));
        // The neighbour of the first line is new.
        let reply = bench.call("edit_file", &edit);
        assert!(reply["ok"] == true || reply["error"]["kind"] == "stale_file", "{reply}");
        bench.write("f", now.as_bytes());
    }
    let other = edit(json!([{ "from": name(&text, 5), "newText": "X" }]));
    bench.fails("edit_file", &other, "old_text_not_found");
    assert!(file_tools::ToolInfo::for_printed(&bench.tools, "none").is_err());
}

/// Tags are made of the text as it is shown, and so is the new text; the file stays as it is stored.
#[test]
fn files_in_other_encodings_are_edited_by_tags() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let text = "één\r\ntwo\r\nthree\r\n";
    let stored = utf16(&format!("\u{feff}{text}"));
    let bench = Bench::new(&[("f", &stored)]);
    read(&bench.tools, &json!({ "path": "f" }));
    let args = edit(json!([{ "from": name(text, 2), "newText": "zwéi\nx" }]));
    bench.done("edit_file", &args);
    let now = "\u{feff}één\r\nzwéi\r\nx\r\nthree\r\n";
    assert_eq!(bench.read("f"), utf16(now));
    // They are not carried.
    let three = edit(json!([{ "from": name(text, 3), "newText": "3" }]));
    let error = bench.fails("edit_file", &three, "stale_file");
    offered(&error);
    assert_eq!(bench.read("f"), utf16(now));
    // Bytes that are no UTF-8 are shown as U+FFFD; a line of them can be replaced.
    let bench = Bench::new(&[("f", b"caf\xe9\nx\n")]);
    let shown = read(&bench.tools, &json!({ "path": "f" }));
    let line = shown.lines().next().unwrap();
    assert!(line.ends_with("|caf\u{fffd}"), "{line}");
    bench.fails(
        "edit_file",
        &edit(json!([{ "from": line, "newText": "café" }])),
        "patch_apply_error",
    );
    bench.done("edit_file", &edit(json!([{ "from": line, "newText": "cafe" }])));
    assert_eq!(bench.read("f"), b"cafe\nx\n");
    // A link leads to a file, and its tags to the same.
    let bench = Bench::new(&[("d/f", TEXT.as_bytes())]);
    std::os::unix::fs::symlink("d/f", bench.path("link")).unwrap();
    let shown = read(&bench.tools, &json!({ "path": "link" }));
    let line = shown.lines().nth(1).unwrap();
    let args = json!({ "path": "d/f", "edits": [{ "from": line, "newText": "2" }] });
    bench.done("edit_file", &args);
    assert_eq!(bench.read("d/f"), TEXT.replace("two", "2").as_bytes());
}

/// The audit log and the answers have such an edit as any other, and a call with `diff` shows it.
#[test]
fn an_edit_by_tags_is_told_as_every_edit() {
    let bench = bench(TEXT);
    let mut args = edit(json!([{ "from": name(TEXT, 2), "to": name(TEXT, 3), "newText": "x" }]));
    args["diff"] = json!("stat");
    let data = bench.done("edit_file", &args);
    assert_eq!(data["diff"], "+1 -2");
    assert_eq!(data["replacements"], 1);
    // A patch that was copied from what was printed is read without the tags.
    let body = "*** Update File: f\n@@\n 1#bb|one\n-2#kz|x\n+2#kz|y\n";
    let done = bench.done("apply_patch", &json!({ "patch": patch(body) }));
    assert!(done["notes"][0].as_str().unwrap().contains("left out the line numbers"), "{done}");
    assert_eq!(bench.read("f"), b"one\ny\nfour\nfive\n");
}
