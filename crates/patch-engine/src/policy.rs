//! The default rules of a workspace.

use std::sync::LazyLock;

use fs_guard::{Globs, Policy};
use workspace_trash::KeyPlace;

/// The directory, in the root, of journals, displaced files and logs.
pub const STATE_DIR: &str = ".apply-patch";

/// The directory of the key, in the user's state directory.
const KEY_DIR: &str = "apply-patch";

/// The directory, beside the key, of the states that are kept outside their projects.
pub(crate) const USER_STATES: &str = "workspaces";

/// The patterns of paths that are never touched.
pub const DEFAULT_FORBIDDEN: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/*.pem",
    "**/*.key",
    "**/*.crt",
    "**/id_rsa*",
    "**/secrets/**",
    "**/.npmrc",
    "**/.yarnrc*",
];

/// The exceptions to these patterns: templates have no secrets.
pub(crate) const NOT_FORBIDDEN: &[&str] =
    &["**/.env.example", "**/.env.sample", "**/.env.template"];

/// The patterns of paths that make tools run code, and have to be approved.
pub const DEFAULT_GUARDED: &[&str] = &[
    // Read by services that run for each change.
    "**/.github/workflows/**",
    "**/.github/actions/**",
    "**/.gitlab-ci.yml",
    "**/.circleci/**",
    "**/.travis.yml",
    "**/Jenkinsfile",
    "**/azure-pipelines.yml",
    "**/.buildkite/**",
    "**/bitbucket-pipelines.yml",
    "**/.drone.yml",
    "**/.woodpecker*",
    "**/.woodpecker/**",
    "**/.gitea/workflows/**",
    "**/.forgejo/workflows/**",
    // Run by editors and agents.
    "**/.vscode/**",
    "**/.idea/**",
    "**/.zed/**",
    "**/.exrc",
    "**/.nvimrc",
    "**/.cursor/**",
    "**/.claude/**",
    "**/.codex/**",
    "**/.gemini/**",
    "**/.mcp.json",
    "**/.devcontainer/**",
    "**/.devcontainer.json",
    // Run on entering a directory, building or committing.
    "**/.envrc",
    "**/.mise.toml",
    "**/.cargo/config*",
    "**/.husky/**",
    "**/.githooks/**",
    "**/lefthook.yml",
    "**/.pre-commit-config.yaml",
    "**/.gitmodules",
    "**/.gitattributes",
    // Read by a shell, a login or a service's client.
    "**/.bashrc",
    "**/.bash_profile",
    "**/.bash_login",
    "**/.profile",
    "**/.zshrc",
    "**/.zshenv",
    "**/.zprofile",
    "**/.config/fish/**",
    "**/.ssh/**",
    "**/.gnupg/**",
    "**/.gitconfig",
    "**/.config/git/**",
    "**/.netrc",
    "**/.aws/**",
    "**/.docker/config.json",
    "**/.kube/config",
    "**/.pypirc",
    // The files that tighten or loosen this guard itself.
    "**/.apply-patch.toml",
    "**/apply-patch/config.toml",
];

/// Returns the default rules.
///
/// # Panics
///
/// Never: the patterns are globs.
#[must_use]
pub fn policy() -> Policy {
    static POLICY: LazyLock<Policy> = LazyLock::new(read_defaults);
    POLICY.clone()
}

fn read_defaults() -> Policy {
    let mut policy = Policy::new(STATE_DIR);
    policy.reserved = ["key", USER_STATES].map(|name| format!("{KEY_DIR}/{name}").into()).into();
    policy.forbidden = Globs::new(DEFAULT_FORBIDDEN).expect("they are globs");
    NOT_FORBIDDEN
        .iter()
        .for_each(|pattern| policy.forbidden.except(pattern).expect("it is a glob"));
    policy.guarded = Globs::new(DEFAULT_GUARDED).expect("they are globs");
    policy
}

/// Returns where the key is that journals and logs are signed with.
#[must_use]
pub fn key_place() -> KeyPlace {
    KeyPlace::User(KEY_DIR)
}
