//! A seam for tests: the writes of a thread, call by call, to prove their order.
//!
//! Without the feature `fault-injection` nothing of this is compiled in.

#[cfg(not(feature = "fault-injection"))]
mod off {
    /// The recorder passed by a thread to its child threads.
    #[derive(Clone)]
    pub(crate) struct CallRecorder;

    #[inline(always)]
    pub(crate) fn recorder() -> CallRecorder {
        CallRecorder
    }

    impl CallRecorder {
        #[inline(always)]
        pub(crate) fn adopt(self) {}
    }
}

#[cfg(feature = "fault-injection")]
mod on {
    use std::cell::RefCell;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    /// A name in a directory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecordedName {
        /// The directory's inode.
        pub dir: u64,
        /// The path of the directory at the time, where the system tells it.
        pub path: String,
        /// The name in the directory.
        pub name: String,
    }

    /// Something that was done to the file system; inodes stand for files and directories.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Act {
        /// A file was opened by a name, perhaps a new one.
        Create(RecordedName, u64, u32),
        /// A directory was made.
        MakeDir(RecordedName, u64, u32),
        /// A symbolic link with this text was made.
        Symlink(RecordedName, u64, Vec<u8>),
        /// Bytes were written: at the end, or over the first ones.
        Write {
            /// The file.
            ino: u64,
            /// The path at the time.
            path: String,
            /// The bytes.
            bytes: Vec<u8>,
            /// They took the place of the first ones.
            at_start: bool,
        },
        /// Permission bits were set; where the file was.
        Mode(u64, u32, String),
        /// A file got a second name.
        Link(RecordedName, RecordedName),
        /// The entry with the first name has the second, and the one with the second is gone.
        Rename(RecordedName, RecordedName),
        /// Two names swapped what they name.
        Exchange(RecordedName, RecordedName),
        /// A name was removed: a file's, or the name of the empty directory with this inode.
        Remove(RecordedName, Option<u64>),
        /// A file or directory, then at this path, was made durable.
        Sync(u64, String),
        /// Everything was made durable.
        SyncAll,
        /// A call of this name was made to fail.
        Failed(&'static str),
        /// A note of the test itself about this path.
        Note(&'static str, String),
    }

    impl Act {
        /// The place of the act, if any.
        #[must_use]
        pub fn path(&self) -> Option<&str> {
            match self {
                Self::Create(name, ..)
                | Self::MakeDir(name, ..)
                | Self::Symlink(name, ..)
                | Self::Link(name, _)
                | Self::Rename(name, _)
                | Self::Exchange(name, _)
                | Self::Remove(name, _) => Some(&name.path),
                Self::Write { path, .. }
                | Self::Sync(_, path)
                | Self::Mode(_, _, path)
                | Self::Note(_, path) => Some(path),
                Self::SyncAll | Self::Failed(_) => None,
            }
        }
    }

    /// The recorder passed by a thread to its child threads.
    #[derive(Clone)]
    pub(crate) struct CallRecorder(Option<Arc<Mutex<Vec<Act>>>>);

    thread_local! {
        static RECORDER: RefCell<CallRecorder> = const { RefCell::new(CallRecorder(None)) };
    }

    impl CallRecorder {
        pub(crate) fn adopt(self) {
            RECORDER.set(self);
        }

        fn acts(&self) -> Option<MutexGuard<'_, Vec<Act>>> {
            Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    pub(crate) fn recorder() -> CallRecorder {
        RECORDER.with_borrow(CallRecorder::clone)
    }

    /// Records what this thread and the threads it starts write from now on.
    pub fn record() {
        CallRecorder(Some(Arc::default())).adopt();
    }

    /// Ends the recording and returns what was written.
    pub fn recorded() -> Vec<Act> {
        let recorder = RECORDER.replace(CallRecorder(None));
        recorder.acts().map(|mut acts| std::mem::take(&mut *acts)).unwrap_or_default()
    }

    /// Adds a remark of the test.
    pub fn note(text: &'static str, path: &std::path::Path) {
        wrote(|| Act::Note(text, path.to_string_lossy().into_owned()));
    }

    pub(crate) fn wrote(act: impl FnOnce() -> Act) {
        let recorder = recorder();
        if let Some(mut acts) = recorder.acts() {
            acts.push(act());
        }
    }
}

#[cfg(not(feature = "fault-injection"))]
pub(crate) use off::recorder;
#[cfg(feature = "fault-injection")]
pub(crate) use on::recorder;
#[cfg(all(unix, feature = "fault-injection"))]
pub(crate) use on::wrote;
#[cfg(feature = "fault-injection")]
pub use on::{Act, RecordedName, note, record, recorded};
