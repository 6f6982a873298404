//! The workloads that speed is measured on, made from a fixed seed: the same bytes on every
//! machine.
//!
//! A workload is a list of files with line edits; from it come the files before, the files after,
//! the patch in the envelope, and the same as a unified diff in git's form.

use std::fmt::Write as _;

/// The names of the workloads.
pub const NAMES: [&str; 9] = ["W1", "W2", "W3", "W4", "W4f", "W5", "W6", "W7", "W8"];

/// Files before and after, and the patch that leads from one to the other.
pub struct Workload {
    /// What changes.
    pub files: Vec<File>,
}

/// One file of a workload.
pub struct File {
    /// Its path before; the only one of a new file.
    pub path: String,
    /// Where it goes.
    pub to_path: Option<String>,
    /// Its lines before, each without its line feed; `None` for a new file.
    pub before: Option<Vec<String>>,
    /// Its lines after; `None` for a deleted file.
    pub after: Option<Vec<String>>,
    /// What changes in it, from the top down.
    pub hunks: Vec<Hunk>,
    /// The removed lines are written with a blank more at their ends, so that they match only when
    /// blanks are ignored, while the context above is as it is in the file.
    pub blurred: bool,
}

/// A run of lines that is replaced, with its context.
pub struct Hunk {
    /// The first line of the context above, 0-based, in the file before.
    start: usize,
    /// How many lines of context stand above, and below.
    context: (usize, usize),
    /// How many lines go.
    removed: usize,
    /// The lines that come.
    added: Vec<String>,
}

/// Makes a workload.
///
/// `scale` multiplies lines and hunks of those with one large file (W3, W4, W4f), and the files of
/// W2, W5 and W7.
///
/// Panics for a name that is not in [`NAMES`].
pub fn make(name: &str, scale: usize) -> Workload {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let files = match name {
        "W1" => vec![edited("src/main.rs".into(), code(&mut random, 200), 3, &[100], None, false)],
        "W2" => (0..1000 * scale)
            .map(|index| {
                let lines = code(&mut random, 300);
                // Two hunks in most files and three in three of a thousand: 2003.
                let at: &[usize] = if index % 1000 < 3 { &[50, 150, 250] } else { &[80, 220] };
                edited(format!("src/m{:02}/f{index:04}.rs", index % 50), lines, 3, at, None, false)
            })
            .collect(),
        "W3" => {
            let lines = 1_000_000 * scale;
            let text = (0..lines)
                .map(|line| format!("let v{line:07} = call({:016x});", random.next()))
                .collect();
            let at: Vec<_> =
                (0..200 * scale).map(|hunk| lines / (200 * scale) * hunk + 2500).collect();
            vec![edited("big.rs".into(), text, 3, &at, None, false)]
        }
        "W4" | "W4f" => {
            let lines = 200_000 * scale;
            let text = (0..lines).map(alike).collect();
            let at: Vec<_> =
                (0..100 * scale).map(|hunk| lines / (100 * scale) * hunk + 1000).collect();
            vec![edited("table.c".into(), text, 25, &at, None, name == "W4f")]
        }
        "W5" => (0..5000 * scale)
            .map(|index| {
                let mut lines = Vec::new();
                while lines.iter().map(|line: &String| line.len() + 1).sum::<usize>() < 2048 {
                    lines.push(statement(&mut random));
                }
                new(format!("gen/d{:02}/n{index:04}.rs", index % 64), lines)
            })
            .collect(),
        "W6" => {
            let mut lines = Vec::new();
            let mut size = 0;
            while size < 50_000_000 {
                let line = statement(&mut random);
                size += line.len() + 1;
                lines.push(line);
            }
            vec![new("data.txt".into(), lines)]
        }
        "W7" => {
            let lines: Vec<_> = (0..2000 * scale).map(|_| code(&mut random, 60)).collect();
            let half = 1000 * scale;
            let files = lines.into_iter().enumerate().map(|(index, lines)| match index {
                _ if index < half => deleted(format!("old/f{index:04}.rs"), lines),
                _ => {
                    let to = format!("moved/f{index:04}.rs");
                    edited(format!("src/f{index:04}.rs"), lines, 3, &[30], Some(to), false)
                }
            });
            files.collect()
        }
        "W8" => {
            let mut lines = code(&mut random, 200);
            let long: String =
                (0..20_000_000 / 16).map(|_| format!("{:016x}", random.next())).collect();
            lines.insert(100, long);
            vec![edited("bundle.js".into(), lines, 3, &[30, 180], None, false)]
        }
        _ => panic!("no workload {name}"),
    };
    Workload { files }
}

fn new(path: String, after: Vec<String>) -> File {
    File {
        path,
        to_path: None,
        before: None,
        after: Some(after),
        hunks: Vec::new(),
        blurred: false,
    }
}

fn deleted(path: String, before: Vec<String>) -> File {
    File {
        path,
        to_path: None,
        before: Some(before),
        after: None,
        hunks: Vec::new(),
        blurred: false,
    }
}

/// A file in which the three lines from each of `at` on become two others and a new one.
fn edited(
    path: String,
    before: Vec<String>,
    context: usize,
    at: &[usize],
    to_path: Option<String>,
    blurred: bool,
) -> File {
    let mut hunks = Vec::new();
    let mut after = Vec::with_capacity(before.len());
    let mut done = 0;
    for (number, &line) in at.iter().enumerate() {
        let added: Vec<_> =
            (0..3).map(|index| format!("    changed_{number}_{index}();")).collect();
        after.extend_from_slice(&before[done..line]);
        after.extend_from_slice(&added);
        done = line + 3;
        hunks.push(Hunk { start: line - context, context: (context, context), removed: 3, added });
    }
    after.extend_from_slice(&before[done..]);
    File { path, to_path, before: Some(before), after: Some(after), hunks, blurred }
}

/// Lines that look like a program: some are very frequent, most are seldom.
fn code(random: &mut Random, lines: usize) -> Vec<String> {
    (0..lines).map(|_| statement(random)).collect()
}

fn statement(random: &mut Random) -> String {
    match random.next() % 8 {
        0 => "}".into(),
        1 => String::new(),
        2 => {
            format!("fn handle_{:04x}(input: &str) -> Result<(), Error> {{", random.next() & 0xffff)
        }
        3 => format!("    // {:x} {:x}", random.next(), random.next()),
        _ => format!(
            "    let value_{:06x} = compute(first, {});",
            random.next() & 0xff_ffff,
            random.next() % 1000
        ),
    }
}

/// Nearly identical lines: the middle one of each 2000 carries a number. A search that compares
/// line by line at every place gets 25 lines deep before it finds a difference.
fn alike(line: usize) -> String {
    match line % 2000 {
        1000 => format!("    {{ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 }}, /* {line} */"),
        _ => "    { 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },".into(),
    }
}

/// SplitMix64, the only generator of random numbers that is written here: RESULTS.md compares times
/// on the same bytes, and a crate's generator may give others in its next version.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Workload {
    /// The patch in the envelope.
    pub fn envelope(&self) -> String {
        let mut patch = "*** Begin Patch\n".to_owned();
        for file in &self.files {
            file.envelope(&mut patch);
        }
        patch + "*** End Patch\n"
    }

    /// The same as a unified diff in git's form.
    pub fn unified(&self) -> String {
        let mut patch = String::new();
        for file in &self.files {
            file.unified(&mut patch);
        }
        patch
    }
}

impl File {
    fn envelope(&self, patch: &mut String) {
        match (&self.before, &self.after) {
            (None, Some(lines)) => {
                let _ = writeln!(patch, "*** Add File: {}", self.path);
                prefixed(patch, "+", lines);
            }
            (Some(_), None) => {
                let _ = writeln!(patch, "*** Delete File: {}", self.path);
            }
            (Some(before), Some(_)) => {
                let _ = writeln!(patch, "*** Update File: {}", self.path);
                if let Some(to_path) = &self.to_path {
                    let _ = writeln!(patch, "*** Move to: {to_path}");
                }
                for hunk in &self.hunks {
                    patch.push_str("@@\n");
                    hunk.body(patch, before, self.blurred);
                }
            }
            (None, None) => unreachable!("a file is somewhere"),
        }
    }

    fn unified(&self, patch: &mut String) {
        let to_path = self.to_path.as_ref().unwrap_or(&self.path);
        let _ = writeln!(patch, "diff --git a/{} b/{to_path}", self.path);
        match (&self.before, &self.after) {
            (None, Some(lines)) => {
                let _ = write!(patch, "new file mode 100644\n--- /dev/null\n+++ b/{to_path}\n");
                let _ = writeln!(patch, "@@ -0,0 +1,{} @@", lines.len());
                prefixed(patch, "+", lines);
            }
            (Some(lines), None) => {
                let _ =
                    write!(patch, "deleted file mode 100644\n--- a/{}\n+++ /dev/null\n", self.path);
                let _ = writeln!(patch, "@@ -1,{} +0,0 @@", lines.len());
                prefixed(patch, "-", lines);
            }
            (Some(before), Some(_)) => {
                if self.to_path.is_some() {
                    let _ = write!(
                        patch,
                        "similarity index 90%\nrename from {}\nrename to {to_path}\n",
                        self.path
                    );
                }
                let _ = write!(patch, "--- a/{}\n+++ b/{to_path}\n", self.path);
                let mut moved = 0;
                for hunk in &self.hunks {
                    let kept = hunk.context.0 + hunk.context.1;
                    let (old, new) = (kept + hunk.removed, kept + hunk.added.len());
                    let _ = writeln!(
                        patch,
                        "@@ -{},{old} +{},{new} @@",
                        hunk.start + 1,
                        hunk.start + 1 + moved
                    );
                    hunk.body(patch, before, self.blurred);
                    moved += new - old;
                }
            }
            (None, None) => unreachable!("a file is somewhere"),
        }
    }
}

impl Hunk {
    fn body(&self, patch: &mut String, before: &[String], blurred: bool) {
        let removed = self.start + self.context.0;
        let below = removed + self.removed;
        prefixed(patch, " ", &before[self.start..removed]);
        let mut old = before[removed..below].to_vec();
        if blurred {
            old.iter_mut().for_each(|line| line.push(' '));
        }
        prefixed(patch, "-", &old);
        prefixed(patch, "+", &self.added);
        prefixed(patch, " ", &before[below..below + self.context.1]);
    }
}

fn prefixed(patch: &mut String, prefix: &str, lines: &[String]) {
    for line in lines {
        patch.push_str(prefix);
        patch.push_str(line);
        patch.push('\n');
    }
}
