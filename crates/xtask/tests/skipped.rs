//! Not a test: the last program that `cargo test --workspace` runs, before the examples in the documentation. It says in one line what the
//! tests could not try here.
#![allow(clippy::print_stdout, reason = "for people who run the tests")]

fn main() {
    let reasons = testutils::skip::noted();
    if reasons.is_empty() {
        return;
    }
    let list: Vec<_> = reasons.iter().map(|(why, count)| format!("{why} ({count})")).collect();
    println!("\nnot tried here, and why (how often): {}\n", list.join("; "));
}
