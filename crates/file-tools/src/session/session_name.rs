//! The name that groups the calls of one session.

use std::fmt;
use std::str::FromStr;

/// A session's name: 1 to 64 ASCII letters, digits, `-` and `_`. It is part of file names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(String);

/// The text is not a session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a session name; one has 1 to 64 ASCII letters, digits, `-` and `_`")]
pub struct BadSessionName(String);

impl SessionName {
    /// Returns the name of the command line's session.
    #[must_use]
    pub fn cli() -> Self {
        Self("cli".into())
    }

    /// Makes a random name.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes.
    pub fn random() -> Result<Self, fs_guard::Error> {
        let mut bytes = [0; 8];
        fs_guard::random(&mut bytes)?;
        Ok(Self(format!("s-{:016x}", u64::from_ne_bytes(bytes))))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionName {
    type Err = BadSessionName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (1..=64).contains(&text.len()) && text.bytes().all(fine) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSessionName(text.chars().take(80).collect()))
        }
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
