//! Applies the patch of standard input to the bytes of one file, and prints them.

use std::error::Error;
use std::io::Read as _;

use patch_text::patch_grammar::{ParseOptions, parse};
use patch_text::{FinalNewline, Rules, edit};

fn main() -> Result<(), Box<dyn Error>> {
    let mut patch = String::new();
    std::io::stdin().read_to_string(&mut patch)?;
    let patch = parse(patch, &ParseOptions::default())?;
    let section = &patch.sections()[0];
    let file = b"one\n";
    match edit(file, section.hunks(), &Rules::default(), FinalNewline::Keep) {
        Ok(edit) => print!("a.txt: {}", String::from_utf8_lossy(&edit.apply(file))),
        Err(refused) => {
            for hunk in refused {
                println!("{hunk}");
                hunk.hints().iter().for_each(|hint| println!("- {hint}"));
            }
        }
    }
    Ok(())
}
