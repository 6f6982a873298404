//! Whether a client that searches for tools finds the right one first.
//!
//! Clients with tool search rank by BM25 over the name, the description and the names of the
//! arguments, and put few tools before the model.

use std::collections::BTreeSet;

use file_tools::catalogue;

/// What a model searches for, and the tool that has to come first.
const QUERIES: &[(&str, &str)] = &[
    ("edit a file", "edit_file"),
    ("edit source files", "apply_patch"),
    ("edit code", "apply_patch"),
    ("apply a diff", "apply_patch"),
    ("apply a patch", "apply_patch"),
    ("apply_patch", "apply_patch"),
    ("patch source code", "apply_patch"),
    ("edit several files", "apply_patch"),
    ("change code in several files", "apply_patch"),
    ("modify source code", "apply_patch"),
    ("multi-file edit", "apply_patch"),
    ("refactor code across files", "apply_patch"),
    ("replace text in a file", "edit_file"),
    ("find and replace a string", "edit_file"),
    ("rename a file", "move_file"),
    ("move a file to another directory", "move_file"),
    ("read lines", "read_file"),
    ("read a file", "read_file"),
    ("show file contents", "read_file"),
    ("open a file", "read_file"),
    ("find text", "search_files"),
    ("grep for a regex", "search_files"),
    ("search code", "search_files"),
    ("find files by name", "glob"),
    ("glob pattern", "glob"),
    ("list a directory", "list_directory"),
    ("ls folder", "list_directory"),
    ("create a new file", "create_file"),
    ("make a file", "create_file"),
    ("overwrite the whole content of a file", "write_file"),
    ("write a whole file", "write_file"),
    ("delete a file", "delete_file"),
    ("remove a file", "delete_file"),
    ("restore a deleted file", "restore_file"),
    ("bring back from the trash", "restore_file"),
    ("undo the last change", "undo"),
    ("revert a change", "undo"),
    ("roll back", "undo"),
];

/// The words of a text, in lower case and without what English puts at their ends. `oldText` is two
/// words.
fn words(text: &str) -> Vec<String> {
    const COMMON: &str = " a an the of to in is it that and or by for with from as at on my this ";
    let mut spaced = String::new();
    let mut lower = false;
    for letter in text.chars() {
        if lower && letter.is_ascii_uppercase() {
            spaced.push(' ');
        }
        lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        spaced.push(letter.to_ascii_lowercase());
    }
    let all = spaced.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    all.filter(|word| !COMMON.contains(&format!(" {word} "))).map(stem).collect()
}

fn stem(word: &str) -> String {
    let ends = ["ing", "ed", "es", "s"].into_iter();
    let mut ends = ends
        .filter(|end| word.len() > end.len() + 3 && word.ends_with(end) && !word.ends_with("ss"));
    let stem = ends.next().map_or(word, |end| &word[..word.len() - end.len()]);
    if word.len() > 3 { stem.trim_end_matches('e').to_owned() } else { word.to_owned() }
}

/// The score of each document for a query, by BM25 with its usual constants.
fn scores(documents: &[Vec<String>], query: &str) -> Vec<f64> {
    let count = documents.len() as f64;
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / count;
    let score = |document: &Vec<String>| {
        let one = |word: String| {
            let with = documents.iter().filter(|document| document.contains(&word)).count() as f64;
            let rare = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            let times = document.iter().filter(|other| **other == word).count() as f64;
            rare * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * document.len() as f64 / average))
        };
        words(query).into_iter().map(one).sum()
    };
    documents.iter().map(score).collect()
}

#[test]
fn the_right_tool_is_found_first() {
    let tools = catalogue();
    let text = |tool: &file_tools::ToolInfo| {
        let arguments = tool.input_schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>();
        words(&format!("{} {} {}", tool.name, tool.description, arguments.join(" ")))
    };
    let documents: Vec<_> = tools.iter().map(text).collect();
    let mut wrong = Vec::new();
    for (query, wanted) in QUERIES {
        let scores = scores(&documents, query);
        let score = |name: &str| scores[tools.iter().position(|tool| tool.name == name).unwrap()];
        // A tie is not a first place.
        let better: Vec<_> = tools
            .iter()
            .filter(|tool| tool.name != *wanted && score(tool.name) >= score(wanted))
            .map(|tool| tool.name)
            .collect();
        if !better.is_empty() {
            wrong.push(format!("{query:?}: {better:?} before {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let found: BTreeSet<_> = QUERIES.iter().map(|(_, tool)| *tool).collect();
    assert_eq!(
        found.len(),
        tools.len() - 1,
        "every tool but the brief form of another has a query"
    );
}
