//! An entry of a map in a YAML file. There is no parser here: what is not plainly a block map is
//! refused.

use serde_json::Value;

use super::text::newline;

/// The entry alone, in its map.
pub(super) fn block(keys: &[String], value: &Value) -> String {
    let [map, name] = keys else { unreachable!("BUG: an entry stands in a map") };
    format!("{map}:\n{}", entry(name, value, "  "))
}

fn entry(name: &str, value: &Value, indent: &str) -> String {
    let mut entry = format!("{indent}{name}:\n");
    // JSON is YAML.
    for (key, value) in value.as_object().into_iter().flatten() {
        entry.push_str(&format!("{indent}  {key}: {value}\n"));
    }
    entry
}

/// The text with the entry, in the place of an older one; the same text if it has just this one.
///
/// # Errors
///
/// When the map is not written as a block.
pub(super) fn with(text: &str, keys: &[String], value: &Value) -> Result<String, String> {
    let [map, name] = keys else { unreachable!("BUG: an entry stands in a map") };
    let refused = || format!("`{map}` in it is not a plain block");
    let eol = newline(text);
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let is_key = |line: &str, key: &str| {
        let rest = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        rest.is_some_and(|rest| {
            rest.trim().is_empty() || rest.starts_with([' ', '\t']) && rest.trim().starts_with('#')
        })
    };
    let names_map = |line: &&str| {
        let bare = line.trim_start_matches(['"', '\'', '?', ' ', '{']);
        !line.starts_with([' ', '#'])
            && bare.starts_with(map.as_str())
            && bare[map.len()..].trim_start_matches(['"', '\'', ' ']).starts_with(':')
    };
    let documents =
        lines.iter().skip(1).any(|line| line.starts_with("---") || line.starts_with("..."));
    if documents
        || text.contains('\t')
        || text.starts_with(['{', '[', '%'])
        || lines.iter().filter(|line| names_map(line)).count() > 1
    {
        return Err(refused());
    }
    let Some(at) = lines.iter().position(names_map) else {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { eol };
        return Ok([text, end, &block(keys, value).replace('\n', eol)].concat());
    };
    if !is_key(lines[at], map) {
        return Err(refused());
    }
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    // Up to the next key of the file.
    let end = lines[at + 1..]
        .iter()
        .position(|line| !is_blank(line) && depth(line) == 0)
        .map_or(lines.len(), |end| at + 1 + end);
    let inside = &lines[at + 1..end];
    let first = inside.iter().find(|line| !is_blank(line));
    let indent = first.map_or("  ", |line| &line[..depth(line)]);
    let listed = lines.get(end).is_some_and(|line| line.starts_with('-'));
    if listed
        || first.is_some_and(|line| line.trim_start().starts_with(['-', '{', '?', '&', '*', '!']))
    {
        return Err(refused());
    }
    let entry = entry(name, value, indent).replace('\n', eol);
    let ours: Vec<_> = inside
        .iter()
        .enumerate()
        .filter(|(_, line)| {
            depth(line) == indent.len()
                && line.trim_start().trim_start_matches(['"', '\'']).starts_with(name.as_str())
        })
        .filter(|(_, line)| {
            line.trim_start_matches(['"', '\'', ' '])[name.len()..]
                .trim_start_matches(['"', '\''])
                .starts_with(':')
        })
        .map(|(nth, _)| at + 1 + nth)
        .collect();
    let last_of = |from: usize, to: usize| {
        (from..to).rev().find(|&nth| !is_blank(lines[nth])).map_or(from, |nth| nth + 1)
    };
    let (from, to) = match ours[..] {
        [] => {
            let end = last_of(at + 1, end).max(at + 1);
            (end, end)
        }
        [from] if is_key(&lines[from][indent.len()..], name) => {
            let next = (from + 1..end)
                .find(|&nth| !is_blank(lines[nth]) && depth(lines[nth]) <= indent.len());
            (from, last_of(from, next.unwrap_or(end)))
        }
        _ => return Err(format!("it has `{map}.{name}` in a form that is not edited here")),
    };
    let before = lines[..from].concat();
    let end = if before.ends_with('\n') { "" } else { eol };
    Ok([&before, end, &entry, &lines[to..].concat()].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_other_byte_stays() {
        let keys = ["extensions".to_owned(), "us".to_owned()];
        let wanted = json!({ "args": ["a"], "cmd": "/p" });
        for (before, after) in [
            ("", "extensions:\n  us:\n    args: [\"a\"]\n    cmd: \"/p\"\n"),
            ("a: 1", "a: 1\nextensions:\n  us:\n    args: [\"a\"]\n    cmd: \"/p\"\n"),
            (
                "extensions: # all\n    dev:\n        x: 1\n    # last\n\n# next\nb: 2\n",
                "extensions: # all\n    dev:\n        x: 1\n    us:\n      args: [\"a\"]\n\
                 \x20     cmd: \"/p\"\n    # last\n\n# next\nb: 2\n",
            ),
            (
                "extensions:\n  us:\n    old: |\n      us:\n\n  # of dev\n  dev:\n    x: 1\nb: 2\n",
                "extensions:\n  us:\n    args: [\"a\"]\n    cmd: \"/p\"\n\n  # of dev\n  dev:\n\
                 \x20   x: 1\nb: 2\n",
            ),
            (
                "extensions:\r\nb: 2\r\n",
                "extensions:\r\n  us:\r\n    args: [\"a\"]\r\n    cmd: \"/p\"\r\nb: 2\r\n",
            ),
        ] {
            assert_eq!(with(before, &keys, &wanted).as_deref(), Ok(after), "{before}");
            assert_eq!(
                with(after, &keys, &wanted).as_deref(),
                Ok(after),
                "the second time changes nothing"
            );
        }
        for text in [
            "extensions: {}\n",
            "extensions:\n- a\n- b\nx: 1\n",
            "extensions:\n  - a\n",
            "extensions: &x\n  a: 1\n",
            "\"extensions\":\n  a: 1\n",
            "{extensions: {}}\n",
            "a: 1\n---\nextensions:\n",
            "extensions:\n\ta: 1\n",
            "extensions:\n  us: {cmd: x}\n",
            "extensions:\n  \"us\":\n    cmd: x\n",
        ] {
            assert!(
                with(text, &keys, &wanted).is_err(),
                "{text}: {:?}",
                with(text, &keys, &wanted)
            );
        }
    }
}
