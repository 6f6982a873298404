//! The functions against loops over bytes.

use std::path::Path;
use std::process::Command;

#[test]
#[cfg(all(target_arch = "x86_64", unix))]
fn every_length_every_overlap() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("memory");
    // Under other names: the loops they are compared with must not be made into calls of them.
    let renamed =
        ["memcpy", "memmove", "memcmp", "bcmp"].map(|name| format!("-D{name}=tried_{name}"));
    let made = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-builtin", "-o"])
        .arg(&program)
        .args(renamed)
        .arg(root.join("src/memory.c"))
        .arg(root.join("tests/loops.c"))
        .output()
        .expect("Rust links with cc");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ran = Command::new(&program).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{printed}{:?}", ran.status);
    let tried: u32 = printed.trim().parse().unwrap();
    assert!(tried > 20_000, "{tried} cases only");
}
