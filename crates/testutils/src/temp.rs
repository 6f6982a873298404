//! Temporary directories.

use tempfile::TempDir;

/// Makes a folder, in memory if possible: a disk is slow, and few tests are about one.
pub fn temp() -> TempDir {
    usual_modes();
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a folder")
}

/// Gives new files of this process the usual modes, whatever the umask of the shell is.
pub fn usual_modes() {
    crate::posix::set_umask(0o022);
}
