//! The options of every call, read from objects of other languages: names are in `camelCase` or
//! `snake_case`, and others are refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use file_tools::ToolError;
use file_tools::changes::DiffDetail;
use file_tools::input::{InputError, InputForm, PatchText, ReadAs};
use file_tools::ops;
use file_tools::received::Part;
use file_tools::specs::Client;
use patch_engine::{Ambiguous, Encodings, Files, MemoryTree, Options, Pass, Patch, Profile};
use patch_grammar::Dialect;
use patch_grammar::export::Format;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;

use crate::error::argument;

/// Options of a call.
pub trait ReadOptions: DeserializeOwned + Default {
    /// Reads the options from JSON: an object, or null for the defaults.
    ///
    /// # Errors
    ///
    /// When a name is not known, or a value is not what it should be.
    fn read(options: Value) -> Result<Self, ToolError> {
        if options.is_null() {
            return Ok(Self::default());
        }
        let wrong =
            |message: String| argument("the options", message, "as the documentation has them");
        // serde would take a list for a struct.
        if !options.is_object() {
            return Err(wrong("the options are no object".into()));
        }
        serde_json::from_value(options).map_err(|error| wrong(error.to_string()))
    }
}

impl<T: DeserializeOwned + Default> ReadOptions for T {}

/// Declares functions that read an option which is a word, each as a value of another crate's enum.
macro_rules! words {
    ($($name:ident: $type:ty { $($word:ident => $value:ident),* })*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
            #[derive(Deserialize)]
            #[serde(rename_all = "lowercase")]
            enum Word {
                $($word),*
            }
            let word = Option::deserialize(deserializer)?;
            Ok(word.map(|word| match word {
                $(Word::$word => <$type>::$value),*
            }))
        }
    )*};
}

#[cfg(feature = "workspace")]
pub(crate) use words;

words! {
    profile: Profile { Strict => Strict, Codex => Codex }
    ambiguous: Ambiguous { Reject => Reject, First => First }
    fuzz: Pass { None => Exact, Trailing => Trailing, Blanks => Blanks, Unicode => Unicode }
}

/// How a patch is read and planned. What is left open is as the profile has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PatchOptions {
    /// `strict`, the default, or `codex`: a preset of the rules.
    #[serde(deserialize_with = "profile")]
    pub profile: Option<Profile>,
    /// What the text is: `envelope`, `unified`, `openai`, or `auto`, the default. Where `from` is a
    /// word of the language: `form`.
    #[serde(alias = "form")]
    pub from: InputForm,
    /// Which patch of several is meant: its number from 1, or `all`. With `auto` only.
    #[serde(deserialize_with = "part")]
    pub part: Option<Part>,
    /// How many leading parts of the paths of a diff are left out; otherwise the prefixes that git
    /// writes.
    pub strip: Option<usize>,
    /// The patch is taken back.
    pub reverse: bool,
    /// The environment that this is: a patch that names another one is refused.
    pub environment: Option<String>,
    /// What files must be before, by path: their SHA-256, or nothing for a file that must not be
    /// there.
    #[serde(alias = "expected_sha256_by_path", alias = "expected")]
    pub expected_sha256_by_path: BTreeMap<String, String>,
    /// The files as the author of the patch saw them, by path: hunks of a file that changed since
    /// are carried.
    pub base: Option<BTreeMap<String, String>>,
    /// Whether added and moved files may replace others.
    pub overwrite: Option<bool>,
    /// Whether missing directories are made.
    #[serde(alias = "create_parents")]
    pub create_parents: Option<bool>,
    /// Whether files may be deleted.
    #[serde(alias = "allow_delete")]
    pub allow_delete: Option<bool>,
    /// Whether files may be moved.
    #[serde(alias = "allow_move")]
    pub allow_move: Option<bool>,
    /// What becomes of a hunk that fits in several places: `reject` or `first`.
    #[serde(deserialize_with = "ambiguous")]
    pub ambiguous: Option<Ambiguous>,
    /// What may differ when a hunk is located: `none`, `trailing`, `blanks` or `unicode`.
    #[serde(deserialize_with = "fuzz")]
    pub fuzz: Option<Pass>,
    /// The charsets of files, each as `GLOB=LABEL`.
    pub encoding: Vec<String>,
    /// The largest file that is read or written, in bytes.
    #[serde(alias = "max_file_size")]
    pub max_file_size: Option<u64>,
    /// Whether all of the patch is one transaction; true unless set. In a workspace only.
    pub atomic: Option<bool>,
    /// What an answer shows of the changes: `none`, the default, `stat` or `full`.
    pub diff: DiffDetail,
}

/// The defaults that a workspace sets for options that are left open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preset {
    pub(crate) profile: Profile,
    pub(crate) encodings: Encodings,
    pub(crate) max_file_size: Option<u64>,
}

impl PatchOptions {
    /// Reads a patch, and lets `then` do the rest under the rules that these options give.
    ///
    /// # Errors
    ///
    /// When the options make no sense, or the text is no patch; those of `then`.
    pub(crate) fn parsed<T>(
        &self,
        preset: &Preset,
        patch: &[u8],
        then: impl FnOnce(&Patch<'_>, &Options) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let rules = self.engine(preset)?;
        let unread = |error: InputError| error.tool_error(patch);
        let text = PatchText::read(patch, &self.read_as(), &rules.parse).map_err(unread)?;
        text.parsed(&rules, |patch| then(patch, &rules)).map_err(unread)?
    }

    /// How the text is read.
    pub(crate) fn read_as(&self) -> ReadAs {
        ReadAs { form: self.from, part: self.part, strip: self.strip, reverse: self.reverse }
    }

    /// The rules of planning.
    pub(crate) fn engine(&self, preset: &Preset) -> Result<Options, ToolError> {
        let mut options = Options::new(self.profile.unwrap_or(preset.profile));
        options.parse.environment = self.environment.clone();
        for (path, hash) in &self.expected_sha256_by_path {
            let hash = hash.parse().map_err(|_| {
                let message = format!(
                    "{path}: {hash:?} is no SHA-256: it has 64 hexadecimal digits, or \
                             none for no file"
                );
                argument("expectedSha256ByPath", message, "the SHA-256 of the file, or nothing")
            })?;
            options.expected.insert(path.strip_prefix("./").unwrap_or(path).to_owned(), hash);
        }
        if let Some(base) = &self.base {
            let files: MemoryTree =
                base.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            options.base = Some(Files::of_tree(Arc::new(files), patch_engine::policy()));
        }
        if self.from == InputForm::Openai {
            ops::set_rules(&mut options);
        }
        options.encodings = preset.encodings.clone();
        declare(&mut options.encodings, &self.encoding)?;
        let given = |given: Option<bool>, preset: &mut bool| *preset = given.unwrap_or(*preset);
        given(self.allow_delete, &mut options.allow_delete);
        given(self.allow_move, &mut options.allow_move);
        given(self.create_parents, &mut options.create_parents);
        given(self.overwrite, &mut options.overwrite);
        options.max_file_size =
            self.max_file_size.or(preset.max_file_size).unwrap_or(options.max_file_size);
        options.placement.ambiguous = self.ambiguous.unwrap_or(options.placement.ambiguous);
        if let Some(fuzz) = self.fuzz {
            options.placement.passes = Pass::ALL.into_iter().filter(|&pass| pass <= fuzz).collect();
        }
        Ok(options)
    }
}

/// Adds charsets, each as `GLOB=LABEL`.
pub(crate) fn declare(encodings: &mut Encodings, all: &[String]) -> Result<(), ToolError> {
    all.iter().try_for_each(|one| {
        let wrong = |problem: String| {
            argument("encoding", format!("{one:?}: {problem}"), "entries as GLOB=LABEL")
        };
        let (glob, label) = one.rsplit_once('=').ok_or_else(|| wrong("it has no `=`".into()))?;
        encodings.declare(glob, label).map_err(|error| wrong(error.to_string()))
    })
}

fn part<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Part>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(word) if word == "all" => Ok(Some(Part::All)),
        value => {
            let nth =
                value.as_u64().and_then(|nth| usize::try_from(nth).ok()).filter(|&nth| nth > 0);
            nth.map(|nth| Some(Part::Nth(nth)))
                .ok_or_else(|| D::Error::custom("`part` is a number from 1, or `all`"))
        }
    }
}

/// Which tools, and in which words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SpecOptions {
    /// The patch tool alone; otherwise all file tools.
    #[serde(alias = "patch_only")]
    pub patch_only: bool,
    /// Without what errors mean and what each argument is.
    pub brief: bool,
    /// `whole`, the default, or `codex`. Of the patch tool.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Option<Dialect>,
    /// The notation of the grammar, where the provider takes several. Of the patch tool.
    #[serde(deserialize_with = "format")]
    pub grammar: Option<Format>,
    /// `raw`, the default, or `python`: whose request the fields are for. Of the patch tool.
    #[serde(deserialize_with = "client")]
    pub client: Option<Client>,
    /// How many characters of a file Anthropic's editor may show.
    #[serde(alias = "max_characters")]
    pub max_characters: Option<u32>,
}

/// Finds the one of several things that has a name.
pub(crate) fn named<T: Copy>(
    what: &str,
    name: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, String> {
    let names =
        || all.iter().map(|&one| format!("`{}`", name_of(one))).collect::<Vec<_>>().join(", ");
    let found = all.iter().copied().find(|&one| name_of(one) == name);
    found.ok_or_else(|| format!("there is no {what} `{name}`; there are {}", names()))
}

fn word<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    what: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<Option<T>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| named(what, &name, all, name_of).map_err(D::Error::custom)).transpose()
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    word(deserializer, "dialect", &Dialect::ALL, Dialect::as_str)
}

fn format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
    word(deserializer, "notation", &Format::ALL, Format::as_str)
}

fn client<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Client>, D::Error> {
    word(deserializer, "client", &Client::ALL, Client::as_str)
}
