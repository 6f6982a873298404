//! The `file:` URIs of files, for links.

use std::path::Path;

/// Returns the `file:` URI (RFC 8089) of an absolute path; `None` if the path is not Unicode. The
/// URI has no host, as most terminals want none for local files.
#[must_use]
pub fn file_uri(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    Some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_no_character_that_means_something() {
        for (path, uri) in [
            ("/a/b.txt", "file:///a/b.txt"),
            ("/a b/ä#?%.rs", "file:///a%20b/%C3%A4%23%3F%25.rs"),
            ("/w/a b\u{7}\u{1b};#é", "file:///w/a%20b%07%1B%3B%23%C3%A9"),
            ("C:/a", "file:///C:/a"),
        ] {
            assert_eq!(file_uri(Path::new(path)).as_deref(), Some(uri), "{path}");
        }
    }
}
