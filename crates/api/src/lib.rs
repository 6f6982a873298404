#![doc = include_str!("../README.md")]

#[cfg(feature = "workspace")]
mod commands;
mod error;
#[cfg(feature = "workspace")]
mod file_uri;
#[cfg(feature = "constrain")]
mod fit;
#[cfg(all(feature = "git", feature = "tools"))]
mod git;
#[cfg(feature = "tools")]
mod host;
#[cfg(feature = "constrain")]
mod logits;
mod memory;
mod options;
mod plan;
#[cfg(feature = "tools")]
mod proposals_of;
#[cfg(feature = "specs")]
mod specs;
mod stream;
mod text;
#[cfg(feature = "tools")]
mod workspace;
#[cfg(feature = "tools")]
mod workspace_options;

pub use patch_engine::commit::approval::Decision;
pub use patch_engine::{
    ChangedFile, Content, ErrorKind, FileEdit, FileKind, HostFile, HostTree, MemoryTree, Position,
    TextEdit,
};
pub use patch_session::changes::DiffDetail;
pub use patch_session::input::InputForm;
pub use patch_session::{Hint, Language, ToolError};

#[cfg(feature = "workspace")]
pub use commands::{formatter, session_settings, shell};
pub use error::told;
#[cfg(feature = "workspace")]
pub use file_uri::file_uri;
#[cfg(feature = "constrain")]
pub use fit::{FitRequest, FittedGrammar, fit};
#[cfg(all(feature = "git", feature = "tools"))]
pub use git::GitTree;
#[cfg(feature = "tools")]
pub use host::{Callbacks, Proposal};
pub use memory::{HostPlan, apply_diff, apply_in_memory, apply_many, plan_over};
pub use options::{BadOptions, PatchOptions, ReadOptions};
pub use plan::PlannedPatch;
#[cfg(feature = "specs")]
pub use specs::{SpecRequest, Specs, prompt, tool_specs};
pub use stream::JsonStream;
pub use text::{ConvertedText, convert, grammar, parse, unicode};
#[cfg(feature = "tools")]
pub use workspace::OpenWorkspace;
#[cfg(feature = "tools")]
pub use workspace_options::{GitOptions, NetRequest, RedoRequest, UndoRequest, WorkspaceOptions};

// The items of the crates below that the front ends in Rust use, by crate. The front ends import
// them from here only, as `tests/imports.rs` checks.

/// Files beneath a root, and the rules for their paths.
#[cfg(feature = "workspace")]
pub mod files {
    pub use fs_guard::{
        Abilities, Access, Common, Enclosing, Error, FileKind, GlobError, Globs, HardLinks, Hasher,
        NamePolicy, Policy, RelPath, Root, Sha256, can_confine, is_invisible, quoted, random,
        read_config, real_path, shortened, without_middle,
    };
}

/// Patches as text and as trees, and the grammars for other engines.
#[cfg(feature = "workspace")]
pub mod grammar {
    pub use patch_grammar::{
        AddedLines, Dialect, Hunk, LineKind, Marker, ParseErrorKind, ParseOptions, Patch,
        PatchStream, Section, SectionOperation, StreamEvent, StreamOperation, Submodule, Text,
        binary, diff, envelope, export, marker,
    };
}

/// Constrained decoding of patches that apply.
#[cfg(feature = "constrain")]
pub mod decode {
    pub use patch_constrain::{
        Binder, Bound, Matcher, NoSuchToken, NotAllowed, NotBound, Operations, TooFew, UnpackError,
        Vocabulary, allowed_batch,
    };

    pub use crate::logits::{denied_share, mask_logits};
}

/// Plans: making, showing and committing them.
#[cfg(feature = "workspace")]
pub mod engine {
    pub use patch_engine::{
        Advice, Ambiguous, Atomicity, Cancellation, Change, ChangeKind, ErrorKind, Event, Expected,
        Failed, Files, HistoryDiffs, Host, Images, MAX_PATCH_SIZE, Note, Options, Order,
        ParseError, Pass, Patch, Placed, Plan, PlanBuilder, PlanNote, Problem, Profile, Reject,
        RejectReason, Rejects, Remedy, Report, STATE_DIR, SectionDone, Splices, Syntax, TurnDiff,
        Whitespace, WhitespaceRules, changed_ranges, commit, decode, is_git_diff, key_place, parse,
        plan, policy, remedy,
    };
}

/// The review of what was changed, hunk by hunk.
#[cfg(feature = "review")]
pub mod review {
    pub use patch_review::{
        Choice, Choices, Decision, HunkKind, HunkState, Kept, Note, Review, ReviewFile, ReviewHunk,
        notes_text,
    };
}

/// The trash with the displaced files.
#[cfg(feature = "workspace")]
pub mod trash {
    pub use workspace_trash::{
        Carried, Error, Prefix, Purged, Retention, format_time, parse_stored_path,
    };
}

/// Changes that wait for a person.
#[cfg(feature = "tools")]
pub mod proposals {
    pub use patch_proposals::{
        Approval, Listed, PlannedProposal, Proposal, ProposalData, ProposalList, ProposalPart,
        ProposalState, Proposals, ProposedFile, ProposedPatch, Shown, differs,
    };
}

/// Sessions, the tools of agents, settings, logs and answers.
#[cfg(feature = "workspace")]
pub mod tools {
    #[cfg(feature = "tools")]
    pub use file_tools::{
        Arguments, Data, EditorReply, Reply, ToolInfo, Tools, brief_catalogue, catalogue, events,
        specs,
    };
    #[cfg(feature = "git")]
    pub use patch_git as git;
    pub use patch_session::{
        BadName, Caller, ChangedBy, ErrorKind, FailureClass, Hint, Kept, MAX_RESULT, Named,
        NetChanges, NetDiff, OpenTurn, Reason, Session, SessionName, SessionSettings, Span,
        SpanNames, StoreSize, Tool, ToolError, TurnName, TurnSummary, audit, bounds, changes,
        choices, envelope, format_local_time, hints, history, input, open_turns, ops, received,
        refused, remove_state, settings, shown, size_in, statistics, store_size, text_form,
        unique_json,
    };
}
