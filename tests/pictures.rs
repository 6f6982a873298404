//! The pictures of the README are what the program prints and writes today. `UPDATE_PICTURES=1`
//! draws them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anstyle_svg::{Palette, Term};

use crate::program;

/// The columns of the terminal.
const COLUMNS: usize = 100;
/// How wide the page is, in pixels; no line of it is longer.
const PAGE_WIDTH: usize = 1000;

/// Colours that are readable on black, all of them: red and blue are not, in most palettes.
const COLOURS: [(u8, u8, u8); 16] = [
    (16, 18, 22),
    (255, 120, 110),
    (90, 200, 95),
    (220, 170, 60),
    (90, 160, 255),
    (190, 140, 255),
    (80, 200, 210),
    (205, 210, 215),
    (120, 125, 135),
    (255, 150, 140),
    (120, 220, 125),
    (240, 200, 90),
    (125, 185, 255),
    (210, 170, 255),
    (120, 225, 230),
    (255, 255, 255),
];

/// What is applied.
const ANSWER: &str = r#"*** Begin Patch
*** Update File: src/todo.py
@@ def done(number):
     tasks = load()
-    tasks[number - 1]["done"] = True
+    task = tasks[number - 1]
+    task["done"] = not task["done"]
     save(tasks)
*** Add File: .gitignore
+todo.list
*** End Patch
"#;

/// What is refused: the line is there twice.
const TWICE: &str = "*** Begin Patch
*** Update File: src/todo.py
@@
     tasks = load()
+    tasks.sort()
*** End Patch
";

/// The example's files in `w/`, with the patches.
fn place() -> tempfile::TempDir {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/todo").join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    program::place(&[
        ("w/src/todo.py", &read("src/todo.py")),
        ("w/src/store.py", &read("src/store.py")),
        ("w/answer.patch", ANSWER),
        ("w/twice.patch", TWICE),
    ])
}

/// A session at a terminal of [`COLUMNS`], with its colours, drawn.
fn terminal() -> String {
    let dir = place();
    let mut session = String::new();
    for (arguments, code) in
        [("twice.patch", 1), ("-n answer.patch", 0), ("answer.patch", 0), ("undo", 0)]
    {
        let line = format!("stty cols {COLUMNS} rows 50; $it {arguments}");
        let mut terminal = program::on_terminal(
            dir.path(),
            &line,
            &[("TERM", "xterm-256color"), ("PAGER", "cat")],
        );
        let printed = terminal.exp_eof().expect("the program ends").replace("\r\n", "\n");
        let printed = printed
            .strip_suffix(&format!("exit {code}\n"))
            .unwrap_or_else(|| panic!("{arguments}: {printed}"));
        let _ = write!(
            session,
            "\u{1b}[2m$\u{1b}[0m \u{1b}[1mapply-patch {arguments}\u{1b}[0m\n{printed}\n"
        );
    }
    let session = wrapped(&without_ids(session.trim_end()), COLUMNS);
    // One dark terminal is readable on light and on dark pages.
    let palette =
        Palette::from(COLOURS.map(|(red, green, blue)| anstyle::RgbColor(red, green, blue)));
    Term::new().palette(palette).min_width_px(840).render_svg(&session)
}

/// Ids of transactions are times and random digits; here all are the same.
fn without_ids(text: &str) -> String {
    let shape = |id: &str| {
        let parts: Vec<_> = id.split('-').collect();
        let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        parts.iter().map(|part| part.len()).eq([8, 6, 6, 8]) && parts.iter().all(digits)
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let whole =
            rest.get(..31).filter(|id| shape(id)).map(|_| "20260102-030405-678901-1f2e3d4c");
        let short = rest.get(..8).filter(|id| {
            out.ends_with("undo \u{1b}[33m") && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        let taken = match whole.or(short.map(|_| "1f2e3d4c")) {
            Some(id) => {
                out += id;
                id.len()
            }
            None => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

/// Text as a terminal breaks it; what controls colours takes no place.
fn wrapped(text: &str, columns: usize) -> String {
    let (mut out, mut column, mut control) = (String::new(), 0, false);
    for c in text.chars() {
        match c {
            '\u{1b}' => control = true,
            '\n' => column = 0,
            _ if control => control = !c.is_ascii_alphabetic(),
            _ => {
                if column == columns {
                    out.push('\n');
                    column = 0;
                }
                column += 1;
            }
        }
        out.push(c);
    }
    out
}

/// The page of the same patch, as it is written, in a picture: whatever shows the picture draws the
/// page.
fn page() -> String {
    let dir = place();
    let (workspace, arguments) = (dir.path().join("w"), ["-n", "--format", "html", "answer.patch"]);
    let html = String::from_utf8(program::printed(&workspace, dir.path(), &arguments, b""))
        .expect("UTF-8");
    let between = |start: &str, end: &str| {
        let (_, rest) = html.split_once(start).unwrap_or_else(|| panic!("the page has no {start}"));
        rest.split_once(end).unwrap_or_else(|| panic!("the page has no {end}")).0
    };
    // All but the keys, which a picture has no use for.
    let (style, body) = (between("<style>", "</style>"), between("</style>\n", "<dialog"));
    // The heights that the style gives: 18 pixels a row, and what stands between the tables.
    let height: usize = body
        .lines()
        .map(|line| match line.get(..3) {
            Some("<he") => 32,
            Some("<na") => 50,
            Some("<li") => 21,
            Some("<de") => 52,
            Some("<p>") => 25,
            Some("<tr") => 18,
            _ => 1,
        })
        .sum();
    let height = height + 24;
    format!(
        "<svg width=\"{PAGE_WIDTH}px\" height=\"{height}px\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<foreignObject width=\"100%\" height=\"100%\">\n\
         <body xmlns=\"http://www.w3.org/1999/xhtml\">\n<style>{style}\n\
         body{{margin:0;padding:1rem;height:100%;\
         box-sizing:border-box}}</style>\n{body}</body>\n</foreignObject>\n</svg>\n"
    )
}

#[test]
fn pictures_show_what_the_program_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    for (name, drawn) in [("terminal.svg", terminal()), ("page.svg", page())] {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_PICTURES").is_some() {
            fs::create_dir_all(&folder).expect("the folder");
            fs::write(&path, &drawn).expect("the picture");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == drawn,
            "{} is not what the program shows; `just pictures` draws it anew:\n{drawn}",
            path.display()
        );
    }
}

#[test]
fn ids_and_long_lines_are_drawn_as_they_should() {
    assert_eq!(
        without_ids("`undo 20261123-030648-439357-67a2a262` é"),
        "`undo 20260102-030405-678901-1f2e3d4c` é"
    );
    assert_eq!(
        without_ids("`undo \u{1b}[33m67a2a262\u{1b}[0m` 67a2a262"),
        "`undo \u{1b}[33m1f2e3d4c\u{1b}[0m` 67a2a262"
    );
    assert_eq!(without_ids("20261123-030648-439357-67a2a26x"), "20261123-030648-439357-67a2a26x");
    assert_eq!(wrapped("\u{1b}[1mabcde\u{1b}[0mf\nabc", 3), "\u{1b}[1mabc\nde\u{1b}[0mf\nabc");
}
