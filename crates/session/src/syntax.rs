//! Parses JSON, TOML and YAML, to see whether a changed file still does.

use fs_guard::RelPath;
use patch_engine::{Formats, SyntaxFault};
use serde::de::IgnoredAny;

/// The largest file to parse.
const MAX_SIZE: u64 = 8 << 20;

/// The deepest nesting of lists and maps that is judged. jsonc-parser and toml have limits of their
/// own.
#[cfg(not(target_family = "wasm"))]
const MAX_DEPTH: usize = 200;

/// The longest message; the rest is cut.
const MAX_MESSAGE: usize = 200;

/// Files of these names are JSON with comments.
const WITH_COMMENTS: &[&str] = &[
    ".babelrc",
    ".eslintrc",
    ".eslintrc.json",
    ".jshintrc",
    ".swcrc",
    "api-extractor.json",
    "deno.json",
    "devcontainer.json",
    ".devcontainer.json",
    "language-configuration.json",
    "tslint.json",
];

/// Directories whose JSON files have comments.
const WITH_COMMENTS_IN: &[&str] = &[".vscode", ".zed"];

/// A format, known by the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
    Yaml,
}

/// The verdict of a parser on a text.
#[derive(Debug, PartialEq, Eq)]
enum Parsed {
    Whole,
    /// The text is nested too deep to judge, or its parser is left out.
    NotJudged,
    /// The text is wrong at this byte.
    Wrong(usize, String),
}

/// The formats that are parsed: JSON, JSON with comments, notebooks, TOML and YAML.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownFormats;

impl Formats for KnownFormats {
    fn parses(&self, path: &RelPath, size: u64) -> bool {
        size <= MAX_SIZE && FileFormat::of(path.as_str()).is_some()
    }

    fn fault(&self, path: &RelPath, before: Option<&[u8]>, after: &[u8]) -> Option<SyntaxFault> {
        let mut format = FileFormat::of(path.as_str())?;
        if let Some(before) = before {
            // Many programs accept comments in files with a plain `.json` name.
            let formats = if format == FileFormat::Json { &JSONS[..] } else { &[format] };
            format = *formats.iter().find(|format| format.parsed(before) == Parsed::Whole)?;
        }
        let Parsed::Wrong(at, message) = format.parsed(after) else { return None };
        let (line, column) = place(after, at);
        Some(SyntaxFault { format: format.name(), line, column, message: short(message) })
    }
}

const JSONS: [FileFormat; 2] = [FileFormat::Json, FileFormat::Jsonc];

impl FileFormat {
    fn of(path: &str) -> Option<Self> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = directory.rsplit('/').next().unwrap_or_default();
        if WITH_COMMENTS.contains(&name) {
            return Some(Self::Jsonc);
        }
        let (stem, extension) = name.rsplit_once('.')?;
        Some(match &*extension.to_ascii_lowercase() {
            "json" if WITH_COMMENTS_IN.contains(&directory) => Self::Jsonc,
            "json" if stem.starts_with("tsconfig") || stem.starts_with("jsconfig") => Self::Jsonc,
            "json" | "ipynb" => Self::Json,
            "jsonc" | "code-workspace" => Self::Jsonc,
            "toml" => Self::Toml,
            "yaml" | "yml" => Self::Yaml,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Jsonc => "JSON with comments",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    fn parsed(self, bytes: &[u8]) -> Parsed {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return Parsed::Wrong(error.valid_up_to(), "this is not UTF-8".into()),
        };
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let skipped = text.len() - body.len();
        let parsed = match self {
            Self::Json => json(body),
            Self::Jsonc => parsers::jsonc(body),
            Self::Toml => parsers::toml(body),
            Self::Yaml => parsers::yaml(body),
        };
        match parsed {
            Parsed::Wrong(at, message) => Parsed::Wrong(at + skipped, message),
            parsed => parsed,
        }
    }
}

/// Parses JSON without keeping a value, and so without recursion.
fn json(text: &str) -> Parsed {
    let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { return Parsed::Whole };
    let start = text.split_inclusive('\n').take(error.line() - 1).map(str::len).sum::<usize>();
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    // The column counts the bytes read.
    Parsed::Wrong(start + error.column().saturating_sub(1), message.to_owned())
}

#[cfg(not(target_family = "wasm"))]
mod parsers {
    use jsonc_parser::ParseOptions;
    use jsonc_parser::errors::ParseErrorKind;
    use saphyr_parser::{Event, Parser};
    use toml::de::DeTable;

    use super::{MAX_DEPTH, Parsed, lower};

    /// JSON with comments: comments and commas at the end of lists, and nothing else of JSON5.
    const JSONC: ParseOptions = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };

    pub(super) fn jsonc(text: &str) -> Parsed {
        match jsonc_parser::parse_to_value(text, &JSONC) {
            Ok(Some(_)) => Parsed::Whole,
            // An empty file is not JSON either.
            Ok(None) => Parsed::Wrong(text.len(), "there is no value".into()),
            Err(error) => match error.kind() {
                ParseErrorKind::NestingDepthExceeded => Parsed::NotJudged,
                kind => Parsed::Wrong(error.range().start, lower(kind.to_string())),
            },
        }
    }

    pub(super) fn toml(text: &str) -> Parsed {
        let Err(error) = DeTable::parse(text) else { return Parsed::Whole };
        if error.message().contains("recursion") {
            return Parsed::NotJudged;
        }
        Parsed::Wrong(error.span().map_or(text.len(), |span| span.start), error.message().into())
    }

    /// Reads events and builds no value, so an alias takes no room.
    pub(super) fn yaml(text: &str) -> Parsed {
        let mut parser = Parser::new_from_str(text);
        let mut depth = 0_usize;
        loop {
            match parser.next_event() {
                None | Some(Ok((Event::StreamEnd, _))) => return Parsed::Whole,
                Some(Ok((Event::SequenceStart(..) | Event::MappingStart(..), _))) => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Parsed::NotJudged;
                    }
                }
                Some(Ok((Event::SequenceEnd | Event::MappingEnd, _))) => {
                    depth = depth.saturating_sub(1);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) if error.info().contains("recursion") => {
                    return Parsed::NotJudged;
                }
                Some(Err(error)) => {
                    let at = text.char_indices().nth(error.marker().index());
                    let at = at.map_or(text.len(), |(at, _)| at);
                    return Parsed::Wrong(at, error.info().into());
                }
            }
        }
    }
}

/// A browser loads the whole package: there only JSON is parsed.
#[cfg(target_family = "wasm")]
mod parsers {
    use super::Parsed;

    pub(super) fn jsonc(_: &str) -> Parsed {
        Parsed::NotJudged
    }

    pub(super) use jsonc as toml;
    pub(super) use jsonc as yaml;
}

/// Returns the 1-based line and column of a byte, the latter in characters.
fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// Begins a message with a small letter, like the messages of this program.
#[cfg(not(target_family = "wasm"))]
fn lower(message: String) -> String {
    let mut rest = message.chars();
    match rest.next() {
        Some(first) => first.to_lowercase().chain(rest).collect(),
        None => message,
    }
}

fn short(message: String) -> String {
    let line = message.lines().next().unwrap_or_default();
    crate::text::prefix(line, MAX_MESSAGE).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> RelPath {
        fs_guard::GuardedTree::new(
            std::sync::Arc::new(patch_engine::MemoryTree::new()),
            patch_engine::policy(),
        )
        .check(path, fs_guard::Access::Read)
        .expect("a path")
    }

    /// Checks the fault of a file that changes from `before` (`None` for a new file) to `after`;
    /// describes a mismatch.
    fn wrong(
        name: &str,
        before: Option<&str>,
        after: &str,
        wanted: Option<&str>,
    ) -> Option<String> {
        let path = path(name);
        let found = if KnownFormats.parses(&path, after.len() as u64) {
            KnownFormats.fault(&path, before.map(str::as_bytes), after.as_bytes())
        } else {
            None
        };
        let found = found.map(|fault| format!("{}: {fault}", fault.format));
        let matches = match (&found, wanted) {
            (Some(found), Some(wanted)) => found.contains(wanted),
            (found, wanted) => found.is_none() && wanted.is_none(),
        };
        (!matches).then(|| format!("{name} {before:?} {after:?}: {found:?}, wanted {wanted:?}"))
    }

    #[test]
    fn says_where_a_file_does_not_parse_any_more() {
        let good = "{\"a\": 1}";
        let cases = [
            // Comments and commas.
            ("a.json", good, "{\"a\": 1,}", Some("JSON: line 1, column 9: key must be a string")),
            ("a.json", good, "{\n  \"a\": 1\n  \"b\": 2\n}\n", Some("JSON: line 3, column 3: ")),
            ("a.json", good, "{\"ä\": \"ö\" x}", Some("JSON: line 1, column 11: ")),
            ("a.json", good, "", Some("JSON: line 1, column 1: EOF")),
            ("a.json", good, "{\"a\": 1", Some("JSON: line 1, column ")),
            ("a.json", good, "// c\n{\"a\": 1}", Some("JSON: line 1, column 1: expected value")),
            ("a.json", "// c\n{\"a\": 1,}", "// c\n{\"a\": 2,}", None),
            ("a.json", "// c\n{}", "// c\n{,}", Some("JSON with comments: line 2, column 2: ")),
            ("a.json", "{{ template }}", "{{ other }", None),
            ("a.json", "\u{feff}{}", "\u{feff}{\"a\"}", Some("JSON: line 1, column 6: ")),
            ("a.jsonc", "{} // c", "{\"a\": 1,} // c", None),
            ("tsconfig.base.json", "{}", "{/* c */ \"a\": [1,],}", None),
            ("tsconfig.json", "{}", "{'a': 1}", Some("JSON with comments: line 1, column 2: ")),
            (".vscode/settings.json", "{}", "{ // c\n}", None),
            ("x/.vscode/tasks.json", "{}", "{\n", Some("JSON with comments: line 2, column 1")),
            ("a.jsonc", "{}", "// only\n", Some("there is no value")),
            ("n.ipynb", "{\"cells\": []}", "{\"cells\": [}", Some("JSON: line 1, column 12: ")),
            ("N.IPYNB", "{\"cells\": []}", "{\"cells\": [}", Some("JSON: ")),
            // TOML.
            ("a.toml", "a = 1\n", "a = 1\na = 2\n", Some("TOML: line 2, column 1: duplicate key")),
            ("a.toml", "a = 1\n", "a = 1\n[t\n", Some("TOML: line 2, column ")),
            ("Cargo.toml", "[a]\nb = 1\n", "[a]\nb = 1\n\n[a]\n", Some("TOML: line 4, column ")),
            ("a.toml", "{% if %}\n", "{% if x %}\n", None),
            // YAML.
            ("a.yaml", "a: 1\n", "a: 1\n b: 2\n", Some("YAML: line 2, column ")),
            ("a.yml", "a: 1\n", "a: 1\n\tb: 2\n", Some("YAML: line 1, column 4: ")),
            ("a.yml", "a: [1]\n", "a: [1\n", Some("YAML: line ")),
            ("a.yml", "a: 1\n", "---\na: &x 1\n--- # two\nb: !Ref c\n", None),
            ("a.yml", "a: 1\n", "a: &x 1\nb: *x\nc: {<<: *x}\n", None),
            ("a.yml", "a: 1\n", "b: *y\n", Some("unknown anchor")),
            ("a.yml", "a: 1\n", "", None),
            ("a.yml", "a: 1\n", "on:\n  push:\n    run: |\n      x: {{ y }}\n", None),
            ("templates/a.yaml", "{{- if .x }}\na: {{ .b }}\n", "{{- if .x }}\na: {{ .c }\n", None),
            // Of others nothing is known.
            ("a.txt", "{}", "{", None),
            ("json", "{}", "{", None),
            ("a.json5", "{}", "{", None),
        ];
        let cases = cases
            .into_iter()
            .map(|(name, before, after, fault)| (name, Some(before), after, fault));
        let large = " ".repeat(MAX_SIZE as usize + 1);
        let more = [
            ("a.json", None, "{", Some("JSON: line 1, column 1: ")),
            ("a.json", None, "{}", None),
            ("a.json", Some("{}"), &*large, None),
        ];
        let all = cases.chain(more);
        let wrong: Vec<_> = all
            .filter_map(|(name, before, after, fault)| wrong(name, before, after, fault))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let fault = KnownFormats.fault(&path("a.json"), Some(b"{}"), b"{\"a\": \"\xff\"}");
        assert_eq!(fault.expect("a fault").to_string(), "line 1, column 8: this is not UTF-8");
    }

    /// Deep nesting, and texts known to be slow in some parsers, end without a panic.
    #[test]
    fn hostile_files_are_parsed_in_bounds() {
        const SIZE: usize = 1 << 18;
        for piece in [
            "[",
            "{",
            "{\"a\":",
            "[a, ",
            "- ",
            "? ",
            "a: ",
            "a.",
            "[[a]]\n",
            "[a.",
            "a={",
            "a=[",
            "\"",
            "'",
            "\\",
            "#",
            "/*",
            "//\n",
            "&a ",
            "*a ",
            "!",
            "%TAG ! x\n",
            "|\n ",
            ">\n",
            "\t",
            "---\n",
            "]",
            "}",
            "<<: *a\n",
            "- &a\n",
            "\u{feff}",
            "\0",
            "\u{85}",
            "\u{2028}",
            ": ",
            "a: 'b\n",
            "a: \"\\x",
            "- |9\n",
            "a:\n - b:\n  ",
            "[a]: b\n",
            "1e",
            "-",
            "'''",
            "\"\"\"",
        ] {
            let text = piece.repeat(SIZE / piece.len());
            for format in [FileFormat::Json, FileFormat::Jsonc, FileFormat::Toml, FileFormat::Yaml]
            {
                format.parsed(text.as_bytes());
            }
        }
        for (format, deep) in [
            (FileFormat::Jsonc, "[".repeat(5000) + &"]".repeat(5000)),
            (FileFormat::Toml, format!("a = {}{}", "[".repeat(5000), "]".repeat(5000))),
            (FileFormat::Yaml, "[".repeat(5000) + &"]".repeat(5000)),
            (FileFormat::Yaml, "- ".repeat(5000)),
        ] {
            assert_eq!(format.parsed(deep.as_bytes()), Parsed::NotJudged, "{format:?}");
        }
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        assert_eq!(FileFormat::Json.parsed(deep.as_bytes()), Parsed::Whole);
    }

    /// The pieces of random texts: tokens of the formats.
    const PIECES: &[&str] = &[
        "a",
        "b: ",
        "- ",
        "\n",
        "  ",
        " ",
        "\t",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "? ",
        "&x ",
        "*x",
        "!t ",
        "!!",
        "!<",
        "%YAML 1.2\n",
        "%TAG ",
        "---",
        "...",
        "|",
        ">",
        "|+2\n",
        ">-\n",
        "\"",
        "'",
        "\\",
        "#",
        "# c\n",
        "=",
        "a = ",
        "[[",
        "]]",
        ".",
        "1",
        "-1",
        "0x",
        "1979-05-27",
        "T",
        "true",
        "inf",
        "\"\"\"",
        "'''",
        "//",
        "/*",
        "*/",
        "null",
        "é",
        "\r",
        "\r\n",
        "\u{feff}",
        "\u{85}",
        "\0",
        "<<",
        "~",
        "@",
        "`",
        "\u{10ffff}",
    ];

    /// A panic in a parser would end the program.
    #[test]
    fn no_text_makes_a_parser_panic() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..60_000 {
            let mut text = String::new();
            for _ in 0..random.usize(1..24) {
                text += PIECES[random.usize(..PIECES.len())];
            }
            for format in [FileFormat::Json, FileFormat::Jsonc, FileFormat::Toml, FileFormat::Yaml]
            {
                if let Parsed::Wrong(at, _) = format.parsed(text.as_bytes()) {
                    assert!(at <= text.len(), "{format:?} {text:?}");
                    let (line, column) = place(text.as_bytes(), at);
                    assert!(line >= 1);
                    assert!(column >= 1);
                }
            }
        }
    }
}
