//! JSON with comments and with commas at the end of lists, edited as text.

use std::ops::Range;

use serde_json::Value;

use super::text::{newline, put};
use crate::clients::Setting;

/// How deep values may be nested.
const MAX_DEPTH: usize = 100;

/// A value, and where it stands.
struct Node {
    span: Range<usize>,
    kind: Kind,
}

enum Kind {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Plain(Value),
}

impl Node {
    fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                Value::Object(members.iter().map(|(key, node)| (key.clone(), node.value())).collect())
            }
            Kind::Array(items) => items.iter().map(Self::value).collect(),
            Kind::Plain(value) => value.clone(),
        }
    }

    /// Where what stands in it ends, if something does.
    fn last(&self) -> Option<usize> {
        match &self.kind {
            Kind::Object(members) => members.last().map(|(_, node)| node.span.end),
            Kind::Array(items) => items.last().map(|node| node.span.end),
            Kind::Plain(_) => None,
        }
    }
}

/// The text with the setting; the same text if it has it.
///
/// # Errors
///
/// When the text is not JSON, or has something else where the setting belongs.
pub(super) fn with(text: &str, setting: &Setting) -> Result<String, String> {
    let empty = text.trim().is_empty();
    let text = if empty { "{\n}\n" } else { text };
    let root = parse(text)?;
    let before = root.value();
    let mut wanted = before.clone();
    put(&mut wanted, setting);
    if wanted == before && !empty {
        return Ok(text.to_owned());
    }
    let (Setting::Is(keys, _) | Setting::Has(keys, _)) = setting;
    let mut node = &root;
    for (nth, key) in keys.iter().enumerate() {
        let Kind::Object(members) = &node.kind else {
            return Err(format!("`{}` in it is not an object", keys[..nth].join(".")));
        };
        let mut named = members.iter().filter(|member| member.0 == *key);
        let Some((_, next)) = named.next() else {
            // All that is missing, as one member.
            let value = keys[..=nth].iter().fold(&wanted, |value, key| &value[key.as_str()]);
            return checked(insert(text, &root, node, Some(key), value), &wanted);
        };
        if named.next().is_some() {
            return Err(format!("it has `{}` twice", keys[..=nth].join(".")));
        }
        node = next;
    }
    match (setting, &node.kind) {
        (Setting::Is(_, value), _) => {
            let indent = indent_at(text, node.span.start);
            let pretty = pretty(value, &unit(text, &root), indent, newline(text));
            let new = [&text[..node.span.start], &pretty, &text[node.span.end..]].concat();
            checked(new, &wanted)
        }
        (Setting::Has(_, texts), Kind::Array(_)) => {
            let mut new = text.to_owned();
            for item in texts.iter().map(|text| Value::String(text.clone())) {
                let root = parse(&new)?;
                let node = find(&root, keys).ok_or("its structure is not as expected")?;
                let Kind::Array(items) = &node.kind else { return Err("its structure is not as expected".into()) };
                if !items.iter().any(|one| one.value() == item) {
                    new = insert(&new, &root, node, None, &item);
                }
            }
            checked(new, &wanted)
        }
        (Setting::Has(..), _) => Err(format!("`{}` in it is not a list", keys.join("."))),
    }
}

fn find<'n>(root: &'n Node, keys: &[String]) -> Option<&'n Node> {
    keys.iter().try_fold(root, |node, key| match &node.kind {
        Kind::Object(members) => members.iter().find(|member| member.0 == *key).map(|(_, node)| node),
        _ => None,
    })
}

/// Edited text is only taken if it means what it should.
fn checked(new: String, wanted: &Value) -> Result<String, String> {
    match parse(&new) {
        Ok(node) if node.value() == *wanted => Ok(new),
        _ => Err("its structure is not as expected".into()),
    }
}

/// Puts a member (with a key) or an item behind the others of a container.
fn insert(text: &str, root: &Node, container: &Node, key: Option<&str>, value: &Value) -> String {
    let eol = newline(text);
    let close = container.span.end - 1;
    let inside = &text[container.span.start + 1..close];
    // Comments in front of the closing bracket stay in front of what is added.
    let at = container.span.start + 1 + inside.trim_end().len();
    let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    let last = container.last();
    let comma_missing = last.is_some_and(|end| !has_comma(&text[end..close]));
    let mut new = String::with_capacity(text.len() + 200);
    match last.filter(|_| comma_missing) {
        Some(end) => new.extend([&text[..end], ",", &text[end..at]]),
        None => new.push_str(&text[..at]),
    }
    if inside.contains('\n') || last.is_none() {
        let outer = indent_at(text, close).to_owned();
        let outer = if inside.contains('\n') { outer } else { indent_at(text, container.span.start).to_owned() };
        let unit = unit(text, root);
        let inner = format!("{outer}{unit}");
        new.extend([eol, &inner, &key, &pretty(value, &unit, &inner, eol)]);
        if inside[at - container.span.start - 1..].contains('\n') {
            new.push_str(&text[at..]);
        } else {
            new.extend([eol, &outer, &text[close..]]);
        }
    } else {
        new.extend([" ", &key, &value.to_string(), &text[at..]]);
    }
    new
}

/// The blanks that the line of an offset begins with.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: that of the first member on a line of its own.
fn unit(text: &str, root: &Node) -> String {
    let inside = &text[root.span.start + 1..root.span.end - 1];
    let first = inside.lines().skip(1).find(|line| !line.trim().is_empty());
    let blanks = first.map_or("", |line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    if blanks.is_empty() { "  ".into() } else { blanks.to_owned() }
}

/// A value on several lines, all but the first of them indented.
fn pretty(value: &Value, unit: &str, indent: &str, eol: &str) -> String {
    let text = format!("{value:#}");
    let mut lines = text.lines().map(|line| {
        let body = line.trim_start_matches(' ');
        format!("{}{body}", unit.repeat((line.len() - body.len()) / 2))
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |whole, line| format!("{whole}{eol}{indent}{line}"))
}

/// Whether a comma stands between a value and the end of its container.
fn has_comma(rest: &str) -> bool {
    let mut parser = Parser { text: rest, at: 0 };
    parser.blank().is_ok() && parser.peek() == Some(b',')
}

fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { text, at: 0 };
    parser.blank()?;
    let node = parser.value(0)?;
    parser.blank()?;
    if parser.at < text.len() {
        return parser.wrong();
    }
    match node.kind {
        Kind::Object(_) => Ok(node),
        _ => Err("it is not a JSON object".into()),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong<T>(&self) -> Result<T, String> {
        let line = self.text[..self.at].matches('\n').count() + 1;
        Err(format!("it is not JSON, from line {line} on"))
    }

    /// Blanks and comments.
    fn blank(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => return self.wrong(),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return self.wrong();
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => {
                let mut members = Vec::new();
                self.list(b'}', |parser| {
                    let Value::String(key) = parser.plain()? else { return parser.wrong() };
                    parser.blank()?;
                    if parser.peek() != Some(b':') {
                        return parser.wrong();
                    }
                    parser.at += 1;
                    parser.blank()?;
                    members.push((key, parser.value(depth + 1)?));
                    Ok(())
                })?;
                Kind::Object(members)
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.list(b']', |parser| {
                    items.push(parser.value(depth + 1)?);
                    Ok(())
                })?;
                Kind::Array(items)
            }
            _ => Kind::Plain(self.plain()?),
        };
        Ok(Node { span: start..self.at, kind })
    }

    /// What stands between brackets, with commas between.
    fn list(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.at += 1;
        self.blank()?;
        while self.peek() != Some(close) {
            one(self)?;
            self.blank()?;
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.blank()?;
                }
                Some(next) if next == close => {}
                _ => return self.wrong(),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// A text, a number, `true`, `false` or `null`.
    fn plain(&mut self) -> Result<Value, String> {
        let rest = &self.text[self.at..];
        let end = match rest.strip_prefix('"') {
            Some(text) => {
                let mut escaped = false;
                let end = text.bytes().position(|byte| {
                    let end = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    end
                });
                end.map(|end| end + 2)
            }
            None => rest.find(|next: char| ",:]}/".contains(next) || next.is_whitespace()).or(Some(rest.len())),
        };
        match end.and_then(|end| Some((serde_json::from_str(&rest[..end]).ok()?, end))) {
            Some((value, end)) => {
                self.at += end;
                Ok(value)
            }
            None => self.wrong(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is(keys: &[&str], value: Value) -> Setting {
        Setting::Is(keys.iter().map(|&key| key.to_owned()).collect(), value)
    }

    fn has(keys: &[&str], texts: &[&str]) -> Setting {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Setting::Has(owned(keys), owned(texts))
    }

    #[test]
    fn every_other_byte_stays() {
        let one = is(&["m", "us"], json!({ "a": 1 }));
        let list = has(&["p", "l"], &["x", "y"]);
        for (before, setting, after) in [
            ("", &one, "{\n  \"m\": {\n    \"us\": {\n      \"a\": 1\n    }\n  }\n}\n"),
            ("{}", &one, "{\n  \"m\": {\n    \"us\": {\n      \"a\": 1\n    }\n  }\n}"),
            (
                "{\r\n\t\"k\": 1, // one\r\n\t// two\r\n}\r\n",
                &one,
                "{\r\n\t\"k\": 1, // one\r\n\t// two\r\n\t\"m\": {\r\n\t\t\"us\": {\r\n\t\t\t\"a\": 1\r\n\t\t}\r\n\t}\r\n}\r\n",
            ),
            (
                "{\n    \"m\": {\n        \"z\": [1,  2 ,] // last\n    }\n}",
                &one,
                "{\n    \"m\": {\n        \"z\": [1,  2 ,], // last\n        \"us\": {\n            \"a\": 1\n        }\n    }\n}",
            ),
            ("{\"m\": {\"z\": 1}}", &one, "{\"m\": {\"z\": 1, \"us\": {\"a\":1}}}"),
            (
                "{\"m\": {\"us\": /* old */ 2, \"z\": 1}}",
                &one,
                "{\"m\": {\"us\": /* old */ {\n  \"a\": 1\n}, \"z\": 1}}",
            ),
            ("{ \"m\":{\"us\":{\"a\" : 1.0e0}}}", &one, "{ \"m\":{\"us\":{\n  \"a\": 1\n}}}"),
            ("{\"p\": {\"l\": []}}", &list, "{\"p\": {\"l\": [\n  \"x\",\n  \"y\"\n]}}"),
            ("{\"p\": {\"l\": [\"y\", \"z\"]}}", &list, "{\"p\": {\"l\": [\"y\", \"z\", \"x\"]}}"),
            (
                "{\n  \"p\": {\n    \"l\": [\n      \"z\", // z\n    ]\n  }\n}\n",
                &list,
                "{\n  \"p\": {\n    \"l\": [\n      \"z\", // z\n      \"x\",\n      \"y\"\n    ]\n  }\n}\n",
            ),
        ] {
            let found = with(before, setting).unwrap_or_else(|error| panic!("{before}: {error}"));
            assert_eq!(found, after, "{before}");
            assert_eq!(with(&found, setting).as_ref(), Ok(&found), "the second time changes nothing");
        }
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let one = is(&["m", "us"], json!({ "a": 1 }));
        for (text, why) in [
            ("[]", "it is not a JSON object"),
            ("{\"m\": []}", "`m` in it is not an object"),
            ("{\"m\": {}, \"m\": {}}", "it has `m` twice"),
            ("{\n\"m\": {\n", "it is not JSON, from line 3 on"),
            ("{\"k\": nope}", "it is not JSON, from line 1 on"),
            ("{} {}", "it is not JSON, from line 1 on"),
            ("{\"k\": /* 1}", "it is not JSON, from line 1 on"),
            (&format!("{}{}", "{\"a\":".repeat(2000), "}".repeat(2000)), "it is not JSON, from line 1 on"),
        ] {
            assert_eq!(with(text, &one), Err(why.to_owned()), "{text}");
        }
        assert_eq!(with("{\"p\": 1}", &has(&["p"], &["x"])), Err("`p` in it is not a list".into()));
    }
}
