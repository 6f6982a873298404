//! How errors print themselves.

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
