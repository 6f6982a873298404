//! Test binaries with a module for each file.

use std::path::Path;

/// Returns the names beside a Rust file that are not among its modules: tests that never run.
///
/// # Panics
///
/// If the file or its folder cannot be read.
#[must_use]
pub fn forgotten(list: impl AsRef<Path>) -> Vec<String> {
    let list = list.as_ref();
    let source = std::fs::read_to_string(list).expect("the list of modules");
    let folder = list.parent().expect("it is in a folder");
    let entries = std::fs::read_dir(folder).expect("the folder of the tests");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().expect("a plain name")).collect();
    names.retain(|name| {
        let module = name.strip_suffix(".rs").unwrap_or(name);
        list.file_name().is_none_or(|list| list != name.as_str())
            && !source.contains(&format!("mod {module};"))
    });
    names
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_no_line_names_is_forgotten() {
        let dir = tempfile::tempdir().expect("a directory");
        let list = dir.path().join("main.rs");
        fs::write(&list, "mod known;\nmod folder;\n").expect("a file");
        fs::write(dir.path().join("known.rs"), "").expect("a file");
        fs::create_dir(dir.path().join("folder")).expect("a folder");
        assert_eq!(forgotten(&list), [""; 0]);
        fs::write(dir.path().join("new.rs"), "").expect("a file");
        assert_eq!(forgotten(&list), ["new.rs"]);
    }
}
