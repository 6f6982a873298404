//! The calls that differ between systems.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the terminal is no file of a workspace"
)]

use std::fs::File;
use std::io;

#[cfg(not(windows))]
pub(crate) const HUNG_UP: i32 = signal_hook::consts::SIGHUP;
/// SIGBREAK, raised by the C library of Windows on Ctrl+Break and when the console is closed.
#[cfg(windows)]
pub(crate) const HUNG_UP: i32 = 21;

/// The controlling terminal of this process, whatever standard input and output are.
#[cfg(not(windows))]
pub(crate) type Terminal = File;

/// Opens the terminal; fails when this process has none, as a daemon.
#[cfg(not(windows))]
pub(crate) fn terminal() -> io::Result<Terminal> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// The console of this process, whatever standard input and output are. It is read by one name and
/// written by another.
#[cfg(windows)]
#[derive(Debug)]
pub(crate) struct Terminal {
    keys: File,
    screen: File,
}

/// Opens the console; fails when this process has none, as a service.
#[cfg(windows)]
pub(crate) fn terminal() -> io::Result<Terminal> {
    let mut options = File::options();
    options.read(true).write(true);
    Ok(Terminal { keys: options.open("CONIN$")?, screen: options.open("CONOUT$")? })
}

#[cfg(windows)]
impl io::Read for Terminal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.keys.read(buffer)
    }
}

#[cfg(windows)]
impl io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.screen.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.screen.flush()
    }
}

/// The size of the regular file at standard input; `None` for anything else, or an unknown size.
#[cfg(unix)]
pub(crate) fn stdin_size() -> Option<u64> {
    use rustix::fs::FileType;
    let seen = rustix::fs::fstat(io::stdin()).ok()?;
    let is_file = FileType::from_raw_mode(seen.st_mode) == FileType::RegularFile;
    u64::try_from(seen.st_size).ok().filter(|_| is_file)
}

#[cfg(not(unix))]
pub(crate) fn stdin_size() -> Option<u64> {
    None
}

/// Whether a line already stands at standard input, or comes at once, as the next line of a pasted
/// text.
#[cfg(unix)]
pub(crate) fn has_typed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let at_once = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let stdin = io::stdin();
    let mut waits = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut waits, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

#[cfg(not(unix))]
pub(crate) fn has_typed() -> bool {
    false
}

/// Lets a write beyond the limit of the size of files (`ulimit -f`) fail like one to a full disk:
/// by default the system ends the program half way, by a signal.
#[cfg(unix)]
pub(crate) fn outlive_size_limit() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    if rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_none() {
        return;
    }
    // The write fails with an error of its own; the signal says nothing more. Where there can be no
    // handler, recovery has to do the rest, as after any signal.
    let _ = signal_hook::flag::register(
        rustix::process::Signal::XFSZ.as_raw(),
        Arc::new(AtomicBool::new(false)),
    );
}

#[cfg(not(unix))]
pub(crate) fn outlive_size_limit() {}

/// The signals ignored since the start of this process, as by nohup(1), one bit each: they stay
/// ignored. Known on Linux only.
#[cfg(target_os = "linux")]
pub(crate) fn ignored_signals() -> u64 {
    use rustix::fs::{Mode, OFlags};
    // The file has less than two thousand bytes, all read at once.
    let mut status = [0; 4096];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let length = rustix::fs::open("/proc/self/status", flags, Mode::empty())
        .and_then(|file| rustix::io::read(file, &mut status))
        .unwrap_or(0);
    let mask = status[..length]
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(b"SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(std::str::from_utf8(mask).ok()?.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ignored_signals() -> u64 {
    0
}

/// Ends the process. Freeing memory and closing files is left to the system.
#[cfg(unix)]
pub(crate) fn exit(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

#[cfg(not(unix))]
pub(crate) fn exit(code: i32) -> ! {
    std::process::exit(code)
}

/// Lets the allocator give freed large blocks back to the system, instead of keeping them for the
/// next call: a server lives long, and one large call may be the only one.
///
/// Allocators read such settings when a process starts, and only from the environment (glibc's
/// malloc, and mimalloc in the static program). So the server starts itself anew with them; the
/// process stays the same. For three patches of 15 MB and the calls between them: 95 MB stay
/// without these settings, 6 MB with them, and the most at any time is 62 instead of 120 MB.
#[cfg(all(feature = "mcp", target_os = "linux"))]
pub(crate) fn give_memory_back() {
    use std::os::unix::process::CommandExt as _;
    const SETTINGS: [(&str, &str); 3] = [
        // Blocks of so many bytes are mapped one by one; a bound set by hand does not grow with
        // freed blocks.
        ("MALLOC_MMAP_THRESHOLD_", "131072"),
        ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ("MIMALLOC_PURGE_DELAY", "0"),
    ];
    let missing: Vec<_> =
        SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    let mut args = std::env::args_os();
    let Some(name) = args.next().filter(|_| !missing.is_empty()) else { return };
    if let Ok(program) = std::env::current_exe() {
        // Returns only on failure; then the server keeps the memory.
        let _ = std::process::Command::new(program).arg0(name).args(args).envs(missing).exec();
    }
}

#[cfg(all(feature = "mcp", not(target_os = "linux")))]
pub(crate) fn give_memory_back() {}
