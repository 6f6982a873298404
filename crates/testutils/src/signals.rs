//! Default signals, whoever started the tests.

/// Gives later children the default signals. A shell ignores SIGINT and SIGQUIT in its background
/// jobs, `nohup` ignores SIGHUP, and children inherit ignored signals; but a signal with a handler
/// is reset in a child. The handler here does the default action.
pub fn by_default() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(crate::posix::handle_signals);
}
