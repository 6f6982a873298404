//! Edits that are carried to a file that changed since, in small cases.

use patch_engine::carry::{Carried, CarriedHunk, Conflict, carry};
use patch_engine::{Edit, FinalNewline, Options, Profile, edit, parse};

/// A slash stands for a line feed.
fn text(short: &str) -> String {
    short.replace('/', "\n")
}

fn edit_of(base: &str, body: &str) -> Edit {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options = Options::new(Profile::Strict);
    let patch = parse(&text, &options.parse).expect("a patch");
    let edit =
        edit(base.as_bytes(), patch.sections()[0].hunks(), &options.placement, FinalNewline::Keep);
    edit.unwrap_or_else(|rejects| panic!("{body} does not fit {base}: {rejects:?}"))
}

fn carried(base: &str, body: &str, current: &str) -> Result<Carried, Vec<Conflict>> {
    let [base, body, current] = [base, body, current].map(text);
    carry(base.as_bytes(), current.as_bytes(), &edit_of(&base, &body))
}

/// Tries cases: what they are, the base, the hunks, the current file, and what comes out or the
/// word conflict.
fn check(cases: &[[&str; 5]]) {
    for [what, base, body, current, expected] in cases {
        let result = carried(base, body, current);
        let found = match &result {
            Ok(carried) => {
                String::from_utf8(carried.splices.apply(text(current).as_bytes())).expect("text")
            }
            Err(_) => "conflict".to_owned(),
        };
        assert_eq!(found, text(expected), "{what}: {result:?}");
    }
}

const CONFLICT: &str = "conflict";

#[test]
fn a_hunk_goes_where_the_lines_that_it_changes_are_now() {
    check(&[
        ["nothing changed", "a/b/c/", "@@/ a/-b/+B/ c/", "a/b/c/", "a/B/c/"],
        ["lines came above", "a/b/c/", "@@/ a/-b/+B/ c/", "x/y/a/b/c/", "x/y/a/B/c/"],
        ["lines went above", "x/y/a/b/c/", "@@/ a/-b/+B/ c/", "a/b/c/", "a/B/c/"],
        [
            "context further away changed",
            "a/b/c/d/e/",
            "@@/ a/ b/-c/+C/ d/ e/",
            "A/b/c/d/E/",
            "A/b/C/d/E/",
        ],
        [
            "two hunks, each by its own way",
            "a/b/c/d/e/f/g/",
            "@@/-b/@@/-f/",
            "a/b/c/x/y/e/f/g/",
            "a/c/x/y/e/g/",
        ],
        ["another change one line away", "a/b/c/d/", "@@/-d/+D/", "x/b/c/d/", "x/b/c/D/"],
        ["the line above changed", "a/b/c/d/", "@@/-b/+B/", "A/b/c/d/", CONFLICT],
        ["the line below changed", "a/b/c/d/", "@@/-b/+B/", "a/b/C/d/", CONFLICT],
        ["the removed line changed", "a/b/c/d/", "@@/-b/", "a/x/c/d/", CONFLICT],
        ["the removed line went with others", "a/b/c/d/", "@@/-b/", "a/d/", CONFLICT],
        ["a line came right above", "a/b/c/d/", "@@/-b/", "a/x/b/c/d/", CONFLICT],
        ["a line came where one is inserted", "a/b/c/d/", "@@/ b/+x/ c/", "a/b/y/c/d/", CONFLICT],
        ["only one hunk has a place", "a/b/c/d/e/f/", "@@/-b/@@/-e/", "a/b/c/d/E/f/", CONFLICT],
    ]);
}

#[test]
fn an_end_of_the_file_is_a_neighbour_like_a_line() {
    check(&[
        ["insert at the start", "a/b/", "@@/+x/ a/ b/", "a/b/c/", "x/a/b/c/"],
        ["a line came at the start", "a/b/", "@@/+x/ a/ b/", "y/a/b/", CONFLICT],
        ["insert at the end", "a/b/", "@@/ b/+x/", "c/a/b/", "c/a/b/x/"],
        ["a line came at the end", "a/b/", "@@/ b/+x/", "a/b/y/", CONFLICT],
        ["delete the first line", "a/b/c/", "@@/-a/", "a/b/d/", "b/d/"],
        ["delete the first line, which is second now", "a/b/c/", "@@/-a/", "x/a/b/c/", CONFLICT],
        ["delete the last line", "a/b/c/", "@@/-c/", "x/b/c/", "x/b/"],
        [
            "delete the last line, which is the last but one now",
            "a/b/c/",
            "@@/-c/",
            "a/b/c/x/",
            CONFLICT,
        ],
        ["delete all", "a/b/", "@@/-a/-b/", "a/b/", ""],
        ["an empty file", "", "@@/+x/", "", "x/"],
        ["an empty file that has lines now", "", "@@/+x/", "y/", CONFLICT],
        ["a file that is empty now", "a/b/", "@@/ a/+x/ b/", "", CONFLICT],
    ]);
}

#[test]
fn lines_that_are_there_twice_are_no_place() {
    check(&[
        ["the line may be either of two", "a/b/c/", "@@/-b/", "a/b/b/c/", CONFLICT],
        ["the block was copied above", "a/b/c/", "@@/-b/", "a/b/c/a/b/c/", CONFLICT],
        [
            "a block came before one that ends in the same line",
            "f/}/",
            "@@/ f/+x/ }/",
            "g/}/f/}/",
            "g/}/f/x/}/",
        ],
        [
            "a block came after one that ends in the same line",
            "f/}/",
            "@@/ f/+x/ }/",
            "f/}/g/}/",
            CONFLICT,
        ],
        [
            "a line came between equal lines",
            "a/x/x/b/",
            "@@/ a/+n/ x/ x/",
            "a/x/y/x/b/",
            "a/n/x/y/x/b/",
        ],
        [
            "one of equal lines went, no matter which",
            "a/x/x/b/",
            "@@/ a/+n/ x/ x/",
            "a/x/b/",
            "a/n/x/b/",
        ],
        [
            "one of equal lines went, above or below",
            "a/x/x/b/",
            "@@/ a/ x/+n/ x/",
            "a/x/b/",
            CONFLICT,
        ],
        [
            "the block was moved away from more",
            "a/b/c/1/2/3/4/",
            "@@/-b/",
            "1/2/3/4/a/b/c/",
            CONFLICT,
        ],
        [
            "less was moved away from below the block",
            "a/b/c/d/1/2/",
            "@@/-b/",
            "1/2/a/b/c/d/",
            "1/2/a/c/d/",
        ],
        [
            "less was moved away from above the block",
            "1/2/x/a/b/c/d/",
            "@@/-b/",
            "x/a/b/c/d/1/2/",
            "x/a/c/d/1/2/",
        ],
        ["two halves changed places", "a/b/c/d/", "@@/-b/", "c/d/a/b/", CONFLICT],
    ]);
}

#[test]
fn what_is_there_already_is_not_done_again() {
    check(&[
        ["the same insertion", "a/b/c/", "@@/ a/+x/ b/", "a/x/b/c/", "a/x/b/c/"],
        ["the same deletion", "a/b/c/", "@@/-b/", "a/c/", "a/c/"],
        ["the same replacement", "a/b/c/", "@@/-b/+B/", "a/B/c/", "a/B/c/"],
        ["the same, and more elsewhere", "a/b/c/d/e/", "@@/-b/+B/", "x/a/B/c/d/E/", "x/a/B/c/d/E/"],
        ["the same, and more beside it", "a/b/c/d/e/", "@@/-b/+B/", "a/B/y/c/d/e/", CONFLICT],
        ["a part of it", "a/b/c/d/e/", "@@/-b/-c/+B/+C/", "a/B/c/d/e/", CONFLICT],
        ["one hunk of two", "a/b/c/d/e/", "@@/-b/+B/@@/-e/+E/", "a/B/c/d/e/", "a/B/c/d/E/"],
        ["one of the equal lines", "a/x/x/b/", "@@/ a/-x/ x/", "a/x/b/", "a/x/b/"],
        ["the file is empty, as wanted", "a/b/", "@@/-a/-b/", "", ""],
        ["the file has its lines, as wanted", "", "@@/+x/", "x/", "x/"],
        [
            "two hunks with a line between",
            "a/b/c/d/e/",
            "@@/-b/+B/@@/-d/+D/",
            "a/B/c/D/e/",
            "a/B/c/D/e/",
        ],
        [
            "only the second of two with a line between",
            "a/b/c/d/e/",
            "@@/-b/+B/@@/-d/+D/",
            "a/b/c/D/e/",
            "a/B/c/D/e/",
        ],
        ["inserted in another place too", "a/b/c/d/", "@@/ b/+x/ c/", "x/a/b/c/d/", "x/a/b/x/c/d/"],
    ]);
}

#[test]
fn hunks_that_touch_are_carried_together_or_not() {
    let two = "@@/-b/+B/@@/-c/+C/";
    check(&[
        ["adjacent lines", "a/b/c/d/", two, "x/a/b/c/d/", "x/a/B/C/d/"],
        ["adjacent lines, both there", "a/b/c/d/", two, "a/B/C/d/", "a/B/C/d/"],
        ["adjacent lines, one there", "a/b/c/d/", two, "a/B/c/d/", CONFLICT],
        [
            "an insertion after a deletion",
            "a/b/c/d/",
            "@@/-b/@@/+x/ c/",
            "y/a/b/c/d/",
            "y/a/x/c/d/",
        ],
    ]);
    let carried = carried("a/b/c/d/", two, "x/a/b/c/d/").expect("no conflict");
    assert_eq!(carried.splices.as_slice().len(), 1);
    let places: Vec<_> =
        carried.hunks.iter().map(|hunk| (hunk.hunk, hunk.from.clone(), hunk.to.clone())).collect();
    assert_eq!(places, [(0, 1..=4, 2..=5), (1, 1..=4, 2..=5)]);
}

#[test]
fn the_end_of_a_line_belongs_to_it() {
    check(&[
        ["CRLF on both sides", "a\r/b\r/c\r/", "@@/-b/+B/", "x/a\r/b\r/c\r/", "x/a\r/B\r/c\r/"],
        ["the line ends were converted", "a/b/c/", "@@/-b/+B/", "a\r/b\r/c\r/", CONFLICT],
        ["a neighbour has CRLF now", "a/b/c/d/", "@@/-b/+B/", "a/b/c\r/d/", CONFLICT],
        ["a line further away has CRLF now", "a/b/c/d/", "@@/-b/+B/", "a/b/c/d\r/", "a/B/c/d\r/"],
        ["the same, but for CRLF", "a/b/c/", "@@/-b/+B/", "a/B\r/c/", CONFLICT],
        ["no final line feed on both sides", "a/b/c", "@@/-c/+C/", "x/b/c", "x/b/C"],
        ["the last line got a line feed", "a/b/c", "@@/-c/+C/", "a/b/c/", CONFLICT],
        ["the last line lost its line feed", "a/b/c/", "@@/-b/+B/", "a/b/c", CONFLICT],
        ["that is further away", "a/b/c/d/", "@@/-b/+B/", "a/b/c/d", "a/B/c/d"],
        ["a line comes after one without a line feed", "a/b", "@@/ b/+c/", "x/a/b", "x/a/b/c"],
        ["it is there already", "a/b", "@@/ b/+c/", "a/b/c", "a/b/c"],
        ["after one that has got more to it", "a/b", "@@/ b/+c/", "a/b/d", CONFLICT],
        [
            "a byte-order mark",
            "\u{feff}a/b/c/",
            "@@/+x/ a/ b/",
            "\u{feff}a/b/C/",
            "\u{feff}x/a/b/C/",
        ],
        ["the byte-order mark went", "\u{feff}a/b/c/", "@@/+x/ a/ b/", "a/b/c/", CONFLICT],
    ]);
}

#[test]
fn a_report_names_the_lines_on_both_sides() {
    let result =
        carried("a/b/c/d/e/f/g/h/", "@@/-b/+B/ c/ d/ e/+x/ f/@@/-h/", "1/2/a/B/c/d/e/f/g/h/");
    let hunk = |hunk, from, to, already_there| CarriedHunk { hunk, from, to, already_there };
    assert_eq!(
        result.expect("no conflict").hunks,
        [hunk(0, 1..=6, 3..=8, false), hunk(1, 7..=8, 9..=10, false)]
    );
    let result = carried("a/b/c/d/", "@@/-b/+B/", "1/2/a/B/c/d/").expect("no conflict");
    assert_eq!(result.hunks, [hunk(0, 1..=3, 3..=5, true)]);
    assert!(result.splices.is_empty());
    // A hunk that changes nothing goes nowhere.
    let result = carried("a/b/c/d/", "@@/-b/+b/ c/@@/-d/", "a/b/x/c/d/").expect("no conflict");
    assert_eq!(result.hunks, [hunk(1, 3..=4, 4..=5, false)]);
}

#[test]
fn a_conflict_has_the_three_texts() {
    let conflicts = carried("a/b/c/d/e/f/", "@@/-b/+B1/+B2/@@/-d/+D/@@/-f/+F/", "0/a/b/c/x/e/y/")
        .expect_err("two stretches");
    let shown: Vec<_> = conflicts
        .iter()
        .map(|conflict| {
            let [base, current, wanted] = [&conflict.base, &conflict.current, &conflict.wanted]
                .map(|part| {
                    (part.lines.clone(), String::from_utf8_lossy(&part.text).replace('\n', "/"))
                });
            (conflict.hunks.clone(), base, current, wanted)
        })
        .collect();
    let part = |lines, text: &str| (lines, text.to_owned());
    assert_eq!(
        shown,
        [
            (vec![1], part(4..5, "d/"), part(5..6, "x/"), part(5..6, "D/")),
            (vec![2], part(6..7, "f/"), part(7..8, "y/"), part(7..8, "F/")),
        ]
    );
    // Lines that are the same in all three are not shown, though nothing is sure about them.
    let [conflict] = &carried("a/x/x/b/", "@@/ a/ x/+n/ x/", "a/x/x/x/b/").expect_err("one")[..]
    else {
        panic!("one")
    };
    assert_eq!(conflict.base.lines.clone(), 3..3);
    assert_eq!(conflict.base.text.as_slice(), &b""[..]);
    assert_eq!(conflict.current.lines.clone(), 3..4);
    assert_eq!(conflict.current.text.as_slice(), &b"x\n"[..]);
    assert_eq!(conflict.wanted.lines.clone(), 3..4);
    assert_eq!(conflict.wanted.text.as_slice(), &b"n\n"[..]);
}
