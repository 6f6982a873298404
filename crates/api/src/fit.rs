//! Grammars for the files at hand.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use patch_constrain::fit::{Cause, Fit, FitError, FitFile, FitOperation, FitOptions};
use patch_engine::{Profile, Sha256};
use patch_grammar::export::Format;
use patch_session::ToolError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::argument;
use crate::options::{ReadOptions, named};

/// Options of [`fit`]: the patches that the grammar allows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FitRequest {
    /// The lines that hunks may show, by path: ranges of a first and a last line, from 1, as the
    /// model saw them. Of a path without an entry, hunks may show all lines.
    pub lines: BTreeMap<String, Vec<(usize, usize)>>,
    /// The paths that exist. A patch may delete them, and cannot make a new file there. The files
    /// may be among them.
    pub paths: Vec<String>,
    /// The allowed kinds of sections: `update`, `add`, `delete`, `move`. Default: `update`.
    pub operations: Vec<String>,
    /// The profile of the application: `standard`, the default, `strict` or `codex`.
    pub profile: Option<String>,
    /// The notation whose engine has to take the grammar: `lark`, the default, `ebnf` or `gbnf`.
    pub format: Option<String>,
}

impl ReadOptions for FitRequest {}

impl FitRequest {
    fn options(&self) -> Result<FitOptions, ToolError> {
        let mut options = FitOptions::default();
        if let Some(profile) = &self.profile {
            options.profile = named::<Profile>("profile", profile)?;
        }
        if let Some(format) = &self.format {
            options.format = named::<Format>("format", format)?;
        }
        if !self.operations.is_empty() {
            options.operations =
                self.operations.iter().map(|name| operation(name)).collect::<Result<_, _>>()?;
        }
        Ok(options)
    }

    /// Returns the lines of a file that hunks may show.
    fn windows(&self, path: &str) -> Result<Vec<RangeInclusive<usize>>, ToolError> {
        let windows = self.lines.get(path).into_iter().flatten();
        windows.map(|&(first, last)| window(path, first, last)).collect()
    }
}

fn operation(name: &str) -> Result<FitOperation, ToolError> {
    name.parse::<FitOperation>().map_err(|error| {
        let wanted = FitOperation::ALL.map(FitOperation::as_str).join(", ");
        argument("operations", error.to_string(), &wanted)
    })
}

fn window(path: &str, first: usize, last: usize) -> Result<RangeInclusive<usize>, ToolError> {
    if first == 0 || first > last {
        let message = format!("{path}: there are no lines {first} to {last}");
        return Err(argument("lines", message, "the first line, from 1, and the last"));
    }
    Ok(first..=last)
}

/// A grammar for some files as they are. Every sentence of the grammar is a patch, and applies.
#[derive(Debug)]
pub struct FittedGrammar {
    fit: Fit,
    stub: Value,
}

impl FittedGrammar {
    /// Returns the grammar in a notation: `lark`, `ebnf` or `gbnf`.
    ///
    /// # Errors
    ///
    /// If there is no such notation, if the notation cannot express the grammar, or if another
    /// notation was asked for before, and the engine of this one does not take the grammar.
    pub fn text(&self, format: &str) -> Result<String, ToolError> {
        self.fit.write(named::<Format>("format", format)?).map_err(|error| wrong(&error))
    }

    /// Returns the other arguments for a patch under the grammar: `profile`, and
    /// `expectedSha256ByPath` with the hash of each file.
    #[must_use]
    pub fn stub(&self) -> &Value {
        &self.stub
    }

    /// Returns a sentence about each file that the grammar leaves out of updates.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.fit.notes().iter().map(ToString::to_string).collect()
    }
}

/// Makes a grammar for files, given as paths and bytes.
///
/// # Errors
///
/// If a file is given twice, if an option makes no sense, if no patch is possible, or if the engine
/// of the notation does not take the grammar.
pub fn fit(files: &[(String, Vec<u8>)], request: &FitRequest) -> Result<FittedGrammar, ToolError> {
    let options = request.options()?;
    if let Some(path) = request.lines.keys().find(|path| files.iter().all(|file| file.0 != **path))
    {
        let message = format!("`{path}` is not one of the files");
        return Err(argument("lines", message, "a path of a file"));
    }
    let mut fitted = Vec::with_capacity(files.len());
    for (path, text) in files {
        fitted.push(FitFile { path, text, windows: request.windows(path)? });
    }
    let paths: Vec<&str> = request.paths.iter().map(String::as_str).collect();
    let fit = Fit::new(&fitted, &paths, &options).map_err(|error| wrong(&error))?;
    let hashes: BTreeMap<&str, String> =
        files.iter().map(|(path, text)| (path.as_str(), Sha256::of(text).to_string())).collect();
    let stub = json!({ "profile": options.profile.as_str(), "expectedSha256ByPath": hashes });
    Ok(FittedGrammar { fit, stub })
}

fn wrong(error: &FitError) -> ToolError {
    let message = match error {
        FitError::Nothing { notes } if !notes.is_empty() => {
            let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
            format!("{error}: {}", notes.join("; "))
        }
        _ => error.to_string(),
    };
    let (name, wanted) = match error {
        FitError::Twice { .. } => ("files", "each path once"),
        FitError::Format { .. } => ("format", "lark, ebnf or gbnf"),
        FitError::TooLarge(too_many) => match too_many.cause {
            Cause::Paths { .. } => ("paths", "fewer paths"),
            Cause::Names { .. } => ("operations", "no new paths"),
            Cause::Files { .. } => ("files", "fewer files"),
            _ => ("lines", "the lines that the model was shown"),
        },
        FitError::TooManyLines { .. } => ("lines", "the lines that the model was shown"),
        FitError::TooLong { .. } => ("files", "files of fewer lines"),
        _ => ("files", "files of text, or another operation"),
    };
    argument(name, message, wanted)
}

#[cfg(test)]
mod tests {
    use patch_engine::Remedy;

    use super::*;

    fn files() -> Vec<(String, Vec<u8>)> {
        vec![("a.txt".into(), b"one\ntwo\n".to_vec()), ("b.bin".into(), b"\0".to_vec())]
    }

    #[test]
    fn the_stub_has_the_hash_of_each_file() {
        let fitted = fit(&files(), &FitRequest::default()).expect("a grammar");
        let hash = fitted.stub()["expectedSha256ByPath"]["a.txt"].as_str().expect("a hash");
        assert_eq!(hash, Sha256::of(b"one\ntwo\n").to_string());
        assert_eq!(fitted.stub()["profile"], "standard");
    }

    #[test]
    fn files_that_are_left_out_are_noted() {
        let fitted = fit(&files(), &FitRequest::default()).expect("a grammar");
        assert_eq!(fitted.notes(), ["b.bin: left out of updates: it is binary"]);
    }

    /// It is a file of text, and no other operation shows less of it.
    #[test]
    fn a_file_of_too_many_lines_has_advice_of_its_own() {
        let files = [("a.txt".into(), b"\n".repeat(4_000_001))];
        let error = fit(&files, &FitRequest::default()).expect_err("it is too long");
        assert!(error.message.contains("has 4000001 lines, of 4000000 at most"), "{error:?}");
        assert_eq!(error.remedies, [Remedy::give("files", "files of fewer lines")]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (request, message) in [
            (json!({"lines": {"c": [[1, 2]]}}), "`c` is not one of the files"),
            (json!({"lines": {"a.txt": [[2, 1]]}}), "there are no lines 2 to 1"),
            (json!({"operations": ["copy"]}), "\"copy\" is not"),
            (json!({"profile": "lax"}), "\"lax\" is not"),
            (json!({"format": "bnf"}), "\"bnf\" is not"),
            (json!({"format": "regex"}), "has no form as regex"),
        ] {
            let read = FitRequest::read(request.clone()).expect("it can be read");
            let error = fit(&files(), &read).expect_err("it is refused");
            assert!(error.message.contains(message), "{request}: {}", error.message);
        }
    }

    #[test]
    fn a_grammar_too_large_for_its_engine_is_refused_when_made() {
        let lines: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
        let large = || vec![("a.txt".to_owned(), lines.clone().into_bytes())];
        let many: Vec<String> =
            (0..2_000).map(|nth| format!("{}/{nth}/{}", nth * 7_919, nth * 31_337)).collect();
        let add = json!(["update", "add"]);
        for (request, argument, way_out) in [
            (json!({}), "lines", json!({"lines": {"a.txt": [[1, 100]]}})),
            (json!({}), "lines", json!({"format": "gbnf"})),
            (
                json!({"format": "ebnf", "operations": add, "paths": many}),
                "operations",
                json!({"format": "ebnf", "operations": ["update"], "paths": many}),
            ),
        ] {
            let read = FitRequest::read(request).expect("it can be read");
            let files = if argument == "lines" { large() } else { files() };
            let error = fit(&files, &read).err().map(|error| error.message).unwrap_or_default();
            assert!(error.contains("too large for"), "{error:?}");
            // The advice is obeyed.
            let read = FitRequest::read(way_out).expect("it can be read");
            let fitted = fit(&files, &read).expect("it is taken");
            assert!(fitted.text(read.format.as_deref().unwrap_or("lark")).is_ok());
        }
    }

    #[test]
    fn a_regular_expression_is_refused() {
        let fitted = fit(&files(), &FitRequest::default()).expect("a grammar");
        assert!(fitted.text("regex").is_err());
        assert!(fitted.text("gbnf").is_ok());
    }
}
