//! Applies the diff of standard input to the text of one file, and prints it.

use std::error::Error;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut patch = String::new();
    std::io::stdin().read_to_string(&mut patch)?;
    let options = mpatch::ApplyOptions::default();
    print!("a.txt: {}", mpatch::patch_content_str(&patch, Some("one\n"), &options)?);
    Ok(())
}
