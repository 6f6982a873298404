//! Whether a client that searches for tools finds the right one first.
//!
//! Clients with tool search rank by BM25 over the name, the description and the names of the
//! arguments, and put few tools before the model.

use file_tools::catalogue;
use testutils::tools::{all, known};

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
    let queries =
        all().into_iter().flat_map(|it| it.searches.iter().map(move |query| (query, it.name)));
    for (query, wanted) in queries {
        let scores = scores(&documents, query);
        let score = |name: &str| scores[tools.iter().position(|tool| tool.name == name).unwrap()];
        // A tie is not a first place.
        let better: Vec<_> = tools
            .iter()
            .filter(|tool| tool.name != wanted && score(tool.name) >= score(wanted))
            .map(|tool| tool.name)
            .collect();
        if !better.is_empty() {
            wrong.push(format!("{query:?}: {better:?} before {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let without: Vec<_> =
        tools.iter().map(|tool| tool.name).filter(|name| known(name).searches.is_empty()).collect();
    assert_eq!(without, ["edit.patch"], "every tool but the brief form of another has a query");
}
