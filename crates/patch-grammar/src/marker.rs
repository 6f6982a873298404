//! The marker lines of the envelope, for the code that writes or recognises them.

crate::names::named! {
    /// A marker line, or the part of a header before its path. The name of a marker is its text,
    /// with the colon where a path follows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "they are the markers")]
    pub enum Marker {
        Begin = "*** Begin Patch",
        End = "*** End Patch",
        Add = "*** Add File:",
        Delete = "*** Delete File:",
        Update = "*** Update File:",
        Move = "*** Move File:",
        MoveTo = "*** Move to:",
        EndOfFile = "*** End of File",
        Environment = "*** Environment ID:",
    }
}

/// The line after a line of a file that has no line feed.
pub const NO_NEWLINE: &str = "\\ No newline at end of file";

impl Marker {
    /// Returns the marker that a line begins with.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|marker| line.starts_with(marker.as_str()))
    }

    /// Returns the form that messages show.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Begin => "`*** Begin Patch`",
            Self::End => "`*** End Patch`",
            Self::Add => "`*** Add File: path`",
            Self::Delete => "`*** Delete File: path`",
            Self::Update => "`*** Update File: path`",
            Self::Move => "`*** Move File: old -> new`",
            Self::MoveTo => "`*** Move to: path`",
            Self::EndOfFile => "`*** End of File`",
            Self::Environment => "`*** Environment ID: id`",
        }
    }

    /// Returns the header line with this path.
    #[must_use]
    pub fn header(self, path: &str) -> String {
        format!("{} {path}\n", self.as_str())
    }
}

/// Writes the `@@` line of a hunk.
pub fn push_header(out: &mut String, header: Option<&str>) {
    out.push_str("@@");
    if let Some(header) = header {
        out.push(' ');
        out.push_str(header);
    }
    out.push('\n');
}

/// Writes one line of a hunk or a new file. A carriage return at its end says that it ends in CRLF
/// in the file.
pub fn push_line(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    out.push('\n');
}

/// Writes the line that says that the one before has no line feed.
pub fn push_no_newline(out: &mut String) {
    out.push_str(NO_NEWLINE);
    out.push('\n');
}
