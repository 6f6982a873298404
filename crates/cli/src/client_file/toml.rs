//! A table in a TOML file.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::text::{newline, put};
use crate::clients::Setting;

/// The table alone.
pub(super) fn block(keys: &[String], value: &Value) -> String {
    let mut block = format!("[{}]\n", keys.join("."));
    // A text in JSON is one in TOML, and so is a list of them.
    for (key, value) in value.as_object().into_iter().flatten() {
        block.push_str(&format!("{key} = {value}\n"));
    }
    block
}

/// The text with the table, in the place of an older one; the same text if it has the table.
///
/// # Errors
///
/// When the text is not TOML, or has the table in another form.
pub(super) fn with(text: &str, keys: &[String], value: &Value) -> Result<String, String> {
    let before = parse(text)?;
    let there = keys.iter().try_fold(&before, |value, key| value.get(key));
    if there == Some(value) {
        return Ok(text.to_owned());
    }
    let eol = newline(text);
    let block = block(keys, value).replace('\n', eol);
    let mut new = text.to_owned();
    let tables = tables(text, keys);
    for range in tables.iter().skip(1).rev() {
        new.replace_range(range.clone(), "");
    }
    match tables.first() {
        Some(range) => new.replace_range(range.clone(), &block),
        None if text.is_empty() => new = block,
        None => {
            let end = if text.ends_with('\n') { "" } else { eol };
            new.extend([end, eol, &block]);
        }
    }
    let mut wanted = before;
    put(&mut wanted, &Setting { keys: keys.to_vec(), value: value.clone() });
    match parse(&new) {
        Ok(after) if after == wanted => Ok(new),
        _ => Err(format!("it has `{}` in a form that is not edited here", keys.join("."))),
    }
}

/// Where the table and those in it stand: from a header to the last line that is neither empty nor
/// a comment.
fn tables(text: &str, keys: &[String]) -> Vec<Range<usize>> {
    let wanted = keys.join(".");
    let (mut found, mut open, mut at) = (Vec::<Range<usize>>::new(), false, 0);
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        if body.starts_with('[') {
            let name: String = body.chars().filter(|next| !"[]\"' \t".contains(*next)).collect();
            let name = name.split('#').next().unwrap_or_default();
            open = name == wanted
                || name.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('.'));
            if open {
                found.push(at..at);
            }
        }
        at += line.len();
        if open && !body.is_empty() && !body.starts_with('#') {
            found.last_mut().expect("one is open").end = at;
        }
    }
    found
}

fn parse(text: &str) -> Result<Value, String> {
    let wrong = |error: toml::de::Error| {
        let line = text[..error.span().map_or(0, |span| span.start)].matches('\n').count() + 1;
        format!("it is not TOML, at line {line}")
    };
    Ok(table(DeTable::parse(text).map_err(wrong)?.get_ref()))
}

fn table(table: &DeTable<'_>) -> Value {
    Value::Object(
        table.iter().map(|(key, one)| (key.get_ref().to_string(), value(one.get_ref()))).collect(),
    )
}

/// The value to compare; numbers and dates by their text.
fn value(from: &DeValue<'_>) -> Value {
    match from {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(is) => Value::Bool(*is),
        DeValue::Array(items) => items.iter().map(|item| value(item.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
        DeValue::Integer(number) => serde_json::json!({ "number": number.as_str() }),
        DeValue::Float(number) => serde_json::json!({ "number": number.as_str() }),
        DeValue::Datetime(date) => serde_json::json!({ "date": date.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_other_byte_stays() {
        let keys = ["s".to_owned(), "us-x".to_owned()];
        let wanted = json!({ "args": ["a", "b"], "command": "/p \"q\"" });
        let block = "[s.us-x]\nargs = [\"a\",\"b\"]\ncommand = \"/p \\\"q\\\"\"\n";
        for (before, after) in [
            ("", block.to_owned()),
            ("k = 1", format!("k = 1\n\n{block}")),
            (
                "# c\nk = 1_000 # d\n\n[s.other]\nx = 2026-01-01\n",
                format!("# c\nk = 1_000 # d\n\n[s.other]\nx = 2026-01-01\n\n{block}"),
            ),
            (
                "k = 1\n[ s.\"us-x\" ] # old\ncommand = '''\nold'''\n\n# of the next\n[z]\n\
                 [s.us-x.tools.t]\nm = 1\n[y]\n",
                format!("k = 1\n{block}\n# of the next\n[z]\n[y]\n"),
            ),
            ("k = 1\r\n", format!("k = 1\r\n\r\n{}", block.replace('\n', "\r\n"))),
        ] {
            let found = with(before, &keys, &wanted);
            assert_eq!(found, Ok(after.clone()), "{before}");
            assert_eq!(with(&after, &keys, &wanted), Ok(after), "the second time changes nothing");
        }
        let same = "[s]\nus-x = { command = '/p \"q\"', args = ['a', 'b'] }\n";
        assert_eq!(with(same, &keys, &wanted), Ok(same.into()), "it is there in another form");
        for (text, why) in [
            ("[s", "it is not TOML, at line 1"),
            (
                "[s]\nus-x = { command = 'old' }\n",
                "it has `s.us-x` in a form that is not edited here",
            ),
            ("s = {}\n", "it has `s.us-x` in a form that is not edited here"),
            ("[[s]]\n", "it has `s.us-x` in a form that is not edited here"),
            ("[s.us-x]\na = [\n[1]\n]\n", "it has `s.us-x` in a form that is not edited here"),
        ] {
            assert_eq!(with(text, &keys, &wanted), Err(why.into()), "{text}");
        }
    }
}
