//! Finds the id of a message too long to keep: the message still gets an answer, or its sender
//! would wait for ever.

use serde_json::Value;

/// Longer ids are ignored.
const MAX_ID: usize = 256;

/// Finds the value of `"id"` at the top level of a JSON object while its bytes stream by.
#[derive(Debug, Default)]
pub(crate) struct IdScanner {
    depth: usize,
    string: bool,
    escaped: bool,
    /// Within the outermost object: a value is expected, not a key.
    value: bool,
    /// The text of the key or value at hand.
    text: Vec<u8>,
    is_id: bool,
    found: Option<Value>,
}

impl IdScanner {
    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.next(byte);
        }
    }

    /// Returns the id, if a complete one was seen.
    pub(crate) fn id(self) -> Option<Value> {
        self.found.filter(|id| id.is_string() || id.is_i64())
    }

    fn next(&mut self, byte: u8) {
        if self.depth == 1
            && (self.string || !matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']'))
        {
            if self.text.len() < MAX_ID {
                self.text.push(byte);
            } else {
                // A longer text cannot be the id, and must not pass for a complete one.
                self.is_id = false;
            }
        }
        if self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.string = true,
            b':' if self.depth == 1 => {
                self.is_id =
                    serde_json::from_slice::<&str>(&self.text).is_ok_and(|key| key == "id");
                self.value = true;
                self.text.clear();
            }
            b',' if self.depth == 1 => self.end_value(),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn end_value(&mut self) {
        if self.value && self.is_id {
            self.found = serde_json::from_slice(&self.text).ok();
        }
        (self.value, self.is_id) = (false, false);
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_outermost_id_only() {
        let long = "x".repeat(300);
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#.to_owned(), Some(json!(7))),
            (
                r#"{"params":{"id":1,"x":"\"id\":2,"},"jsonrpc":"2.0","id":"a,}b"}"#.to_owned(),
                Some(json!("a,}b")),
            ),
            (r#"{ "id" : 3 , "params" : [ {"id":4} ] }"#.to_owned(), Some(json!(3))),
            (r#"{"params":{"id":1}}"#.to_owned(), None),
            (r#"{"id":null}"#.to_owned(), None),
            (r#"{"id":{"id":5}}"#.to_owned(), None),
            (r#"[{"id":5}]"#.to_owned(), None),
            (format!(r#"{{"id":"{long}"}}"#), None),
            (format!(r#"{{"method":"{long}","id":8}}"#), Some(json!(8))),
            (r#"{"x":"\\","id":9}"#.to_owned(), Some(json!(9))),
            (r#"{"id":1"#.to_owned(), None),
            (r#"}}}{"id":1}"#.to_owned(), Some(json!(1))),
        ] {
            let mut whole = IdScanner::default();
            whole.feed(text.as_bytes());
            assert_eq!(whole.id(), id, "{text}");
            let mut apart = IdScanner::default();
            text.as_bytes().chunks(1).for_each(|byte| apart.feed(byte));
            assert_eq!(apart.id(), id, "{text}");
        }
    }
}
