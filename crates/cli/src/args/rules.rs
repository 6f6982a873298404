//! The rules of planning and of the guard.

use std::path::PathBuf;

use apply_patch_api::engine::{Ambiguous, Pass, Profile, Syntax, Whitespace, WhitespaceRules};
use apply_patch_api::files::{HardLinks, NamePolicy};
use apply_patch_api::tools::settings::{Charsets, Layer, Patterns, charset, glob};
use clap::Args;

use super::choice::choice;

/// The rules of planning: a profile, and every rule on its own.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct Rules {
    /// Preset of all rules below: `standard`; `strict`, which takes nothing but one envelope as it
    /// is written; or `codex`, which applies what the OpenAI models were trained to write [default:
    /// standard; codex for `ops`]
    #[arg(long, value_name = "PROFILE", value_parser = choice::<Profile>())]
    pub(crate) profile: Option<Profile>,
    /// The environment that this is: a patch that names another one, or one at all without this, is
    /// refused
    #[arg(long, value_name = "ID")]
    pub(crate) environment: Option<String>,
    /// Apply only if the file has this SHA-256; with nothing after `=`, only if there is no such
    /// file
    #[arg(long, value_name = "PATH=SHA256")]
    pub(crate) expect: Vec<String>,
    /// Read what `--expect` takes from a JSON object of paths and hashes
    #[arg(long, value_name = "FILE.json")]
    pub(crate) expect_from: Option<PathBuf>,
    /// Directory with the files as the author of the patch saw them: a hunk of a file that has
    /// changed since is carried to the file as it is now, where that is certain
    #[arg(long, value_name = "DIR", conflicts_with = "base_rev")]
    pub(crate) base: Option<PathBuf>,
    /// The same with the files of a commit of the git repository around the workspace
    #[arg(long, value_name = "REV")]
    pub(crate) base_rev: Option<String>,
    /// Allow changes to guarded files that match; guarded are files that make other tools run code
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    pub(crate) allow: Vec<String>,
    /// Whether the patch may delete files [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) allow_delete: Option<bool>,
    /// Whether the patch may move files [default: true]
    #[arg(long, value_name = "BOOL")]
    pub(crate) allow_move: Option<bool>,
    /// Take lines that stand for lines that are left out, as `# ... existing code ...`
    #[arg(long)]
    pub(crate) allow_placeholders: bool,
    /// Whether missing parent directories are created [default: true; false with `--profile
    /// strict`]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) create_parents: Option<bool>,
    /// Let added and moved files of an envelope replace existing ones
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// What to do with a hunk that fits in several places [default: reject]
    #[arg(long, value_name = "WHAT", value_parser = choice::<Ambiguous>())]
    pub(crate) ambiguous: Option<Ambiguous>,
    /// Leave out hunks and sections that are applied already
    #[arg(long)]
    pub(crate) skip_applied: bool,
    /// Take a diff without context, as `diff -U0` writes it: where a hunk only inserts, the line
    /// number decides
    #[arg(long)]
    pub(crate) unidiff_zero: bool,
    /// What may differ when a hunk is located: nothing, blanks at line ends (`trailing`), at both
    /// ends (`blanks`), or also typographic punctuation (`unicode`) [default: none; unicode with
    /// `--profile codex`]
    #[arg(long, value_name = "FUZZ", value_parser = choice::<Pass>())]
    pub(crate) fuzz: Option<Pass>,
    /// What to do about whitespace errors in the lines that the patch inserts, as in `git apply`
    /// [default: nowarn]
    #[arg(long, value_name = "WHAT", value_parser = choice::<Whitespace>())]
    pub(crate) whitespace: Option<Whitespace>,
    /// What is a whitespace error where `.gitattributes` does not say it: rules as in git's
    /// `core.whitespace`, separated by commas [default: blank-at-eol,space-before-tab,blank-at-eof]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) whitespace_rules: Option<WhitespaceRules>,
    /// What to do about a JSON, TOML or YAML file that parsed before the patch, and does not parse
    /// after it: refuse the patch (`refuse`), say so (`warn`), or parse nothing (`off`) [default:
    /// warn]
    #[arg(long, value_name = "WHAT", value_parser = choice::<Syntax>())]
    pub(crate) syntax: Option<Syntax>,
    /// Read and write the files that match in this charset (a WHATWG label such as `windows-1252`);
    /// UTF-16 with a byte-order mark needs no flag
    #[arg(long, value_name = "GLOB=LABEL", value_parser = charset)]
    pub(crate) encoding: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: Guard,
}

impl Rules {
    /// Returns the settings that the flags give.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            profile: self.profile,
            fuzz: self.fuzz,
            ambiguous: self.ambiguous,
            skip_applied: self.skip_applied.then_some(true),
            unidiff_zero: self.unidiff_zero.then_some(true),
            create_parents: self.create_parents,
            overwrite: self.overwrite.then_some(true),
            allow_delete: self.allow_delete,
            allow_move: self.allow_move,
            allow_placeholders: self.allow_placeholders.then_some(true),
            names: self.guard.names,
            hard_links: self.guard.hard_links,
            whitespace: self.whitespace,
            whitespace_rules: self.whitespace_rules,
            syntax: self.syntax,
            encoding: (!self.encoding.is_empty()).then(|| Charsets::of(self.encoding.clone())),
            ..allowing(&self.allow)
        }
    }
}

/// Returns the setting that `--allow` gives.
pub(crate) fn allowing(allow: &[String]) -> Layer {
    Layer { allow: Some(Patterns::of(allow.to_vec())), ..Layer::default() }
}

/// Options of the guard beside patterns.
#[derive(Debug, Default, Args)]
pub(crate) struct Guard {
    /// Which names new files may have: those that every system accepts (`portable`), or all that
    /// this system accepts (`native`) [default: portable]
    #[arg(long, value_name = "NAMES", value_parser = choice::<NamePolicy>())]
    pub(crate) names: Option<NamePolicy>,
    /// What to do with a file that has several hard links: refuse it (`refuse`), or replace the
    /// patched name only (`break`) [default: refuse]
    #[arg(long, value_name = "WHAT", value_parser = choice::<HardLinks>())]
    pub(crate) hard_links: Option<HardLinks>,
}
