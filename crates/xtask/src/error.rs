//! Why a grammar cannot be written in the other notations.

/// Why a pest grammar has no equal in the other notations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// It is not a pest grammar.
    #[error("no pest grammar: {message}")]
    Syntax {
        /// The message of pest.
        message: String,
    },
    /// It has no rule of this name to start with.
    #[error("there is no rule `{rule}`")]
    NoSuchRule {
        /// The name.
        rule: String,
    },
    /// A rule has a construct missing from the other notations.
    #[error("rule `{rule}`: {construct}")]
    Unsupported {
        /// The rule.
        rule: String,
        /// The construct.
        construct: Construct,
    },
    /// Two rules would have one name.
    #[error("rules `{rule}` and `{other}` would have the same name")]
    NameClash {
        /// One of them.
        rule: String,
        /// The other.
        other: String,
    },
    /// The grammar can be written down, but some engine would read it differently.
    #[error(transparent)]
    Differs(#[from] Finding),
}

/// A construct of pest that the other notations lack, or in which they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Construct {
    /// `PUSH`, `PEEK`, `POP`, `DROP`.
    #[error("the stack has no counterpart")]
    Stack,
    /// `NEWLINE`.
    #[error("NEWLINE takes three kinds of line end; write out the one that is meant")]
    Newline,
    /// `&…`, and `!…` before anything else than one character.
    #[error("a look-ahead can be expressed only as `!characters ~ character` in an atomic rule")]
    LookAhead,
    /// A built-in rule that names a Unicode property.
    #[error("Unicode properties differ from engine to engine")]
    UnicodeProperty,
    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`.
    #[error("counted repetitions differ from engine to engine; write them out")]
    CountedRepetition,
    /// `WHITESPACE` or `COMMENT`.
    #[error("implicit blanks and comments have no counterpart")]
    ImplicitRule,
    /// A rule that comes back to itself.
    #[error("a rule may not use itself: only a regular language can be checked")]
    Recursion,
    /// `SOI` or `EOI` elsewhere than at the two ends of the start rule.
    #[error("SOI and EOI may stand only at the ends of the start rule")]
    InnerAnchor,
    /// A start rule without `SOI` and `EOI`.
    #[error("the start rule must begin with SOI and end with EOI")]
    UnanchoredStart,
    /// A start rule that is a terminal.
    #[error("the start rule may not be atomic")]
    TerminalStart,
    /// A range, a built-in class or `^"…"` outside an atomic rule.
    #[error(
        "a class of characters must stand in an atomic rule, so that it has a name as a terminal"
    )]
    BareCharacters,
    /// A terminal that takes the empty text.
    #[error("a terminal may not match the empty text")]
    EmptyTerminal,
    /// `""` outside an atomic rule.
    #[error("an empty text is not a terminal")]
    EmptyLiteral,
    /// A class from which everything was taken away.
    #[error("no character is left to match")]
    EmptySet,
    /// Something that pest has learned since.
    #[error("not known to the generator")]
    Other,
}

/// A reason why a grammar means one thing to one engine and something else to another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// The pest parser and the exported grammar disagree about a sentence.
    #[error("{} accepts {sentence:?} and {} does not", side(*.pest_accepts), side(!.pest_accepts))]
    Differs {
        /// The shortest such sentence.
        sentence: String,
        /// Whether it is pest that accepts the sentence.
        pest_accepts: bool,
    },
    /// A written file and the grammar disagree about a sentence.
    #[error("{} accepts {sentence:?} and {} does not", file(*.file_accepts), file(!.file_accepts))]
    FileDiffers {
        /// The shortest such sentence.
        sentence: String,
        /// Whether it is the file that accepts the sentence.
        file_accepts: bool,
    },
    /// A written file cannot be read back.
    #[error("the written grammar cannot be read back: {message}")]
    Unreadable {
        /// The fault.
        message: String,
    },
    /// A lexer with the longest match would go on into the text after.
    #[error(
        "{terminal} may be followed by {follower}, whose beginning a lexer would take for more of \
         {into}: {sentence:?}"
    )]
    RunsOn {
        /// The terminal that should end.
        terminal: String,
        /// The terminal that the lexer would take the text for.
        into: String,
        /// The terminal that should begin.
        follower: String,
        /// A sentence in which they are neighbours.
        sentence: String,
    },
    /// Where either may stand, one is the beginning of the other, or the same text.
    #[error(
        "where {longer} may stand, {shorter} may stand too, and a lexer could take it in \
         {sentence:?}"
    )]
    Overlaps {
        /// The terminal that is meant in the sentence.
        longer: String,
        /// The terminal of the same text, or of its beginning.
        shorter: String,
        /// A sentence with this text.
        sentence: String,
    },
}

fn side(pest: bool) -> &'static str {
    if pest { "pest" } else { "the exported grammar" }
}

fn file(file: bool) -> &'static str {
    if file { "the written file" } else { "the grammar" }
}
