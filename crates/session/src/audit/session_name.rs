//! The names of sessions, and of their turns.

use std::fmt;
use std::str::FromStr;

/// The text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not the name of a {what}; one has 1 to 64 ASCII letters, digits, `-` and `_`")]
pub struct BadName {
    what: &'static str,
    text: String,
}

macro_rules! name {
    ($(#[doc = $doc:literal])+ $name:ident, $what:literal) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Makes a random name.
            ///
            /// # Errors
            ///
            /// When the system has no random bytes.
            pub fn random() -> Result<Self, fs_guard::Error> {
                let mut bytes = [0; 8];
                fs_guard::random(&mut bytes)?;
                Ok(Self(format!("{}-{:016x}", &$what[..1], u64::from_ne_bytes(bytes))))
            }

            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                if (1..=64).contains(&text.len()) && text.bytes().all(fine) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(BadName { what: $what, text: text.chars().take(80).collect() })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// A session's name: 1 to 64 ASCII letters, digits, `-` and `_`. It is part of file names.
    SessionName, "session"
}

name! {
    /// The name of a turn of a session: 1 to 64 ASCII letters, digits, `-` and `_`.
    TurnName, "turn"
}

impl SessionName {
    /// Returns the name of the command line's session.
    #[must_use]
    pub fn cli() -> Self {
        Self("cli".into())
    }
}
