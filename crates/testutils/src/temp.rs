//! Where tests make their files.

use tempfile::TempDir;

/// A folder in memory where that is possible: few tests are about a disk, and it is slow.
pub fn temp() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder")
}
