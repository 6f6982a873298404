//! Prints every tool spec, one JSON object a line, for checks against the providers' own types.

#![allow(clippy::print_stdout)]

use file_tools::specs::{Client, Provider, SpecOptions, tool_spec};
use patch_grammar::Dialect;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for provider in Provider::ALL {
        let formats: Vec<_> = provider.grammar_formats().iter().copied().map(Some).collect();
        for grammar in if formats.is_empty() { vec![None] } else { formats } {
            for dialect in Dialect::ALL {
                for client in [Client::Raw, Client::Python] {
                    let max_characters = (dialect == Dialect::Codex).then_some(20_000);
                    let options = SpecOptions { dialect, grammar, client, max_characters };
                    let line = serde_json::json!({
                        "provider": provider.as_str(),
                        "grammar": grammar.map(|format| format.as_str()),
                        "dialect": dialect.as_str(),
                        "python": client == Client::Python,
                        "spec": tool_spec(provider, &options)?.to_value(),
                    });
                    println!("{line}");
                }
            }
        }
    }
    Ok(())
}
