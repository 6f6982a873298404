//! Where tests make their files.

use tempfile::TempDir;

/// A folder in memory where that is possible: few tests are about a disk, and it is slow.
pub fn temp() -> TempDir {
    usual_modes();
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder")
}

/// Gives what this process makes from now on the usual modes, whatever the shell says that it was
/// started in.
pub fn usual_modes() {
    crate::posix::set_umask(0o022);
}
