//! Enums whose variants have stable names.

/// Makes an enum of which each variant stands beside its stable name, with `ALL`, `as_str` and
/// [`Display`](std::fmt::Display).
///
/// The variants of an `error enum` may have fields, and what it displays is a message and not the
/// name, so it gets `as_str` alone.
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
