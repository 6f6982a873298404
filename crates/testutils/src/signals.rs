//! Signals as they are by default, whoever started the tests.

#[cfg(unix)]
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::sync::{Arc, Once};

/// Gives the children that are started from now on the signals by default. A shell ignores SIGINT
/// and SIGQUIT for what it starts in the background, `nohup` SIGHUP, and children inherit that; but
/// a signal that has a handler is reset in them. The handler here does what is done by default.
pub fn by_default() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
                let always = Arc::new(AtomicBool::new(true));
                signal_hook::flag::register_conditional_default(signal, always)
                    .expect("a handler can be set");
            }
        });
    }
}
