//! What the guard allows.

use crate::globs::Globs;
use crate::names::NamePolicy;
use crate::rel_path::RelPath;

/// What is meant to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its bytes are read and shown.
    Read,
    /// It appears.
    Create,
    /// Its bytes are replaced.
    Update,
    /// It goes away.
    Delete,
}

/// What becomes of a file with more than one hard link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// It is refused.
    #[default]
    Refuse,
    /// The patched name becomes a file of its own; the other names keep the old bytes.
    Break,
}

/// The rules a [`Root`](crate::Root) keeps beside those that nothing lifts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Which names may be created.
    pub names: NamePolicy,
    /// Patterns of paths that are never touched.
    pub forbidden: Globs,
    /// Patterns of paths that make tools run code.
    pub guarded: Globs,
    /// Patterns of guarded paths that are approved.
    pub allow: Globs,
    /// What becomes of a file with several names.
    pub hard_links: HardLinks,
    /// The directories outside of which nothing is touched, relative to the root; none: all of the root.
    ///
    /// Directories above them can be looked into, and show these only.
    pub within: Vec<RelPath>,
}

/// The forbidden patterns of a default policy.
pub const DEFAULT_FORBIDDEN: &[&str] =
    &["**/.env*", "**/*.pem", "**/*.key", "**/*.crt", "**/id_rsa*", "**/secrets/**", "**/.npmrc", "**/.yarnrc*"];

/// The guarded patterns of a default policy.
pub const DEFAULT_GUARDED: &[&str] = &[
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.circleci/**",
    "**/.vscode/**",
    "**/.idea/**",
    "**/.cursor/**",
    "**/.claude/**",
    "**/.codex/**",
    "**/.mcp.json",
    "**/.envrc",
    "**/.cargo/config*",
    "**/.husky/**",
    "**/.devcontainer/**",
    "**/.devcontainer.json",
    "**/.gitmodules",
    "**/.gitattributes",
    "**/.pre-commit-config.yaml",
    // What tightens or loosens this guard itself.
    "**/.apply-patch.toml",
    "**/apply-patch/config.toml",
];

impl Default for Policy {
    fn default() -> Self {
        Self {
            names: NamePolicy::default(),
            forbidden: Globs::direct(DEFAULT_FORBIDDEN),
            guarded: Globs::direct(DEFAULT_GUARDED),
            allow: Globs::default(),
            hard_links: HardLinks::default(),
            within: Vec::new(),
        }
    }
}
