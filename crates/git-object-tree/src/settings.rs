//! The configuration of git, as far as needed here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use gix_config::file::Metadata;
use gix_config::file::includes;
use gix_config::file::includes::conditional;
use gix_config::file::init::Options;
use gix_config::{File, Source};

use crate::error::{Error, Result};
use crate::files::{self, Shared};
use crate::layout::Layout;

/// The keys that [`GitSettings::string`] knows.
const TEXTS: [&str; 6] =
    ["author.name", "author.email", "committer.name", "committer.email", "user.name", "user.email"];

/// The configuration of a repository.
pub(crate) struct GitSettings {
    /// The texts that are asked for later.
    texts: BTreeMap<&'static str, String>,
    pub(crate) bare: bool,
    pub(crate) shared: Shared,
    /// Whether a branch without a log gets one (`core.logAllRefUpdates`).
    pub(crate) creates_logs: bool,
    pub(crate) lock_timeout: Duration,
    /// How hard to compress; none for the default.
    pub(crate) compression: Option<gix_zlib::Compression>,
}

fn failed(error: &dyn std::error::Error) -> Error {
    Error::Configuration { problem: error.to_string() }
}

impl GitSettings {
    /// Reads the configuration: the repository's, and with `user` also the system's, the user's and
    /// the environment's.
    pub(crate) fn read(layout: &Layout, user: bool) -> Result<Self> {
        let home = user.then(std::env::home_dir).flatten();
        let options = Options {
            includes: includes::Options::follow(
                gix_config::path::interpolate::Context {
                    home_dir: home.as_deref(),
                    ..Default::default()
                },
                conditional::Context { git_dir: Some(&layout.git_dir), branch_name: None },
            ),
            ..Options::default()
        };
        let mut file = File::default();
        if user {
            for source in [Source::System, Source::Git, Source::User] {
                // On Windows the library would run git to find the first one.
                if source == Source::System && cfg!(windows) {
                    continue;
                }
                if let Some(path) = source.storage_location(&mut |name| std::env::var_os(name)) {
                    append(&mut file, &path, source, options)?;
                }
            }
        }
        // A repository's own `include` is not followed: its author may have named a device or a
        // pipe.
        let own = Options::default();
        let config = layout.common_dir.join("config");
        let mut local = File::default();
        append(&mut local, &config, Source::Local, own)?;
        check_format(&local)?;
        append(&mut file, &config, Source::Local, own)?;
        let mut bare = file.clone();
        if Self::boolean(&local, "extensions.worktreeConfig")? == Some(true) {
            // Whether the main work tree is bare is for its own file to say, also when a linked one
            // is open.
            append(&mut bare, &layout.common_dir.join("config.worktree"), Source::Worktree, own)?;
            append(&mut file, &layout.git_dir.join("config.worktree"), Source::Worktree, own)?;
        }
        if user
            && let Some(environment) = File::from_env(options).map_err(|error| failed(&error))?
        {
            file.append(environment).map_err(|error| failed(&error))?;
        }
        let main = Self::boolean(&bare, "core.bare")?;
        let worktree = bare.string("core.worktree").is_some();
        let bare = main
            .unwrap_or_else(|| !worktree && layout.common_dir.file_name() != Some(".git".as_ref()));
        let creates_logs = match file.string("core.logAllRefUpdates") {
            Some(value) if value.eq_ignore_ascii_case(b"always") => true,
            _ => Self::boolean(&file, "core.logAllRefUpdates")?.unwrap_or(!bare),
        };
        let lock_timeout =
            file.integer("core.filesRefLockTimeout").map_err(|error| failed(&error))?;
        let level = match file.integer("core.looseCompression").map_err(|error| failed(&error))? {
            Some(level) => Some(level),
            None => file.integer("core.compression").map_err(|error| failed(&error))?,
        };
        Ok(Self {
            bare,
            shared: shared(&file)?,
            creates_logs,
            lock_timeout: Duration::from_millis(
                lock_timeout.and_then(|time| u64::try_from(time).ok()).unwrap_or(100),
            ),
            compression: level
                .and_then(|level| gix_zlib::Compression::new(i32::try_from(level).ok()?)),
            texts: TEXTS
                .iter()
                .filter_map(|key| {
                    Some((*key, file.string(*key).filter(|value| !value.is_empty())?.to_string()))
                })
                .collect(),
        })
    }

    fn boolean(file: &File, key: &str) -> Result<Option<bool>> {
        file.boolean(key).map_err(|error| failed(&error))
    }

    /// Returns the text of a key; none if there is none, or an empty one.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.texts.get(key).cloned()
    }
}

fn append(file: &mut File, path: &Path, source: Source, options: Options<'_>) -> Result<()> {
    // No configuration that a person wrote comes near this size.
    let Some(mut bytes) = files::read(path, 64 << 20)? else { return Ok(()) };
    let more = File::from_bytes_owned(&mut bytes, Metadata::from(source).at(path), options)
        .map_err(|error| wrong(path, &error))?;
    file.append(more).map_err(|error| wrong(path, &error))?;
    Ok(())
}

fn wrong(path: &Path, error: &dyn std::error::Error) -> Error {
    Error::Configuration { problem: format!("{}: {error}", path.display()) }
}

fn unsupported(what: String) -> Error {
    Error::Unsupported { what }
}

/// Refuses an unknown format that changes the meaning of files.
fn check_format(local: &File) -> Result<()> {
    let version =
        local.integer("core.repositoryFormatVersion").map_err(|error| failed(&error))?.unwrap_or(0);
    if !(0..=1).contains(&version) {
        return Err(unsupported(format!("repository format version {version}")));
    }
    for section in local.sections_by_name("extensions").into_iter().flatten() {
        for name in section.value_names() {
            let name = name.to_string().to_ascii_lowercase();
            let value = section
                .value(&name)
                .map(|value| value.to_string().to_ascii_lowercase())
                .unwrap_or_default();
            match (&*name, &*value) {
                ("objectformat", "sha1") | ("refstorage", "files") => {}
                ("objectformat", _) => {
                    return Err(unsupported(format!("the object format {value}")));
                }
                ("refstorage", _) => return Err(unsupported(format!("the ref storage {value}"))),
                (
                    "noop" | "noop-v1" | "partialclone" | "preciousobjects" | "worktreeconfig"
                    | "relativeworktrees",
                    _,
                ) => {}
                _ if version == 0 => {}
                _ => return Err(unsupported(format!("the extension {name}"))),
            }
        }
    }
    Ok(())
}

fn shared(file: &File) -> Result<Shared> {
    let Some(value) = file.string("core.sharedRepository") else { return Ok(Shared::Umask) };
    let value = value.to_string().to_ascii_lowercase();
    Ok(match &*value {
        "umask" => Shared::Umask,
        "group" => Shared::Add(0o660),
        "all" | "world" | "everybody" => Shared::Add(0o664),
        _ => match u32::from_str_radix(&value, 8) {
            Ok(0) => Shared::Umask,
            Ok(1) => Shared::Add(0o660),
            Ok(2) => Shared::Add(0o664),
            // The owner must be able to read and write; nobody may execute what is data.
            Ok(mode) if mode & 0o600 == 0o600 && mode <= 0o777 => Shared::Exactly(mode & 0o666),
            Ok(_) => {
                return Err(Error::Configuration {
                    problem: format!("core.sharedRepository is {value}"),
                });
            }
            Err(_) if GitSettings::boolean(file, "core.sharedRepository")? == Some(true) => {
                Shared::Add(0o660)
            }
            Err(_) => Shared::Umask,
        },
    })
}
