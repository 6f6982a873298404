//! Shell commands that apply a patch: `cd DIR && apply_patch <<'EOF'` and its relatives.

use patch_grammar::Marker;
use patch_grammar::detect::{Fence, left_out};
#[cfg(feature = "shell")]
use shell_intercept::{Intercept, Shell, intercept, intercept_script};

#[cfg(not(feature = "shell"))]
use super::no_shell::{Intercept, Shell, intercept, intercept_script};
use super::not_received::{NotReceived, wrapped};

const ALONE: &str = "send the patch or the diff alone, without the command";

/// The patch of a shell command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellPatch {
    /// The patch, below an empty line for each line above the patch in the text.
    pub(super) patch: String,
    /// The directory of the command's `cd`.
    pub(super) directory: Option<String>,
    /// Notes on the parts read and left out.
    pub(super) notes: Vec<String>,
}

/// Reads the words of a command; the last may be a script.
pub(super) fn of_words(words: &[&str]) -> Result<ShellPatch, NotReceived> {
    call(intercept(words), 0)
}

/// Reads a script without text around the commands.
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

/// Notes the missing end of a heredoc, if the script ends with a whole patch.
fn unclosed(script: &str) -> Option<String> {
    let ends = script.trim_end().ends_with(Marker::End.as_str());
    ends.then(|| "the heredoc is not closed, and the patch in it is whole".to_owned())
}

/// Finds the only shell command with a patch in a text; `None` if there is none.
///
/// # Errors
///
/// When the meaning is not clear: there are several commands, the command does more than apply a
/// patch, or the shell would change the patch.
pub(super) fn find(text: &str) -> Result<Option<ShellPatch>, NotReceived> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
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
                // In a fence all lines above are commands too. Elsewhere they are prose, unless the
                // last line changes the directory.
                let above = match &fence {
                    Some((fence, _)) => has_text(&lines[fence + 1..at]),
                    None => {
                        let last = lines[..at].iter().rev().find(|line| !line.trim().is_empty());
                        let word = last.and_then(|line| line.split_whitespace().next());
                        matches!(word, Some("cd" | "pushd"))
                    }
                };
                if above {
                    return wrapped("the lines above `apply_patch` are commands too", ALONE);
                }
                let length = fence.as_ref().and_then(|(_, fence)| {
                    lines[at..].iter().position(|line| fence.is_closed_by(line.trim_end()))
                });
                let end = length.map_or(lines.len(), |length| at + length);
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
        // The reader of patches has better errors, and can correct more.
        return Ok(None);
    }
    // A patch as an argument begins in the line of the command.
    let above = start + usize::from(script.lines().next().is_some_and(|line| line.contains("<<")));
    let mut call = call(verdict, above)?;
    call.notes.extend(unclosed(script));
    let around = [0..start, end..lines.len()];
    let around = around.into_iter().filter(|range| has_text(&lines[range.clone()]));
    call.notes.extend(left_out(around));
    Ok(Some(call))
}

fn has_text(lines: &[&str]) -> bool {
    lines.iter().any(|line| !line.trim().is_empty())
}

/// The names of the program in commands.
const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// The first words of a diff.
const DIFF_BEGINS: [&str; 4] = ["diff -", "--- ", "Index: ", "From "];

/// Returns whether the command in line `at` gets a patch from a heredoc or as an argument.
fn opens(lines: &[&str], at: usize) -> bool {
    let line = lines[at].trim();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    // An indented line may be context of a hunk, and so does not open a diff.
    let may_open_diff = !lines[at].starts_with([' ', '\t']);
    let below = &lines[at + 1..];
    opens_argument(line, below, may_open_diff) || opens_heredoc(line, below, may_open_diff)
}

/// Returns whether a command gets a patch as an argument, or has one below without a heredoc.
fn opens_argument(line: &str, below: &[&str], may_open_diff: bool) -> bool {
    let changes_directory = line.starts_with("cd ");
    let moves = changes_directory && NAMES.iter().any(|name| line.contains(name));
    let command = line.split_once("&& ").filter(|_| changes_directory);
    let command = command.map_or(line, |(_, command)| command.trim_start());
    let writes = ["echo ", "printf "].iter().any(|word| command.starts_with(word));
    let is_named = NAMES.iter().any(|name| line.starts_with(name));
    let takes_argument = moves || writes || is_named;
    // The lines below are looked at last: there may be many empty ones.
    (takes_argument && opens_quote(line, below, may_open_diff))
        // Without a heredoc, too, the directory tells the place of the paths.
        || (moves && begins_below(below, may_open_diff))
}

/// Returns whether a patch begins within quotes, in the line or below.
fn opens_quote(line: &str, below: &[&str], may_open_diff: bool) -> bool {
    let begin = Marker::Begin.as_str();
    ["'", "\""].iter().any(|quote| {
        line.contains(&format!("{quote}{begin}"))
            || (line.ends_with(quote) && begins_below(below, may_open_diff))
    })
}

/// Returns whether a command gets a patch from a heredoc.
fn opens_heredoc(line: &str, below: &[&str], may_open_diff: bool) -> bool {
    let Some((command, tag)) = line.split_once("<<") else { return false };
    let tag = tag.trim_start_matches('-').trim();
    let begins_with_word =
        command.trim_start().starts_with(|c: char| c.is_alphanumeric() || "_./".contains(c));
    if !begins_with_word || tag.is_empty() {
        return false;
    }
    (may_open_diff && NAMES.iter().any(|name| line.contains(name)))
        || first_below_begins_with(below, &[Marker::Begin.as_str()])
        || (may_open_diff
            && first_below_begins_with(below, &DIFF_BEGINS)
            && !reads_alike(command, tag, below))
}

/// Returns whether a command reads a diff like this program, so that the line of the command counts
/// as prose. Not so with other options, or if the shell would change the text.
fn reads_alike(command: &str, tag: &str, below: &[&str]) -> bool {
    let is_kept = tag.starts_with(['\'', '"', '\\'])
        || !below.iter().any(|line| line.contains(['$', '`', '\\']));
    ["git apply", "git apply -", "patch -p1"].contains(&command.trim_end()) && is_kept
}

/// Returns whether a patch begins in the first line with text.
fn begins_below(below: &[&str], may_open_diff: bool) -> bool {
    first_below_begins_with(below, &[Marker::Begin.as_str()])
        || (may_open_diff && first_below_begins_with(below, &DIFF_BEGINS))
}

fn first_below_begins_with(below: &[&str], begins: &[&str]) -> bool {
    let first = below.iter().find(|line| !line.trim().is_empty());
    first.is_some_and(|first| begins.iter().any(|begins| first.trim_start().starts_with(begins)))
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
