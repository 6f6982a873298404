//! The names of settings: their keys in remedies, and their names as arguments of tools.

use patch_engine::remedy::{ArgumentValue, Setting};

/// The configuration file in a workspace. Everyone with access to the workspace can write the file,
/// so its settings can only make the program stricter.
pub const WORKSPACE_FILE: &str = ".apply-patch.toml";

/// Returns the key of a setting, and the value.
pub(crate) fn key_and_value(setting: &Setting) -> (&'static str, ArgumentValue) {
    match setting {
        Setting::CreateParents => ("create-parents", true.into()),
        Setting::Overwrite => ("overwrite", true.into()),
        Setting::Fuzz(pass) => ("fuzz", pass.as_str().into()),
        Setting::Standard => ("profile", "standard".into()),
        Setting::Codex => ("profile", "codex".into()),
        Setting::FirstPlace => ("ambiguous", "first".into()),
        Setting::FixWhitespace => ("whitespace", "fix".into()),
        Setting::WarnOfSyntax => ("syntax", "warn".into()),
        Setting::SkipApplied => ("skip-applied", true.into()),
        Setting::SkipBinary => ("skip-binary", true.into()),
        Setting::Exclude(path) => ("exclude", path.clone().into()),
        Setting::Recount => ("recount", true.into()),
        Setting::NativeNames => ("names", "native".into()),
        Setting::Strip(parts) => ("strip", ArgumentValue::Number(*parts)),
        Setting::UnidiffZero => ("unidiff-zero", true.into()),
        Setting::AnyForm => ("from", "auto".into()),
        Setting::WholeFiles => ("from", "files".into()),
        Setting::Part(nth) => ("part", ArgumentValue::Number(*nth)),
        Setting::AllParts => ("part", "all".into()),
        Setting::Carry => ("carry", true.into()),
        Setting::AllowDelete => ("allow-delete", true.into()),
        Setting::AllowMove => ("allow-move", true.into()),
        Setting::AllowPlaceholders => ("allow-placeholders", true.into()),
        Setting::Allow(path) => ("allow", path.clone().into()),
        Setting::BreakHardLinks => ("hard-links", "break".into()),
        Setting::Environment(id) => ("environment", id.clone().into()),
        Setting::Encoding(path) => ("encoding", format!("{path}=LABEL").into()),
        Setting::Root(directory) => ("root", directory.clone().into()),
        Setting::Onto(branch) => ("onto", branch.clone().into()),
        Setting::NewBranch => ("branch", "NEW".into()),
        Setting::AllowCheckedOut => ("allow-checked-out", true.into()),
    }
}

/// The settings in remedies that belong to the workspace: no patch can give them.
pub(crate) const OF_WORKSPACE: [&str; 3] = ["allow", "hard-links", "names"];

/// Returns whether a setting in remedies is a list of texts.
pub(crate) fn is_list(key: &str) -> bool {
    matches!(key, "allow" | "encoding")
}

/// The prefix of this program's environment variables.
pub const VARIABLES: &str = "APPLY_PATCH_";

/// Returns the environment variable of a setting.
#[must_use]
pub fn variable_of(key: &str) -> String {
    format!("{VARIABLES}{}", key.replace('-', "_").to_uppercase())
}

/// Returns the name of a setting as an argument of a tool.
pub(crate) fn argument_of(key: &str) -> String {
    match key {
        "create-parents" => "createParentDirectories".into(),
        "skip-applied" => "skipApplied".into(),
        key => key.replace('-', "_"),
    }
}
