//! The commands that check a change.

use fs_guard::Globs;
use serde_json::Value as Json;

use super::value::{Kind, Raw, Value, Wrong, check_number_of_globs, checked_glob};

/// Shell commands to check changed files with: one for all files, or one per pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks(Vec<Check>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    /// The files to check; all, unless set.
    pattern: Option<String>,
    command: String,
}

impl Check {
    fn text(&self) -> String {
        match &self.pattern {
            Some(pattern) => format!("{pattern}: {}", self.command),
            None => self.command.clone(),
        }
    }
}

impl Checks {
    /// Takes a command for all files. An empty command counts as none.
    #[must_use]
    pub fn of(command: &str) -> Self {
        let command = (!command.trim().is_empty())
            .then(|| Check { pattern: None, command: command.to_owned() });
        Self(command.into_iter().collect())
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the commands for these files, in order, each once.
    pub fn commands<'p>(&self, paths: impl IntoIterator<Item = &'p str> + Clone) -> Vec<&str> {
        let mut commands = Vec::new();
        for Check { pattern, command } in &self.0 {
            let is_for_one = pattern.as_ref().is_none_or(|pattern| {
                let globs = Globs::new([pattern]).expect("it was checked");
                paths.clone().into_iter().any(|path| globs.includes(path))
            });
            if is_for_one && !commands.contains(&command.as_str()) {
                commands.push(command);
            }
        }
        commands
    }

    fn of_table<'j>(
        table: impl ExactSizeIterator<Item = (&'j String, &'j Json)>,
    ) -> Result<Self, Wrong> {
        check_number_of_globs(table.len())?;
        let mut all = Vec::new();
        for (nth, (pattern, command)) in table.enumerate() {
            let nth = nth + 1;
            let Some(command) = command.as_str().filter(|command| !command.trim().is_empty())
            else {
                return Err(Wrong::Because(format!("entry {nth} has no command")));
            };
            checked_glob(nth, pattern)?;
            all.push(Check { pattern: Some(pattern.clone()), command: command.to_owned() });
        }
        Ok(Self(all))
    }
}

impl Value for Checks {
    fn kind() -> Kind {
        Kind::Commands
    }

    fn wanted() -> String {
        "a command, or a table of a command for each glob".into()
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Ok(Self::of(text))
    }

    fn read(raw: Raw<'_>) -> Result<Self, Wrong> {
        match raw {
            Raw::Text(text) => Self::from_text(text),
            Raw::File(Json::Object(table)) | Raw::Program(Json::Object(table)) => {
                Self::of_table(table.iter())
            }
            Raw::File(json) | Raw::Program(json) => {
                json.as_str().map_or(Err(Wrong::Type), Self::from_text)
            }
        }
    }

    fn text(&self) -> String {
        self.0.iter().map(Check::text).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_commands_of_changed_files_run_in_order_and_once() {
        let table = json!({
            "**/*.rs": "cargo check", "docs/**": "mdbook", "**/*.toml": "cargo check",
            "*.py": "ruff",
        });
        for (raw, paths, wanted) in [
            (&table, &["src/a.rs"][..], &["cargo check"][..]),
            (&table, &["Cargo.toml", "docs/x/a.md", "src/a.rs"], &["cargo check", "mdbook"]),
            (&table, &["docs/a.rs"], &["cargo check", "mdbook"]),
            (&table, &["x/a.py"], &[]),
            (&table, &["a.py"], &["ruff"]),
            (&json!("make"), &["x"], &["make"]),
            (&json!(" "), &["x"], &[]),
            (&json!({}), &["x"], &[]),
        ] {
            let checks = Checks::read(Raw::File(raw)).ok().expect("commands");
            let commands = checks.commands(paths.iter().copied());
            let mut sorted = commands.clone();
            // A feature of serde_json decides whether objects keep their order.
            sorted.sort_unstable();
            assert_eq!(sorted, wanted, "{raw} {paths:?}");
        }
        for wrong in [
            json!(1),
            json!(["make"]),
            json!({ "*": 1 }),
            json!({ "*": "" }),
            json!({ "[": "make" }),
        ] {
            assert!(Checks::read(Raw::File(&wrong)).is_err(), "{wrong}");
        }
    }
}
