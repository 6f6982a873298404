//! Shell commands that apply a patch: `cd DIR && apply_patch <<'EOF'` and its relatives.

use std::ops::Range;

use patch_grammar::Marker;
use patch_grammar::detect::{Fence, left_out};
#[cfg(feature = "shell")]
use shell_intercept::{Intercept, Shell, intercept, intercept_script};

#[cfg(not(feature = "shell"))]
use super::no_shell::{Intercept, Shell, intercept, intercept_script};
use super::not_received::{NotReceived, wrapped};

const ALONE: &str = "send the patch or the diff alone, without the command";

/// A patch that a shell command would apply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellPatch {
    /// The patch, after an empty line for each line before it.
    pub(super) patch: String,
    /// The directory that the command changes to first.
    pub(super) directory: Option<String>,
    /// What was read, and what was left out.
    pub(super) notes: Vec<String>,
}

/// Reads the words of a command, of which the last may be a script.
pub(super) fn of_words(words: &[&str]) -> Result<ShellPatch, NotReceived> {
    call(intercept(words), 0)
}

/// Reads a script that is all there is.
pub(super) fn of_script(script: &str) -> Result<ShellPatch, NotReceived> {
    let mut call = call(intercept_script(Shell::Posix, script), 0)?;
    call.notes.extend(unclosed(script));
    Ok(call)
}

fn call(found: Intercept<'_>, above: usize) -> Result<ShellPatch, NotReceived> {
    match found {
        Intercept::Body { patch, workdir } => {
            let directory = workdir.map(|directory| directory.into_owned());
            let beneath = directory.iter().map(|dir| format!("; its paths are relative to {dir}"));
            let note = format!("read a shell command{}", beneath.collect::<String>());
            let patch = "\n".repeat(above) + &patch;
            Ok(ShellPatch { patch, directory, notes: vec![note] })
        }
        Intercept::CorrectnessError(error) => wrapped(error.to_string(), ALONE),
        Intercept::ShellParseError(error) => wrapped(error.to_string(), ALONE),
        Intercept::NotApplyPatch => {
            let known = cfg!(feature = "shell");
            let more = if known { " that does more than to apply a patch" } else { "" };
            wrapped(format!("this is a shell command{more}"), ALONE)
        }
    }
}

/// Says that the end of the heredoc is missing, if the script ends as a patch does.
fn unclosed(script: &str) -> Option<String> {
    let ends = script.trim_end().ends_with(Marker::End.as_str());
    ends.then(|| "the heredoc is not closed, and the patch in it is whole".to_owned())
}

/// Finds the one shell command in a text that is given a patch. `None` if there is none.
///
/// # Errors
///
/// When there are several, or it does more than to apply a patch, or the shell would change the
/// patch: what is meant is then not known.
pub(super) fn find(text: &str) -> Result<Option<ShellPatch>, NotReceived> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let says =
        |range: &Range<usize>| lines[range.clone()].iter().any(|line| !line.trim().is_empty());
    let mut fence: Option<(usize, Fence)> = None;
    let mut found = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_end();
        match &fence {
            Some((_, open)) if open.is_closed_by(line) => fence = None,
            None if Fence::opened_by(line).is_some() => {
                fence = Fence::opened_by(line).map(|fence| (at, fence));
            }
            _ if opens(&lines, at) => {
                if found.is_some() {
                    return wrapped("these are several shell commands", ALONE);
                }
                // In a fence all lines above are commands too; elsewhere they are prose, unless the
                // last one changes the directory.
                let above = match &fence {
                    Some((fence, _)) => says(&(fence + 1..at)),
                    None => {
                        let last = lines[..at].iter().rev().find(|line| !line.trim().is_empty());
                        let word = last.and_then(|line| line.split_whitespace().next());
                        matches!(word, Some("cd" | "pushd"))
                    }
                };
                if above {
                    return wrapped("the lines above `apply_patch` are commands too", ALONE);
                }
                let closes = |line: &&str| {
                    fence.as_ref().is_some_and(|(_, fence)| fence.is_closed_by(line.trim_end()))
                };
                let end = lines[at..].iter().position(closes).map_or(lines.len(), |end| at + end);
                found = Some((at, end));
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    let Some((start, end)) = found else { return Ok(None) };
    let script = lines[start..end].concat();
    let script = script.trim_end_matches([' ', '\t', '\r', '\n']).to_owned() + "\n";
    let script = script.strip_prefix("$ ").unwrap_or(&script);
    let verdict = intercept_script(Shell::Posix, script);
    if verdict.patch_error().is_some() && !script.starts_with("cd") {
        // The reader of patches says what is wrong with it, and can correct more.
        return Ok(None);
    }
    // The patch of an argument begins in the line of the command.
    let above = start + usize::from(script.lines().next().is_some_and(|line| line.contains("<<")));
    let mut call = call(verdict, above)?;
    call.notes.extend(unclosed(script));
    let around = [0..start, end..lines.len()];
    call.notes.extend(left_out(around.into_iter().filter(says)));
    Ok(Some(call))
}

/// Returns whether the command in line `at` is given a patch: by a heredoc, or as an argument.
fn opens(lines: &[&str], at: usize) -> bool {
    let line = lines[at].trim();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let begin = Marker::Begin.as_str();
    // A line of a hunk that is context has a blank before it.
    let begins = ["diff -", "--- ", "Index: ", "From "];
    let begins = if lines[at].starts_with([' ', '\t']) { &[][..] } else { &begins };
    // It is looked for last: there may be many empty lines.
    let begins_below_with = |begins: &[&str]| {
        let next = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        next.is_some_and(|next| begins.iter().any(|begins| next.trim_start().starts_with(begins)))
    };
    let begins_below = || begins_below_with(&[begin]) || begins_below_with(begins);
    let names = ["apply_patch", "applypatch"];
    let named = |words: &&str| line.starts_with(*words);
    let moves = line.starts_with("cd ") && names.iter().any(|name| line.contains(name));
    let quoted = || {
        ["'", "\""].iter().any(|quote| {
            line.contains(&format!("{quote}{begin}")) || (line.ends_with(quote) && begins_below())
        })
    };
    let command = line.split_once("&& ").filter(|_| line.starts_with("cd "));
    let command = command.map_or(line, |(_, command)| command.trim_start());
    let writes = ["echo ", "printf "].iter().any(|word| command.starts_with(word));
    let argument = (moves || writes || names.iter().any(named)) && quoted();
    // Without what gives it the patch, too, the directory says where the paths are.
    let bare = moves && begins_below();
    let calls = !begins.is_empty() && names.iter().any(|name| line.contains(name));
    // These read a diff as it is read here, and the line is prose. With other options it is not.
    let is_alike = |command: &str, tag: &str| {
        let is_kept = tag.starts_with(['\'', '"', '\\'])
            || !lines[at + 1..].iter().any(|line| line.contains(['$', '`', '\\']));
        ["git apply", "git apply -", "patch -p1"].contains(&command.trim_end()) && is_kept
    };
    let heredoc = line.split_once("<<").is_some_and(|(command, tag)| {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
        let tag = tag.trim_start_matches('-').trim();
        command.trim_start().starts_with(word)
            && !tag.is_empty()
            && (calls
                || begins_below_with(&[begin])
                || (begins_below_with(begins) && !is_alike(command, tag)))
    });
    heredoc || argument || bare
}

#[cfg(all(test, feature = "shell"))]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

    #[test]
    fn a_command_is_read_as_the_shell_reads_it() {
        for (text, above, directory) in [
            (format!("apply_patch <<'EOF'\n{PATCH}EOF\n"), 1, None),
            (format!("cd sub && apply_patch <<'EOF'\n{PATCH}EOF\n"), 1, Some("sub")),
            (format!("cat <<'EOF' | apply_patch\n{PATCH}EOF\n"), 1, None),
            (format!("cd a/b && cat <<\"E\" | apply_patch\n{PATCH}E\n"), 1, Some("a/b")),
            (format!("cat <<'EOF' |\n{PATCH}EOF\napply_patch\n"), 1, None),
            (format!("So:\n```\ncat <<'EOF' |\n{PATCH}EOF\napply_patch\n```\n"), 3, None),
            (format!("echo '{PATCH}' | apply_patch\n"), 0, None),
            (format!("cd x && printf '%s' \"{PATCH}\" | apply_patch\n"), 0, Some("x")),
            (format!("$ apply_patch <<EOF\n{PATCH}EOF\n"), 1, None),
            (format!("I run:\n\ncd 'a b' && apply_patch <<'EOF'\n{PATCH}EOF\n"), 3, Some("a b")),
            (format!("So:\n```sh\napply_patch <<'EOF'\n{PATCH}EOF\n```\nDone.\n"), 3, None),
            (format!("apply_patch '{PATCH}'\n"), 0, None),
            (format!("cd x && apply_patch \"{PATCH}\"\n"), 0, Some("x")),
        ] {
            let found = find(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = found.unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.patch.trim_end(), "\n".repeat(above) + PATCH.trim_end(), "{text}");
            assert_eq!(found.directory.as_deref(), directory, "{text}");
        }
        for text in [
            PATCH.to_owned(),
            format!("apply_patch <<'EOF'\n{DIFF}EOF\n"),
            format!("cat <<'EOF' | apply_patch\n{DIFF}EOF\n"),
            format!("<<'EOF'\n{PATCH}EOF\n"),
            format!("```\n{PATCH}```\n"),
            format!("a << b\n\nSo:\n{PATCH}"),
            format!("So:\n{}", PATCH.replace("\n*** End", "\n apply_patch <<'EOF'\n*** End")),
            format!("apply_patch\n{PATCH}"),
            "<tool_call>\n{\"name\": \"apply_patch\", \"input\": \"*** Begin Patch\\n\"}\n".into(),
        ] {
            assert_eq!(find(&text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_does_more_is_refused() {
        let expands = PATCH.replace(": a", ": $a");
        for text in [
            format!("apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf build\n"),
            format!("apply_patch <<EOF\n{expands}EOF\n"),
            format!("cd sub\napply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("```\nset -e\napply_patch <<'EOF'\n{PATCH}EOF\n```\n"),
            format!("cat <<'EOF' > fix.patch\n{PATCH}EOF\n"),
            format!("cat <<'EOF' | patch -p1\n{PATCH}EOF\n"),
            format!("cat <<'EOF' |\n{PATCH}EOF\npatch -p1\n"),
            format!("echo '{PATCH}' | tee x | apply_patch\n"),
            format!("echo '{PATCH}' > fix.patch\n"),
            format!("echo \"{expands}\" | apply_patch\n"),
            format!("apply_patch <<'EOF'\n{PATCH}More.\n"),
            format!("apply_patch <<'A'\n{PATCH}A\napply_patch <<'B'\n{PATCH}B\n"),
            format!("cd sub && apply_patch\n{PATCH}"),
            format!("cd sub && apply_patch \"\n{PATCH}${{x}}\"\n"),
            format!("cd $HOME && apply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("cd sub && apply_patch <<'EOF'\n{DIFF}EOF\n"),
            format!("cd sub && apply_patch\n{DIFF}"),
            "cd sub && apply_patch <<'EOF'\na\n<<<<<<< SEARCH\n".into(),
            format!("apply_patch <<'EOF'\n{DIFF}EOF\nrm -rf build\n"),
            format!("apply_patch <<'EOF'\n{DIFF}"),
            format!("apply_patch <<EOF\n{DIFF}+$x\nEOF\n"),
            format!("patch -d sub <<'EOF'\n{DIFF}EOF\n"),
        ] {
            assert!(matches!(find(&text), Err(NotReceived::Wrapped { .. })), "{text}");
        }
    }
}
