//! The query of `search_files`, and its matches in a text.

#[cfg(not(target_family = "wasm"))]
pub(super) use here::Query;
#[cfg(target_family = "wasm")]
pub(super) use nowhere::Query;

#[cfg(not(target_family = "wasm"))]
mod here {
    use grep_matcher::{LineTerminator, Matcher as _};
    use grep_regex::{Error, RegexMatcher, RegexMatcherBuilder};
    use grep_searcher::SearcherBuilder;
    use grep_searcher::sinks::Bytes;

    use patch_session::text::split_terminator;

    /// The most memory that is taken to match a query, in bytes.
    const MAX_MATCHER: usize = 10 << 20;

    /// A text, or a regular expression, that is looked for in lines.
    pub(in crate::tools) struct Query {
        matcher: RegexMatcher,
        /// Whether it may ask for the beginning or the end of all that is looked at: then that is
        /// one line.
        line_by_line: bool,
    }

    impl Query {
        /// `smart_case`: a query in lower case matches any case.
        pub(in crate::tools) fn new(
            text: &str,
            is_regex: bool,
            smart_case: bool,
        ) -> Result<Self, Error> {
            let mut builder = RegexMatcherBuilder::new();
            builder.size_limit(MAX_MATCHER).dfa_size_limit(MAX_MATCHER);
            // Many lines are looked at at once: `^` and `$` mean each of them.
            builder.multi_line(true).crlf(true);
            builder.fixed_strings(!is_regex).case_smart(smart_case);
            let line_by_line = is_regex && (text.contains(r"\A") || text.contains(r"\z"));
            builder.build(text).map(|matcher| Self { matcher, line_by_line })
        }

        /// Returns where the first match in a line begins, in bytes.
        pub(in crate::tools) fn find(&self, line: &[u8]) -> Option<usize> {
            self.matcher.find(line).ok().flatten().map(|found| found.start())
        }

        /// Returns the numbers of the first lines that match, from 1.
        pub(in crate::tools) fn lines(&self, text: &[u8], most: usize) -> Vec<u64> {
            if self.line_by_line {
                let lines = text.split_inclusive(|&byte| byte == b'\n');
                let numbered = (1..).zip(lines.map(|line| split_terminator(line).0));
                let found = numbered.filter(|(_, line)| self.find(line).is_some());
                return found.map(|(number, _)| number).take(most).collect();
            }
            let mut numbers = Vec::new();
            let sink = Bytes(|number, _| {
                numbers.push(number);
                Ok(numbers.len() < most)
            });
            let mut searcher = SearcherBuilder::new()
                .line_terminator(LineTerminator::crlf())
                .line_number(true)
                .bom_sniffing(false)
                .build();
            // The sink does not fail, and a slice can be read.
            let _ = searcher.search_slice(&self.matcher, text, sink);
            numbers
        }
    }
}

/// A browser has no directories to search, and loads no library for that.
#[cfg(target_family = "wasm")]
mod nowhere {
    pub(in crate::tools) enum Query {}

    impl Query {
        pub(in crate::tools) fn new(_: &str, _: bool, _: bool) -> Result<Self, &'static str> {
            Err("there are no directories here")
        }

        pub(in crate::tools) fn find(&self, _: &[u8]) -> Option<usize> {
            match *self {}
        }

        pub(in crate::tools) fn lines(&self, _: &[u8], _: usize) -> Vec<u64> {
            match *self {}
        }
    }
}
