//! The journal of a transaction that was cut off, as any bytes or of parts, signed or not: it is
//! read or refused, and recovery carries out no more than it says, inside the workspace.
#![no_main]

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;

use apply_patch_fuzz::{Bench, PATHS, look};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::Sha256;
use workspace_trash::{FileState, Header, Journal, Record, Signer, TransactionId};

const ID: &str = "20261121-014233-123456-9f3ac1d2";

#[derive(Debug, Arbitrary)]
enum Input {
    Bytes(Vec<u8>),
    Parts(Parts),
}

#[derive(Debug, Arbitrary)]
struct Parts {
    records: Vec<(u8, u8, Option<State>, Option<State>)>,
    created: Vec<(u8, Option<u16>)>,
    removed: Vec<(u8, u16)>,
    moved: Vec<(u8, u8)>,
    unverified: bool,
    undo: bool,
    /// What waits in the folder, by number.
    slots: Vec<(u8, Content)>,
    signature: Signature,
    /// A byte of the text that is another one.
    changed: Option<(u16, u8)>,
    /// Where the text ends.
    cut: Option<u16>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct State {
    content: Content,
    link: bool,
    mode: u16,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Content {
    Nothing,
    One,
    Lines,
    Other,
}

#[derive(Debug, Arbitrary)]
enum Signature {
    Own,
    Other,
    None,
}

impl Content {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::One => b"one\n",
            Self::Lines => b"one\ntwo\nthree\n",
            Self::Other => b"other\n",
        }
    }
}

impl State {
    fn file(self) -> FileState {
        let bytes = self.content.bytes();
        let (sha256, size) = (Sha256::of(bytes), bytes.len() as u64);
        FileState {
            link: self.link,
            sha256,
            size,
            mode: u32::from(self.mode) & 0o7777,
            ino: 1,
            mtime: (0, 0),
        }
    }
}

fn path(index: u8) -> String {
    PATHS[usize::from(index) % PATHS.len()].to_owned()
}

impl Parts {
    fn journal(&self) -> Journal {
        let id: TransactionId = ID.parse().expect("an id");
        let records = self.records.iter().take(6).map(|(slot, of, before, after)| Record {
            slot: u32::from(slot % 8),
            path: path(*of),
            before: before.map(State::file),
            after: after.map(State::file),
            sibling: None,
        });
        let records =
            records.filter(|record| record.before.is_some() || record.after.is_some()).collect();
        Journal {
            header: Header {
                unverified: self.unverified,
                undo_of: self.undo.then_some(id),
                ..Header::new(id)
            },
            created_dirs: self
                .created
                .iter()
                .take(3)
                .map(|(of, mode)| (path(*of), mode.map(|mode| u32::from(mode) & 0o7777)))
                .collect(),
            removed_dirs: self
                .removed
                .iter()
                .take(3)
                .map(|(of, mode)| (path(*of), u32::from(*mode) & 0o7777))
                .collect(),
            moved: self
                .moved
                .iter()
                .take(3)
                .map(|(from, to)| (u32::from(*from), u32::from(*to)))
                .collect(),
            ..Journal::new(Header::new(id), records)
        }
    }
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::default();
}

fuzz_target!(|input: Input| {
    BENCH.with_borrow_mut(|bench| {
        let before = bench.fresh();
        let key =
            fs_guard::secret(&bench.key_dir(), "key").expect("a key").expect("a place for one");
        let own = Signer::with_key(&key);
        let (mut text, whole) = match &input {
            Input::Bytes(bytes) => (bytes.clone(), false),
            Input::Parts(parts) => {
                let journal = parts.journal();
                let signer = match parts.signature {
                    Signature::Own => Some(own.clone()),
                    Signature::Other => Some(Signer::with_key(&[7; 32])),
                    Signature::None => None,
                };
                let text = journal.to_text(signer.as_ref());
                assert_eq!(
                    Journal::parse(text.as_bytes(), signer.as_ref()).as_ref(),
                    Ok(&journal),
                    "it reads what it writes"
                );
                (text.into_bytes(), matches!(parts.signature, Signature::Own))
            }
        };
        let mut changed = !whole;
        if let Input::Parts(Parts { changed: other, cut, .. }) = &input {
            if let Some((at, byte)) = other {
                let at = usize::from(*at) % text.len();
                changed |= text[at] != *byte;
                text[at] = *byte;
            }
            if let Some(cut) = cut.map(usize::from).filter(|cut| *cut < text.len()) {
                text.truncate(cut);
                changed = true;
            }
        }
        if let Ok(journal) = Journal::parse(&text, None) {
            assert_eq!(Journal::parse(journal.to_text(None).as_bytes(), None), Ok(journal));
        }
        assert!(
            !changed || Journal::parse(&text, Some(&own)).is_err(),
            "what is not signed is taken"
        );

        let folder = bench.root().join(".apply-patch/pending").join(ID);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).expect("a folder");
        fs::write(folder.join("journal"), &text).expect("written");
        if let Input::Parts(parts) = &input {
            for (slot, content) in parts.slots.iter().take(8) {
                fs::write(folder.join((slot % 8).to_string()), content.bytes()).expect("written");
            }
        }
        let workspace = bench.open();
        let recovered =
            workspace.lock(std::time::Duration::ZERO).map(|locked| locked.recovered().len());
        let after = look(&bench.root());
        if changed {
            assert!(after == before, "what is not this user's is carried out");
        }
        let git =
            |tree: &apply_patch_fuzz::Tree| tree.get(std::path::Path::new(".git/HEAD")).cloned();
        assert_eq!(git(&after), git(&before), "nothing lifts that rule");
        if recovered.is_ok() {
            assert!(!folder.exists(), "it is recovered once");
            assert!(workspace.recover_if_idle().expect("idle").is_empty());
            let _ = workspace.history().expect("a history");
        }
        bench.check_outside();
        bench.changed();
    });
});
