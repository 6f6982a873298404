//! Enums whose variants have stable names.

/// Lets `Debug` print the sentence of `Display`, so that `unwrap` of an error reads well.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_is_display {
    ($($error:ty),+ $(,)?) => {
        $(impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        })+
    };
}
pub(crate) use debug_is_display;

/// The error of a name that does not exist.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not one of {}", names.join(", "))]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub names: Vec<&'static str>,
}

debug_is_display!(UnknownName);

/// Makes an enum with a stable name beside each variant, and with `ALL`, `as_str`,
/// [`Display`](std::fmt::Display) and [`FromStr`](std::str::FromStr).
///
/// The variants of an `error enum` may have fields. Its `Display` is a message and not the name, so
/// only `as_str` is made.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$of])* $variant,)+ }

        impl $name {
            /// All of them, in this order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Returns the stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::names::UnknownName;

            fn from_str(name: &str) -> ::std::result::Result<Self, Self::Err> {
                Self::ALL.into_iter().find(|one| one.as_str() == name).ok_or_else(|| {
                    let names = vec![$($text),+];
                    $crate::names::UnknownName { name: name.to_owned(), names }
                })
            }
        }
    };
    ($(#[$meta:meta])* pub error enum $name:ident {
        $($(#[$of:meta])* $variant:ident $({ $($fields:tt)+ })? = $text:literal,)+
    }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$of])* $variant $({ $($fields)+ })?,)+ }

        impl $name {
            /// Returns the stable name.
            #[must_use]
            pub const fn as_str(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $text,)+ }
            }
        }
    };
}

pub(crate) use named;
