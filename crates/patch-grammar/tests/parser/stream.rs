//! A patch in chunks gives what the whole text gives, wherever it is cut.

use std::cell::Cell;

use patch_grammar::{
    Dialect, LineKind, ParseErrorKind, ParseOptions, PatchStream, SectionOperation, StreamEvent,
    StreamOperation, decode, parse,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use testutils::holds::holds;
use xtask::Grammar;
use xtask::texts::each_text;

fn options(codex: bool) -> ParseOptions {
    ParseOptions { strip_wrappers: codex, bare_first_hunk: codex, ..ParseOptions::default() }
}

/// Feeds `bytes` in pieces of the lengths that `next` gives.
fn feed(
    bytes: &[u8],
    options: &ParseOptions,
    mut next: impl FnMut() -> usize,
) -> (PatchStream, Vec<StreamEvent>) {
    let mut stream = PatchStream::new(options.clone());
    let mut events = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(next().clamp(1, rest.len()));
        events.extend(stream.push(piece));
        rest = more;
    }
    events.extend(stream.end());
    (stream, events)
}

/// Holds what the stream says against the parser; gives whether it is a patch.
fn check(bytes: &[u8], options: &ParseOptions, next: impl FnMut() -> usize) -> bool {
    let (stream, events) = feed(bytes, options, next);
    let shown = String::from_utf8_lossy(bytes);
    let whole = decode(bytes).and_then(|text| parse(text, options));
    assert_eq!(stream.patch(), whole, "{shown:?}");
    let failures: Vec<_> =
        events.iter().filter(|event| matches!(event, StreamEvent::Failed(_))).collect();
    let patch = match whole {
        Ok(patch) => patch,
        Err(error) => {
            let [StreamEvent::Failed(told)] = failures[..] else {
                panic!("{shown:?}: {failures:?}")
            };
            if told.kind == ParseErrorKind::NoBegin {
                // What follows the line decides only what it is called.
                let around = ["no_begin", "text_before", "wrapped", "not_utf8", "nul"];
                assert!(around.contains(&error.kind.as_str()), "{shown:?}: {error:?}");
                assert!(
                    error.line <= told.line || error.kind.as_str().starts_with('n'),
                    "{shown:?}: {error:?}"
                );
            } else if (&told.kind, told.line) != (&error.kind, error.line) {
                // Of several mistakes the stream tells the first one in a section, and the parser
                // another one. Up to there, and without what stands before the envelope, the text
                // has only the first.
                let lines: Vec<&str> = shown.split_inclusive('\n').collect();
                let begin = lines
                    .iter()
                    .position(|line| line.trim() == "*** Begin Patch")
                    .expect("a section begun");
                let cut = lines[begin..told.line as usize].concat() + "\n*** End Patch\n";
                let first =
                    parse(&cut, options).map_err(|error| (error.kind, error.line + begin as u32));
                assert_eq!(first, Err((told.kind.clone(), told.line)), "{shown:?}: {error:?}");
            }
            if let Some(seen) =
                told.seen.as_ref().filter(|_| !matches!(told.kind.as_str(), "nul" | "not_utf8"))
            {
                let line = shown.split('\n').nth(told.line as usize - 1).unwrap_or_default();
                assert!(line.starts_with(&**seen), "{shown:?}: {told:?}");
            }
            assert!(!events.iter().any(|event| matches!(event, StreamEvent::Ended { .. })));
            return false;
        }
    };
    assert!(failures.is_empty(), "{shown:?}: {failures:?}");
    assert!(matches!(events.last(), Some(StreamEvent::Ended { .. })), "{shown:?}: {events:?}");
    let mut begun = Vec::new();
    let mut finished = Vec::new();
    for event in &events {
        match event {
            StreamEvent::Begun { section, operation, path, move_to, line } => {
                assert_eq!(*section, begun.len(), "{shown:?}");
                begun.push((*operation, path.clone(), move_to.clone(), *line));
            }
            StreamEvent::MoveTo { section, path } => begun[*section].2 = Some(path.clone()),
            StreamEvent::Lines { section, .. } => assert_eq!(*section, finished.len(), "{shown:?}"),
            StreamEvent::Finished { section, inserted, deleted } => {
                assert_eq!(*section, finished.len(), "{shown:?}");
                finished.push((*inserted, *deleted));
            }
            _ => {}
        }
    }
    assert_eq!(begun.len(), patch.sections().len(), "{shown:?}");
    assert_eq!(finished.len(), patch.sections().len(), "{shown:?}");
    for (index, section) in patch.sections().iter().enumerate() {
        assert_eq!(stream.section(index).as_ref(), Some(section), "{shown:?}");
        let (operation, path, move_to, line) = &begun[index];
        assert_eq!(&**path, section.path.text, "{shown:?}");
        assert_eq!(*line, section.line(), "{shown:?}");
        let lines = |kind| {
            section
                .hunks()
                .iter()
                .flat_map(|hunk| &hunk.lines)
                .filter(|line| line.kind == kind)
                .count()
        };
        let (wanted, counts, to) = match &section.operation {
            SectionOperation::Add(added) => {
                (StreamOperation::Add, (added.lines().count(), 0), None)
            }
            SectionOperation::Delete(_) => (StreamOperation::Delete, (0, 0), None),
            SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
            SectionOperation::Update { move_to, .. } => {
                let kind = if *operation == StreamOperation::Move {
                    *operation
                } else {
                    StreamOperation::Update
                };
                (
                    kind,
                    (lines(LineKind::Insert), lines(LineKind::Delete)),
                    move_to.as_ref().map(|to| &*to.text),
                )
            }
        };
        assert_eq!(*operation, wanted, "{shown:?}");
        assert_eq!(finished[index], counts, "{shown:?}");
        assert_eq!(move_to.as_deref(), to, "{shown:?}");
    }
    assert_eq!(stream.section(patch.sections().len()), None);
    true
}

/// The patches of the scenarios, as bytes: some are not text.
fn scenarios() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios");
    let folders = std::fs::read_dir(folder).expect("the scenarios are there");
    let texts = folders
        .filter_map(|entry| std::fs::read(entry.expect("an entry").path().join("patch.txt")).ok());
    texts.collect()
}

/// Holds the stream against the parser, in pieces of these lengths, again and again.
fn check_in_pieces(bytes: &[u8], options: &ParseOptions, lengths: &[usize]) -> bool {
    let mut lengths = lengths.iter().copied().cycle();
    check(bytes, options, || lengths.next().expect("there is one at least"))
}

#[test]
fn scenarios_in_chunks_are_what_they_are_as_a_whole() {
    let (mut texts, mut patches) = (0, 0_u32);
    for bytes in scenarios() {
        for codex in [false, true] {
            patches += u32::from(check_in_pieces(&bytes, &options(codex), &[usize::MAX]));
            check_in_pieces(&bytes, &options(codex), &[1]);
            texts += 1;
        }
    }
    assert!(texts > 100, "{patches} of {texts}");
    assert!(patches > texts / 4, "{patches} of {texts}");
    assert!(patches < texts, "{patches} of {texts}");
    let with_crlf = scenarios()
        .into_iter()
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes());
    let wrapped = scenarios().into_iter().map(|bytes| {
        let padded = String::from_utf8_lossy(&bytes).replace("\n*** End Patch", "\n *** End Patch");
        format!("```\n{padded}\n```\n").into_bytes()
    });
    let all: Vec<_> = scenarios().into_iter().chain(with_crlf).chain(wrapped).collect();
    let lengths =
        prop_oneof![vec(1..=3_usize, 1..60), vec(1..=20_usize, 1..60), vec(1..=200_usize, 1..60)];
    holds(4 * texts, &(select(all), any::<bool>(), lengths), |(bytes, codex, lengths)| {
        check_in_pieces(&bytes, &options(codex), &lengths);
    });
}

#[test]
fn random_texts_in_chunks_are_what_they_are_as_a_whole() {
    let (texts, patches) = (Cell::new(0), Cell::new(0));
    for dialect in Dialect::ALL {
        let language = Grammar::of(dialect).expect("it can be read").language();
        each_text(
            &language,
            3000,
            (any::<bool>(), vec(1..=12_usize, 1..60)),
            |text, (codex, lengths)| {
                let patch = check_in_pieces(text.as_bytes(), &options(codex), &lengths);
                texts.set(texts.get() + 1);
                patches.set(patches.get() + usize::from(patch));
            },
        );
    }
    let (texts, patches) = (texts.get(), patches.get());
    assert!(patches * 5 > texts, "a lopsided sample: {patches} of {texts}");
    assert!(patches * 5 < texts * 4, "a lopsided sample: {patches} of {texts}");
}

#[test]
fn what_is_known_is_told_at_once() {
    let mut stream = PatchStream::new(ParseOptions::default());
    let mut told = |text: &str| {
        let events = stream.push(text.as_bytes());
        events
            .iter()
            .map(|event| match event {
                StreamEvent::Begun { section, operation, path, move_to, line } => {
                    format!("{section} {operation:?} {path} {move_to:?} in line {line}")
                }
                StreamEvent::MoveTo { section, path } => format!("{section} to {path}"),
                StreamEvent::Lines { section, inserted, deleted } => {
                    format!("{section} +{inserted} -{deleted}")
                }
                StreamEvent::Finished { section, inserted, deleted } => {
                    format!("{section} done +{inserted} -{deleted}")
                }
                StreamEvent::Failed(error) => {
                    format!("failed in line {}: {}", error.line, error.kind.as_str())
                }
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    for (text, wanted) in [
        ("*** Begin Patch\n*** Update File: a", &[][..]),
        ("\u{e9}\r\n", &["0 Update a\u{e9} None in line 2"]),
        ("*** Move to: b\n@@\n-1\n+2", &["0 to b", "0 +0 -1"]),
        ("\n+3\n", &["0 +2 -1"]),
        // Context, though it looks like a header.
        (" *** Delete File: x\n", &[]),
        ("*** Move File: c -> d\n", &["0 done +2 -1", "1 Move c Some(\"d\") in line 9"]),
        ("*** Add File: e\n+\n", &["1 done +0 -0", "2 Add e None in line 10", "2 +1 -0"]),
        ("no plus\n", &["failed in line 12: no_plus"]),
        ("*** Delete File: f\n", &[]),
        ("*** End Patch\n", &[]),
    ] {
        assert_eq!(told(text), wanted, "{text:?}");
    }
    assert_eq!(stream.end(), []);
    assert!(stream.patch().is_err());
}

#[test]
fn the_first_line_that_cannot_be_of_a_patch_is_the_last_that_is_waited_for() {
    for (codex, text) in [
        (false, "hello\n"),
        (false, "\n \nhello\n"),
        (false, "```\n"),
        (true, "```diff\nhello\n"),
        (true, "<<EOF\n```\n~~~\n"),
        (false, "*** Begin Patch\n*** Frobnicate File: x\n"),
        (false, "*** Begin Patch\nhello\n"),
        (false, "*** Begin Patch\n*** Delete File: x\nhello\n"),
        (false, "*** Begin Patch\n*** Update File: x\n@@\n+a\nhello\n"),
        (false, "*** Begin Patch\n*** Update File: x\n@@\n+a\n*** Frobnicate File: x\n"),
        (false, "*** Begin Patch\n*** Add File: x\n+a\nhello\n"),
    ] {
        let mut stream = PatchStream::new(options(codex));
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let (last, before) = lines.split_last().expect("there are lines");
        for line in before {
            let events = stream.push(line.as_bytes());
            assert!(
                !events.iter().any(|event| matches!(event, StreamEvent::Failed(_))),
                "{text:?}: {events:?}"
            );
        }
        let events = stream.push(last.as_bytes());
        let [StreamEvent::Failed(error)] = &events[..] else { panic!("{text:?}: {events:?}") };
        assert_eq!(error.line as usize, lines.len(), "{text:?}");
        let whole = parse(text, &options(codex)).expect_err("it is not a patch");
        let kinds = (error.kind.as_str(), whole.kind.as_str());
        assert!(kinds.0 == kinds.1 || whole.line < error.line, "{text:?}: {kinds:?}");
    }
}

/// With a search of the whole line, or of the whole text, for each byte this would take hours.
#[test]
fn a_long_line_in_single_bytes_takes_linear_time() {
    let text =
        format!("*** Begin Patch\n*** Add File: a\n+{}\n*** End Patch\n", "x".repeat(4 << 20));
    let (stream, events) = feed(text.as_bytes(), &ParseOptions::default(), || 1);
    assert!(matches!(events.last(), Some(StreamEvent::Ended { line: 4 })), "{events:?}");
    assert_eq!(stream.patch().map(|patch| patch.sections().len()), Ok(1));
}

#[test]
fn many_sections_in_single_bytes_take_linear_time() {
    let text: String =
        (0..10_000).map(|nth| format!("*** Add File: {nth}\n{}", "+line\n".repeat(20))).collect();
    let text = format!("*** Begin Patch\n{text}*** End Patch\n");
    let (stream, events) = feed(text.as_bytes(), &ParseOptions::default(), || 1);
    assert_eq!(
        events.iter().filter(|event| matches!(event, StreamEvent::Finished { .. })).count(),
        10_000
    );
    assert!((0..10_000).all(|index| stream.section(index).is_some()));
}
