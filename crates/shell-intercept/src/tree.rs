//! The shape of a script: one call of `apply_patch`, with or without `cd DIR &&` in front.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use crate::shell::{NAMES, Shell};

/// Parses a script. What breaks the grammar is marked in the tree.
///
/// For short texts only: some hostile ones take the square of their length, 4 KiB of them about 50
/// ms, 32 KiB 2.5 s.
pub(crate) fn parse(script: &str) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .expect("the two crates are of versions that fit");
    parser.parse(script, None).expect("nothing cancels it")
}

/// The parts of a call.
#[derive(Debug)]
pub(crate) struct ShellCall<'t> {
    /// The argument of `cd`.
    pub(crate) directory: Option<Node<'t>>,
    /// The argument of `apply_patch`.
    pub(crate) argument: Option<Node<'t>>,
    /// The tag of the heredoc.
    pub(crate) tag: Option<Node<'t>>,
}

/// Reads the tree of a script with nothing but a call.
pub(crate) fn call<'t>(tree: &'t Tree, script: &str, shell: Shell) -> Option<ShellCall<'t>> {
    if tree.root_node().has_error() {
        return None;
    }
    let [statement] = children(tree.root_node())[..] else { return None };
    let (statement, redirect) = match (statement.kind(), &children(statement)[..]) {
        ("redirected_statement", [statement, redirect]) => (*statement, heredoc(*redirect)?),
        _ => (statement, Vec::new()),
    };
    let mut parts = Vec::new();
    let (directory, command) = match (statement.kind(), &children(statement)[..]) {
        ("command", _) => (None, statement),
        ("list", [cd, and, command]) if and.kind() == "&&" => {
            let (name, arguments) = words(*cd)?;
            let [directory] = arguments[..] else { return None };
            parts.extend([name, directory, *and]);
            (Some((&script[name.byte_range()] == "cd").then_some(directory)?), *command)
        }
        _ => return None,
    };
    let (name, arguments) = words(command)?;
    let argument = arguments.first().copied();
    parts.push(name);
    parts.extend(&arguments);
    parts.extend(&redirect);
    let taken = arguments.len() <= 1
        && NAMES.contains(&&script[name.byte_range()])
        && has_nothing_else(&parts, script, shell);
    taken.then_some(ShellCall { directory, argument, tag: redirect.get(1).copied() })
}

/// The parts of a heredoc, in their order: the operator, the tag, the lines, the end.
fn heredoc(redirect: Node<'_>) -> Option<Vec<Node<'_>>> {
    let parts = children(redirect);
    let kinds: Vec<_> = parts.iter().map(Node::kind).collect();
    let taken = matches!(
        kinds[..],
        ["<<" | "<<-", "heredoc_start", "heredoc_end"]
            | ["<<" | "<<-", "heredoc_start", "heredoc_body", "heredoc_end"]
    );
    (redirect.kind() == "heredoc_redirect" && taken).then_some(parts)
}

/// The name and the arguments of a command with nothing else.
fn words(command: Node<'_>) -> Option<(Node<'_>, Vec<Node<'_>>)> {
    const ARGUMENTS: [&str; 9] = [
        "word",
        "number",
        "raw_string",
        "string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "arithmetic_expansion",
    ];
    let parts = children(command);
    let (name, arguments) = parts.split_first()?;
    let [word] = children(*name)[..] else { return None };
    let plain =
        command.kind() == "command" && name.kind() == "command_name" && word.kind() == "word";
    // A command may also have assignments, redirections, here-strings, and text for the shell to
    // expand.
    let plain = plain && arguments.iter().all(|argument| ARGUMENTS.contains(&argument.kind()));
    plain.then(|| (word, arguments.to_vec()))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Whether there are only blanks between the parts, and continued lines. To the tree, `\` with a
/// blank, a carriage return and other white space are blanks too; to a shell, they are text. So is
/// a continued line: without a blank beside the line end, the shell joins the words around.
fn has_nothing_else(parts: &[Node<'_>], script: &str, shell: Shell) -> bool {
    let mut end = 0;
    for (nth, part) in parts.iter().enumerate() {
        let Some(gap) = script.get(end..part.start_byte()) else { return false };
        end = part.end_byte();
        let blanks = if shell == Shell::Posix { gap.replace("\\\n", "") } else { gap.to_owned() };
        let joins = nth > 0 && blanks.is_empty() && !gap.is_empty();
        if joins || !blanks.bytes().all(is_blank) {
            return false;
        }
    }
    script[end..].replace("\\\n", "").bytes().all(is_blank)
}

/// The children of a node without line ends; at most as many as needed to see that they are too
/// many.
fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| child.kind() != "\n").take(8).collect()
}

/// The place of the first heredoc's tag, in a script that may be cut off behind.
pub(crate) fn first_tag(tree: &Tree) -> Option<Range<usize>> {
    let mut cursor = tree.walk();
    loop {
        if cursor.node().kind() == "heredoc_start" {
            return Some(cursor.node().byte_range());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}
