//! Any bytes: the parser never panics, its spans are within the text, and what the exported
//! grammars take it takes too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch_grammar::{Dialect, ParseOptions, decode, parse, recognizes};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes) else { return };
    let strict = ParseOptions::default();
    let lenient = ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..strict.clone() };
    let parsed = parse(text, &strict);
    match &parsed {
        Ok(patch) => {
            assert!(parse(text, &lenient).is_ok(), "strict takes what lenient refuses");
            let lines = text.lines().count() as u32;
            for section in patch.sections() {
                assert_eq!(&text[section.path.span.clone()], section.path.text);
                assert!(section.line() >= 1);
                assert!(section.line() <= lines);
                for hunk in section.hunks() {
                    assert!(!hunk.lines.is_empty());
                    assert!(hunk.separators <= hunk.lines.len());
                    assert!(text.get(hunk.span.clone()).is_some());
                    for line in &hunk.lines {
                        let written = text
                            .split('\n')
                            .nth(line.line as usize - 1)
                            .expect("a line of the text");
                        assert!(
                            matches!(written, "" | "\r")
                                || written.as_bytes()[1..].starts_with(line.text)
                        );
                    }
                }
            }
        }
        Err(error) => {
            assert!(!error.expected.is_empty());
            assert!(!error.to_string().is_empty());
            assert!(text.get(error.span.clone()).is_some());
        }
    }
    for dialect in Dialect::ALL {
        if recognizes(dialect, text) {
            assert!(parsed.is_ok(), "{dialect:?} takes what the parser refuses");
        }
    }
});
