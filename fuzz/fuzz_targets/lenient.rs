//! Lenient reading: what is around a patch is removed and nothing else changes; strict refuses it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch_engine::{Options, Patch, Profile, parse};
use patch_grammar::SectionOperation;

/// What a patch says, without where it says it.
fn meaning(patch: &Patch) -> Vec<String> {
    let mut all = Vec::new();
    for section in patch.sections() {
        all.push(format!("section {:?}", section.path.text));
        match &section.operation {
            SectionOperation::Add(lines) => all.extend(
                lines
                    .lines()
                    .map(|line| line.escape_ascii().to_string())
                    .chain([format!("{}", lines.no_newline)]),
            ),
            SectionOperation::Delete(_) => all.push("delete".into()),
            SectionOperation::Copy { .. } => unreachable!("no envelope has copies"),
            SectionOperation::Update { move_to, hunks } => {
                all.push(format!("to {:?}", move_to.as_ref().map(|to| &to.text)));
                for hunk in hunks {
                    all.push(format!(
                        "hunk {:?} {}",
                        hunk.headers.iter().map(|header| &header.text).collect::<Vec<_>>(),
                        hunk.end_of_file
                    ));
                    all.extend(hunk.lines.iter().map(|line| {
                        format!(
                            "{:?} {} {} {}",
                            line.kind,
                            line.text.escape_ascii(),
                            line.crlf,
                            line.no_newline
                        )
                    }));
                }
            }
        }
    }
    all
}

fuzz_target!(|text: &str| {
    let (strict, codex) = (Options::new(Profile::Strict).parse, Options::new(Profile::Codex).parse);
    let lenient = parse(text, &codex);
    if let Ok(patch) = &lenient {
        for section in patch.sections() {
            assert_eq!(&text[section.path.span.clone()], section.path.text);
            assert!(section.hunks().iter().all(|hunk| text.get(hunk.span.clone()).is_some()));
        }
    }
    let Ok(patch) = parse(text, &strict) else { return };
    let lenient = lenient.expect("lenient takes what strict takes");
    assert_eq!(meaning(&patch), meaning(&lenient));
    for (open, close) in [
        ("<<'EOF'\n", "\nEOF\n"),
        ("<<X\n", "\nX"),
        ("```\n", "\n```\n"),
        ("~~~~diff\n", "\n~~~~"),
        ("```\n<<EOF\n", "\nEOF\n```"),
    ] {
        let wrapped = format!("{open}{text}{close}");
        assert!(parse(&wrapped, &strict).is_err(), "strict takes a wrapper: {wrapped:?}");
        let peeled = parse(&wrapped, &codex).unwrap_or_else(|error| panic!("{wrapped:?}: {error}"));
        assert_eq!(meaning(&patch), meaning(&peeled));
        assert!(
            peeled.warnings.len() > lenient.warnings.len(),
            "it is not said that something was removed"
        );
    }
    for junk in [format!("hello\n{text}"), format!("{text}\nhello\n")] {
        assert!(parse(&junk, &codex).is_err(), "text outside the envelope is taken: {junk:?}");
    }
});
