//! The crate `pest` for the generated parser: pest, but for the start.

pub(crate) use pest_itself::{Atomicity, ParseResult, Parser, ParserState, iterators};

use pest_itself::error::Error;
use pest_itself::iterators::Pairs;

use crate::grammar::Rule;

type State<'i> = Box<ParserState<'i, Rule>>;

/// Runs a parser on `input`. One empty pair more than `pest::state` would give comes last, and
/// stands at the beginning.
///
/// Pest makes an index of all lines up to the end of the last pair, so that a pair can tell its
/// line. Our pairs are never asked, and for many long lines the index takes as long as parsing.
pub(crate) fn state<'i>(
    input: &'i str,
    parse: impl FnOnce(State<'i>) -> ParseResult<State<'i>>,
) -> Result<Pairs<'i, Rule>, Error<Rule>> {
    pest_itself::state(input, |state| {
        let parsed = parse(state)?;
        // The parsed text comes out of a look ahead as it is, but where the look ahead began.
        let rewound = ParserState::new(input).lookahead(true, |_| Ok(parsed))?;
        rewound.rule(Rule::EOI, Ok)
    })
}
