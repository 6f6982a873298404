//! The byte rules: terminators, byte-order marks, final line feeds, encodings. One table.

use patch_engine::{FinalNewline, Options, Profile, RejectReason, edit, parse};
use patch_grammar::{Hunk, LineEndings};

fn apply(profile: Profile, file: &[u8], body: &str) -> Result<Vec<u8>, &'static str> {
    apply_as(profile, file, body, None)
}

/// The same with another meaning of the terminators.
fn apply_as(
    profile: Profile,
    file: &[u8],
    body: &str,
    endings: Option<LineEndings>,
) -> Result<Vec<u8>, &'static str> {
    let options = Options::new(profile);
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let patch = parse(&text, &options.parse).expect("it parses");
    let mut hunks: Vec<Hunk<'_>> = patch.sections()[0].hunks().to_vec();
    hunks.iter_mut().for_each(|hunk| hunk.endings = endings.unwrap_or(hunk.endings));
    match edit(file, &hunks, &options.placement, options.final_newline) {
        Ok(edit) => Ok(edit.apply(file)),
        Err(rejects) => Err(rejects[0].reason.as_str()),
    }
}

#[test]
fn bytes_that_no_hunk_touches_stay_and_new_ones_look_like_their_neighbours() {
    const BOTH: [Profile; 2] = [Profile::Strict, Profile::Codex];
    for (file, body, wanted) in [
        // CRLF, also through a patch that has LF.
        (&b"a\r\nb\r\n"[..], "@@\n-a\n+c\n", Ok(&b"c\r\nb\r\n"[..])),
        (b"a\r\nb\r\n", "@@\n a\n+c\n b\n", Ok(b"a\r\nc\r\nb\r\n")),
        // Mixed: the replaced line's own, or the line above.
        (b"a\r\nb\nc\r\n", "@@\n-b\n+x\n+y\n", Ok(b"a\r\nx\ny\nc\r\n")),
        (b"a\r\nb\nc\r\n", "@@\n-a\n-b\n+x\n+y\n+z\n", Ok(b"x\r\ny\nz\nc\r\n")),
        (b"a\r\nb\nc\r\n", "@@\n a\n+x\n b\n", Ok(b"a\r\nx\r\nb\nc\r\n")),
        (b"a\r\nb\n", "@@\n+x\n a\n", Ok(b"x\r\na\r\nb\n")),
        // A lone CR is content.
        (b"a\rb\nc\n", "@@\n-c\n+d\n", Ok(b"a\rb\nd\n")),
        (b"a\rb\nc\n", "@@\n-a\rb\n+x\ry\n", Ok(b"x\ry\nc\n")),
        (b"a\rb\rc", "@@\n-b\n+x\n", Err("context_not_found")),
        // Byte-order mark.
        (b"\xef\xbb\xbfa\nb\n", "@@\n-a\n+c\n", Ok(b"\xef\xbb\xbfc\nb\n")),
        (b"\xef\xbb\xbfa\nb\n", "@@\n+c\n a\n", Ok(b"\xef\xbb\xbfc\na\nb\n")),
        (b"\xef\xbb\xbfa\nb\n", "@@\n-\u{feff}a\n+\u{feff}c\n", Ok(b"\xef\xbb\xbfc\nb\n")),
        (b"\xef\xbb\xbfa\nb\n", "@@\n-\u{feff}a\n+a\n", Ok(b"a\nb\n")),
        (b"a\nb\n", "@@\n-a\n+\u{feff}a\n", Ok(b"\xef\xbb\xbfa\nb\n")),
        (b"\xef\xbb\xbfa\nb\n", "@@\n \u{feff}a\n-b\n", Ok(b"\xef\xbb\xbfa\n")),
        (b"a\n\xef\xbb\xbfb\n", "@@\n-\u{feff}b\n+c\n", Ok(b"a\nc\n")),
        // Bytes that are not UTF-8.
        (b"a\xff\nb\n", "@@\n-b\n+c\n", Ok(b"a\xff\nc\n")),
        (b"a\xff\nb\n", "@@\n-b\n+\u{e9}\n", Err("encoding")),
        ("\u{e9}\nb\n".as_bytes(), "@@\n-b\n+\u{e8}\n", Ok("\u{e9}\n\u{e8}\n".as_bytes())),
        // No final line feed: untouched last lines stay as they are.
        (b"a\nb", "@@\n-a\n+c\n", Ok(b"c\nb")),
        (b"a\nb", "@@\n a\n-b\n", Ok(b"a\n")),
        (b"a\r\nb", "@@\n+c\n b\n", Ok(b"a\r\nc\r\nb")),
        // Markers say what they say.
        (b"a\nb", "@@\n-b\n\\ No newline at end of file\n+c\n", Ok(b"a\nc\n")),
        (
            b"a\nb",
            "@@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            Ok(b"a\nc"),
        ),
        (b"a\nb\n", "@@\n-b\n+c\n\\ No newline at end of file\n", Ok(b"a\nc")),
        (b"a\nb\n", "@@\n-a\n+c\n\\ No newline at end of file\n", Err("final_newline")),
        (b"a\nb\n", "@@\n-b\n\\ No newline at end of file\n+c\n", Err("final_newline")),
        (b"a\nb", "@@\n a\n b\n\\ No newline at end of file\n+c\n", Ok(b"a\nb\nc\n")),
        (
            b"b\na\nb",
            "@@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            Ok(b"b\na\nc"),
        ),
        // Empty files and files without lines.
        (b"", "@@\n+a\n+b\n", Ok(b"a\nb\n")),
        (b"\xef\xbb\xbf", "@@\n+a\n", Ok(b"\xef\xbb\xbfa\n")),
        (b"a\n", "@@\n-a\n", Ok(b"")),
        (b"\n", "@@\n-\n+a\n", Ok(b"a\n")),
        (b"\r\n\r\n", "@@\n \n+a\n \n", Ok(b"\r\na\r\n\r\n")),
    ] {
        for profile in BOTH {
            let found = apply(profile, file, body);
            assert_eq!(
                found.as_deref(),
                wanted.as_ref().map(|bytes| &bytes[..]),
                "{profile} {file:?} {body:?}"
            );
        }
    }
}

#[test]
fn a_carriage_return_of_the_patch_is_meant_for_the_file() {
    const NOT_FOUND: Result<&[u8], &str> = Err("context_not_found");
    for (file, body, strict, codex) in [
        // Terminators alone.
        (&b"x\r\ny\n"[..], "@@\n-x\r\n+x\n", Ok(&b"x\ny\n"[..]), None),
        (b"x\ny\n", "@@\n-x\n+x\r\n", Ok(b"x\r\ny\n"), None),
        (b"x\r\ny\r\n", "@@\n x\n-y\n+y\n", Ok(b"x\r\ny\r\n"), None),
        // An inserted line ends as shown, where an old line shows a CR.
        (b"x\r\ny\r\n", "@@\n x\r\n+z\n y\n", Ok(b"x\r\nz\ny\r\n"), None),
        (b"x\r\ny\r\n", "@@\n x\n+z\r\n y\n", Ok(b"x\r\nz\r\ny\r\n"), None),
        (b"x\ny\n", "@@\n x\n+z\r\n y\n", Ok(b"x\nz\r\ny\n"), None),
        // An old line with a CR is a line that ends in CRLF; the pass for trailing blanks takes
        // either. Where all old lines of a hunk have one and no matched line does, the hunk was
        // written with CRLF throughout: the file keeps its line ends.
        (b"x\ny\n", "@@\n-x\r\n+z\r\n", NOT_FOUND, Some(Ok(&b"z\ny\n"[..]))),
        (
            b"a\nb\nc\n",
            "@@\n a\r\n-b\r\n+B\r\n+D\r\n c\r\n",
            NOT_FOUND,
            Some(Ok(&b"a\nB\nD\nc\n"[..])),
        ),
        // One that has none of it is meant.
        (b"a\nb\nc\n", "@@\n a\n-b\n+B\r\n c\n", Ok(b"a\nB\r\nc\n"), None),
        (b"a\nb\nc\n", "@@\n a\r\n-b\n+B\r\n", NOT_FOUND, Some(Ok(&b"a\nB\r\nc\n"[..]))),
        (b"x\nx\r\nx\n", "@@\n-x\r\n+z\r\n", Ok(b"x\nz\r\nx\n"), None),
        (
            b"a\nx\r\na\r\nx\r\na\nx\n",
            "@@\n a\r\n-x\n+z\r\n",
            Ok(b"a\nx\r\na\r\nz\r\na\nx\n"),
            None,
        ),
        // What an earlier hunk inserted counts as well.
        (b"x\ny\n", "@@\n x\n+z\r\n y\n@@\n z\r\n+w\r\n", Ok(b"x\nz\r\nw\r\ny\n"), Some(NOT_FOUND)),
        (b"x\ny\n", "@@\n x\n+z\n y\n@@\n z\r\n+w\n", NOT_FOUND, Some(NOT_FOUND)),
        // A first or last line, and one without a line feed.
        (b"x\ny", "@@\n-y\n+z\r\n", Ok(b"x\nz\r\n"), None),
        (b"x\ny", "@@\n-y\r\n+z\n", NOT_FOUND, Some(Ok(b"x\nz\n"))),
        (
            b"x\ny\r",
            "@@\n-y\r\n\\ No newline at end of file\n+z\r\n\\ No newline at end of file\n",
            Ok(b"x\nz\r"),
            None,
        ),
        (b"x\r\ny", "@@\n-y\r\n+z\r\n", NOT_FOUND, Some(Ok(b"x\r\nz\r\n"))),
        (b"y\nx\r\ny\r\n", "@@\n-y\r\n+z\r\n*** End of File\n", Ok(b"y\nx\r\nz\r\n"), None),
        (b"y\r\nx\ny\n", "@@\n-y\r\n+z\r\n*** End of File\n", NOT_FOUND, Some(Ok(b"y\r\nx\nz\n"))),
        (b"x\r\r\n", "@@\n-x\r\r\n+y\r\r\n", Ok(b"y\r\r\n"), None),
        (b"\xef\xbb\xbfx\r\ny\n", "@@\n-x\r\n+z\n", Ok(b"\xef\xbb\xbfz\ny\n"), None),
    ] {
        assert_eq!(
            apply(Profile::Strict, file, body).as_deref(),
            strict.as_deref(),
            "strict {file:?} {body:?}"
        );
        let codex = codex.unwrap_or(strict);
        assert_eq!(
            apply(Profile::Codex, file, body).as_deref(),
            codex.as_deref(),
            "codex {file:?} {body:?}"
        );
    }
}

#[test]
fn the_lines_of_a_diff_end_as_they_are_shown() {
    const NOT_FOUND: Result<&[u8], &str> = Err("context_not_found");
    for (file, body, wanted) in [
        (&b"x\r\ny\r\n"[..], "@@\n x\r\n-y\r\n+z\r\n", Ok(&b"x\r\nz\r\n"[..])),
        (b"x\r\ny\r\n", "@@\n x\r\n-y\r\n+z\n", Ok(b"x\r\nz\n")),
        (b"x\r\ny\r\n", "@@\n x\n-y\n+z\n", NOT_FOUND),
        (b"x\r\ny\n", "@@\n-y\n+z\n", Ok(b"x\r\nz\n")),
        (b"y\r\ny\n", "@@\n-y\n+z\n", Ok(b"y\r\nz\n")),
        (b"y\r\ny\n", "@@\n-y\r\n+z\n", Ok(b"z\ny\n")),
        // The neighbour outside the hunk does not count, and the final line feed is as shown.
        (b"a\r\ny\n", "@@\n+z\n y\n", Ok(b"a\r\nz\ny\n")),
        (b"x\ny", "@@\n x\n-y\n\\ No newline at end of file\n+z\n", Ok(b"x\nz\n")),
        (b"x\ny", "@@\n-x\n+z\n y\n", NOT_FOUND),
        (b"x\ny", "@@\n-x\n+z\n y\n\\ No newline at end of file\n", Ok(b"z\ny")),
        (b"x\ny\n", "@@\n x\n-y\n+z\n\\ No newline at end of file\n", Ok(b"x\nz")),
        // Where no old line has a terminator, nothing else says what the new one ends with.
        (b"x\r\ny", "@@\n-y\n\\ No newline at end of file\n+z\n", Ok(b"x\r\nz\n")),
        (b"x\r\ny", "@@\n-y\n\\ No newline at end of file\n+z\r\n", Ok(b"x\r\nz\r\n")),
        (b"x\r\n", "@@\n+z\n*** End of File\n", Ok(b"x\r\nz\n")),
    ] {
        let found = apply_as(Profile::Strict, file, body, Some(LineEndings::Exact));
        assert_eq!(found.as_deref(), wanted.as_deref(), "{file:?} {body:?}");
    }
    // Where terminators are overlooked, new lines end like the file's.
    let found =
        apply_as(Profile::Codex, b"x\r\ny\r\n", "@@\n x\n-y\n+z\n", Some(LineEndings::Exact));
    assert_eq!(found.as_deref(), Ok(&b"x\r\nz\r\n"[..]));
}

#[test]
fn terminators_tell_places_apart_however_many_there_are() {
    // More places by their text than are listed.
    let mut file = b"x\n".repeat(500);
    file.splice(600..602, *b"x\r\n");
    for profile in [Profile::Strict, Profile::Codex] {
        let found = apply(profile, &file, "@@\n-x\r\n+z\r\n").expect("one place");
        assert_eq!(found.len(), file.len());
        assert_eq!(&found[600..603], b"z\r\n");
        assert_eq!(apply(profile, &file, "@@\n-x\n+z\r\n"), Err("multiple_matches"));
    }
    // All of them, each twice in the file but for one.
    let mixed = b"x\r\n".repeat(70).into_iter().chain(b"x\n".repeat(70)).collect::<Vec<_>>();
    assert_eq!(apply(Profile::Codex, &mixed, "@@\n-x\r\n+z\r\n"), Err("multiple_matches"));
}

/// What becomes of a hunk of so many lines that stands in two places, and in many with other
/// terminators.
fn among_many(profile: Profile, len: usize) -> Result<Vec<u8>, &'static str> {
    let crlf = "a\r\n".repeat(len);
    let file = format!("{crlf}{}{crlf}", "a\n".repeat(100));
    apply(profile, file.as_bytes(), &format!("@@\n+x\r\n{}", " a\r\n".repeat(len)))
}

#[test]
fn a_place_is_not_taken_before_all_are_looked_at() {
    assert_eq!(among_many(Profile::Strict, 40), Err("multiple_matches"));
    assert_eq!(
        among_many(Profile::Strict, 4000),
        Err("context_not_found"),
        "more terminators than are compared"
    );
}

#[test]
fn places_that_were_not_all_looked_at_are_left_to_the_next_pass() {
    assert_eq!(among_many(Profile::Codex, 40), Err("multiple_matches"));
    assert_eq!(among_many(Profile::Codex, 4000), Err("multiple_matches"));
}

#[test]
fn the_profiles_differ_in_final_line_feeds() {
    for (file, body, strict, codex) in [
        (&b"a\nb"[..], "@@\n-b\n+c\n", &b"a\nc"[..], &b"a\nc\n"[..]),
        (b"a", "@@\n-a\n+b\n+c\n", b"b\nc", b"b\nc\n"),
        (b"a\r\nb", "@@\n b\n+c\n", b"a\r\nb\r\nc", b"a\r\nb\r\nc\r\n"),
        (b"a", "@@\n a\n+b\n", b"a\nb", b"a\nb\n"),
        (b"a\nb\n", "@@\n-b\n+c\n", b"a\nc\n", b"a\nc\n"),
        // Like the line above, whatever most lines have.
        (
            b"a\r\nb\nc\nd\r\ne",
            "@@\n e\n+f\n",
            b"a\r\nb\nc\nd\r\ne\r\nf",
            b"a\r\nb\nc\nd\r\ne\r\nf\r\n",
        ),
    ] {
        assert_eq!(apply(Profile::Strict, file, body).as_deref(), Ok(strict), "{file:?} {body:?}");
        assert_eq!(apply(Profile::Codex, file, body).as_deref(), Ok(codex), "{file:?} {body:?}");
    }
}

#[test]
fn splices_name_only_what_changes() {
    let file = b"one\ntwo\nthree\nfour\n";
    let text = "*** Begin Patch\n*** Update File: f\n@@\n one\n-two\n+2\n three\n@@\n-four\n\
                +four\n*** End Patch\n";
    let options = Options::new(Profile::Strict);
    let patch = parse(text, &options.parse).expect("it parses");
    let edit = edit(file, patch.sections()[0].hunks(), &options.placement, FinalNewline::Keep)
        .expect("it applies");
    let ranges: Vec<_> = edit
        .splices
        .as_slice()
        .iter()
        .map(|splice| (splice.start, splice.end, &splice.text[..]))
        .collect();
    assert_eq!(ranges, [(4, 8, &b"2\n"[..])], "a line replaced by itself is not a change");
    assert_eq!(
        edit.placed.iter().map(|placed| (placed.first_line, placed.line_count)).collect::<Vec<_>>(),
        [(1, 3), (4, 1)]
    );
}

#[test]
fn a_reject_for_encoding_names_the_hunk() {
    let options = Options::new(Profile::Strict);
    let text = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+x\n@@\n-b\n+\u{e9}\n*** End Patch\n";
    let patch = parse(text, &options.parse).expect("it parses");
    let rejects =
        edit(b"a\nb\n\xff\n", patch.sections()[0].hunks(), &options.placement, FinalNewline::Keep)
            .expect_err("refused");
    assert_eq!(rejects.len(), 1);
    assert_eq!(rejects[0].hunk, 1);
    assert_eq!(&rejects[0].reason, &RejectReason::Encoding);
}
