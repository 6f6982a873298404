//! SIGINT, SIGTERM and SIGHUP, and what Windows has for them: before anything is written the
//! program just ends; once files are staged, the commit is refused and rolled back; after the
//! commit point it is finished.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::exit::Exit;

#[cfg(not(windows))]
const HUNG_UP: i32 = signal_hook::consts::SIGHUP;
/// SIGBREAK, which the C library of Windows raises on Ctrl+Break and when the console is closed.
#[cfg(windows)]
const HUNG_UP: i32 = 21;

/// The signals that end the program, and how.
const SIGNALS: [(i32, Exit); 3] = [
    (signal_hook::consts::SIGINT, Exit::Interrupted),
    (signal_hook::consts::SIGTERM, Exit::Terminated),
    (HUNG_UP, Exit::HungUp),
];

/// Lets a write beyond the limit of the size of files (`ulimit -f`) fail like one to a full disk:
/// by default the system sends a signal that ends the program, half way.
pub(crate) fn outlive_size_limit() {
    #[cfg(unix)]
    {
        // The write fails with an error of its own; that there was a signal says nothing more.
        // Where there can be no handler, recovery has to do the rest, as after any signal.
        let _ = signal_hook::flag::register(
            rustix::process::Signal::XFSZ.as_raw(),
            Arc::new(AtomicBool::new(false)),
        );
    }
}

/// Watches for signals.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    signal: Arc<AtomicUsize>,
    idle: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to watch.
    pub(crate) fn watch() -> Self {
        let interrupt = Self { signal: Arc::default(), idle: Arc::new(AtomicBool::new(true)) };
        let ignored = ignored();
        for (signal, exit) in
            SIGNALS.into_iter().filter(|&(signal, _)| ignored >> (signal - 1) & 1 == 0)
        {
            // Where handlers cannot be set, the signal ends the program and recovery reads from the
            // journal what to undo.
            let _ = signal_hook::flag::register_conditional_shutdown(
                signal,
                exit as i32,
                interrupt.idle.clone(),
            );
            let _ =
                signal_hook::flag::register_usize(signal, interrupt.signal.clone(), exit as usize);
        }
        interrupt
    }

    /// From now on a signal does not end the program at once.
    pub(crate) fn writing(&self) {
        self.idle.store(false, Ordering::SeqCst);
    }

    /// How the program ends because of a signal.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let code = self.signal.load(Ordering::SeqCst);
        SIGNALS.into_iter().map(|(_, exit)| exit).find(|exit| *exit as usize == code)
    }
}

/// The signals that this process was started to ignore, as by nohup(1), one bit each: they stay
/// ignored. Known on Linux only.
fn ignored() -> u64 {
    // All of it has less than two thousand bytes, which come at once.
    let mut status = [0; 4096];
    #[allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "no file of anyone's: the kernel's answer"
    )]
    let read = std::fs::File::open("/proc/self/status").and_then(|mut file| file.read(&mut status));
    let mask = status[..read.unwrap_or(0)]
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(b"SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(std::str::from_utf8(mask).ok()?.trim(), 16).ok())
        .unwrap_or(0)
}
