//! Commits: what is read of them, and how one is written.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files;
use crate::id::Id;
use crate::settings::GitSettings;

/// Who made something, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name, not empty.
    pub name: String,
    /// The mail address; may be empty.
    pub email: String,
    /// The time.
    pub time: Time,
}

/// A time, with the clock that it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970, in UTC.
    pub seconds: i64,
    /// How many minutes the clock on the wall is ahead of UTC.
    pub offset_minutes: i32,
}

impl Time {
    /// Returns the present time, in the time zone of the machine.
    #[must_use]
    pub fn now() -> Self {
        let now = jiff::Timestamp::now();
        let offset = local_zone().to_offset(now).seconds();
        Self { seconds: now.as_second(), offset_minutes: offset / 60 }
    }

    /// Reads a time in the forms of `GIT_AUTHOR_DATE`: `1700000000 +0100`, `2023-11-14T22:13:20Z`
    /// and other spellings.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIdentity`] for other forms.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let time = gix_date::parse(text.strip_prefix('@').unwrap_or(text), None);
        let time = time.map_err(|_| invalid(text, "it is not a time"))?;
        Ok(Self { seconds: time.seconds, offset_minutes: time.offset / 60 })
    }
}

/// The time zone of the machine, from the one file that has it: the library itself would look
/// through all time zones that there are.
fn local_zone() -> jiff::tz::TimeZone {
    let system = jiff::tz::TimeZone::system;
    if std::env::var_os("TZ").is_some() {
        return system();
    }
    let file = files::read(Path::new("/etc/localtime"), 1 << 20).ok().flatten();
    file.and_then(|bytes| jiff::tz::TimeZone::tzif("local", &bytes).ok()).unwrap_or_else(system)
}

fn invalid(value: &str, problem: &'static str) -> Error {
    Error::InvalidIdentity { value: value.into(), problem }
}

impl Signature {
    /// Reads `A U Thor <author@example.com>`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIdentity`] for other forms.
    pub fn parse(text: &str, time: Time) -> Result<Self> {
        let (name, email) = text
            .trim()
            .strip_suffix('>')
            .and_then(|text| text.split_once('<'))
            .ok_or_else(|| invalid(text, "it is not of the form `Name <address>`"))?;
        Ok(Self { name: name.trim().into(), email: email.trim().into(), time })
    }

    /// The line of a commit, without what would end a part of it early.
    pub(crate) fn to_line(&self) -> Result<String> {
        let name = clean(&self.name);
        if name.is_empty() {
            return Err(invalid(&self.name, "the name is empty"));
        }
        let Time { seconds, offset_minutes: offset } = self.time;
        if seconds < 0 || offset.unsigned_abs() >= 24 * 60 {
            return Err(invalid(&format!("{seconds} {offset}"), "git has no such time"));
        }
        let sign = if offset < 0 { '-' } else { '+' };
        let hours = offset.unsigned_abs() / 60;
        let minutes = offset.unsigned_abs() % 60;
        Ok(format!("{name} <{}> {seconds} {sign}{hours:02}{minutes:02}", clean(&self.email)))
    }
}

/// Removes what git removes from names and addresses: brackets, line ends, and marks around them.
fn clean(text: &str) -> String {
    text.trim_matches(|mark: char| mark <= ' ' || ".,:;<>\"\\'".contains(mark))
        .replace(['<', '>', '\n', '\0'], "")
}

/// Which of the two names of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who made the change.
    Author,
    /// Who made the commit.
    Committer,
}

impl Role {
    /// Asks the environment and the configuration, in git's order, but guesses nothing.
    pub(crate) fn signature(self, settings: &GitSettings, environment: bool) -> Result<Signature> {
        let (role, upper, variable) = match self {
            Self::Author => ("author", "AUTHOR", "GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL"),
            Self::Committer => {
                ("committer", "COMMITTER", "GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL")
            }
        };
        let name = variable_if(environment, &format!("GIT_{upper}_NAME"))
            .or_else(|| configured(settings, role, "name"))
            .filter(|name| !clean(name).is_empty())
            .ok_or(Error::NoIdentity { role, variable })?;
        let email = variable_if(environment, &format!("GIT_{upper}_EMAIL"))
            .or_else(|| configured(settings, role, "email"))
            .or_else(|| variable_if(environment, "EMAIL"))
            .ok_or(Error::NoIdentity { role, variable })?;
        let date = variable_if(environment, &format!("GIT_{upper}_DATE"));
        let time = match date.filter(|date| !date.is_empty()) {
            Some(date) => Time::parse(&date)?,
            None => Time::now(),
        };
        Ok(Signature { name, email, time })
    }
}

/// Returns a variable of the environment, if the environment counts.
fn variable_if(environment: bool, name: &str) -> Option<String> {
    environment.then(|| std::env::var(name).ok()).flatten()
}

/// Returns a value of the configuration for a role, or else for the user.
fn configured(settings: &GitSettings, role: &str, key: &str) -> Option<String> {
    settings.string(&format!("{role}.{key}")).or_else(|| settings.string(&format!("user.{key}")))
}

/// A commit to be written.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: Id,
    /// The parents, the first one first.
    pub parents: &'a [Id],
    /// Who made the change.
    pub author: &'a Signature,
    /// Who makes the commit.
    pub committer: &'a Signature,
    /// The message. NULs are removed, and a line end is added if there is none.
    pub message: &'a str,
}

impl NewCommit<'_> {
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut text = format!("tree {}\n", self.tree);
        for parent in self.parents {
            let _ = writeln!(text, "parent {parent}");
        }
        let _ = writeln!(text, "author {}", self.author.to_line()?);
        let _ = writeln!(text, "committer {}\n", self.committer.to_line()?);
        text.push_str(&self.message.replace('\0', ""));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text.into_bytes())
    }
}

/// The tree and the parents of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitObject {
    /// Its tree.
    pub tree: Id,
    /// The parents, the first one first.
    pub parents: Vec<Id>,
}

impl CommitObject {
    pub(crate) fn parse(id: Id, bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).ok_or_else(|| Error::CorruptObject {
            id,
            problem: "a commit with a bad header".into(),
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let tree = Id::from_hex(lines.next()?.strip_prefix(b"tree ")?)?;
        let parents = lines.map_while(|line| line.strip_prefix(b"parent ")).map(Id::from_hex);
        Some(Self { tree, parents: parents.collect::<Option<_>>()? })
    }
}

/// Returns what an annotated tag is for.
pub(crate) fn tag_target(id: Id, bytes: &[u8]) -> Result<Id> {
    let line =
        bytes.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"object "));
    line.and_then(Id::from_hex)
        .ok_or_else(|| Error::CorruptObject { id, problem: "a tag with a bad header".into() })
}
