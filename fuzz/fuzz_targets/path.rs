//! Any path: what is accepted stays beneath the root, by its spelling and on the disk; git's and
//! the program's own directories are out of reach; both ways of resolving agree.
#![no_main]

use std::cell::RefCell;

use apply_patch_fuzz::{Bench, PATHS, SECRET};
use fs_guard::{Access, NamePolicy, Policy, Root};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Part<'a> {
    Known(u8),
    Slash,
    Free(&'a str),
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench::new());
}

fuzz_target!(|parts: Vec<Part<'_>>| {
    let path: String = parts
        .iter()
        .map(|part| match part {
            Part::Known(at) => PATHS[usize::from(*at) % PATHS.len()],
            Part::Slash => "/",
            Part::Free(text) => text,
        })
        .collect();
    BENCH.with_borrow_mut(|bench| {
        bench.fresh();
        let root = Root::open(&bench.root(), patch_engine::policy()).expect("a directory");
        let walking =
            Root::open(&bench.root(), patch_engine::policy()).expect("a directory").walking(true);
        let native = Policy { names: NamePolicy::Native, ..patch_engine::policy() };
        let native = Root::open(&bench.root(), native).expect("a directory");
        for access in [Access::Read, Access::Create, Access::Update, Access::Delete] {
            let Ok(checked) = root.check(&path, access) else { continue };
            assert!(native.check(&path, access).is_ok(), "portable takes what native refuses");
            assert!(root.check(&path, Access::Read).is_ok(), "{access:?} may what reading may not");
            assert_eq!(
                root.check(checked.as_str(), access).as_ref().ok(),
                Some(&checked),
                "a checked path passes again"
            );
            assert!(!checked.as_str().starts_with('/'));
            assert!(!checked.as_str().chars().any(char::is_control));
            for name in checked.components() {
                assert!(!name.is_empty());
                assert!(name != ".");
                assert!(name != "..");
                assert!(name.len() <= 255);
                assert!(!name.eq_ignore_ascii_case(".git"));
                assert!(!name.eq_ignore_ascii_case(".apply-patch"));
            }
            let (one, other) = (root.inspect(&checked, access), walking.inspect(&checked, access));
            match (&one, &other) {
                (Ok(one), Ok(other)) => assert_eq!(one, other),
                (Err(one), Err(other)) => assert_eq!(one.kind(), other.kind(), "{one} / {other}"),
                _ => panic!("{one:?} / {other:?}"),
            }
            if let Ok((bytes, _)) = root.read(&checked, 1 << 20) {
                assert!(!bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes()));
            }
            if let Ok(real) = root.follow(&checked)
                && let Ok((bytes, _)) = root.read(&real, 1 << 20)
            {
                assert!(!bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes()));
            }
        }
    });
});
