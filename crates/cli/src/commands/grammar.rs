//! `apply-patch grammar`, `tool-spec` and `prompt`: what providers and models are told.

use std::io::Write as _;

use file_tools::specs::{self, SpecOptions};

use crate::args;
use crate::exit::Exit;
use crate::render;

pub(crate) fn grammar(args: &args::Grammar) -> Exit {
    print(patch_grammar::export::text(args.format, args.dialect.dialect))
}

pub(crate) fn tool_spec(args: &args::ToolSpec) -> Exit {
    let client = match args.client {
        args::Client::Raw => specs::Client::Raw,
        args::Client::Python => specs::Client::Python,
    };
    let options = SpecOptions {
        dialect: args.dialect.dialect,
        grammar: args.grammar_dialect,
        client,
        max_characters: args.max_characters,
    };
    match specs::tool_spec(args.provider, &options) {
        Ok(spec) => {
            for caveat in spec.caveats() {
                render::message(caveat);
            }
            print(&format!("{}\n", spec.to_json().trim_end()))
        }
        Err(error) => {
            render::message(&error.to_string());
            Exit::Usage
        }
    }
}

pub(crate) fn prompt(args: &args::Prompt) -> Exit {
    let channel = match args.channel {
        args::Channel::Tool => specs::Channel::Tool,
        args::Channel::Argument => specs::Channel::Argument,
        args::Channel::Message => specs::Channel::Message,
    };
    print(&specs::prompt(args.dialect.dialect, channel))
}

/// Prints a text as it is; a broken pipe is a quiet end.
fn print(text: &str) -> Exit {
    let _ = std::io::stdout().write_all(text.as_bytes());
    Exit::Done
}
