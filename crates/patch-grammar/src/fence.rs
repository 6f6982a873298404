//! Code fences of Markdown.

/// An open code fence of Markdown.
#[derive(Debug)]
pub struct Fence {
    pub(crate) indent: usize,
    mark: char,
    length: usize,
}

impl Fence {
    /// Returns the fence opened by a line.
    #[must_use]
    pub fn opened_by(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = text.chars().take_while(|&c| c == mark).count();
        (length >= 3 && !text[length..].contains('`')).then_some(Self {
            indent: line.len() - text.len(),
            mark,
            length,
        })
    }

    /// Returns whether a line closes the fence. A fence that is indented deeper belongs to what is
    /// inside.
    #[must_use]
    pub fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let marks = text.trim_end();
        line.len() - text.len() <= self.indent
            && marks.len() >= self.length
            && marks.chars().all(|c| c == self.mark)
    }
}
