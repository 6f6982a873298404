// Made by pest from `apply_patch.pest`: `just grammar` writes it anew.

/// The generated parser.
pub struct PatchParser;

/**The patch language of `*** Begin Patch` … `*** End Patch`, in four entry rules:

- `patch`: the whole language, as a model should write it. Exported for constrained decoding.
- `codex_patch`: the subset that codex-trained models write. Exported for constrained decoding.
- `tight_patch`: the whole language without what is refused later whatever the files are. Exported for
  constrained decoding.
- `accepted`: what the parser reads. It takes everything the other three take, and what people and
  models write by mistake and every reader can still understand: CRLF, blank lines between
  sections, context lines that lost their blank, a first hunk without `@@`. Never exported.

This file is the only definition. The parser is generated from it, and so is every other grammar
file. Its shape serves two masters: pest is fast when a run of lines is one atomic token made of
`(!line_feed ~ ANY)*`, and a lexer that looks no further than the longest match needs every token to
end where its line ends.*/
#[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    ///End-of-input
    EOI,
    ///One patch: any number of file operations between two marker lines.
    r#patch,
    ///The first line.
    r#begin_patch,
    ///The last line; its line feed may be missing.
    r#end_patch,
    ///A new file. Without lines it is empty.
    r#add_file,
    ///A file that goes away.
    r#delete_file,
    ///A file that changes, moves, or both.
    r#update_file,
    ///Where an updated file goes.
    r#move_to,
    ///A file that moves, and may change on the way.
    r#move_file,
    ///A path up to the end of its line.
    r#path,
    /**Two paths with an arrow between them, as one token: two neighbouring free texts would leave a
lexer without backtracking no place to stop. The first path has no blanks and the second no
`>`, so that there is one arrow; other paths move by `*** Move to:`.*/
    r#move_paths,
    ///The lines of a new file, each after a plus sign.
    r#add_lines,
    ///Says that the line before it has no line feed in the file.
    r#no_newline,
    ///One block of changed lines. Several `@@` lines nest, the outermost first.
    r#hunk,
    ///Opens a hunk; the text after it names a line that the hunk lies below.
    r#at,
    ///Context, removed and inserted lines.
    r#hunk_lines,
    ///Says that the hunk's last line is the last line of the file.
    r#end_of_file,
    /**One patch of the subset: no `Move File`, no empty new file, one `@@` line a hunk, no marker for
a missing line feed.*/
    r#codex_patch,
    ///A new file with at least one line.
    r#codex_add_file,
    ///A file that changes, and may move on the way.
    r#codex_update_file,
    ///One block of changed lines.
    r#codex_hunk,
    ///Context, removed and inserted lines.
    r#codex_hunk_lines,
    /**One patch: any number of file operations between two marker lines. What is refused later
whatever the files are is left out, as far as a grammar can tell. Files move by `*** Move to:`.*/
    r#tight_patch,
    ///A new file. Without lines it is empty.
    r#tight_add_file,
    ///A file that goes away.
    r#tight_delete_file,
    ///A file that changes, moves, or both.
    r#tight_update_file,
    ///Where an updated file goes.
    r#tight_move_to,
    /**A relative path up to the end of its line. None of its parts is empty, ends in a dot or a blank, or
is `.git` in any case, with or without more after a dot or a blank.*/
    r#tight_path,
    ///A part of a path.
    r#tight_name,
    /**What a hidden name begins with after its dot: as much as shows that it is not `git`. It is ASCII,
since some file system may take other characters for these letters.*/
    r#tight_hidden,
    ///What is no control character, no blank and no dot, and what no platform treats specially in a name.
    r#tight_ascii,
    ///The same and the letters of the scripts in use, without what cannot be seen or looks like a blank.
    r#tight_character,
    ///The lines of a new file, each after a plus sign.
    r#tight_add_lines,
    ///One block of changed lines. Several `@@` lines nest, the outermost first.
    r#tight_hunk,
    ///Opens a hunk; the text after it names a line that the hunk lies below.
    r#tight_at,
    ///Context, removed and inserted lines, of which one is not context.
    r#tight_hunk_lines,
    ///The rest of a line, which may be the last of the file.
    r#tight_line,
    ///A patch as it really comes. The parser reads one part after the other, and the whole where a part is wrong.
    r#accepted,
    ///The same without its last marker, for a text whose last marker is padded with blanks.
    r#accepted_open,
    ///What stands before the first section.
    r#accepted_head,
    ///The first marker, blanks around it.
    r#accepted_begin,
    ///The last marker, blanks and empty lines after it.
    r#accepted_end,
    ///One file operation, and the empty lines below it. What is most frequent is tried first.
    r#accepted_section,
    ///Names the environment a patch is meant for. A second one is an error, which the reader of the tree reports.
    r#environment,
    ///Lines without visible text.
    r#empty_lines,
    ///Some file operations: as many as the parser reads at once, since to begin costs as much as a small one.
    r#accepted_some,
    ///A line of a patch that is still arriving, where no section has it as content.
    r#accepted_line,
    ///A new file.
    r#accepted_add,
    ///A file that goes away.
    r#accepted_delete,
    ///A file that changes, moves, or both.
    r#accepted_update,
    ///Where an updated file goes.
    r#accepted_move_to,
    ///A file that moves, and may change on the way.
    r#accepted_move,
    ///The hunks of a section; the first may lack its `@@`.
    r#accepted_hunks,
    ///A hunk that begins with `@@`.
    r#accepted_hunk,
    ///A hunk that does not.
    r#bare_hunk,
    ///Opens a hunk.
    r#accepted_at,
    ///Context, removed, inserted and empty lines, and markers for a missing line feed.
    r#accepted_hunk_lines,
    ///Says that the hunk's last line is the last line of the file.
    r#accepted_end_of_file,
    ///Says that the line before it has no line feed in the file.
    r#accepted_no_newline,
    ///The rest of a line, with its line feed.
    r#rest,
    ///Blanks before a header.
    r#pad,
    ///What may stand beside a marker; a carriage return belongs to the line's end.
    r#blank,
    /**Where a line ends. It is named twice: pest looks for one text with a searcher that it builds anew
each time, and for the first of two without.*/
    r#line_feed,
}
impl Rule {
    pub fn all_rules() -> &'static [Rule] {
        &[
            Rule::r#patch,
            Rule::r#begin_patch,
            Rule::r#end_patch,
            Rule::r#add_file,
            Rule::r#delete_file,
            Rule::r#update_file,
            Rule::r#move_to,
            Rule::r#move_file,
            Rule::r#path,
            Rule::r#move_paths,
            Rule::r#add_lines,
            Rule::r#no_newline,
            Rule::r#hunk,
            Rule::r#at,
            Rule::r#hunk_lines,
            Rule::r#end_of_file,
            Rule::r#codex_patch,
            Rule::r#codex_add_file,
            Rule::r#codex_update_file,
            Rule::r#codex_hunk,
            Rule::r#codex_hunk_lines,
            Rule::r#tight_patch,
            Rule::r#tight_add_file,
            Rule::r#tight_delete_file,
            Rule::r#tight_update_file,
            Rule::r#tight_move_to,
            Rule::r#tight_path,
            Rule::r#tight_name,
            Rule::r#tight_hidden,
            Rule::r#tight_ascii,
            Rule::r#tight_character,
            Rule::r#tight_add_lines,
            Rule::r#tight_hunk,
            Rule::r#tight_at,
            Rule::r#tight_hunk_lines,
            Rule::r#tight_line,
            Rule::r#accepted,
            Rule::r#accepted_open,
            Rule::r#accepted_head,
            Rule::r#accepted_begin,
            Rule::r#accepted_end,
            Rule::r#accepted_section,
            Rule::r#environment,
            Rule::r#empty_lines,
            Rule::r#accepted_some,
            Rule::r#accepted_line,
            Rule::r#accepted_add,
            Rule::r#accepted_delete,
            Rule::r#accepted_update,
            Rule::r#accepted_move_to,
            Rule::r#accepted_move,
            Rule::r#accepted_hunks,
            Rule::r#accepted_hunk,
            Rule::r#bare_hunk,
            Rule::r#accepted_at,
            Rule::r#accepted_hunk_lines,
            Rule::r#accepted_end_of_file,
            Rule::r#accepted_no_newline,
            Rule::r#rest,
            Rule::r#pad,
            Rule::r#blank,
            Rule::r#line_feed,
        ]
    }
}
#[allow(clippy::all)]
impl ::pest::Parser<Rule> for PatchParser {
    fn parse<'i>(
        rule: Rule,
        input: &'i str,
    ) -> ::core::result::Result<
        ::pest::iterators::Pairs<'i, Rule>,
        ::pest::error::Error<Rule>,
    > {
        mod rules {
            #![allow(clippy::upper_case_acronyms)]
            pub mod hidden {
                use super::super::Rule;
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn skip(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    Ok(state)
                }
            }
            pub mod visible {
                use super::super::Rule;
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#patch(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#patch,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#begin_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        self::r#add_file(state)
                                                            .or_else(|state| { self::r#delete_file(state) })
                                                            .or_else(|state| { self::r#update_file(state) })
                                                            .or_else(|state| { self::r#move_file(state) })
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                self::r#add_file(state)
                                                                                    .or_else(|state| { self::r#delete_file(state) })
                                                                                    .or_else(|state| { self::r#update_file(state) })
                                                                                    .or_else(|state| { self::r#move_file(state) })
                                                                                    .and_then(|state| {
                                                                                        state
                                                                                            .repeat(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        super::hidden::skip(state)
                                                                                                            .and_then(|state| {
                                                                                                                self::r#add_file(state)
                                                                                                                    .or_else(|state| { self::r#delete_file(state) })
                                                                                                                    .or_else(|state| { self::r#update_file(state) })
                                                                                                                    .or_else(|state| { self::r#move_file(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#end_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#begin_patch(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#begin_patch,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| { state.match_string("*** Begin Patch\n") },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#end_patch(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#end_patch,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("*** End Patch")
                                                        .and_then(|state| {
                                                            state.optional(|state| { state.match_string("\n") })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#add_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#add_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Add File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#add_lines(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#no_newline(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#delete_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#delete_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Delete File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#update_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#update_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Update File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        self::r#move_to(state)
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                self::r#hunk(state)
                                                                                    .and_then(|state| {
                                                                                        state
                                                                                            .repeat(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        super::hidden::skip(state)
                                                                                                            .and_then(|state| { self::r#hunk(state) })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                                    .or_else(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#hunk(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        self::r#hunk(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| { self::r#hunk(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#move_to(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#move_to,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Move to: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#move_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#move_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Move File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#move_paths(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#hunk(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#hunk(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#path(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#path,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .lookahead(
                                                            false,
                                                            |state| {
                                                                state
                                                                    .match_string(" ")
                                                                    .or_else(|state| { state.match_string("\t") })
                                                                    .or_else(|state| { state.match_string("\r") })
                                                                    .or_else(|state| { state.match_string("\n") })
                                                            },
                                                        )
                                                        .and_then(|state| { self::r#ANY(state) })
                                                        .and_then(|state| {
                                                            let strings = ["\n", "\n"];
                                                            state.skip_until(&strings)
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#move_paths(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#move_paths,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .lookahead(
                                                                            false,
                                                                            |state| {
                                                                                state
                                                                                    .match_string(" ")
                                                                                    .or_else(|state| { state.match_string("\t") })
                                                                                    .or_else(|state| { state.match_string("\r") })
                                                                                    .or_else(|state| { state.match_string("\n") })
                                                                            },
                                                                        )
                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                })
                                                                .and_then(|state| {
                                                                    state
                                                                        .repeat(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .lookahead(
                                                                                            false,
                                                                                            |state| {
                                                                                                state
                                                                                                    .match_string(" ")
                                                                                                    .or_else(|state| { state.match_string("\t") })
                                                                                                    .or_else(|state| { state.match_string("\r") })
                                                                                                    .or_else(|state| { state.match_string("\n") })
                                                                                            },
                                                                                        )
                                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string(" -> ") })
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(
                                                                    false,
                                                                    |state| {
                                                                        state
                                                                            .match_string(" ")
                                                                            .or_else(|state| { state.match_string("\t") })
                                                                            .or_else(|state| { state.match_string("\r") })
                                                                            .or_else(|state| { state.match_string("\n") })
                                                                            .or_else(|state| { state.match_string(">") })
                                                                    },
                                                                )
                                                        })
                                                        .and_then(|state| { self::r#ANY(state) })
                                                        .and_then(|state| {
                                                            let strings = ["\n", ">"];
                                                            state.skip_until(&strings)
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#add_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#add_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("+")
                                                                .and_then(|state| {
                                                                    let strings = ["\n", "\n"];
                                                                    state.skip_until(&strings)
                                                                })
                                                                .and_then(|state| { state.match_string("\n") })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string("+")
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#no_newline(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#no_newline,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state.match_string("\\ No newline at end of file\n")
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#hunk(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#hunk,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#at(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#at(state)
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { self::r#at(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#hunk_lines(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#end_of_file(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#at(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#at,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("@@")
                                                        .and_then(|state| {
                                                            state
                                                                .optional(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#hunk_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#hunk_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string(" ")
                                                                .or_else(|state| { state.match_string("+") })
                                                                .or_else(|state| { state.match_string("-") })
                                                                .and_then(|state| {
                                                                    let strings = ["\n", "\n"];
                                                                    state.skip_until(&strings)
                                                                })
                                                                .and_then(|state| { state.match_string("\n") })
                                                                .and_then(|state| {
                                                                    state
                                                                        .optional(|state| {
                                                                            state.match_string("\\ No newline at end of file\n")
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .or_else(|state| { state.match_string("+") })
                                                                                .or_else(|state| { state.match_string("-") })
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .optional(|state| {
                                                                                            state.match_string("\\ No newline at end of file\n")
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#end_of_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#end_of_file,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| { state.match_string("*** End of File\n") },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#codex_patch(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#codex_patch,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#begin_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        self::r#codex_add_file(state)
                                                            .or_else(|state| { self::r#delete_file(state) })
                                                            .or_else(|state| { self::r#codex_update_file(state) })
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                self::r#codex_add_file(state)
                                                                                    .or_else(|state| { self::r#delete_file(state) })
                                                                                    .or_else(|state| { self::r#codex_update_file(state) })
                                                                                    .and_then(|state| {
                                                                                        state
                                                                                            .repeat(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        super::hidden::skip(state)
                                                                                                            .and_then(|state| {
                                                                                                                self::r#codex_add_file(state)
                                                                                                                    .or_else(|state| { self::r#delete_file(state) })
                                                                                                                    .or_else(|state| { self::r#codex_update_file(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#end_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#codex_add_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#codex_add_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Add File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#add_lines(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#codex_update_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#codex_update_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Update File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#move_to(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#codex_hunk(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#codex_hunk(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#codex_hunk(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#codex_hunk(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#codex_hunk,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#at(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#codex_hunk_lines(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#end_of_file(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#codex_hunk_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#codex_hunk_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string(" ")
                                                                .or_else(|state| { state.match_string("+") })
                                                                .or_else(|state| { state.match_string("-") })
                                                                .and_then(|state| {
                                                                    let strings = ["\n", "\n"];
                                                                    state.skip_until(&strings)
                                                                })
                                                                .and_then(|state| { state.match_string("\n") })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .or_else(|state| { state.match_string("+") })
                                                                                .or_else(|state| { state.match_string("-") })
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_patch(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_patch,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#begin_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        self::r#tight_add_file(state)
                                                            .or_else(|state| { self::r#tight_delete_file(state) })
                                                            .or_else(|state| { self::r#tight_update_file(state) })
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                self::r#tight_add_file(state)
                                                                                    .or_else(|state| { self::r#tight_delete_file(state) })
                                                                                    .or_else(|state| { self::r#tight_update_file(state) })
                                                                                    .and_then(|state| {
                                                                                        state
                                                                                            .repeat(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        super::hidden::skip(state)
                                                                                                            .and_then(|state| {
                                                                                                                self::r#tight_add_file(state)
                                                                                                                    .or_else(|state| { self::r#tight_delete_file(state) })
                                                                                                                    .or_else(|state| { self::r#tight_update_file(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#end_patch(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_add_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_add_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Add File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#tight_path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#tight_add_lines(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#no_newline(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_delete_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_delete_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Delete File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#tight_path(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_update_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_update_file,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Update File: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#tight_path(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        self::r#tight_move_to(state)
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                self::r#tight_hunk(state)
                                                                                    .and_then(|state| {
                                                                                        state
                                                                                            .repeat(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        super::hidden::skip(state)
                                                                                                            .and_then(|state| { self::r#tight_hunk(state) })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                                    .or_else(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#tight_hunk(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        self::r#tight_hunk(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| { self::r#tight_hunk(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_move_to(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_move_to,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("*** Move to: ")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#tight_path(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_path(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_path,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#tight_name(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string("/")
                                                                                .and_then(|state| { self::r#tight_name(state) })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_name(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#tight_character(state)
                                .or_else(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .match_string(".")
                                                .and_then(|state| { super::hidden::skip(state) })
                                                .and_then(|state| { self::r#tight_hidden(state) })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#tight_character(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| { self::r#tight_character(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .match_string(" ")
                                                                        .or_else(|state| { state.match_string(".") })
                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                        .and_then(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .optional(|state| {
                                                                                            state
                                                                                                .match_string(" ")
                                                                                                .or_else(|state| { state.match_string(".") })
                                                                                                .and_then(|state| {
                                                                                                    state
                                                                                                        .repeat(|state| {
                                                                                                            state
                                                                                                                .sequence(|state| {
                                                                                                                    super::hidden::skip(state)
                                                                                                                        .and_then(|state| {
                                                                                                                            state
                                                                                                                                .match_string(" ")
                                                                                                                                .or_else(|state| { state.match_string(".") })
                                                                                                                        })
                                                                                                                })
                                                                                                        })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#tight_character(state) })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .optional(|state| {
                                                                                    self::r#tight_character(state)
                                                                                        .and_then(|state| {
                                                                                            state
                                                                                                .repeat(|state| {
                                                                                                    state
                                                                                                        .sequence(|state| {
                                                                                                            super::hidden::skip(state)
                                                                                                                .and_then(|state| { self::r#tight_character(state) })
                                                                                                        })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .sequence(|state| {
                                                                                            state
                                                                                                .sequence(|state| {
                                                                                                    state
                                                                                                        .match_string(" ")
                                                                                                        .or_else(|state| { state.match_string(".") })
                                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                                        .and_then(|state| {
                                                                                                            state
                                                                                                                .sequence(|state| {
                                                                                                                    state
                                                                                                                        .optional(|state| {
                                                                                                                            state
                                                                                                                                .match_string(" ")
                                                                                                                                .or_else(|state| { state.match_string(".") })
                                                                                                                                .and_then(|state| {
                                                                                                                                    state
                                                                                                                                        .repeat(|state| {
                                                                                                                                            state
                                                                                                                                                .sequence(|state| {
                                                                                                                                                    super::hidden::skip(state)
                                                                                                                                                        .and_then(|state| {
                                                                                                                                                            state
                                                                                                                                                                .match_string(" ")
                                                                                                                                                                .or_else(|state| { state.match_string(".") })
                                                                                                                                                        })
                                                                                                                                                })
                                                                                                                                        })
                                                                                                                                })
                                                                                                                        })
                                                                                                                })
                                                                                                        })
                                                                                                })
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| { self::r#tight_character(state) })
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| {
                                                                                                    state
                                                                                                        .sequence(|state| {
                                                                                                            state
                                                                                                                .optional(|state| {
                                                                                                                    self::r#tight_character(state)
                                                                                                                        .and_then(|state| {
                                                                                                                            state
                                                                                                                                .repeat(|state| {
                                                                                                                                    state
                                                                                                                                        .sequence(|state| {
                                                                                                                                            super::hidden::skip(state)
                                                                                                                                                .and_then(|state| { self::r#tight_character(state) })
                                                                                                                                        })
                                                                                                                                })
                                                                                                                        })
                                                                                                                })
                                                                                                        })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_hidden(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    state
                        .sequence(|state| {
                            state
                                .lookahead(
                                    false,
                                    |state| {
                                        state
                                            .match_string("g")
                                            .or_else(|state| { state.match_string("G") })
                                    },
                                )
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { self::r#tight_ascii(state) })
                        })
                        .or_else(|state| {
                            state
                                .sequence(|state| {
                                    state
                                        .match_string("g")
                                        .or_else(|state| { state.match_string("G") })
                                        .and_then(|state| { super::hidden::skip(state) })
                                        .and_then(|state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .lookahead(
                                                            false,
                                                            |state| {
                                                                state
                                                                    .match_string("i")
                                                                    .or_else(|state| { state.match_string("I") })
                                                            },
                                                        )
                                                        .and_then(|state| { super::hidden::skip(state) })
                                                        .and_then(|state| { self::r#tight_ascii(state) })
                                                })
                                                .or_else(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("i")
                                                                .or_else(|state| { state.match_string("I") })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .lookahead(
                                                                                    false,
                                                                                    |state| {
                                                                                        state
                                                                                            .match_string("t")
                                                                                            .or_else(|state| { state.match_string("T") })
                                                                                    },
                                                                                )
                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                .and_then(|state| { self::r#tight_ascii(state) })
                                                                        })
                                                                        .or_else(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .match_string("t")
                                                                                        .or_else(|state| { state.match_string("T") })
                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                        .and_then(|state| { self::r#tight_character(state) })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_ascii(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    state
                        .match_string("!")
                        .or_else(|state| { state.match_range('#'..')') })
                        .or_else(|state| { state.match_range('+'..'-') })
                        .or_else(|state| { state.match_range('0'..'9') })
                        .or_else(|state| { state.match_string(";") })
                        .or_else(|state| { state.match_string("=") })
                        .or_else(|state| { state.match_range('@'..'[') })
                        .or_else(|state| { state.match_range(']'..'{') })
                        .or_else(|state| { state.match_string("}") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_character(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    state
                        .match_string("!")
                        .or_else(|state| { state.match_range('#'..')') })
                        .or_else(|state| { state.match_range('+'..'-') })
                        .or_else(|state| { state.match_range('0'..'9') })
                        .or_else(|state| { state.match_string(";") })
                        .or_else(|state| { state.match_string("=") })
                        .or_else(|state| { state.match_range('@'..'[') })
                        .or_else(|state| { state.match_range(']'..'{') })
                        .or_else(|state| { state.match_string("}") })
                        .or_else(|state| { state.match_range('®'..'\u{34e}') })
                        .or_else(|state| { state.match_range('Ͱ'..'؛') })
                        .or_else(|state| { state.match_range('؝'..'ᅞ') })
                        .or_else(|state| { state.match_range('、'..'ㅣ') })
                        .or_else(|state| { state.match_range('ㅥ'..'\u{d7ff}') })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_add_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_add_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("+")
                                                                .and_then(|state| {
                                                                    let strings = ["\n", "\0"];
                                                                    state.skip_until(&strings)
                                                                })
                                                                .and_then(|state| { state.match_string("\n") })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string("+")
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\0"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_hunk(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_hunk,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#tight_at(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#tight_at(state)
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { self::r#tight_at(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#tight_hunk_lines(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#end_of_file(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_at(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_at,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("@@")
                                                        .and_then(|state| {
                                                            state
                                                                .optional(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\0"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_hunk_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#tight_hunk_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .repeat(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .match_string(" ")
                                                                        .and_then(|state| { self::r#tight_line(state) })
                                                                })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .match_string("+")
                                                                .or_else(|state| { state.match_string("-") })
                                                        })
                                                        .and_then(|state| { self::r#tight_line(state) })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .or_else(|state| { state.match_string("+") })
                                                                                .or_else(|state| { state.match_string("-") })
                                                                                .and_then(|state| { self::r#tight_line(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#tight_line(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .sequence(|state| {
                                    state
                                        .optional(|state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .lookahead(
                                                            false,
                                                            |state| {
                                                                state
                                                                    .match_string("\n")
                                                                    .or_else(|state| { state.match_string("\0") })
                                                            },
                                                        )
                                                        .and_then(|state| { super::hidden::skip(state) })
                                                        .and_then(|state| { self::r#ANY(state) })
                                                })
                                                .and_then(|state| {
                                                    state
                                                        .repeat(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    super::hidden::skip(state)
                                                                        .and_then(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .lookahead(
                                                                                            false,
                                                                                            |state| {
                                                                                                state
                                                                                                    .match_string("\n")
                                                                                                    .or_else(|state| { state.match_string("\0") })
                                                                                            },
                                                                                        )
                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { state.match_string("\n") })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .optional(|state| {
                                            state.match_string("\\ No newline at end of file\n")
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#accepted_head(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#accepted_section(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#accepted_section(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#accepted_end(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_open(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_open,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#accepted_head(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#accepted_section(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#accepted_section(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_head(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#accepted_begin(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#environment(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| { self::r#environment(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#empty_lines(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_begin(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_begin,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .repeat(|state| { self::r#blank(state) })
                                                        .and_then(|state| { state.match_string("*** Begin Patch") })
                                                        .and_then(|state| {
                                                            state.repeat(|state| { self::r#blank(state) })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_end(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_end,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("*** End Patch")
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    self::r#blank(state)
                                                                        .or_else(|state| { state.match_string("\n") })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_section(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#accepted_update(state)
                                .or_else(|state| { self::r#accepted_add(state) })
                                .or_else(|state| { self::r#accepted_delete(state) })
                                .or_else(|state| { self::r#accepted_move(state) })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#empty_lines(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#environment(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#environment,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("*** Environment ID:")
                                                        .and_then(|state| {
                                                            let strings = ["\n", "\n"];
                                                            state.skip_until(&strings)
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#empty_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#empty_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .repeat(|state| { self::r#blank(state) })
                                                                .and_then(|state| { state.match_string("\n") })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .repeat(|state| { self::r#blank(state) })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_some(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#accepted_section(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#accepted_section(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_line(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    self::r#accepted_at(state)
                        .or_else(|state| { self::r#accepted_update(state) })
                        .or_else(|state| { self::r#accepted_add(state) })
                        .or_else(|state| { self::r#accepted_delete(state) })
                        .or_else(|state| { self::r#accepted_move(state) })
                        .or_else(|state| { self::r#accepted_move_to(state) })
                        .or_else(|state| { self::r#accepted_end_of_file(state) })
                        .or_else(|state| { self::r#accepted_no_newline(state) })
                        .or_else(|state| { self::r#accepted_end(state) })
                        .or_else(|state| { self::r#environment(state) })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_add(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_add,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pad(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { state.match_string("*** Add File:") })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rest(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#add_lines(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .optional(|state| { self::r#accepted_no_newline(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_delete(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_delete,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pad(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.match_string("*** Delete File:")
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rest(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_update(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_update,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pad(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.match_string("*** Update File:")
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rest(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#accepted_move_to(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#accepted_hunks(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_move_to(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_move_to,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pad(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { state.match_string("*** Move to:") })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rest(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_move(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_move,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pad(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { state.match_string("*** Move File:") })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rest(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#accepted_hunks(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_hunks(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .sequence(|state| {
                                    state
                                        .optional(|state| { self::r#empty_lines(state) })
                                        .and_then(|state| { super::hidden::skip(state) })
                                        .and_then(|state| { self::r#accepted_hunk(state) })
                                })
                                .or_else(|state| { self::r#bare_hunk(state) })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#accepted_hunk(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| { self::r#accepted_hunk(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_hunk(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_hunk,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#accepted_at(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#accepted_at(state)
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { self::r#accepted_at(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#accepted_hunk_lines(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| { self::r#accepted_end_of_file(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#bare_hunk(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#bare_hunk,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#accepted_hunk_lines(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| { self::r#accepted_end_of_file(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_at(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_at,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("@@")
                                                        .and_then(|state| {
                                                            state
                                                                .optional(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            self::r#blank(state)
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_hunk_lines(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_hunk_lines,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string(" ")
                                                                .or_else(|state| { state.match_string("+") })
                                                                .or_else(|state| { state.match_string("-") })
                                                                .or_else(|state| { state.match_string("\\ ") })
                                                                .and_then(|state| {
                                                                    let strings = ["\n", "\n"];
                                                                    state.skip_until(&strings)
                                                                })
                                                                .and_then(|state| { state.match_string("\n") })
                                                        })
                                                        .or_else(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .optional(|state| { state.match_string("\r") })
                                                                        .and_then(|state| { state.match_string("\n") })
                                                                })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string(" ")
                                                                                .or_else(|state| { state.match_string("+") })
                                                                                .or_else(|state| { state.match_string("-") })
                                                                                .or_else(|state| { state.match_string("\\ ") })
                                                                                .and_then(|state| {
                                                                                    let strings = ["\n", "\n"];
                                                                                    state.skip_until(&strings)
                                                                                })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                        .or_else(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .optional(|state| { state.match_string("\r") })
                                                                                        .and_then(|state| { state.match_string("\n") })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_end_of_file(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_end_of_file,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("*** End of File")
                                                        .and_then(|state| {
                                                            state.repeat(|state| { self::r#blank(state) })
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .repeat(|state| { self::r#blank(state) })
                                                                                .and_then(|state| { state.match_string("\n") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#accepted_no_newline(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#accepted_no_newline,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("\\ ")
                                                        .and_then(|state| {
                                                            let strings = ["\n", "\n"];
                                                            state.skip_until(&strings)
                                                        })
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#rest(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#rest,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    let strings = ["\n", "\n"];
                                                    state
                                                        .skip_until(&strings)
                                                        .and_then(|state| { state.match_string("\n") })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#pad(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .optional(|state| {
                                    self::r#blank(state)
                                        .and_then(|state| {
                                            state
                                                .repeat(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            super::hidden::skip(state)
                                                                .and_then(|state| { self::r#blank(state) })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#blank(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    state
                        .match_string(" ")
                        .or_else(|state| { state.match_string("\t") })
                        .or_else(|state| { state.match_string("\r") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#line_feed(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    state
                        .match_string("\n")
                        .or_else(|state| { state.match_string("\n") })
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ANY(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.skip(1)
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn EOI(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::EOI, |state| state.end_of_input())
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn SOI(
                    state: ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::alloc::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.start_of_input()
                }
            }
            pub use self::visible::*;
        }
        ::pest::state(
            input,
            |state| {
                match rule {
                    Rule::r#patch => rules::r#patch(state),
                    Rule::r#begin_patch => rules::r#begin_patch(state),
                    Rule::r#end_patch => rules::r#end_patch(state),
                    Rule::r#add_file => rules::r#add_file(state),
                    Rule::r#delete_file => rules::r#delete_file(state),
                    Rule::r#update_file => rules::r#update_file(state),
                    Rule::r#move_to => rules::r#move_to(state),
                    Rule::r#move_file => rules::r#move_file(state),
                    Rule::r#path => rules::r#path(state),
                    Rule::r#move_paths => rules::r#move_paths(state),
                    Rule::r#add_lines => rules::r#add_lines(state),
                    Rule::r#no_newline => rules::r#no_newline(state),
                    Rule::r#hunk => rules::r#hunk(state),
                    Rule::r#at => rules::r#at(state),
                    Rule::r#hunk_lines => rules::r#hunk_lines(state),
                    Rule::r#end_of_file => rules::r#end_of_file(state),
                    Rule::r#codex_patch => rules::r#codex_patch(state),
                    Rule::r#codex_add_file => rules::r#codex_add_file(state),
                    Rule::r#codex_update_file => rules::r#codex_update_file(state),
                    Rule::r#codex_hunk => rules::r#codex_hunk(state),
                    Rule::r#codex_hunk_lines => rules::r#codex_hunk_lines(state),
                    Rule::r#tight_patch => rules::r#tight_patch(state),
                    Rule::r#tight_add_file => rules::r#tight_add_file(state),
                    Rule::r#tight_delete_file => rules::r#tight_delete_file(state),
                    Rule::r#tight_update_file => rules::r#tight_update_file(state),
                    Rule::r#tight_move_to => rules::r#tight_move_to(state),
                    Rule::r#tight_path => rules::r#tight_path(state),
                    Rule::r#tight_name => rules::r#tight_name(state),
                    Rule::r#tight_hidden => rules::r#tight_hidden(state),
                    Rule::r#tight_ascii => rules::r#tight_ascii(state),
                    Rule::r#tight_character => rules::r#tight_character(state),
                    Rule::r#tight_add_lines => rules::r#tight_add_lines(state),
                    Rule::r#tight_hunk => rules::r#tight_hunk(state),
                    Rule::r#tight_at => rules::r#tight_at(state),
                    Rule::r#tight_hunk_lines => rules::r#tight_hunk_lines(state),
                    Rule::r#tight_line => rules::r#tight_line(state),
                    Rule::r#accepted => rules::r#accepted(state),
                    Rule::r#accepted_open => rules::r#accepted_open(state),
                    Rule::r#accepted_head => rules::r#accepted_head(state),
                    Rule::r#accepted_begin => rules::r#accepted_begin(state),
                    Rule::r#accepted_end => rules::r#accepted_end(state),
                    Rule::r#accepted_section => rules::r#accepted_section(state),
                    Rule::r#environment => rules::r#environment(state),
                    Rule::r#empty_lines => rules::r#empty_lines(state),
                    Rule::r#accepted_some => rules::r#accepted_some(state),
                    Rule::r#accepted_line => rules::r#accepted_line(state),
                    Rule::r#accepted_add => rules::r#accepted_add(state),
                    Rule::r#accepted_delete => rules::r#accepted_delete(state),
                    Rule::r#accepted_update => rules::r#accepted_update(state),
                    Rule::r#accepted_move_to => rules::r#accepted_move_to(state),
                    Rule::r#accepted_move => rules::r#accepted_move(state),
                    Rule::r#accepted_hunks => rules::r#accepted_hunks(state),
                    Rule::r#accepted_hunk => rules::r#accepted_hunk(state),
                    Rule::r#bare_hunk => rules::r#bare_hunk(state),
                    Rule::r#accepted_at => rules::r#accepted_at(state),
                    Rule::r#accepted_hunk_lines => rules::r#accepted_hunk_lines(state),
                    Rule::r#accepted_end_of_file => rules::r#accepted_end_of_file(state),
                    Rule::r#accepted_no_newline => rules::r#accepted_no_newline(state),
                    Rule::r#rest => rules::r#rest(state),
                    Rule::r#pad => rules::r#pad(state),
                    Rule::r#blank => rules::r#blank(state),
                    Rule::r#line_feed => rules::r#line_feed(state),
                    Rule::EOI => rules::EOI(state),
                }
            },
        )
    }
}
