//! Tests of signatures, which need a home directory for the key.
use std::process::Command;

/// Whether this process has a home directory. If not, the test of this name is run in another
/// process with one, and must pass there.
pub fn is_there(test: &str) -> bool {
    if std::env::var_os("HOME").is_some() || std::env::var_os("XDG_STATE_HOME").is_some() {
        return true;
    }
    let home = crate::temp::temp();
    let mut again = Command::new(std::env::current_exe().expect("it runs"));
    let output = again.args(["--exact", test]).env("HOME", home.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" 1 passed"), "{said}");
    false
}
