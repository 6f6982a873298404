//! The parts of Unix that tests use, and their stand-ins on Windows, where the mode of a file tells only
//! whether it is read-only.

#[cfg(unix)]
pub use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

#[cfg(windows)]
pub use windows::{MetadataExt, PermissionsExt, symlink};

/// Sets the permission bits that new files of this process lack.
#[cfg(unix)]
pub(crate) fn set_umask(bits: u32) {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(bits));
}

/// Sets handlers that do the default action.
#[cfg(unix)]
pub(crate) fn handle_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(signal, always)
            .expect("a handler can be set");
    }
}

/// The process that started this one, if known. The programs of one cargo share it.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "as on Windows")]
pub(crate) fn parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(windows)]
pub(crate) use windows::{handle_signals, parent, set_umask};

#[cfg(windows)]
#[allow(missing_docs, reason = "as in `std::os::unix::fs`")]
mod windows {
    use std::fs::{Metadata, Permissions};
    use std::path::Path;
    use std::time::SystemTime;

    pub trait PermissionsExt {
        fn mode(&self) -> u32;
        fn from_mode(mode: u32) -> Self;
    }

    impl PermissionsExt for Permissions {
        fn mode(&self) -> u32 {
            if self.readonly() { 0o444 } else { 0o644 }
        }

        fn from_mode(mode: u32) -> Self {
            let this =
                std::env::current_exe().and_then(std::fs::metadata).expect("a file that is there");
            let mut permissions = this.permissions();
            permissions.set_readonly(mode & 0o222 == 0);
            permissions
        }
    }

    pub trait MetadataExt {
        fn mode(&self) -> u32;
        fn nlink(&self) -> u64;
        fn ino(&self) -> u64;
        fn mtime(&self) -> i64;
        fn mtime_nsec(&self) -> i64;
    }

    impl MetadataExt for Metadata {
        fn mode(&self) -> u32 {
            self.permissions().mode()
        }

        /// A stand-in: the metadata here has no such number.
        fn nlink(&self) -> u64 {
            1
        }

        /// A stand-in: the metadata here has no such number.
        fn ino(&self) -> u64 {
            0
        }

        fn mtime(&self) -> i64 {
            since_1970(self).as_secs().cast_signed()
        }

        fn mtime_nsec(&self) -> i64 {
            since_1970(self).subsec_nanos().into()
        }
    }

    fn since_1970(metadata: &Metadata) -> std::time::Duration {
        metadata
            .modified()
            .expect("a time")
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("since 1970")
    }

    pub(crate) fn set_umask(_: u32) {}

    pub(crate) fn handle_signals() {}

    pub(crate) fn parent() -> Option<u32> {
        None
    }

    /// Always fails: Wine has no symbolic links.
    pub fn symlink(_: impl AsRef<Path>, _: impl AsRef<Path>) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
