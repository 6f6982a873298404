//! Random tests.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Tries a property on `cases` values, and shrinks the first value that breaks the property.
///
/// The values are the same in every run; `PROPTEST_RNG_SEED=2` gives others. Values that failed are
/// not kept in a file.
pub fn holds<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(S::Value)) {
    let mut config =
        Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let result = TestRunner::new(config).run(strategy, |value| {
        property(value);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
