//! Signals as they are by default, whoever started the tests.

/// Gives the children that are started from now on the signals by default. A shell ignores SIGINT
/// and SIGQUIT for what it starts in the background, `nohup` SIGHUP, and children inherit that; but
/// a signal that has a handler is reset in them. The handler here does what is done by default.
pub fn by_default() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(crate::posix::handle_signals);
}
