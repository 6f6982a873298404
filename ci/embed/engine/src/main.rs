//! Applies the patch of standard input to files in memory, and prints them. The files are fixed.

use std::error::Error;
use std::io::Read as _;

use patch_engine::{MemoryTree, Options, apply_in_memory};

fn main() -> Result<(), Box<dyn Error>> {
    let mut patch = String::new();
    std::io::stdin().read_to_string(&mut patch)?;
    let mut tree: MemoryTree = [("a.txt", "one\n")].into_iter().collect();
    let changed = apply_in_memory(&tree, &patch, &Options::default())?;
    tree.commit(&changed.plan)?;
    for (path, content) in tree.iter() {
        println!("{path}: {}", String::from_utf8_lossy(&content.bytes));
    }
    Ok(())
}
