//! SIGINT, SIGTERM and SIGHUP, and their counterparts on Windows: before the commit point of a
//! change they cancel the change, and leave everything unchanged; after the commit point the change
//! is finished. Before a change begins they end the program at once; during a question, with a
//! message.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::thread;
use std::time::Duration;

use apply_patch_api::tools::{ErrorKind, FailureClass, ToolError};

use crate::exit::Exit;
use crate::platform::{self, HUNG_UP};
use crate::{outside, render};

/// The signals that end the program, and how.
const SIGNALS: [(i32, Exit); 3] = [
    (signal_hook::consts::SIGINT, Exit::Interrupted),
    (signal_hook::consts::SIGTERM, Exit::Terminated),
    (HUNG_UP, Exit::HungUp),
];

/// The exit code of the signal received; 0 before.
static CAME: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Sets the handlers.
static HANDLERS: Once = Once::new();

/// Whether a person is asked.
static WAITS: AtomicBool = AtomicBool::new(false);

/// Watches for a signal while a person is asked.
static WATCHER: Once = Once::new();

/// Whether a part of the patch was applied.
static CHANGED: AtomicBool = AtomicBool::new(false);

/// Watches for signals from now on: they cancel the change, and do not end the program. What
/// follows a change only says what became of it.
pub(crate) fn watch() {
    HANDLERS.call_once(|| {
        let ignored = platform::ignored_signals();
        for (signal, exit) in
            SIGNALS.into_iter().filter(|&(signal, _)| ignored >> (signal - 1) & 1 == 0)
        {
            // Where handlers cannot be set, the signal ends the program and recovery reads from
            // the journal what to undo.
            let _ = signal_hook::flag::register_usize(signal, CAME.clone(), exit as usize);
        }
    });
}

/// Waits for a person: meanwhile a signal ends the program, with a message about past changes.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    watch();
    WAITS.store(true, Ordering::SeqCst);
    WATCHER.call_once(|| {
        // Without this thread the program ends after the answer.
        let _ = thread::Builder::new().spawn(end_at_signal);
    });
    let answer = wait();
    WAITS.store(false, Ordering::SeqCst);
    if let Some(exit) = came() {
        end(exit);
    }
    answer
}

/// Ends the program when a signal comes while a person is asked.
fn end_at_signal() {
    loop {
        if WAITS.load(Ordering::SeqCst)
            && let Some(exit) = came()
        {
            end(exit);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the program because of a signal.
fn end(exit: Exit) -> ! {
    // The line of the question has the last typed text, and the terminal's `^C`.
    if let Ok(mut terminal) = outside::terminal() {
        let _ = writeln!(terminal);
    }
    let changed = CHANGED.load(Ordering::SeqCst);
    render::message(if changed {
        "cancelled; what was applied before stays"
    } else {
        "cancelled; nothing was changed"
    });
    std::process::exit(exit as i32);
}

/// Notes that a part of the patch was applied.
pub(crate) fn changed() {
    CHANGED.store(true, Ordering::SeqCst);
}

/// The exit for the signal received.
pub(crate) fn came() -> Option<Exit> {
    let code = CAME.load(Ordering::SeqCst);
    SIGNALS.into_iter().map(|(_, exit)| exit).find(|exit| *exit as usize == code)
}

/// How the program ends with this error.
pub(crate) fn exit_of(error: &ToolError) -> Exit {
    let came = came()
        .filter(|_| error.kind == ErrorKind::Cancelled && error.class != FailureClass::Partial);
    came.unwrap_or_else(|| error.class.into())
}
