//! The memory that a fitted grammar takes, in bytes allocated at once.
//!
//! One test, because the count is of the whole process.

use patch_constrain::fit::{Fit, FitError, FitFile, FitOperation, FitOptions, Profile};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The size of the files.
const SIZE: usize = 1 << 19;

/// The most bytes for a byte of a file.
const MOST: usize = 60;

/// Lines of a kind, as many as are in a file.
fn file(line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = Vec::with_capacity(2 * SIZE);
    let mut lines = 0;
    while text.len() < SIZE {
        text.extend(line(lines).into_bytes());
        text.push(b'\n');
        lines += 1;
    }
    text
}

fn random(random: &mut fastrand::Rng, most: usize, alphabet: &[u8]) -> Vec<u8> {
    let mut text: Vec<u8> = (0..SIZE).filter_map(|_| random.choice(alphabet).copied()).collect();
    (0..SIZE).step_by(most.max(1)).for_each(|at| text[at] = b'\n');
    text
}

/// Makes a grammar, and returns the most bytes allocated meanwhile.
fn peak(text: &[u8], options: &FitOptions, shown: Option<usize>) -> (usize, Result<(), FitError>) {
    let windows = shown.map(|first| first..=first + 20).into_iter().collect();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let made = Fit::new(&[FitFile { windows, ..FitFile::new("f", text) }], &[], options);
    let most = MEMORY.peak_usage() - before;
    (most, made.map(|_| ()))
}

#[test]
fn a_fitted_grammar_takes_sixty_bytes_for_a_byte_of_its_file() {
    let mut rng = fastrand::Rng::with_seed(1);
    let all: Vec<u8> = (0..=255).collect();
    let files = [
        ("empty lines", vec![b'\n'; SIZE]),
        ("one line", vec![b'x'; SIZE]),
        ("equal lines", file(|_| "x".to_owned())),
        ("two lines in turn", file(|nth| ["a", "b"][nth % 2].to_owned())),
        ("numbers", file(|nth| nth.to_string())),
        ("the same lines twice", file(|nth| (nth % 50_000).to_string())),
        ("lines of code", file(|nth| format!("    let value_{nth} = compute({});", nth % 7))),
        ("random bytes", random(&mut rng, SIZE, &all)),
        ("random letters", random(&mut rng, 40, b"ab\n")),
        ("random lines", random(&mut rng, 3, b"abcdefghijkl")),
    ];
    let update = vec![FitOperation::Update];
    let all = FitOperation::ALL.to_vec();
    let mut cases = vec![(Profile::Codex, &all, None), (Profile::Strict, &update, Some(100))];
    if testutils::share::whole() {
        cases.extend([(Profile::Codex, &update, None), (Profile::Strict, &all, None)]);
        cases.extend([(Profile::Strict, &update, None), (Profile::Codex, &all, Some(100))]);
    }
    let mut taken = 0;
    for (name, text) in &files {
        for &(profile, operations, shown) in &cases {
            let options =
                FitOptions { profile, operations: operations.clone(), ..FitOptions::default() };
            let (most, made) = peak(text, &options, shown);
            let a_byte = most / text.len();
            assert!(a_byte <= MOST, "{name}, {profile}: {a_byte} bytes a byte, {made:?}");
            taken += usize::from(made.is_ok());
        }
    }
    assert!(taken >= 5, "{taken} are taken");
}
