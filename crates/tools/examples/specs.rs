//! Prints every tool spec, one JSON object a line, for checks against the providers' own types.

#![allow(clippy::print_stdout)]

use file_tools::specs::{Caller, Client, Provider, SpecError, SpecOptions, tool_spec};
use patch_grammar::Dialect;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for provider in Provider::ALL {
        let formats: Vec<_> = provider.grammar_formats().iter().copied().map(Some).collect();
        for grammar in if formats.is_empty() { vec![None] } else { formats } {
            for dialect in Dialect::ALL {
                for client in [Client::Raw, Client::Python] {
                    let options =
                        SpecOptions { dialect, grammar, client, ..SpecOptions::default() };
                    println!("{}", entry(provider, &options)?);
                }
            }
        }
        for options in choices() {
            match entry(provider, &options) {
                Ok(entry) => println!("{entry}"),
                Err(SpecError::NotTaken { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// Choices that only some providers take.
fn choices() -> Vec<SpecOptions> {
    let default = SpecOptions::default;
    let mut all = vec![SpecOptions { max_characters: Some(20_000), ..default() }];
    for callers in [vec![Caller::Direct], vec![Caller::Direct, Caller::Programmatic]] {
        all.push(SpecOptions { allowed_callers: callers, ..default() });
    }
    for dialect in Dialect::ALL {
        for client in [Client::Raw, Client::Python] {
            all.push(SpecOptions { dialect, client, free_text: true, ..default() });
        }
    }
    all
}

fn entry(provider: Provider, options: &SpecOptions) -> Result<Value, SpecError> {
    let usual = provider.grammar_formats().first().copied().filter(|_| !options.free_text);
    let grammar = options.grammar.or(usual);
    Ok(json!({
        "provider": provider.as_str(),
        "grammar": grammar.map(|format| format.as_str()),
        "dialect": options.dialect.as_str(),
        "python": options.client == Client::Python,
        "freeText": options.free_text,
        "spec": tool_spec(provider, options)?.to_value(),
    }))
}
