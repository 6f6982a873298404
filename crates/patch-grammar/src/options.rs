//! The tolerance of the parser.

/// How many file operations a patch, and how many files a diff may have by default.
pub(crate) const MAX_SECTIONS: usize = 10_000;

/// The tolerance beyond the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseOptions {
    /// Whether one heredoc, one Markdown fence, and blanks around markers and headers are removed,
    /// each with a warning. Default: they are errors.
    pub strip_wrappers: bool,
    /// Whether the first hunk of an update may lack its `@@`. Default: no.
    pub bare_first_hunk: bool,
    /// Whether a patch is taken only as written: nothing around is left out, and nothing within is
    /// corrected, also not an absolute path beneath the root. Default: who finds patches in texts
    /// may do both, with a note.
    pub to_the_letter: bool,
    /// The environment that patches are applied in here: a patch whose `*** Environment ID:` names
    /// another one is an error. Default: none, so every patch with an environment is an error.
    pub environment: Option<String>,
    /// How many file operations a patch may have. Default: 10 000.
    pub max_sections: usize,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            strip_wrappers: false,
            bare_first_hunk: false,
            to_the_letter: false,
            environment: None,
            max_sections: MAX_SECTIONS,
        }
    }
}
