//! What the documentation says is so: its console blocks are run, and its lists are those of the
//! code.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::program::clean;
use patch_session::{ErrorKind, FailureClass};
use snapbox::Assert;
use testutils::tree::beneath;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect(path)
}

/// The pages of `docs/` and `docs/reference/`, as paths of the repository.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["docs", "docs/reference"] {
        for entry in fs::read_dir(repository().join(folder)).expect(folder) {
            let name = entry.expect("an entry").file_name();
            pages.push(format!("{folder}/{}", name.to_str().expect("a plain name")));
        }
    }
    pages.retain(|page| page.ends_with(".md"));
    pages.sort();
    pages
}

/// A `$ ` line of a console block with what should follow it.
#[derive(Debug)]
struct Step {
    line: usize,
    command: String,
    code: i32,
    output: Vec<String>,
}

/// The steps of all blocks that are marked `console`. A here-document belongs to its command; `? N`
/// after a command is the exit code.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((_, opening)) = lines.next() {
        let Some(info) = opening.strip_prefix("```") else { continue };
        let before = steps.len();
        while let Some((line, text)) = lines.next().filter(|(_, text)| *text != "```") {
            if info != "console" {
                continue;
            }
            if let Some(command) = text.strip_prefix("$ ") {
                let mut command = command.to_owned();
                if command.ends_with("<<'EOF'") {
                    for (_, text) in lines.by_ref() {
                        command = command + "\n" + text;
                        if text == "EOF" {
                            break;
                        }
                    }
                }
                steps.push(Step { line, command, code: 0, output: Vec::new() });
                continue;
            }
            assert!(steps.len() > before, "line {line}: output without a command");
            let step = steps.last_mut().expect("checked");
            match text.strip_prefix("? ") {
                Some(code) if step.output.is_empty() => {
                    step.code = code.parse().expect("an exit code")
                }
                _ => step.output.push(text.to_owned()),
            }
        }
    }
    steps
}

#[test]
fn blocks_are_read_as_they_are_meant() {
    let read =
        steps("```text\n$ no\n```\n```console\n$ cat <<'EOF'\n$ x\nEOF\n$ b\n? 2\nout\n```\n");
    let read: Vec<_> =
        read.iter().map(|step| (&*step.command, step.code, step.output.len())).collect();
    assert_eq!(read, [("cat <<'EOF'\n$ x\nEOF", 0, 0), ("b", 2, 1)]);
}

/// Runs the steps of a page one after the other, each where the one before ended, in a folder that
/// has `examples/` of this repository. What a command prints is compared if the page shows
/// something.
fn run_page(path: &str) -> usize {
    let steps = steps(&read(path));
    let scratch = tempfile::tempdir().expect("a folder");
    let (clone, bin, place) =
        (scratch.path().join("clone"), scratch.path().join("bin"), scratch.path().join("place"));
    for folder in [&clone, &bin] {
        fs::create_dir(folder).expect("a folder");
    }
    let copied =
        clean("cp").arg("-r").arg(repository().join("examples")).arg(&clone).status().expect("cp");
    assert!(copied.success());
    symlink(env!("CARGO_BIN_EXE_apply-patch"), bin.join("apply-patch")).expect("a link");
    // A reader in a clone builds the program here; it is built already.
    let cargo = "#!/bin/sh\ncase \"$*\" in \"run -p apply-patch --no-default-features -- \"*) \
                 shift 5; exec apply-patch \"$@\";; esac\n\
                 echo \"the test knows no cargo $*\"; exit 101\n";
    fs::write(bin.join("cargo"), cargo).expect("a file");
    fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let search = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));

    fs::write(&place, clone.as_os_str().as_encoded_bytes()).expect("a file");
    for step in &steps {
        let script = format!(
            "exec 2>&1\ncd \"$(cat \"$PLACE\")\" || exit\n{}\ncode=$?\npwd > \"$PLACE\"\n\
             exit $code\n",
            step.command
        );
        let output = clean("sh")
            .args(["-c", &script])
            .env_clear()
            .env("PATH", &search)
            .env("PLACE", &place)
            .env("HOME", scratch.path())
            .stdin(Stdio::null())
            .output()
            .expect("sh");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let at = format!("{path}:{}: {}", step.line, step.command);
        assert_eq!(output.status.code(), Some(step.code), "{at}\n{printed}");
        if !step.output.is_empty() {
            // Here `[..]` stands for any text in a line, and `...` for any lines.
            let wanted = step.output.join("\n") + "\n";
            let compared = Assert::new().try_eq(Some(&at), printed.into(), wanted.into());
            compared.unwrap_or_else(|error| panic!("{error}"));
        }
    }
    steps.len()
}

/// Completion and manual pages are set up by what the pages say, in a home that has nothing.
#[test]
fn completion_and_manual_pages_are_set_up_in_an_empty_home() {
    let home = tempfile::tempdir().expect("a folder");
    let bin = home.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_apply-patch"), bin.join("apply-patch")).expect("a link");
    let search = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let sh = |home: &Path, script: &str| {
        let output = clean("sh")
            .args(["-ec", script])
            .env_clear()
            .env("PATH", &search)
            .env("HOME", home)
            .stdin(Stdio::null())
            .output()
            .expect("sh");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let page = read("docs/quick-start.md");
    let blocks: Vec<_> = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .filter(|block| block.contains("completions") || block.contains(" man "))
        .collect();
    assert_eq!(blocks.len(), 4, "{blocks:?}");
    let help = sh(home.path(), "apply-patch help completions");
    let examples = help.split("Examples:\n").nth(1).expect("examples");
    let examples = examples.lines().filter(|line| !line.contains("powershell"));
    let examples = examples.collect::<Vec<_>>().join("\n");
    for (name, script) in [("page", blocks.concat()), ("help", examples)] {
        let home = home.path().join(name);
        fs::create_dir(&home).expect("a folder");
        sh(&home, &script);
        for file in [
            ".local/share/bash-completion/completions/apply-patch",
            ".zfunc/_apply-patch",
            ".config/fish/completions/apply-patch.fish",
        ] {
            assert!(!fs::read(home.join(file)).expect("a script").is_empty(), "{name}: {file}");
        }
        let written = home.join(".local/share/man/man1/apply-patch-undo.1").exists();
        assert_eq!(written, name == "page");
    }
}

#[test]
fn console_blocks_do_what_they_show() {
    let counts: Vec<_> = ["README.md", "examples/from-git.md"]
        .map(str::to_owned)
        .into_iter()
        .chain(pages())
        .map(|page| {
            let count = run_page(&page);
            (page, count)
        })
        .collect();
    let run: Vec<_> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(page, count)| format!("{page} {count}"))
        .collect();
    eprintln!("commands of the documentation that were run: {}", run.join(", "));
    for page in ["README.md", "docs/quick-start.md"] {
        assert!(
            counts.iter().any(|(name, count)| name == page && *count >= 5),
            "{page} shows no commands"
        );
    }
}

#[test]
fn what_the_page_for_git_users_names_is_run() {
    let page = read("docs/coming-from-git.md");
    let run: BTreeSet<_> = steps(&read("examples/from-git.md"))
        .into_iter()
        .map(|step| step.command.replace(" last", " ID").replace("@1", "ID"))
        .collect();
    let rows = page.lines().filter(|line| line.starts_with("| `git "));
    let named: Vec<_> = rows
        .filter_map(|row| row.split(" | ").nth(1))
        .map(|cell| cell.replace("\\|", "|"))
        .collect();
    assert!(named.len() >= 20, "{named:?}");
    for command in named.iter().map(|cell| cell.trim_matches('`')) {
        // These ask at a terminal; tests/interactive.rs and tests/review.rs answer.
        let asks = ["apply-patch -i fix.diff", "apply-patch review"].contains(&command);
        assert!(run.contains(command) || asks, "`{command}` is not run");
    }
}

/// The first and the last cells of the tables below the headings that `wanted` takes.
fn cells(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut on = false;
    let mut cells = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            on = wanted(heading);
        }
        if let Some((cell, rest)) =
            line.strip_prefix("| `").and_then(|line| line.split_once("` |")).filter(|_| on)
        {
            let last = rest.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            cells.push((cell.to_owned(), last.trim().to_owned()));
        }
    }
    cells
}

/// The reasons that the code can give: the names of variants, and what the functions that name them
/// return.
fn reasons() -> BTreeSet<String> {
    let reasons = reasons_in(&[""]);
    assert!(reasons.len() > 100, "only {} reasons were found", reasons.len());
    reasons
}

/// The reasons that the source files give whose paths beneath `crates/` end so.
pub(crate) fn reasons_in(ends: &[&str]) -> BTreeSet<String> {
    let mut reasons = BTreeSet::new();
    for (name, entry) in beneath(&repository().join("crates")) {
        let is_source = name.contains("/src/") && name.ends_with(".rs");
        if !is_source || !ends.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let file = entry.path();
        let text = fs::read_to_string(file).expect("a source file");
        // What is tested may be made up.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_name = |word: &&str| {
            !word.is_empty()
                && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        for word in ["\"reason\": \"", "[\"reason\"] = \""] {
            assert!(
                !text.contains(word),
                "{}: a reason is the name of a variant, and not a word of its own",
                file.display()
            );
        }
        let named = [
            "patch-grammar/src/error.rs",
            "patch-engine/src/plan/reject.rs",
            "patch-text/src/locate/reject.rs",
            "session/src/answer/reason.rs",
        ];
        if named.iter().any(|end| file.ends_with(end)) {
            // There each variant stands beside its name.
            let names = text
                .lines()
                .filter_map(|line| line.trim().strip_suffix("\",")?.rsplit_once(" = \""));
            reasons.extend(names.map(|(_, name)| name).filter(is_name).map(ToOwned::to_owned));
        }
        let also = [
            ("shell-intercept/src/verdict.rs", "kind"),
            ("git-object-tree/src/error.rs", "as_str"),
        ];
        let also = also.into_iter().filter(|(end, _)| file.ends_with(end)).map(|(_, name)| name);
        for name in also.chain(["reason"]) {
            let heads = ["&self", "self"].map(|of| format!("fn {name}({of}) -> &'static str {{"));
            for (at, head) in heads.iter().flat_map(|head| text.match_indices(head.as_str())) {
                let body = text[at + head.len()..].split("\n    }\n").next().unwrap_or_default();
                reasons.extend(
                    body.split('"').skip(1).step_by(2).filter(is_name).map(ToOwned::to_owned),
                );
            }
        }
    }
    assert!(!reasons.is_empty(), "no reasons in {ends:?}");
    reasons
}

/// The source files with reasons whose comments are rows of docs/reference/errors.md, and the heading above
/// the table of each.
const COMMENTED: [(&str, &str); 3] = [
    ("crates/patch-text/src/locate/reject.rs", "a hunk has no place"),
    ("crates/patch-engine/src/plan/reject.rs", "files"),
    ("crates/session/src/answer/reason.rs", "calls of tools"),
];

/// The rows of a source file: the beginning of each, with the reason, and what follows it.
fn rows(source: &str) -> Vec<(String, String)> {
    let names = source.split("named! {").nth(1).expect("the reasons");
    let names = names.split("\n}\n").next().unwrap_or_default();
    let (mut rows, mut comment) = (Vec::new(), String::new());
    // Variants are indented so, and their fields further.
    for line in names.lines().filter_map(|line| line.strip_prefix("        ")) {
        let name = line.strip_suffix("\",").and_then(|line| line.rsplit_once(" = \""));
        if let Some(words) = line.strip_prefix("/// ") {
            comment += words;
            comment.push(' ');
        } else if let Some((_, reason)) = name.filter(|_| !comment.is_empty()) {
            let (seen, wanted) = comment.split_once(" What to do: ").unwrap_or((&comment, ""));
            let cells = [seen, wanted].map(cell).join(" |");
            rows.push((format!("| `{reason}` |"), format!("{cells} |\n")));
            comment.clear();
        }
    }
    rows
}

/// A comment as a cell of a table in `docs/reference/`: without the capital and the full stop, and
/// what it names of `docs/` is a link.
fn cell(comment: &str) -> String {
    let comment = comment.trim().trim_end_matches('.');
    let is_word = comment.chars().nth(1).is_some_and(|second| !second.is_uppercase());
    let (first, rest) = comment.split_at(usize::from(is_word));
    let text = [&first.to_lowercase(), rest].concat();
    let mut parts = text.split("`docs/");
    let mut cell = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once('`').expect("the end of the name");
        let name = link.rsplit('#').next().unwrap_or_default().replace('-', " ");
        let link = match link.strip_prefix("reference/") {
            Some(beside) => beside.to_owned(),
            None => format!("../{link}"),
        };
        cell += &format!("[{name}]({link}){rest}");
    }
    if cell.is_empty() { cell } else { [" ", &cell].concat() }
}

/// The page with these rows. A row stays where it is; a new one is the last of its table.
fn with_rows(mut page: String, heading: &str, rows: Vec<(String, String)>) -> String {
    for (reason, rest) in rows {
        let all = page.find("\n## Reasons").expect("the tables");
        let table = page.find(&format!("\n## Reasons: {heading}\n")).expect(heading);
        let end = table + page[table..].find("|\n\n## ").expect("the end of the table") + 2;
        let there = [table..end, all..page.len()].into_iter().find_map(|part| {
            let at = part.start + page[part].find(&["\n", &reason].concat())? + 1;
            Some(at..at + page[at..].find('\n')? + 1)
        });
        page.replace_range(there.unwrap_or(end..end), &[reason, rest].concat());
    }
    page
}

/// Write the rows of reasons anew with
/// `UPDATE_DOCS=1 cargo test -p apply-patch --test runner docs::`.
#[test]
fn every_error_is_documented() {
    let committed = read("docs/reference/errors.md");
    let page = COMMENTED.iter().fold(committed.clone(), |page, (file, heading)| {
        with_rows(page, heading, rows(&read(file)))
    });
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(repository().join("docs/reference/errors.md"), &page).expect("the page");
    } else {
        assert_eq!(page, committed, "see the comment above");
    }
    let documented = cells(&page, |heading| heading.starts_with("Reasons"))
        .into_iter()
        .map(|(reason, _)| reason);
    let (documented, known): (BTreeSet<_>, _) = (documented.collect(), reasons());
    assert_eq!(
        documented.difference(&known).collect::<Vec<_>>(),
        [] as [&String; 0],
        "no reason of the code"
    );
    assert_eq!(
        known.difference(&documented).collect::<Vec<_>>(),
        [] as [&String; 0],
        "missing in docs/reference/errors.md"
    );

    let kinds = cells(&page, |heading| heading == "Kinds");
    let names: Vec<_> = kinds.iter().map(|(kind, _)| &**kind).collect();
    assert_eq!(names, ErrorKind::ALL.map(ErrorKind::as_str), "the kinds, in their order");
    for (kind, (_, exits)) in ErrorKind::ALL.into_iter().zip(&kinds) {
        let exit = match FailureClass::of(kind, false) {
            FailureClass::DoesNotApply => "1",
            FailureClass::Usage => "2",
            FailureClass::Refused => "3",
            FailureClass::Stale => "4",
            FailureClass::Failed => "5",
            FailureClass::Partial => "6",
            FailureClass::Unverified => "8",
        };
        assert!(exits.split(", ").any(|one| one == exit), "{kind} ends with {exit}, not {exits:?}");
    }
}

#[test]
fn every_exit_code_is_documented() {
    let source = read("crates/cli/src/exit.rs");
    let variants =
        source.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    let codes: Vec<_> = variants.map(|(_, code)| code).collect();
    assert!(codes.len() >= 10, "{codes:?}");
    let page = cells(&read("docs/reference/errors.md"), |heading| heading == "Exit codes");
    assert_eq!(page.iter().map(|(code, _)| &**code).collect::<Vec<_>>(), codes);
    let readme = read("README.md");
    let listed: BTreeSet<_> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|cell| cell.split(", "))
        .collect();
    for code in codes {
        assert!(listed.contains(code), "README.md does not list the exit code {code}");
    }
}

#[test]
fn every_rule_is_documented() {
    let page = read("docs/profiles.md");
    let help = clean(env!("CARGO_BIN_EXE_apply-patch"))
        .args(["check", "--help"])
        .output()
        .expect("help")
        .stdout;
    let help = String::from_utf8(help).expect("UTF-8");
    let of_every_command =
        ["--root", "--color", "--no-pager", "--json", "--quiet", "--verbose", "--help"];
    let flags: Vec<_> = help
        .lines()
        .filter_map(|line| line.trim().split_once("--"))
        .filter(|(before, _)| before.is_empty() || before.ends_with(", "))
        .map(|(_, flag)| format!("--{}", flag.split([' ', '[', '=']).next().unwrap_or_default()))
        .filter(|flag| !of_every_command.contains(&&**flag))
        .collect();
    assert!(flags.len() >= 10, "{flags:?}");
    for flag in flags {
        let told = |line: &str| {
            line.strip_prefix("| `").is_some_and(|line| {
                line.starts_with(&[&flag, " "].concat()) || line.starts_with(&[&flag, "`"].concat())
            })
        };
        assert!(page.lines().any(told), "docs/profiles.md does not tell what {flag} does");
    }
}

#[test]
fn every_default_pattern_is_documented() {
    let page = read("docs/safety.md");
    let section = page.split("## What is never touched").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let patterns = patch_engine::DEFAULT_FORBIDDEN.iter().chain(patch_engine::DEFAULT_GUARDED);
    for pattern in patterns {
        let shown = format!("`{}`", pattern.strip_prefix("**/").expect("they hold at any depth"));
        assert!(section.contains(&shown), "docs/safety.md does not list {shown}");
    }
}

#[test]
fn pages_are_linked_and_links_lead_somewhere() {
    let readme = read("README.md");
    for page in pages() {
        assert!(readme.contains(&format!("({page})")), "README.md does not link {page}");
    }
    for page in pages().into_iter().chain([
        "README.md".to_owned(),
        "examples/from-git.md".to_owned(),
        "packaging/README.md".to_owned(),
        "editors/vscode/README.md".to_owned(),
    ]) {
        for link in links(&read(&page)).filter(|link| !link.contains("://")) {
            let target =
                repository().join(&page).with_file_name(link.split('#').next().unwrap_or_default());
            assert!(target.exists(), "{page} links {link}");
        }
    }
}

/// Registries and docs.rs show these pages, and have no files beside them.
#[test]
fn pages_of_packages_link_by_url() {
    let crates = std::fs::read_dir(repository().join("crates")).expect("crates");
    let names = crates.map(|entry| entry.expect("a crate").file_name());
    let readmes = names.map(|name| format!("crates/{}/README.md", name.display()));
    let mut own_links = 0;
    for page in readmes.chain(["packaging/python/README.md".to_owned()]) {
        if !repository().join(&page).exists() {
            continue;
        }
        for link in links(&read(&page)) {
            assert!(link.starts_with("https://"), "{page} links {link}");
            let own = link.strip_prefix("https://github.com/apply-patch/apply-patch/");
            if let Some((_, path)) = own.and_then(|path| path.split_once("/main/")) {
                assert!(repository().join(path).exists(), "{page} links {link}");
                own_links += 1;
            }
        }
    }
    assert!(own_links > 5, "{own_links} links lead into the repository");
}

/// The links of a page: those in place, and those in its list of references.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let listed = text.lines().filter(|line| line.starts_with('['));
    inline.chain(listed.filter_map(|line| Some(line.split_once("]: ")?.1)))
}

/// One screen is 50 lines of 80 columns here; a terminal that is wider gets lines of at most 100.
#[test]
fn the_help_fits_one_screen() {
    for (columns, width) in [("80", 80), ("200", 100)] {
        let output =
            clean(env!("CARGO_BIN_EXE_apply-patch")).arg("--help").env("COLUMNS", columns).output();
        let help = String::from_utf8(output.expect("help").stdout).expect("UTF-8");
        assert!(help.contains("Usage: apply-patch"), "{help}");
        assert!(help.lines().count() <= 50, "{} lines:\n{help}", help.lines().count());
        let longest = help.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(longest <= width, "{longest} columns of {columns}:\n{help}");
    }
}
