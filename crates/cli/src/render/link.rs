//! Links to files in a terminal that has them (OSC 8).

use std::path::{Path, absolute};

use apply_patch_api::file_uri;

use crate::outside;

/// Programs with links, by their names in `TERM_PROGRAM`.
const PROGRAMS: [&str; 7] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"];

/// Variables set by terminals with links.
const MARKS: [&str; 3] = ["WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID"];

/// The first VTE that shows links.
const VTE: u32 = 5000;

/// Whether standard output is a terminal with links. Without colours there are no links.
pub(super) fn are_shown() -> bool {
    let plain = anstream::AutoStream::choice(&std::io::stdout()) == anstream::ColorChoice::Never;
    *outside::STDOUT_IS_TERMINAL && !plain && has_links(&|name| std::env::var(name).ok())
}

/// Whether the terminal of these variables has links.
fn has_links(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    if let Some(force) = set(variable, "FORCE_HYPERLINK") {
        return force != "0";
    }
    if set(variable, "TERM").is_some_and(|term| term == "dumb") {
        return false;
    }
    MARKS.iter().any(|name| set(variable, name).is_some())
        || set(variable, "TERM_PROGRAM").is_some_and(|program| PROGRAMS.contains(&&*program))
        || set(variable, "VTE_VERSION")
            .and_then(|version| version.parse().ok())
            .is_some_and(|version: u32| version >= VTE)
}

fn set(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.is_empty())
}

/// A text safe for a terminal, as a link to a file.
pub(super) fn link(text: &str, file: &Path) -> String {
    match absolute(file).ok().as_deref().and_then(file_uri) {
        Some(uri) => format!("\u{1b}]8;;{uri}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_says_by_its_variables_whether_it_has_links() {
        for (variables, wanted) in [
            (&[][..], false),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM_PROGRAM", "WezTerm")], true),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
            (&[("VTE_VERSION", "7600")], true),
            (&[("VTE_VERSION", "4800")], false),
            (&[("VTE_VERSION", "new")], false),
            (&[("KITTY_WINDOW_ID", "1")], true),
            (&[("WT_SESSION", "")], false),
            (&[("KONSOLE_VERSION", "220400"), ("TERM", "dumb")], false),
            (&[("FORCE_HYPERLINK", "1"), ("TERM", "dumb")], true),
            (&[("FORCE_HYPERLINK", "0"), ("VTE_VERSION", "7600")], false),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(has_links(&variable), wanted, "{variables:?}");
        }
    }
}
