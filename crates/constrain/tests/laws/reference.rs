//! The matcher beside the engine: of all small patches of the language, it lets those be written
//! that apply.

use super::{accepts, bytes, one_file, refusal};

/// A hunk: its first line, its header, and its lines.
#[derive(Debug, Clone)]
struct Hunk {
    first: usize,
    old: usize,
    header: Option<String>,
    text: String,
}

/// Whether the result of a hunk stands in the scope of its header, and its old lines do not.
fn is_done_in_scope(lines: &[&str], hunk: &Hunk) -> bool {
    let Some(header) = &hunk.header else { return false };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut inside = false;
    let scope = lines.iter().map(|line| {
        let opens = line.trim_start().starts_with(|first: char| first.is_ascii_alphabetic());
        inside = line == header || inside && !(opens && indent(line) <= indent(header));
        inside
    });
    let scope: Vec<bool> = scope.collect();
    let new: Vec<&str> = hunk
        .text
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with('-'))
        .map(|line| &line[1..])
        .collect();
    let stands = |at: usize| scope[at] && lines[at] != header && lines[at..].starts_with(&new);
    !new.is_empty() && !scope[hunk.first] && (0..lines.len()).any(stands)
}

/// Whether the hunks keep the rules of the language that the engine does not know: each block
/// stands once in the file as it is, they are in order and disjoint, and the result of none that is
/// outside the scope of its header stands in there.
fn is_in_language(lines: &[&str], hunks: &[Hunk]) -> bool {
    let unique = |hunk: &Hunk| {
        let block = &lines[hunk.first..hunk.first + hunk.old];
        lines.windows(block.len()).filter(|other| *other == block).count() == 1
    };
    // A heading that git cut is the text of no line, and does not become one.
    let adds = |above: &Hunk, header: &str| {
        above.text.lines().any(|line| line.strip_prefix('+') == Some(header))
    };
    let is_new = |nth: usize| {
        let header = hunks[nth].header.as_deref().filter(|header| !lines.contains(header));
        header.is_some_and(|header| hunks[..nth].iter().any(|above| adds(above, header)))
    };
    (0..hunks.len()).all(|nth| !is_new(nth))
        && hunks.iter().all(|hunk| unique(hunk) && !is_done_in_scope(lines, hunk))
        && hunks.windows(2).all(|pair| pair[0].first + pair[0].old <= pair[1].first)
}

/// The header as git writes it, if no line has that text.
fn cut(lines: &[&str], header: &str) -> String {
    let cut = header.get(..80).unwrap_or(header).trim_end();
    if lines.contains(&cut) { header.to_owned() } else { cut.to_owned() }
}

/// A random hunk of a file.
fn hunk(random: &mut fastrand::Rng, lines: &[&str], added: &[&str], from: usize) -> Hunk {
    let first = random.usize(from..lines.len());
    let old = random.usize(1..=(lines.len() - first).min(3));
    let header = random.choice(lines).filter(|line| random.u8(..4) == 0 && !line.is_empty());
    let header = header.filter(|header| lines[..=first].contains(header));
    let is_cut = random.bool();
    let header =
        header.map(|header| if is_cut { cut(lines, header) } else { (*header).to_owned() });
    let mut text = header.as_ref().map_or("@@\n".to_owned(), |header| format!("@@ {header}\n"));
    let mut changes = false;
    for line in &lines[first..first + old] {
        while random.u8(..4) == 0 {
            changes = true;
            text += &format!("+{}\n", random.choice(added).expect("some"));
        }
        let sign = if random.u8(..3) == 0 { '-' } else { ' ' };
        changes |= sign == '-';
        text += &format!("{sign}{line}\n");
    }
    while !changes || random.u8(..4) == 0 {
        changes = true;
        text += &format!("+{}\n", random.choice(added).expect("some"));
    }
    Hunk { first, old, header, text }
}

fn compare(rounds: usize, seed: u64, letters: &[&str]) {
    let mut random = fastrand::Rng::with_seed(seed);
    let vocabulary = bytes();
    let (mut applied, mut refused) = (0, 0);
    for _ in 0..rounds {
        let size = random.usize(1..8);
        let lines: Vec<&str> =
            (0..size).map(|_| *random.choice(letters).expect("letters")).collect();
        let end = if random.u8(..5) == 0 { "" } else { "\n" };
        let file = lines.join("\n") + end;
        // A last line that is empty is there only with its line feed.
        let lines: Vec<&str> = file.lines().collect();
        if lines.is_empty() {
            continue;
        }
        let bound = one_file(&file);
        for _ in 0..6 {
            let mut hunks: Vec<Hunk> = Vec::new();
            let mut from = 0;
            while from < lines.len() && hunks.len() < 3 && (hunks.is_empty() || random.bool()) {
                let hunk = hunk(&mut random, &lines, letters, from);
                from = hunk.first + hunk.old;
                hunks.push(hunk);
            }
            let body: String = hunks.iter().map(|hunk| &*hunk.text).collect();
            let patch = format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n");
            let refusal = refusal(&[("f", &file)], &patch);
            let wanted = is_in_language(&lines, &hunks) && refusal.is_none();
            *(if wanted { &mut applied } else { &mut refused }) += 1;
            let accepted = accepts(&bound, &vocabulary, &patch);
            assert_eq!(accepted, wanted, "{file:?}\n{patch}\n{refusal:?}");
        }
    }
    assert!(applied > rounds / 2, "{applied} of {rounds} apply, {refused} do not");
    assert!(refused > rounds / 2, "{refused} of {rounds} do not apply");
}

fn compare_all(share: usize) {
    compare(3_000 / share, 1, &["a", "b", "c"]);
    compare(3_000 / share, 2, &["a", "b"]);
    compare(2_000 / share, 3, &["alpha", "beta", "}", "", "gamma"]);
    compare(2_000 / share, 4, &["}", "", "{", "x = 1", "  }"]);
    compare(2_000 / share, 5, &["f:", "g:", "  a", "  b", "    c"]);
    let long = format!("f({}", "x".repeat(90));
    let [one, other] = [format!("{long}a):"), format!("{long}b):")];
    compare(2_000 / share, 6, &[&one, &other, &format!("  {long}"), "  a", "  b"]);
    let blanks = format!("g({}{}y):", "x".repeat(70), " ".repeat(20));
    compare(2_000 / share, 7, &[&blanks, &long[..80], &one, "  a"]);
}

#[test]
fn lets_all_patches_be_written_that_apply() {
    compare_all(if testutils::share::whole() { 1 } else { 20 });
}
