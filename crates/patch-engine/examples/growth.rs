//! Places hunks in one generated file, or carries them to a changed one, for counting instructions:
//! `growth CASE SIZE`.
//!
//! `valgrind` and `perf stat` count whole programs; so the work is done `ROUNDS` times when asked
//! (`growth CASE SIZE ROUNDS`), and the difference between one round and none is the work without
//! the start-up.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

use patch_engine::carry::carry;
use patch_engine::{FinalNewline, Options, Profile, edit, parse};

/// One case: the file, the body of the update, the profile, and whether it applies.
type Case = (String, String, Profile, bool);

fn number(line: usize) -> String {
    format!("    value_{:06} = compute(first, second, third)\n", line)
}

/// Distinct lines, one hunk of three context lines every thousand lines.
fn plain(lines: usize, profile: Profile) -> Case {
    let file: String = (0..lines).map(number).collect();
    let mut body = String::new();
    for at in (500..lines.saturating_sub(10)).step_by(1000) {
        body += &format!("@@\n {} {} {}", number(at - 3), number(at - 2), number(at - 1));
        body += &format!("-{}+    changed()\n", number(at));
        body += &format!(" {} {}", number(at + 1), number(at + 2));
    }
    (file, body, profile, true)
}

fn alike_line(index: usize) -> String {
    match index % 100 {
        99 => format!("    marker {}\n", index / 100),
        _ => "    the same line again and again\n".to_owned(),
    }
}

/// Nearly identical lines, hunks of 50 lines that differ in the last.
fn alike(lines: usize, profile: Profile, pad: &str) -> Case {
    let file: String = (0..lines).map(alike_line).collect();
    let mut body = String::new();
    for block in 0..lines / 2000 {
        let end = block * 2000 + 99;
        body += "@@\n";
        for index in end - 49..end {
            body += &format!(" {pad}{}", alike_line(index));
        }
        body += &format!("-{pad}{}+{pad}    changed {block}\n", alike_line(end));
    }
    (file, body, profile, true)
}

/// Equal lines, one long pattern that fits nearly everywhere.
fn equal(lines: usize, pattern: usize, profile: Profile) -> Case {
    let file = "same\n".repeat(lines);
    let body = format!("@@\n{}-same\n", " same\n".repeat(pattern - 1));
    (file, body, profile, false)
}

/// Equal lines, a long pattern that fits nowhere: its last line differs.
fn nowhere(lines: usize, pattern: usize, profile: Profile) -> Case {
    let file = "same\n".repeat(lines);
    let body = format!("@@\n{}-other\n", " same\n".repeat(pattern - 1));
    (file, body, profile, false)
}

/// Hunks that fit nowhere, more of them the longer the file is: the cost of their explanations.
fn bad(lines: usize, profile: Profile) -> Case {
    let file: String = (0..lines).map(number).collect();
    let body: String = (0..lines)
        .step_by(100)
        .map(|at| format!("@@\n {}-    gone {at}\n+    new\n", number(at)))
        .collect();
    (file, body, profile, false)
}

/// Equal lines and hunks of every length: each fits in more places than are listed.
fn nested(lines: usize, profile: Profile) -> Case {
    let file = "same\n".repeat(lines);
    let longest = (lines as f64).sqrt() as usize;
    let body: String =
        (1..=longest).map(|len| format!("@@\n{}-same\n", " same\n".repeat(len))).collect();
    (file, body, profile, false)
}

/// Many hunks, each of which sees what the one before inserted.
fn chained(hunks: usize, profile: Profile) -> Case {
    let file: String = (0..hunks).map(|index| format!("a{index}\n")).collect();
    let body: String = (0..hunks).map(|index| format!("@@\n-a{index}\n+b{index}\n")).collect();
    (file, body, profile, true)
}

/// Equal lines, and a hunk whose stacked headers each name all of them.
fn stacked(lines: usize, profile: Profile) -> Case {
    let body = format!("{}-x\n", "@@ x\n".repeat(lines / 100));
    ("x\n".repeat(lines), body, profile, false)
}

/// Scopes within scopes: each line names one that goes on to the end of the file, and every hunk
/// has another outermost one.
fn scopes(lines: usize, profile: Profile) -> Case {
    let file: String = (0..lines)
        .map(|index| match index % 4 {
            0 => format!("  {index}\n"),
            1 => "  x\n".to_owned(),
            2 => "    1 y\n".to_owned(),
            _ => "    2 z\n".to_owned(),
        })
        .collect();
    let body: String = (0..lines / 100)
        .map(|index| format!("@@ {}\n@@ x\n@@ 1 y\n@@ 2 z\n-    2 z\n", index * 4))
        .collect();
    (file, body, profile, false)
}

/// Hunks that fit outside the scope of their header, and everywhere there.
fn outside(lines: usize, profile: Profile) -> Case {
    let file = "    x\n  y\n".repeat(lines / 2);
    (file, "@@ x\n-  y\n".repeat(lines / 100), profile, false)
}

/// Many equal hunks, and places for them that are few and far between.
fn scattered(lines: usize, profile: Profile) -> Case {
    let file: String = (0..lines)
        .map(|index| {
            let is_same = (index + 1).is_multiple_of(lines / 80);
            if is_same { "same\n".to_owned() } else { number(index) }
        })
        .collect();
    (file, "@@\n-same\n".repeat(lines / 100), profile, false)
}

/// Hunks that only insert, after a line that is everywhere.
fn insertions(lines: usize, profile: Profile) -> Case {
    ("x\n".repeat(lines), "@@ x\n+y\n".repeat(lines / 100), profile, false)
}

/// The files into which hunks are carried, for lines of which some are changed: what becomes of the
/// file of a case, and whether there is a conflict.
fn later(name: &str, file: &str) -> Option<(String, bool)> {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let half = lines.len() / 2;
    Some(match name {
        // One line in a thousand is another one.
        "carry" => {
            let mut changed = String::with_capacity(file.len());
            for (nth, line) in lines.iter().enumerate() {
                if nth % 1000 == 0 {
                    changed += &format!("other {nth}\n");
                } else {
                    changed += line;
                }
            }
            (changed, true)
        }
        "carry-equal" => (file.to_owned() + &"same\n".repeat(half), false),
        "carry-reversed" => (lines.iter().rev().copied().collect(), false),
        "carry-swapped" => (lines[half..].concat() + &lines[..half].concat(), false),
        _ => return None,
    })
}

fn case(name: &str, size: usize) -> Option<Case> {
    let (name, profile) = match name.strip_suffix("-strict") {
        Some(name) => (name, Profile::Strict),
        None => (name, Profile::Codex),
    };
    Some(match name {
        "plain" | "carry" | "carry-reversed" | "carry-swapped" => plain(size, profile),
        "carry-equal" => {
            ("same\n".repeat(size), "@@\n+new\n*** End of File\n".to_owned(), profile, true)
        }
        "alike" => alike(size, profile, ""),
        "alike-blanks" => alike(size, profile, "  "),
        "equal" => equal(size, size / 25, profile),
        "nowhere" => nowhere(size, size / 25, profile),
        "bad" => bad(size, profile),
        "nested" => nested(size, profile),
        "chained" => chained(size, profile),
        "stacked" => stacked(size, profile),
        "scopes" => scopes(size, profile),
        "outside" => outside(size, profile),
        "scattered" => scattered(size, profile),
        "insertions" => insertions(size, profile),
        _ => return None,
    })
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let parsed = match &args[..] {
        [_, name, size, rest @ ..] => {
            size.parse().ok().and_then(|size| case(name, size)).zip(match rest {
                [] => Some(1),
                [rounds] => rounds.parse::<usize>().ok(),
                _ => None,
            })
        }
        _ => None,
    };
    let Some(((file, body, profile, applies), rounds)) = parsed else {
        eprintln!(
            "growth plain|alike|alike-blanks|equal|nowhere|bad|nested|chained|stacked|scopes|outside|scattered|insertions|\
             carry|carry-equal|carry-reversed|carry-swapped[-strict] SIZE [ROUNDS]"
        );
        std::process::exit(2);
    };
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
    let options = Options::new(profile);
    let patch = parse(&text, &options.parse).expect("the case parses");
    if let Some((current, carried)) = later(args[1].trim_end_matches("-strict"), &file) {
        let edit = edit(
            file.as_bytes(),
            patch.sections()[0].hunks(),
            &options.placement,
            FinalNewline::Keep,
        );
        let edit = edit.expect("it applies to the base");
        for _ in 0..rounds {
            assert_eq!(carry(file.as_bytes(), current.as_bytes(), &edit).is_ok(), carried);
        }
        println!("{} and {} bytes, {} hunks", file.len(), current.len(), patch.hunk_count());
        return;
    }
    let mut hunks = 0;
    for _ in 0..rounds {
        let result = edit(
            file.as_bytes(),
            patch.sections()[0].hunks(),
            &options.placement,
            FinalNewline::Keep,
        );
        assert_eq!(result.is_ok(), applies, "{result:?}");
        hunks += result.map_or(0, |edit| edit.placed.len());
    }
    println!("{} bytes, {} hunks, {hunks} placed", file.len(), patch.hunk_count());
}
