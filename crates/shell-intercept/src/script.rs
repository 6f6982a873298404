//! Decides about a script.

use std::borrow::Cow;

use patch_grammar::{Marker, ParseOptions};
use tree_sitter::Node;

use crate::heredoc::{self, Body, Tag};
use crate::literal::{self, NotLiteral};
use crate::shell::{MAX_SCRIPT_SIZE, NAMES, Shell};
use crate::tree;
use crate::verdict::{CorrectnessError, Intercept, ShellParseError};

/// The longest text before the patch. Paths have 4096 bytes at most, and are shorter in practice.
const MAX_HEAD: usize = 4 << 10;

/// A command that prints a text.
struct Printer {
    /// The words before the text.
    words: &'static str,
    /// Whether the command ends the line.
    ends_line: bool,
    /// The characters that not every shell writes as they are.
    changed: &'static [char],
}

const PRINTERS: [Printer; 8] = [
    Printer { words: "echo", ends_line: true, changed: &['\\'] },
    Printer { words: "printf", ends_line: false, changed: &['\\', '%'] },
    Printer { words: "printf %s", ends_line: false, changed: &[] },
    Printer { words: "printf '%s'", ends_line: false, changed: &[] },
    Printer { words: "printf \"%s\"", ends_line: false, changed: &[] },
    Printer { words: "printf '%s\\n'", ends_line: true, changed: &[] },
    Printer { words: "printf \"%s\\n\"", ends_line: true, changed: &[] },
    Printer { words: "printf %s\\\\n", ends_line: true, changed: &[] },
];

/// Decides whether a script, run by a shell as one command, is a call of `apply_patch`.
///
/// ```
/// # use shell_intercept::{Intercept, Shell, intercept_script};
/// let patch = "*** Begin Patch\n*** Delete File: old.rs\n*** End Patch";
/// let script = format!("apply_patch '{patch}'");
/// let found = intercept_script(Shell::Posix, &script);
/// assert_eq!(found, Intercept::Body { patch: patch.into(), workdir: None });
/// ```
#[must_use]
pub fn intercept_script(shell: Shell, script: &str) -> Intercept<'_> {
    if script.contains('\0') {
        return Intercept::NotApplyPatch;
    }
    if is_bare_patch(script) {
        return Intercept::CorrectnessError(CorrectnessError::ImplicitInvocation);
    }
    if !may_be_call(script) {
        return Intercept::NotApplyPatch;
    }
    if script.len() > MAX_SCRIPT_SIZE {
        return Intercept::ShellParseError(ShellParseError::TooLong { len: script.len() });
    }
    with_heredoc(script, shell)
        .or_else(|| with_argument(script, shell))
        .or_else(|| printed(script, shell))
        .unwrap_or(Intercept::NotApplyPatch)
}

/// Checks the patch of a call.
pub(crate) fn body<'a>(patch: Cow<'a, str>, workdir: Option<Cow<'a, str>>) -> Intercept<'a> {
    match patch_grammar::parse(&*patch, &parse_options()) {
        Ok(_) => Intercept::Body { patch, workdir },
        Err(error) => Intercept::CorrectnessError(error.into()),
    }
}

/// Whether a patch stands in place of a command, well-formed or not. No command begins like a
/// patch, and a shell would run the first file of the directory in place of `***`.
pub(crate) fn is_bare_patch(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.trim_end() == Marker::Begin.as_str()
        || (first.starts_with(['<', '`', '~'])
            && patch_grammar::parse(text, &parse_options()).is_ok())
}

/// How the `codex` profile reads a patch.
fn parse_options() -> ParseOptions {
    ParseOptions { strip_wrappers: true, bare_first_hunk: true, ..ParseOptions::default() }
}

/// Spares other scripts the parser: each form begins with one of these words, and has the name.
fn may_be_call(script: &str) -> bool {
    let start = script.trim_start();
    NAMES.iter().any(|word| start.starts_with(word))
        || (["cd", "cat", "echo", "printf"].iter().any(|word| start.starts_with(word))
            && NAMES.iter().any(|name| script.contains(name)))
}

/// Whether the last non-empty line ends a patch.
fn ends_a_patch(lines: &str) -> bool {
    lines.lines().rev().find(|line| !line.trim().is_empty()) == Some(Marker::End.as_str())
}

/// A call with a heredoc; `None` for other scripts.
fn with_heredoc(script: &str, shell: Shell) -> Option<Intercept<'_>> {
    let at = script.find("<<").filter(|at| *at < MAX_HEAD)?;
    let end = script[at..].find('\n').map_or(script.len(), |end| at + end);
    let head = Some(&script[..end]).filter(|head| head.len() <= MAX_HEAD)?;
    let open = tree::parse(head);
    let place = tree::first_tag(&open)?;
    let mut tag = Tag::read(&head[place.clone()])?;
    let after = &head[place.end..];
    tag.crlf = after == "\r";
    let after = if tag.crlf { "" } else { after.trim_matches([' ', '\t']) };
    // The same with a tag that every reader reads alike, and without lines.
    let mut before = head[..place.start].to_owned();
    // `cat <<TAG | apply_patch` means the same; the line may end at the `|`, with the name below
    // the lines.
    let mut below = false;
    if !after.is_empty() {
        let piped = after.strip_prefix('|')?.trim_start_matches([' ', '\t']);
        below = piped.is_empty() && !tag.crlf;
        let name = if below { NAMES[0] } else { piped };
        NAMES.contains(&name).then_some(())?;
        let command = before.trim_end().trim_end_matches('-').strip_suffix("<<")?.trim_end();
        before = with_name(command, "cat", name)? + &before[command.len()..];
    }
    let closed = format!("{before}'EOF'\nEOF\n");
    let tree = tree::parse(&closed);
    let call = tree::call(&tree, &closed, shell).filter(|call| call.argument.is_none())?;
    call.tag.filter(|tag| tag.start_byte() == before.len())?;
    tag.dash = head[..place.start].trim_end().ends_with("<<-");
    let workdir = match call.directory.map(|node| directory(node, head, shell)).transpose() {
        Ok(workdir) => workdir,
        Err(error) => return Some(error),
    };
    let start = (end + 1).min(script.len());
    let lines = match heredoc::lines(&script[start..], &tag) {
        Body::Closed(lines, rest) => {
            let ends = if below {
                NAMES.contains(&rest.trim_matches([' ', '\t', '\n']))
            } else {
                rest.trim_matches(['\r', ' ', '\t', '\n']).is_empty()
            };
            if !ends {
                return Some(Intercept::NotApplyPatch);
            }
            lines
        }
        // The shell takes the lines present, and the patch itself shows that it is whole.
        Body::Open if !below && ends_a_patch(&script[start..]) => &script[start..],
        Body::Open => {
            let tag = tag.text.to_owned();
            return Some(Intercept::ShellParseError(ShellParseError::OpenHeredoc { tag }));
        }
        Body::More => return Some(Intercept::NotApplyPatch),
    };
    if !tag.quoted
        && let Some((at, character)) = heredoc::expansion(lines)
    {
        return Some(expansion(script, start + at, character, "a heredoc whose tag is not quoted"));
    }
    let patch = if tag.dash { heredoc::without_tabs(lines) } else { Cow::Borrowed(lines) };
    Some(body(patch, workdir))
}

/// A command with the word `word` at its end, replaced by the name of the call.
fn with_name(command: &str, word: &str, name: &str) -> Option<String> {
    let others = command.strip_suffix(word)?;
    // In `X=1 cat` too the word is a command.
    let begins = others.is_empty() || others.ends_with(char::is_whitespace);
    begins.then(|| others.to_owned() + name)
}

/// A call with a quoted argument; `None` for other scripts.
fn with_argument(script: &str, shell: Shell) -> Option<Intercept<'_>> {
    // The name may be a part of the directory too.
    for end in names(script).take(3) {
        let start = end + literal::blanks(&script[end..], shell);
        if start == end || start > MAX_HEAD || !script[start..].starts_with(['\'', '"']) {
            continue;
        }
        // The same with an argument that every reader reads alike.
        let closed = format!("{}'x'", &script[..start]);
        let tree = tree::parse(&closed);
        let call = tree::call(&tree, &closed, shell).filter(|call| call.tag.is_none());
        let Some(call) =
            call.filter(|call| call.argument.is_some_and(|node| node.start_byte() == start))
        else {
            continue;
        };
        let workdir = match call.directory.map(|node| directory(node, script, shell)).transpose() {
            Ok(workdir) => workdir,
            Err(error) => return Some(error),
        };
        // `apply_patch "$FILE"` may be right; a patch that is written out is meant literally.
        let is_patch = script[start + 1..].trim_start().starts_with(Marker::Begin.as_str());
        return Some(match literal::argument(&script[start..], shell) {
            Ok((patch, "")) => body(patch, workdir),
            Err(NotLiteral::Expands(at)) if is_patch => {
                let character = script[start + at..].chars().next().unwrap_or_default();
                expansion(script, start + at, character, "an argument that is not in single quotes")
            }
            Err(NotLiteral::Open) => Intercept::ShellParseError(ShellParseError::Quotes),
            Err(NotLiteral::Form) if is_patch => {
                Intercept::ShellParseError(ShellParseError::Quotes)
            }
            Ok(_) | Err(_) => Intercept::NotApplyPatch,
        });
    }
    None
}

/// A patch printed by `echo` or `printf` for the call; `None` for other scripts, or if shells
/// differ in the printed text.
fn printed(script: &str, shell: Shell) -> Option<Intercept<'_>> {
    // PowerShell writes objects, and cmd the quotes too.
    if shell != Shell::Posix {
        return None;
    }
    for Printer { words, ends_line, changed } in PRINTERS {
        let Some(at) = script.find(words).filter(|at| *at < MAX_HEAD) else { continue };
        let end = at + words.len();
        let start = end + literal::blanks(&script[end..], shell);
        if start == end || !script[start..].starts_with(['\'', '"']) {
            continue;
        }
        let Some(before) = with_name(&script[..end], words, NAMES[0]) else { continue };
        let closed = before + " 'x'";
        let tree = tree::parse(&closed);
        let argument = closed.len() - "'x'".len();
        let call = tree::call(&tree, &closed, shell).filter(|call| call.tag.is_none());
        let Some(call) =
            call.filter(|call| call.argument.is_some_and(|node| node.start_byte() == argument))
        else {
            continue;
        };
        let Ok((patch, rest)) = literal::argument(&script[start..], shell) else { continue };
        let piped = rest.trim_start_matches([' ', '\t']).strip_prefix('|');
        let name = piped.map(|piped| piped.trim_matches([' ', '\t', '\n']));
        if !name.is_some_and(|name| NAMES.contains(&name)) || patch.contains(changed) {
            continue;
        }
        let workdir = match call.directory.map(|node| directory(node, script, shell)).transpose() {
            Ok(workdir) => workdir,
            Err(error) => return Some(error),
        };
        return Some(body(if ends_line { patch + "\n" } else { patch }, workdir));
    }
    None
}

/// Where the names of the command end in the script, in order.
fn names(script: &str) -> impl Iterator<Item = usize> {
    script.match_indices("apply").filter_map(|(at, _)| {
        let name = NAMES.iter().find(|name| script[at..].starts_with(**name))?;
        let begins = at == 0 || script[..at].ends_with([' ', '\t', '\n', '&']);
        begins.then_some(at + name.len())
    })
}

fn directory<'s>(
    node: Node<'_>,
    script: &'s str,
    shell: Shell,
) -> Result<Cow<'s, str>, Intercept<'s>> {
    literal::directory(node, script, shell).ok_or_else(|| {
        let directory = script[node.byte_range()].chars().take(80).collect();
        Intercept::CorrectnessError(CorrectnessError::Directory { directory })
    })
}

fn expansion<'s>(script: &str, at: usize, character: char, place: &'static str) -> Intercept<'s> {
    let line = script[..at].matches('\n').count() + 1;
    Intercept::CorrectnessError(CorrectnessError::Expansion { line, character, place })
}
