//! What tests use of Unix, and what stands for it on Windows: a file there is read-only or not, and
//! that is all of its mode.

#[cfg(unix)]
pub use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

#[cfg(windows)]
pub use windows::{MetadataExt, PermissionsExt, symlink};

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

        /// Not to be had.
        fn nlink(&self) -> u64 {
            1
        }

        /// Not to be had.
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

    /// There are none in Wine.
    pub fn symlink(_: impl AsRef<Path>, _: impl AsRef<Path>) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
