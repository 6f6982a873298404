//! The committed parser accepts what the macro's parser accepts.

use patch_grammar::{Dialect, recognizes};
use pest::Parser as _;
use xtask::Grammar;
use xtask::texts::samples;

/// The macro names its rules as the grammar does, and makes public items without documentation.
#[allow(missing_docs, clippy::all, reason = "it is generated")]
mod derived {
    #[derive(pest_derive::Parser)]
    #[grammar = "grammar/apply_patch.pest"]
    pub(super) struct Derived;
}

use derived::{Derived, Rule};

#[test]
fn the_committed_parser_accepts_what_the_macro_accepts() {
    let mut accepted = 0;
    for dialect in Dialect::ALL {
        let rule = match dialect {
            Dialect::Whole => Rule::patch,
            Dialect::Codex => Rule::codex_patch,
            Dialect::Tight => Rule::tight_patch,
        };
        let language = Grammar::of(dialect).expect("it can be read").language();
        for text in samples(&language, 500, 7) {
            let verdict = Derived::parse(rule, &text).is_ok();
            assert_eq!(recognizes(dialect, &text), verdict, "{dialect:?}: {text:?}");
            accepted += usize::from(verdict);
        }
    }
    assert!(accepted > 100, "{accepted}");
}
