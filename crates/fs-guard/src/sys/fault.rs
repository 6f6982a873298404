//! A seam for tests: the k-th system call of this thread fails, or the "machine" stops there.
//!
//! For a whole program the environment sets the fault, in the first thread that makes a call, or
//! the first that has the name in `FS_GUARD_THREAD`: `FS_GUARD_FAULT` is a word, the number of the
//! call and a system error code (`kill 12 0`, `once 5 13`, `always 5 5`, `full 5 28`, `none 0 0`),
//! `FS_GUARD_LACKS` has the words `exchange`, `no-replace`, `cross-device` and `count-late`, and
//! the calls are listed in the file `FS_GUARD_CALLS`.
//!
//! Without the feature `fault-injection` nothing of this is compiled in.

/// Whether a call changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "fault-injection"), allow(dead_code, reason = "compiled out"))]
pub(crate) enum FaultSide {
    Read,
    Write,
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
#[allow(clippy::unnecessary_wraps, reason = "the other version fails")]
pub(crate) fn point(_: &'static str, _: FaultSide) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos")),
    allow(dead_code, reason = "no such renames there")
)]
pub(crate) fn lacks(_: crate::sys::modes::Rename) -> bool {
    false
}

/// A file got a second name; see `count_late`.
#[cfg(all(unix, not(feature = "fault-injection")))]
#[inline(always)]
pub(crate) fn linked() {}

#[cfg(all(unix, not(feature = "fault-injection")))]
#[inline(always)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is counted again there"))]
pub(crate) fn counted_again() {}

#[cfg(all(unix, not(feature = "fault-injection")))]
#[inline(always)]
pub(crate) fn late_names() -> u64 {
    0
}

#[cfg(feature = "fault-injection")]
pub(crate) use on::point;
#[cfg(feature = "fault-injection")]
pub use on::{Fault, arm, busy, calls, count_late, cross_device, disarm, lack, meanwhile};
#[cfg(all(feature = "fault-injection", target_os = "linux"))]
pub(crate) use on::{counted_again, is_busy};
#[cfg(feature = "fault-injection")]
#[cfg_attr(
    not(target_os = "linux"),
    allow(unused_imports, reason = "some are for what only Linux has")
)]
pub(crate) use on::{crosses_device, lacks};
#[cfg(all(feature = "fault-injection", unix))]
pub(crate) use on::{late_names, linked};

#[cfg(feature = "fault-injection")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "some are for what only Linux has"))]
mod on {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::io::Write as _;
    use std::sync::Once;

    use super::FaultSide;
    use crate::sys::modes::Rename;

    /// The fault at the k-th call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fault {
        /// It fails with this system error code; later calls work.
        Once(i32),
        /// It and all later calls fail with this system error code.
        FromThenOn(i32),
        /// This and all later calls do nothing: the disk stays as after a kill.
        Crash,
        /// As `Crash`, at the `at`-th call of this name.
        CrashAt(&'static str),
        /// This and all later calls that need disk space fail with this system error code.
        FromThenOnWhereSpaceIsNeeded(i32),
        /// The process is killed there.
        Kill,
        /// Calls are only counted and listed.
        Nothing,
    }

    static ENVIRONMENT: Once = Once::new();

    /// Obeys the environment, in the thread named there.
    fn obey_environment() {
        if ENVIRONMENT.is_completed() {
            return;
        }
        if let Ok(name) = std::env::var("FS_GUARD_THREAD")
            && std::thread::current().name() != Some(&*name)
        {
            return;
        }
        ENVIRONMENT.call_once(|| {
            let lacks = std::env::var("FS_GUARD_LACKS").unwrap_or_default();
            if !lacks.is_empty() {
                lack(lacks.contains("exchange"), lacks.contains("no-replace"));
                cross_device(lacks.contains("cross-device"));
                count_late(lacks.contains("count-late"));
            }
            let fault = std::env::var("FS_GUARD_FAULT").unwrap_or_default();
            let mut fault = fault.split(' ');
            let word = fault.next().unwrap_or_default();
            let at = fault.next().and_then(|number| number.parse().ok()).unwrap_or_default();
            let code = fault.next().and_then(|number| number.parse().ok()).unwrap_or_default();
            let kind = match word {
                "kill" => Fault::Kill,
                "once" => Fault::Once(code),
                "always" => Fault::FromThenOn(code),
                "full" => Fault::FromThenOnWhereSpaceIsNeeded(code),
                "none" => Fault::Nothing,
                _ => return,
            };
            // The writes of others in the system are no matter of this test.
            busy(Some(false));
            arm(kind, at, true);
        });
    }

    /// Lists a call in the file named by the environment.
    fn list(call: &str, side: FaultSide) {
        let Some(path) = std::env::var_os("FS_GUARD_CALLS") else { return };
        #[allow(
            clippy::disallowed_methods,
            clippy::disallowed_types,
            reason = "the test's own file"
        )]
        let file = std::fs::File::options().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| {
            writeln!(file, "{call} {}", if side == FaultSide::Write { "w" } else { "r" })
        });
    }

    struct Armed {
        fault: Fault,
        at: usize,
        reads_too: bool,
        seen: Vec<&'static str>,
        dead: bool,
    }

    /// The act of somebody else, and before which call: the how many of its name still to come.
    struct Meanwhile {
        call: &'static str,
        left: usize,
        act: Box<dyn FnOnce()>,
    }

    thread_local! {
        static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) };
        static LACK: Cell<(bool, bool)> = const { Cell::new((false, false)) };
        static COUNT_LATE: Cell<(bool, bool)> = const { Cell::new((false, false)) };
        static CROSS_DEVICE: Cell<bool> = const { Cell::new(false) };
        static MEANWHILE: RefCell<Option<Meanwhile>> = const { RefCell::new(None) };
        static BUSY: Cell<Option<bool>> = const { Cell::new(None) };
    }

    /// Lets somebody else act right before this thread's `at`-th call (from 1) of this name from
    /// now on.
    pub fn meanwhile(call: &'static str, at: usize, act: impl FnOnce() + 'static) {
        MEANWHILE.set(Some(Meanwhile { call, left: at, act: Box::new(act) }));
    }

    fn let_others_act(call: &'static str) {
        let due = MEANWHILE.with_borrow_mut(|waiting| {
            let this = waiting.as_mut().filter(|waiting| waiting.call == call)?;
            this.left -= 1;
            if this.left == 0 { waiting.take() } else { None }
        });
        if let Some(due) = due {
            (due.act)();
        }
    }

    /// Pretends that others have much unwritten data in the system, or none: one sync for many
    /// files depends on this.
    pub fn busy(yes: Option<bool>) {
        BUSY.set(yes);
    }

    #[cfg(unix)]
    pub(crate) fn is_busy() -> Option<bool> {
        BUSY.get()
    }

    /// Lets renames between different directories fail, as between file systems.
    pub fn cross_device(yes: bool) {
        CROSS_DEVICE.set(yes);
    }

    pub(crate) fn crosses_device() -> bool {
        CROSS_DEVICE.get()
    }

    /// Lets every file seem to have one name more, from the moment one got a second name until the
    /// next recount, as on FUSE file systems with a count for each name.
    pub fn count_late(yes: bool) {
        COUNT_LATE.set((yes, false));
    }

    #[cfg(unix)]
    pub(crate) fn linked() {
        let (late, _) = COUNT_LATE.get();
        COUNT_LATE.set((late, late));
    }

    #[cfg(unix)]
    pub(crate) fn counted_again() {
        let (late, _) = COUNT_LATE.get();
        COUNT_LATE.set((late, false));
    }

    #[cfg(unix)]
    pub(crate) fn late_names() -> u64 {
        u64::from(COUNT_LATE.get().1)
    }

    /// Takes ways to rename away from this thread, as on file systems without them.
    pub fn lack(exchange: bool, no_replace: bool) {
        LACK.set((exchange, no_replace));
    }

    pub(crate) fn lacks(how: Rename) -> bool {
        let (exchange, no_replace) = LACK.get();
        match how {
            Rename::Exchange => exchange,
            Rename::NoReplace => no_replace,
            Rename::Replace => false,
        }
    }

    /// Lets the `at`-th call (from 1) of this thread fail; only changes count, unless `reads_too`.
    pub fn arm(fault: Fault, at: usize, reads_too: bool) {
        ARMED.set(Some(Armed { fault, at, reads_too, seen: Vec::new(), dead: false }));
    }

    /// Ends the fault and returns the names of the counted calls.
    pub fn disarm() -> Vec<&'static str> {
        ARMED.take().map(|armed| armed.seen).unwrap_or_default()
    }

    /// Returns how many calls were counted so far.
    #[must_use]
    pub fn calls() -> usize {
        ARMED.with_borrow(|armed| armed.as_ref().map_or(0, |armed| armed.seen.len()))
    }

    pub(crate) fn point(call: &'static str, side: FaultSide) -> io::Result<()> {
        obey_environment();
        let_others_act(call);
        ARMED.with_borrow_mut(|armed| {
            let Some(armed) = armed else { return Ok(()) };
            if armed.dead {
                return Err(dead());
            }
            if side == FaultSide::Read && !armed.reads_too {
                return Ok(());
            }
            armed.seen.push(call);
            list(call, side);
            let now = armed.seen.len();
            match armed.fault {
                Fault::Once(code) if now == armed.at => Err(io::Error::from_raw_os_error(code)),
                Fault::FromThenOn(code) if now >= armed.at => {
                    Err(io::Error::from_raw_os_error(code))
                }
                Fault::FromThenOnWhereSpaceIsNeeded(code)
                    if now >= armed.at && needs_space(call) =>
                {
                    Err(io::Error::from_raw_os_error(code))
                }
                Fault::Crash => {
                    armed.dead = now >= armed.at;
                    if armed.dead { Err(dead()) } else { Ok(()) }
                }
                Fault::Kill if now == armed.at => {
                    kill_this_process();
                    Err(dead())
                }
                Fault::CrashAt(name) => {
                    armed.dead =
                        armed.seen.iter().filter(|&&seen| seen == name).count() >= armed.at;
                    if armed.dead { Err(dead()) } else { Ok(()) }
                }
                _ => Ok(()),
            }
        })
    }

    #[cfg(unix)]
    fn kill_this_process() {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }

    #[cfg(windows)]
    fn kill_this_process() {
        crate::sys::windows::nt::kill_this_process();
    }

    #[cfg(not(any(unix, windows)))]
    fn kill_this_process() {}

    fn needs_space(call: &str) -> bool {
        matches!(
            call,
            "openat"
                | "openat2"
                | "write"
                | "writev"
                | "pwrite"
                | "mkdirat"
                | "symlinkat"
                | "linkat"
                | "fsetxattr"
                | "fsync"
        )
    }

    fn dead() -> io::Error {
        io::Error::other("the machine is off (fault injection)")
    }
}
