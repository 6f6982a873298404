//! Prints the instructions for the model: `prompt [whole|codex] [tool|argument|message]`.

#![allow(clippy::print_stdout)]

use file_tools::specs::{Channel, prompt};
use patch_grammar::Dialect;

fn main() {
    let dialect = if has("codex") { Dialect::Codex } else { Dialect::Whole };
    let channel = match () {
        () if has("argument") => Channel::Argument,
        () if has("message") => Channel::Message,
        () => Channel::Tool,
    };
    print!("{}", prompt(dialect, channel));
}

fn has(word: &str) -> bool {
    std::env::args().skip(1).any(|argument| argument == word)
}
