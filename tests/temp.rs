//! Where tests make their files; every crate's tests include this.

use tempfile::TempDir;

/// A folder in memory where that is possible: few tests are about a disk, and it is slow.
pub(crate) fn temp() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder")
}
