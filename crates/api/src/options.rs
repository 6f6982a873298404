//! The options of every call, read from objects of other languages: names are in `camelCase` or
//! `snake_case`, and others are refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use file_tools::ToolError;
use file_tools::changes::DiffDetail;
use file_tools::input::paths::{PathPattern, PathRules};
use file_tools::input::{InputError, InputForm, PatchText, ReadAs};
use file_tools::ops;
use file_tools::received::Part;
use file_tools::settings::{Choice, Layer, Layers, Raw, Scope};
use file_tools::specs::{Caller, Client};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::{Atomicity, Files, MemoryTree, Options, Patch, Profile};
use patch_grammar::Dialect;
use patch_grammar::export::Format;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::{Map, Value};

use crate::error::argument;

/// Options of a call.
pub trait ReadOptions: DeserializeOwned + Default {
    /// The settings that they have beside their own fields.
    const SETTINGS: &'static [Scope] = &[];

    /// Returns where the settings go.
    fn layer(&mut self) -> Option<&mut Layer> {
        None
    }

    /// Reads the options from JSON: an object, or null for the defaults.
    ///
    /// # Errors
    ///
    /// When a name is not known, or a value is not what it should be.
    fn read(options: Value) -> Result<Self, ToolError> {
        let wrong =
            |message: String| argument("the options", message, "as the documentation has them");
        let mut object = match options {
            Value::Null => return Ok(Self::default()),
            Value::Object(object) => object,
            _ => return Err(wrong("the options are not an object".into())),
        };
        let layer = take_settings(&mut object, Self::SETTINGS).map_err(wrong)?;
        let mut read: Self = serde_json::from_value(object.into()).map_err(|error| {
            let error = error.to_string();
            let settings = settings(Self::SETTINGS).map(|key| format!("`{}`", camel_case(key)));
            let settings: Vec<_> = settings.collect();
            wrong(if error.starts_with("unknown field") && !settings.is_empty() {
                format!("{error}, {}", settings.join(", "))
            } else {
                error
            })
        })?;
        if let Some(place) = read.layer() {
            *place = layer;
        }
        Ok(read)
    }
}

/// The keys of the settings of these kinds.
fn settings(scopes: &[Scope]) -> impl Iterator<Item = &'static str> {
    Layer::KEYS.iter().filter(|(_, scope)| scopes.contains(scope)).map(|(key, _)| *key)
}

/// Takes the settings of these kinds out of the options.
fn take_settings(object: &mut Map<String, Value>, scopes: &[Scope]) -> Result<Layer, String> {
    let mut layer = Layer::default();
    for key in settings(scopes) {
        let (camel, snake) = (camel_case(key), key.replace('-', "_"));
        let given = object.remove(&camel).map(|value| (&camel, value));
        let given = given.or_else(|| object.remove(&snake).map(|value| (&snake, value)));
        match given {
            Some((name, value)) if !value.is_null() => {
                layer.read(key, name, Raw::Program(&value))?;
            }
            _ => {}
        }
    }
    Ok(layer)
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('-');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        name.push_str(&word[..1].to_uppercase());
        name.push_str(&word[1..]);
    }
    name
}

/// Reads one of a few values by its name.
fn choice<'de, D: Deserializer<'de>, T: Choice>(deserializer: D) -> Result<Option<T>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| chosen(&name)).transpose()
}

/// Reads a list of a few values by their names.
fn choices<'de, D: Deserializer<'de>, T: Choice>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let names = Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default();
    names.iter().map(|name| chosen(name)).collect()
}

fn chosen<T: Choice, E: serde::de::Error>(name: &str) -> Result<T, E> {
    T::named(name).ok_or_else(|| E::custom(format!("{name:?} is not {}", T::wanted())))
}

fn form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<InputForm, D::Error> {
    Ok(choice(deserializer)?.unwrap_or_default())
}

/// How a patch is read and planned. What is left open is as the workspace, or the profile, has it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PatchOptions {
    /// The rules of planning: options too, each by its own name.
    #[serde(skip)]
    pub settings: Layer,
    /// What the text is: `envelope`, `unified`, `openai`, or `auto`, the default. Where `from` is a
    /// word of the language: `form`.
    #[serde(alias = "form", deserialize_with = "form")]
    pub from: InputForm,
    /// Which patch of several is meant: its number from 1, or `all`. With `auto` only.
    #[serde(deserialize_with = "part")]
    pub part: Option<Part>,
    /// How many leading parts of the paths of a diff are left out; otherwise the prefixes that git
    /// writes.
    pub strip: Option<usize>,
    /// Whether binary files of a diff are left out whose bytes it does not have.
    #[serde(alias = "skip_binary")]
    pub skip_binary: bool,
    /// Whether the numbers of hunks of a diff are not looked at where they do not fit their lines.
    pub recount: bool,
    /// Whether the patch is reversed.
    pub reverse: bool,
    /// The directory that the paths of the patch are beneath.
    pub directory: Option<String>,
    /// Patterns for the files of the patch that are taken, if there are any; `*` also matches `/`.
    pub include: Vec<String>,
    /// Patterns for those that are left out.
    pub exclude: Vec<String>,
    /// The environment that this is: a patch that names another one is refused.
    pub environment: Option<String>,
    /// What files must be before, by path: their SHA-256, or nothing for a file that must not be
    /// there.
    #[serde(alias = "expected_sha256_by_path", alias = "expected")]
    pub expected_sha256_by_path: BTreeMap<String, String>,
    /// The files as the author of the patch saw them, by path: hunks of a file that changed since
    /// are carried.
    pub base: Option<BTreeMap<String, String>>,
    /// The name of a refused patch (`details.patchId` of its error), whose sections for other files
    /// are taken. In a workspace only, which keeps the newest of its session.
    pub amend: Option<String>,
    /// Whether all of the patch is one transaction; true unless set. In a workspace only.
    pub atomic: Option<bool>,
    /// Whether the sections that fit are applied where others do not, as one transaction. In a
    /// workspace only.
    pub partial: bool,
    /// What an answer shows of the changes: `none`, the default, `stat` or `full`.
    pub diff: DiffDetail,
}

impl ReadOptions for PatchOptions {
    const SETTINGS: &'static [Scope] = &[Scope::Patch];

    fn layer(&mut self) -> Option<&mut Layer> {
        Some(&mut self.settings)
    }
}

impl PatchOptions {
    /// Reads a patch, and the rules that these options give.
    ///
    /// # Errors
    ///
    /// When the options make no sense, or the text is not a patch.
    pub(crate) fn parsed(
        &self,
        layers: &Layers,
        patch: &[u8],
    ) -> Result<(Patch, Options), ToolError> {
        let rules = self.rules(layers)?;
        Ok((self.parse(patch, &rules)?, rules))
    }

    /// Finds the patch in a text, and parses it by the rules that these options give.
    ///
    /// # Errors
    ///
    /// When the text is not a patch.
    pub(crate) fn parse(&self, patch: &[u8], rules: &Options) -> Result<Patch, ToolError> {
        let text = self.find(patch, rules)?;
        text.parse(rules).map_err(|error| error.tool_error(text.text.as_bytes()))
    }

    /// Returns which sections are applied where some do not apply.
    pub(crate) fn atomicity(&self) -> Result<Atomicity, ToolError> {
        let atomicity = Atomicity::of(self.atomic != Some(false), self.partial);
        let atomicity = atomicity.ok_or_else(|| {
            let message = "`partial` makes one transaction, and `atomic` false makes several";
            argument("partial", message, "false, or leave out `atomic`")
        })?;
        if atomicity == Atomicity::Fitting && self.reverse {
            let message = "a patch is reversed as a whole";
            return Err(argument("partial", message, "false, or leave it out"));
        }
        Ok(atomicity)
    }

    /// Finds the patch in a text; it is still to be parsed.
    pub(crate) fn read_text(
        &self,
        layers: &Layers,
        patch: &[u8],
    ) -> Result<(PatchText, Options), ToolError> {
        let rules = self.rules(layers)?;
        Ok((self.find(patch, &rules)?, rules))
    }

    /// The rules of planning where there is no workspace.
    pub(crate) fn rules(&self, layers: &Layers) -> Result<Options, ToolError> {
        if self.atomicity()? != Atomicity::Whole {
            let name = if self.partial { "partial" } else { "atomic" };
            let message = "only in a workspace is a patch applied in part";
            return Err(argument(name, message, "nothing here"));
        }
        if self.amend.is_some() {
            let message = "refused patches are kept by workspaces only";
            return Err(argument("amend", message, "nothing here"));
        }
        self.engine(layers)
    }

    /// Finds the patch, or the part of it that amends a refused one.
    pub(crate) fn read_part(
        &self,
        layers: &Layers,
        patch: &[u8],
    ) -> Result<(PatchText, Options), ToolError> {
        let rules = self.engine(layers)?;
        Ok((self.find(patch, &rules)?, rules))
    }

    fn find(&self, patch: &[u8], rules: &Options) -> Result<PatchText, ToolError> {
        let how = self.read_as();
        let text = how.and_then(|how| PatchText::read(&patch.into(), &how, &rules.parse));
        text.map_err(|error| error.tool_error(patch))
    }

    /// How the text is read.
    pub(crate) fn read_as(&self) -> Result<ReadAs, InputError> {
        let excluded = self.exclude.iter().cloned().map(PathPattern::Exclude);
        let patterns = excluded.chain(self.include.iter().cloned().map(PathPattern::Include));
        Ok(ReadAs {
            form: self.from,
            part: self.part,
            strip: self.strip,
            skip_binary: self.skip_binary,
            recount: self.recount,
            reverse: self.reverse,
            paths: PathRules::new(self.directory.as_deref(), patterns)?,
        })
    }

    /// The rules of planning.
    pub(crate) fn engine(&self, layers: &Layers) -> Result<Options, ToolError> {
        let layers = layers.clone().with(self.settings.clone());
        let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
        let mut options = settings.options();
        options.parse.environment = self.environment.clone();
        for (path, hash) in &self.expected_sha256_by_path {
            let hash = hash.parse().map_err(|_| {
                let message = format!(
                    "{path}: {hash:?} is not a SHA-256: it has 64 hexadecimal digits, or none \
                     for no file"
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
        Ok(options)
    }
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
pub struct SpecRequest {
    /// The patch tool alone; otherwise all file tools.
    #[serde(alias = "patch_only")]
    pub patch_only: bool,
    /// Without what errors mean and what each argument is.
    pub brief: bool,
    /// `whole`, the default, or `codex`. Of the patch tool.
    #[serde(deserialize_with = "choice")]
    pub dialect: Option<Dialect>,
    /// The notation of the grammar, where the provider takes several. Of the patch tool.
    #[serde(deserialize_with = "choice")]
    pub grammar: Option<Format>,
    /// `raw`, the default, or `python`: whose request the fields are for. Of the patch tool.
    #[serde(deserialize_with = "choice")]
    pub client: Option<Client>,
    /// How many characters of a file Anthropic's editor may show.
    #[serde(alias = "max_characters")]
    pub max_characters: Option<u32>,
    /// Lets the model write text before the patch: the grammar binds the patch alone.
    #[serde(alias = "free_text")]
    pub free_text: bool,
    /// Who may call the tool: `direct`, `programmatic`. Of the patch tool of OpenAI's Responses
    /// API.
    #[serde(alias = "allowed_callers", deserialize_with = "choices")]
    pub allowed_callers: Vec<Caller>,
}

impl ReadOptions for SpecRequest {}

impl SpecRequest {
    /// An option of the patch tool that was given; without `patchOnly` none is taken.
    pub(crate) fn of_the_patch_tool(&self) -> Option<&'static str> {
        [
            ("dialect", self.dialect.is_some()),
            ("grammar", self.grammar.is_some()),
            ("client", self.client.is_some()),
            ("maxCharacters", self.max_characters.is_some()),
            ("freeText", self.free_text),
            ("allowedCallers", !self.allowed_callers.is_empty()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }
}

/// Finds the value of an argument that is one of a few.
pub(crate) fn named<T: Choice>(name_of_argument: &str, name: &str) -> Result<T, ToolError> {
    T::named(name).ok_or_else(|| {
        let message = format!("{name:?} is not {}", T::wanted());
        argument(name_of_argument, message, &T::wanted())
    })
}
