//! The parser that pest generates, and the grammar as text.

use pest_itself::Parser as _;

use crate::marker::Marker;

/// The text of `grammar/apply_patch.pest`, the only definition of the language.
pub const GRAMMAR: &str = include_str!("../grammar/apply_patch.pest");

// The generator makes public items without documentation.
#[allow(missing_docs, unreachable_pub, dead_code, clippy::all, reason = "it is generated")]
#[rustfmt::skip]
mod generated;

pub(crate) use generated::{PatchParser, Rule};

crate::names::named! {
    /// A sub-language that is exported for constrained decoding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Dialect {
        /// Everything a model should write.
        Whole = "whole",
        /// The language of codex-trained models.
        Codex = "codex",
        /// The whole language without what is refused later whatever the files are: paths that are
        /// not beneath the root or that name `.git`, names that no platform takes, hunks that
        /// change nothing, and NUL.
        Tight = "tight",
    }
}

/// Returns whether `text` is a sentence of `dialect`.
///
/// [`parse`](crate::parse()) accepts every sentence of each dialect, and more.
#[must_use]
pub fn recognizes(dialect: Dialect, text: &str) -> bool {
    let rule = match dialect {
        Dialect::Whole => Rule::patch,
        Dialect::Codex => Rule::codex_patch,
        Dialect::Tight => Rule::tight_patch,
    };
    PatchParser::parse(rule, text).is_ok()
}

/// Returns the name of a part of a patch for people and models; `None` for parts that are never
/// expected by name.
pub(crate) fn symbol(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::begin_patch | Rule::accepted_begin => Marker::Begin.symbol(),
        Rule::end_patch | Rule::accepted_end => Marker::End.symbol(),
        Rule::add_file | Rule::codex_add_file | Rule::tight_add_file | Rule::accepted_add => {
            Marker::Add.symbol()
        }
        Rule::delete_file | Rule::tight_delete_file | Rule::accepted_delete => {
            Marker::Delete.symbol()
        }
        Rule::update_file
        | Rule::codex_update_file
        | Rule::tight_update_file
        | Rule::accepted_update => Marker::Update.symbol(),
        Rule::move_file | Rule::accepted_move => Marker::Move.symbol(),
        Rule::move_to | Rule::tight_move_to | Rule::accepted_move_to => Marker::MoveTo.symbol(),
        Rule::path | Rule::tight_path | Rule::rest => "a path",
        Rule::move_paths => "`old -> new`",
        Rule::add_lines | Rule::tight_add_lines => "a line that begins with `+`",
        Rule::hunk
        | Rule::codex_hunk
        | Rule::tight_hunk
        | Rule::accepted_hunk
        | Rule::at
        | Rule::tight_at
        | Rule::accepted_at => "`@@`",
        Rule::hunk_lines
        | Rule::codex_hunk_lines
        | Rule::tight_hunk_lines
        | Rule::bare_hunk
        | Rule::accepted_hunk_lines => "a line that begins with a blank, `-` or `+`",
        Rule::end_of_file | Rule::accepted_end_of_file => Marker::EndOfFile.symbol(),
        Rule::no_newline | Rule::accepted_no_newline => "`\\ No newline at end of file`",
        Rule::EOI => "the end of the text",
        Rule::environment
        | Rule::empty_lines
        | Rule::pad
        | Rule::blank
        | Rule::line_feed
        | Rule::patch
        | Rule::codex_patch
        | Rule::tight_patch
        | Rule::tight_name
        | Rule::tight_hidden
        | Rule::tight_ascii
        | Rule::tight_character
        | Rule::tight_line
        | Rule::accepted
        | Rule::accepted_open
        | Rule::accepted_head
        | Rule::accepted_section
        | Rule::accepted_some
        | Rule::accepted_hunks
        | Rule::accepted_line => return None,
    })
}
