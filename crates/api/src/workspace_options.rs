//! The options of directories and repositories.

use file_tools::ToolError;
use file_tools::changes::DiffDetail;
use fs_guard::{HardLinks, NamePolicy, Policy};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{Durability, StatePlace};
use patch_engine::{Encodings, Profile};
use serde::{Deserialize, Deserializer};

use crate::error::argument;
use crate::options::{Preset, declare, profile, words};

words! {
    durability: Durability { Full => Full, Process => Process, None => None }
    approve: ApprovalPolicy { Never => Never, Auto => OnRequest, Ask => Always }
    names: NamePolicy { Portable => Portable, Native => Native }
    hard_links: HardLinks { Refuse => Refuse, Break => Break }
    state: StatePlace { Project => Project, User => User }
}

/// How a workspace, or a git repository, is used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WorkspaceOptions {
    /// The session to go on with; what it reads and writes is remembered in the workspace. Unless
    /// set: a new one, that ends with the value.
    pub session: Option<String>,
    /// The name of the agent in the log.
    pub agent: Option<String>,
    /// What a change survives: power loss (`full`, the default), the end of the process
    /// (`process`), or neither for sure (`none`).
    #[serde(deserialize_with = "durability")]
    pub durability: Option<Durability>,
    /// How many seconds to wait for another process; 10 unless set.
    #[serde(alias = "lock_timeout")]
    pub lock_timeout: Option<f64>,
    /// The rules of patches that name no profile.
    #[serde(deserialize_with = "profile")]
    pub profile: Option<Profile>,
    /// The charsets of files, each as `GLOB=LABEL`.
    pub encoding: Vec<String>,
    /// The largest file that is read or written, in bytes.
    #[serde(alias = "max_file_size")]
    pub max_file_size: Option<u64>,
    /// About how many bytes of JSON the answer of a tool may have.
    #[serde(alias = "max_output")]
    pub max_output: Option<usize>,
    /// How many bytes of versions of files are kept, for edits of files that change meanwhile; 32
    /// MiB unless set.
    #[serde(alias = "max_snapshots")]
    pub max_snapshots: Option<u64>,
    /// When `approve` of the host is asked: about every change that it is given for (unset),
    /// `never`, about what is dangerous (`auto`), or always (`ask`).
    #[serde(deserialize_with = "approve")]
    pub approve: Option<ApprovalPolicy>,
    /// More patterns of paths that are never touched.
    pub forbidden: Vec<String>,
    /// Patterns of paths that are not forbidden after all.
    #[serde(alias = "allow_forbidden")]
    pub allow_forbidden: Vec<String>,
    /// More patterns of paths that make other programs run code.
    pub guarded: Vec<String>,
    /// Patterns of guarded paths that may be changed.
    pub allow: Vec<String>,
    /// Which names new files may have: those that every system accepts (`portable`, the default),
    /// or `native`.
    #[serde(deserialize_with = "names")]
    pub names: Option<NamePolicy>,
    /// What to do with a file that has several hard links: `refuse` it, the default, or `break`
    /// them.
    #[serde(alias = "hard_links", deserialize_with = "hard_links")]
    pub hard_links: Option<HardLinks>,
    /// Where the state directory is: in the `project`, the default, or with the `user`, out of
    /// reach of `git clean`.
    #[serde(deserialize_with = "state")]
    pub state: Option<StatePlace>,
    /// The state directory may be one that others may enter.
    #[serde(alias = "accept_open_state")]
    pub accept_open_state: bool,
}

impl WorkspaceOptions {
    pub(crate) fn preset(&self) -> Result<Preset, ToolError> {
        let mut encodings = Encodings::default();
        declare(&mut encodings, &self.encoding)?;
        Ok(Preset {
            profile: self.profile.unwrap_or_default(),
            encodings,
            max_file_size: self.max_file_size,
        })
    }

    /// What the guard allows.
    pub(crate) fn policy(&self) -> Result<Policy, ToolError> {
        let mut policy = patch_engine::policy();
        let wrong =
            |name, error: &dyn std::fmt::Display| argument(name, error.to_string(), "globs");
        // Before the patterns that are added: what is forbidden here stays forbidden.
        for pattern in &self.allow_forbidden {
            policy.forbidden.except(pattern).map_err(|error| wrong("allowForbidden", &error))?;
        }
        for (name, globs, more) in [
            ("forbidden", &mut policy.forbidden, &self.forbidden),
            ("guarded", &mut policy.guarded, &self.guarded),
            ("allow", &mut policy.allow, &self.allow),
        ] {
            more.iter()
                .try_for_each(|pattern| globs.push(pattern))
                .map_err(|error| wrong(name, &error))?;
        }
        policy.names = self.names.unwrap_or(policy.names);
        policy.hard_links = self.hard_links.unwrap_or(policy.hard_links);
        policy.accept_open_private_dir = self.accept_open_state;
        Ok(policy)
    }
}

/// What is taken back.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UndoOptions {
    /// The transaction; the last one that is not undone, unless set.
    pub id: Option<String>,
    /// Only these files of it.
    pub paths: Vec<String>,
    /// Carry what is taken back to files that changed since, where that is certain.
    pub carry: bool,
    /// What the answer shows of the changes.
    pub diff: DiffDetail,
}

/// What becomes of a patch in a git repository.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GitOptions {
    /// The branch to move; it is made if there is none. Unless set: the branch that the revision
    /// names, if it names one.
    pub branch: Option<String>,
    /// The message; otherwise it names the files.
    pub message: Option<String>,
    /// The author, as `Name <address>`; otherwise the one that git would take.
    pub author: Option<String>,
    /// When the branch has moved on: carry the hunks to its newest commit, where it is certain
    /// where they belong.
    pub carry: bool,
    /// Move the branch even if it is checked out; the files stay as they are.
    #[serde(alias = "allow_checked_out")]
    pub allow_checked_out: bool,
}
