//! The options of every call, read from objects of other languages. Names are in `camelCase` or
//! `snake_case`; unknown names are errors, in the words of the language.

use std::collections::BTreeMap;
use std::sync::Arc;

use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::remedy::ArgumentChange;
use patch_engine::{Atomicity, Files, MemoryTree, Options, Patch, Profile, Remedy};
use patch_session::changes::DiffDetail;
use patch_session::input::paths::{PathPattern, PathRules};
use patch_session::input::{InputError, InputForm, PatchText, ReadAs};
use patch_session::ops;
use patch_session::received::Part;
use patch_session::settings::{Choice, Kind, Layer, Layers, Raw, Scope};
use patch_session::{Language, Reason, ToolError, most_alike};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

use crate::error::argument;

/// Options of a call.
pub trait ReadOptions: DeserializeOwned + Default {
    /// The kinds of settings that are options beside the fields.
    const SETTINGS: &'static [Scope] = &[];

    /// Returns the place of the settings.
    fn layer(&mut self) -> Option<&mut Layer> {
        None
    }

    /// Returns the names of the options in a language. An option with two names in the language is
    /// there twice.
    #[must_use]
    fn names(language: Language) -> Vec<String> {
        let fields = fields::<Self>().iter().filter(|name| is_name_of(name, language));
        let fields = fields.map(|&name| name.to_owned());
        fields.chain(settings(Self::SETTINGS).map(|key| language.name(key))).collect()
    }

    /// Returns the error of an unknown name, and `None` for the name of an option. The names of
    /// `arguments` beside the options are possible corrections, too.
    #[must_use]
    fn unknown(name: &str, language: Language, arguments: &[&str]) -> Option<BadOptions> {
        let languages = [Language::Python, Language::JavaScript];
        let is_setting = settings(Self::SETTINGS)
            .any(|key| languages.iter().any(|language| language.name(key) == name));
        if is_setting || fields::<Self>().contains(&name) {
            return None;
        }
        let names = Self::names(language);
        let names = names.iter().map(String::as_str).chain(arguments.iter().copied());
        let meant = most_alike(name, names).map(ToOwned::to_owned);
        Some(BadOptions::Unknown { name: name.to_owned(), meant })
    }

    /// Reads the options from JSON: an object, or null for the defaults.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or if a value has the wrong kind.
    fn read(options: Value) -> Result<Self, ToolError> {
        Self::read_for(Language::JavaScript, options).map_err(ToolError::from)
    }

    /// Reads the options of a program in a language.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or if a value has the wrong kind.
    fn read_for(language: Language, options: Value) -> Result<Self, BadOptions> {
        let mut object = match options {
            Value::Null => return Ok(Self::default()),
            Value::Object(object) => object,
            _ => {
                let message = "the options are not an object";
                return Err(argument("options", message, "an object").into());
            }
        };
        if let Some(unknown) = object.keys().find_map(|name| Self::unknown(name, language, &[])) {
            return Err(unknown);
        }
        let layer = take_settings(&mut object, Self::SETTINGS)?;
        let read = serde_json::from_value(object.clone().into());
        let mut read: Self = read.map_err(|error| {
            // The error does not name its option, so each option is read alone.
            let found =
                object.iter().find_map(|(name, value)| error_of_option::<Self>(name, value));
            found.unwrap_or_else(|| {
                argument("options", error.to_string(), "as the documentation has them")
            })
        })?;
        if let Some(place) = read.layer() {
            *place = layer;
        }
        Ok(read)
    }
}

/// Returns whether a field has its name in a language.
fn is_name_of(name: &str, language: Language) -> bool {
    match language {
        Language::Python => !name.contains(char::is_uppercase) && name != "from",
        Language::JavaScript => !name.contains('_') && name != "form",
    }
}

/// Returns the error of an option, if a type cannot read it.
fn error_of_option<T: DeserializeOwned>(name: &str, value: &Value) -> Option<ToolError> {
    let one = Map::from_iter([(name.to_owned(), value.clone())]);
    let error = serde_json::from_value::<T>(one.into()).err()?;
    Some(wrong_value(name, value, &error.to_string()))
}

/// Why options cannot be read.
#[derive(Debug, Clone)]
pub enum BadOptions {
    /// No option has this name.
    Unknown {
        /// The name as given.
        name: String,
        /// The name that was probably meant, in the language of the program.
        meant: Option<String>,
    },
    /// A value has the wrong kind.
    Wrong(Box<ToolError>),
}

impl From<ToolError> for BadOptions {
    fn from(error: ToolError) -> Self {
        Self::Wrong(Box::new(error))
    }
}

impl From<BadOptions> for ToolError {
    fn from(bad: BadOptions) -> Self {
        let (message, change) = match bad {
            BadOptions::Wrong(error) => return *error,
            BadOptions::Unknown { name, meant: None } => {
                (format!("there is no option `{name}`"), ArgumentChange::Omit { argument: name })
            }
            BadOptions::Unknown { name, meant: Some(meant) } => (
                format!("there is no option `{name}`; did you mean `{meant}`?"),
                ArgumentChange::Rename { argument: name, to: meant },
            ),
        };
        Self::arguments(Reason::BadArguments, message).remedies([Remedy::Arguments(vec![change])])
    }
}

/// Returns the names of the fields that a type reads, aliases included.
fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    let _ = T::deserialize(FieldNames(&mut fields));
    fields
}

/// A deserializer that collects the names of the fields that a type reads, and then fails.
struct FieldNames<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom("it has no values"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("it has no values"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Makes the error of an option with the wrong kind of value.
fn wrong_value(name: &str, value: &Value, error: &str) -> ToolError {
    let mismatch =
        ["invalid type: ", "invalid value: "].iter().find_map(|it| error.strip_prefix(it));
    let Some((found, wanted)) = mismatch.and_then(|it| it.rsplit_once(", expected ")) else {
        return argument(name, error, "another value");
    };
    let wanted = match wanted {
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "u32" | "u64" | "usize" => "a whole number from 0",
        other => other,
    };
    let within = (value.is_array() && found != "sequence") || (value.is_object() && found != "map");
    if within {
        let message = format!("`{name}` has {found} where {wanted} is wanted");
        return argument(name, message, &format!("one that has {wanted} there"));
    }
    argument(name, format!("`{name}` must be {wanted}, not {value}"), wanted)
}

/// The keys of the settings of these kinds.
fn settings(scopes: &[Scope]) -> impl Iterator<Item = &'static str> {
    Layer::KEYS.iter().filter(|(_, scope)| scopes.contains(scope)).map(|(key, _)| *key)
}

/// Takes the settings of these kinds out of the options.
fn take_settings(object: &mut Map<String, Value>, scopes: &[Scope]) -> Result<Layer, ToolError> {
    let mut layer = Layer::default();
    for key in settings(scopes) {
        let names = [Language::JavaScript, Language::Python].map(|language| language.name(key));
        if names[0] != names[1] && names.iter().all(|name| object.contains_key(name)) {
            let message = format!("`{}` and `{}` are one option", names[0], names[1]);
            return Err(argument(&names[0], message, "given once"));
        }
        for name in names {
            if let Some(value) = object.remove(&name).filter(|value| !value.is_null()) {
                let read = layer.read(key, &name, Raw::Program(&value));
                read.map_err(|message| argument(&name, message, &kind_words(key)))?;
            }
        }
    }
    Ok(layer)
}

/// Describes the value of a setting.
fn kind_words(key: &str) -> String {
    match Layer::kind(key) {
        Some(Kind::Flag) => "true or false".into(),
        Some(Kind::Number | Kind::Bytes | Kind::Seconds) => "a number".into(),
        Some(Kind::Texts) => "a list of texts".into(),
        Some(Kind::Commands) => "a command, or commands by their patterns".into(),
        Some(Kind::Words(words)) => format!("one of {}", words.join(", ")),
        Some(Kind::Text) | None => "a text".into(),
    }
}

/// Reads one of a few values by its name.
pub(crate) fn choice<'de, D: Deserializer<'de>, T: Choice>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| chosen(&name)).transpose()
}

/// Reads a list of a few values by their names.
#[cfg(feature = "specs")]
pub(crate) fn choices<'de, D: Deserializer<'de>, T: Choice>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let names = Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default();
    names.iter().map(|name| chosen(name)).collect()
}

fn chosen<T: Choice, E: serde::de::Error>(name: &str) -> Result<T, E> {
    T::named(name).ok_or_else(|| E::custom(format!("{name:?} is not {}", T::wanted())))
}

fn form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<InputForm, D::Error> {
    Ok(choice(deserializer)?.unwrap_or_default())
}

/// Options of a patch: how it is read and planned. The workspace or the profile decides where no
/// option is set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PatchOptions {
    /// The rules of planning, each an option by its own name.
    #[serde(skip)]
    pub settings: Layer,
    /// The form of the text: `envelope`, `unified`, `openai`, or `auto`, the default. The name is
    /// `form` where `from` is a word of the language.
    #[serde(alias = "form", deserialize_with = "form")]
    pub from: InputForm,
    /// The number of the patch in a text with several, from 1, or `all`. With `auto` only.
    #[serde(deserialize_with = "part")]
    pub part: Option<Part>,
    /// The number of leading names to strip from the paths of a diff. By default the prefixes of
    /// git are stripped.
    pub strip: Option<usize>,
    /// Whether binary files are left out if the diff does not have their bytes.
    #[serde(alias = "skip_binary")]
    pub skip_binary: bool,
    /// Whether the line counts in the hunk headers of a diff are ignored if they are wrong.
    pub recount: bool,
    /// Whether the patch is reversed.
    pub reverse: bool,
    /// The directory to which the paths of the patch are relative.
    pub directory: Option<String>,
    /// Patterns of the files of the patch to take; all if empty. `*` also matches `/`.
    pub include: Vec<String>,
    /// Patterns of the files of the patch to leave out.
    pub exclude: Vec<String>,
    /// The name of this environment. A patch that names another one is refused.
    pub environment: Option<String>,
    /// The expected SHA-256 of files before the patch, by path; an empty text for a file that must
    /// not exist.
    #[serde(alias = "expected_sha256_by_path", alias = "expected")]
    pub expected_sha256_by_path: BTreeMap<String, String>,
    /// The files as the author of the patch saw them, by path. Hunks of a file that has changed
    /// since are carried.
    pub base: Option<BTreeMap<String, String>>,
    /// The id of a refused patch (`details.patchId` of its error) that this patch amends: sections
    /// for other files are taken from there. In a workspace only, which keeps the newest refused
    /// patches of its session.
    pub amend: Option<String>,
    /// Whether the whole patch is one transaction; true by default. In a workspace only.
    pub atomic: Option<bool>,
    /// Whether the sections that fit are applied, as one transaction, if others do not fit. In a
    /// workspace only.
    pub partial: bool,
    /// The part of the changes that an answer shows: `none`, the default, `stat` or `full`.
    pub diff: DiffDetail,
}

impl ReadOptions for PatchOptions {
    const SETTINGS: &'static [Scope] = &[Scope::Patch];

    fn layer(&mut self) -> Option<&mut Layer> {
        Some(&mut self.settings)
    }
}

impl PatchOptions {
    /// Reads a patch, and the rules of these options.
    ///
    /// # Errors
    ///
    /// If an option makes no sense, or if the text is not a patch.
    pub(crate) fn parsed(
        &self,
        layers: &Layers,
        patch: &[u8],
    ) -> Result<(Patch, Options), ToolError> {
        let rules = self.rules(layers)?;
        Ok((self.parse(patch, &rules)?, rules))
    }

    /// Finds the patch in a text, and parses it by the rules of these options.
    ///
    /// # Errors
    ///
    /// If the text is not a patch.
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

    /// Finds the patch in a text, and does not parse it yet.
    pub(crate) fn read_text(
        &self,
        layers: &Layers,
        patch: &[u8],
    ) -> Result<(PatchText, Options), ToolError> {
        let rules = self.rules(layers)?;
        Ok((self.find(patch, &rules)?, rules))
    }

    /// Returns the rules of planning without a workspace.
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

    /// Finds the patch of a workspace, which may amend a refused one.
    #[cfg(feature = "tools")]
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

    /// Returns the way to read the text.
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

    /// Returns the rules of planning.
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

/// Finds the value of an argument with a few possible values.
pub(crate) fn named<T: Choice>(name_of_argument: &str, name: &str) -> Result<T, ToolError> {
    T::named(name).ok_or_else(|| {
        let message = format!("{name:?} is not {}", T::wanted());
        argument(name_of_argument, message, &T::wanted())
    })
}
