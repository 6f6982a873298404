//! The manual pages: one a command, from the definitions of the help.

use std::collections::BTreeSet;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::exit::Exit;
use crate::settings;

/// Variables without a setting of ours.
const VARIABLES: [(&str, &str); 4] = [
    ("NO_COLOR", "If it is set, output has no colours."),
    ("PAGER", "The program that shows diffs and the log page by page."),
    ("XDG_CONFIG_HOME", "Where the user's settings are, instead of ~/.config."),
    ("XDG_STATE_HOME", "Where the user's state is, instead of ~/.local/state."),
];

const FILES: [(&str, &str); 4] = [
    (
        ".apply-patch/",
        "The history of a project, at the top of its work tree: what was applied, and the files \
         that it displaced.",
    ),
    (".apply-patch.toml", "The settings of a workspace. They can only be stricter than others."),
    ("~/.config/apply-patch/config.toml", "The user's settings."),
    (
        "~/.local/state/apply-patch/",
        "The user's keys, and the histories of projects with the setting state = \"user\".",
    ),
];

/// The pages of a program and of its commands, each with the name of its file.
pub(crate) fn pages(mut program: Command) -> Vec<(String, String)> {
    program.build();
    let names = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let mut pages = Vec::new();
    add(&mut pages, &usual(program), None, &names);
    pages
}

/// The definitions with the usage of the help, and without a list of all options.
fn usual(command: Command) -> Command {
    let usage = command.clone().render_usage().to_string();
    command
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
        .subcommand_help_heading("COMMANDS")
        .disable_help_subcommand(true)
        .mut_subcommands(usual)
}

fn add(
    pages: &mut Vec<(String, String)>,
    command: &Command,
    parent: Option<&str>,
    names: &BTreeSet<String>,
) {
    let source = concat!("apply-patch ", env!("CARGO_PKG_VERSION"));
    // Without a date, which would be the only thing that two builds differ in.
    let man = Man::new(command.clone()).date("\"\"").source(source).manual("User Commands");
    let file = man.get_filename();
    let page = page(&man, command, parent, names);
    let name = file.trim_end_matches(".1").to_owned();
    pages.push((file, page));
    for command in command.get_subcommands() {
        add(pages, command, Some(&name), names);
    }
}

/// The text after the options in the help of a command.
#[derive(Debug, Default)]
struct AfterHelp {
    paragraphs: Vec<String>,
    examples: Vec<String>,
    /// The meaning of its exit codes, where they have another one than elsewhere.
    exits: Option<String>,
}

impl AfterHelp {
    fn of(command: &Command) -> Self {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let mut after = Self::default();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
                after.examples.extend(examples.lines().map(|line| line.trim_start().to_owned()));
            } else if let Some(exits) = paragraph.strip_prefix("Exit codes: ") {
                after.exits = Some(exits.to_owned());
            } else {
                after.paragraphs.push(paragraph.to_owned());
            }
        }
        after
    }
}

fn written(man: &Man, write: fn(&Man, &mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(man, &mut bytes).expect("memory takes what is written");
    String::from_utf8(bytes).expect("the definitions are UTF-8")
}

/// A part of a page without the definitions already in the title.
fn without_start(part: &str, start: usize) -> &str {
    part.get(start..).unwrap_or_default()
}

fn page(man: &Man, command: &Command, parent: Option<&str>, names: &BTreeSet<String>) -> String {
    // Without a command, `apply` is meant.
    let after = AfterHelp::of(match parent {
        None => command.find_subcommand("apply").unwrap_or(command),
        Some(_) => command,
    });
    let mut more = Roff::new();
    for paragraph in &after.paragraphs {
        more.control("PP", []).text([roman(paragraph)]);
    }
    let mut parts = vec![
        written(man, |man, out| man.render_name_section(out)),
        written(man, |man, out| man.render_synopsis_section(out)),
        written(man, |man, out| man.render_description_section(out)),
        more.render(),
        sections_within(&written(man, |man, out| man.render_options_section(out))),
    ];
    if command.has_subcommands() {
        parts.push(written(man, |man, out| man.render_subcommands_section(out)));
    }
    parts.push(rest(command, &after, parent, names).render());
    let mut page = written(man, |man, out| man.render_title(out));
    // Each part begins with the same definitions.
    let start = page.find(".TH").unwrap_or_default();
    page.extend(parts.iter().map(|part| without_start(part, start)));
    escaped(&page)
}

/// The text in ASCII, with the signs of the shell safe from typesetting.
fn escaped(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for sign in page.chars() {
        match sign {
            '~' => out += "\\(ti",
            '^' => out += "\\(ha",
            '`' => out += "\\(ga",
            _ if sign.is_ascii() => out.push(sign),
            _ => out += &format!("\\[u{:04X}]", u32::from(sign)),
        }
    }
    out
}

/// The sections after the options.
fn rest(
    command: &Command,
    after: &AfterHelp,
    parent: Option<&str>,
    names: &BTreeSet<String>,
) -> Roff {
    let mut roff = Roff::new();
    if !after.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in &after.examples {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.control("SH", ["EXIT STATUS"]);
    if let Some(exits) = &after.exits {
        roff.text([roman(exits)]);
    } else {
        let exits = Exit::ALL.iter().filter(|(exit, _)| match exit {
            Exit::NotApplyPatch => parent.is_none(),
            Exit::Unverified => parent.is_none() || has(command, "verify-timeout"),
            _ => true,
        });
        items(&mut roff, exits.map(|(exit, meaning)| ((*exit as u8).to_string(), *meaning)));
    }
    if has(command, "root") {
        roff.control("SH", ["ENVIRONMENT"]);
        let heeded =
            settings::described().filter(|(key, ..)| parent.is_none() || has(command, key));
        items(&mut roff, heeded.map(|(_, variable, what)| (variable, what)));
        items(&mut roff, VARIABLES.map(|(name, what)| (name.to_owned(), what)));
        roff.control("SH", ["FILES"]);
        items(&mut roff, FILES.map(|(name, what)| (name.to_owned(), what)));
    }
    roff.control("SH", ["SEE ALSO"]);
    let pages = related(command, parent, names);
    let mut line = Vec::new();
    for (nth, page) in pages.iter().enumerate() {
        line.push(bold(page));
        line.push(roman(if nth + 1 < pages.len() { "(1), " } else { "(1)" }));
    }
    roff.text(line);
    roff
}

/// Whether the help of a command has an option.
fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(name) && !arg.is_hide_set())
}

fn items<'a>(roff: &mut Roff, items: impl IntoIterator<Item = (String, &'a str)>) {
    for (name, what) in items {
        roff.control("TP", []).text([bold(name)]).text([roman(what.trim())]);
    }
}

/// The pages that a page refers to: the program or the command above, and the commands in the help.
fn related(command: &Command, parent: Option<&str>, names: &BTreeSet<String>) -> Vec<String> {
    let Some(parent) = parent else {
        return ["diff", "git-apply", "patch"].map(ToOwned::to_owned).to_vec();
    };
    let help = command.get_arguments().filter_map(Arg::get_help).chain(command.get_after_help());
    let help = help.map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let words = help.split("apply-patch ").skip(1).filter_map(|rest| {
        rest.split(|sign: char| !sign.is_ascii_lowercase() && sign != '-').next()
    });
    let named: BTreeSet<_> = words
        .filter(|word| names.contains(*word) && *word != command.get_name())
        .map(|word| format!("apply-patch-{word}"))
        .filter(|name| name != parent)
        .collect();
    [parent.to_owned()].into_iter().chain(named).collect()
}

/// The sections of options as parts of one.
fn sections_within(options: &str) -> String {
    let mut out = String::new();
    for line in options.lines() {
        match line.strip_prefix(".SH ") {
            Some("OPTIONS") | None => out += line,
            Some(heading) => {
                let heading = heading.trim_matches('"');
                let (first, rest) = heading.split_at(1);
                out += &format!(".SS \"{first}{}\"", rest.to_lowercase());
            }
        }
        out.push('\n');
    }
    out
}
