//! The instructions for the model, and the examples in them.

use patch_grammar::{Dialect, recognizes};

patch_grammar::named! {
    /// How the patch travels from the model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Channel {
        /// It is the whole input of a tool call, not wrapped in JSON.
        Tool = "tool",
        /// It is a string among the arguments of a tool call.
        Argument = "argument",
        /// It is the whole message; there is no tool.
        Message = "message",
    }
}

/// A file of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its path in the workspace.
    pub path: &'static str,
    /// Its whole content.
    pub content: &'static str,
}

/// One example of the instructions, with the files before and after for a test.
///
/// Every example gives the same files under every profile.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The lesson of the example, as a heading.
    pub title: &'static str,
    /// Whether the patch is a sentence of the codex subset, too.
    pub codex: bool,
    /// The workspace before the patch.
    pub before: &'static [File],
    /// The patch.
    pub patch: &'static str,
    /// The workspace after the patch; a file that is missing here is gone.
    pub after: &'static [File],
}

const fn file(path: &'static str, content: &'static str) -> File {
    File { path, content }
}

/// The examples of the instructions.
pub const EXAMPLES: &[Example] = &[
    Example {
        title: "Change one function",
        codex: true,
        before: &[file(
            "greet.py",
            "def greet(name):\n    print(\"Hi\")\n    return name\n\n\ndef leave(name):\n\
             \x20   print(\"Bye\")\n    return name\n",
        )],
        patch: "*** Begin Patch\n\
                *** Update File: greet.py\n\
                @@ def leave(name):\n\
                -    print(\"Bye\")\n\
                +    print(f\"Bye, {name}\")\n     return name\n\
                *** End Patch\n",
        after: &[file(
            "greet.py",
            "def greet(name):\n    print(\"Hi\")\n    return name\n\n\ndef leave(name):\n\
             \x20   print(f\"Bye, {name}\")\n    return name\n",
        )],
    },
    Example {
        title: "Several files in one patch",
        codex: true,
        before: &[
            file(
                "app.js",
                "import { old } from \"./old.js\";\n\nconst port = 80;\n\nold();\nlisten(port);\n",
            ),
            file("old.js", "export function old() {}\n"),
        ],
        patch: "*** Begin Patch\n\
                *** Update File: app.js\n\
                @@\n\
                -import { old } from \"./old.js\";\n\
                +import { fresh } from \"./fresh.js\";\n \n const port = 80;\n\
                @@\n \n\
                -old();\n\
                +fresh();\n listen(port);\n\
                *** Add File: fresh.js\n\
                +export function fresh() {\n\
                +  return 1;\n\
                +}\n\
                *** Delete File: old.js\n\
                *** End Patch\n",
        after: &[
            file(
                "app.js",
                "import { fresh } from \"./fresh.js\";\n\nconst port = 80;\n\nfresh();\n\
                 listen(port);\n",
            ),
            file("fresh.js", "export function fresh() {\n  return 1;\n}\n"),
        ],
    },
    Example {
        title: "Move a file and change it on the way",
        codex: true,
        before: &[file("src/util.rs", "pub fn twice(n: u32) -> u32 {\n    n + n\n}\n")],
        patch: "*** Begin Patch\n\
                *** Update File: src/util.rs\n\
                *** Move to: src/math.rs\n\
                @@ pub fn twice(n: u32) -> u32 {\n\
                -    n + n\n\
                +    n * 2\n }\n\
                *** End Patch\n",
        after: &[file("src/math.rs", "pub fn twice(n: u32) -> u32 {\n    n * 2\n}\n")],
    },
    Example {
        title: "Add a line at the end of a file",
        codex: true,
        before: &[file("CHANGES", "1.0 first\n1.1 faster\n")],
        patch: "*** Begin Patch\n\
                *** Update File: CHANGES\n\
                @@\n 1.1 faster\n\
                +1.2 smaller\n\
                *** End of File\n\
                *** End Patch\n",
        after: &[file("CHANGES", "1.0 first\n1.1 faster\n1.2 smaller\n")],
    },
    Example {
        title: "Rename a file, and add one whose last line has no line feed",
        codex: false,
        before: &[file("draft.txt", "text\n")],
        patch: "*** Begin Patch\n\
                *** Move File: draft.txt -> final.txt\n\
                *** Add File: VERSION\n\
                +1.0\n\
                \\ No newline at end of file\n\
                *** End Patch\n",
        after: &[file("final.txt", "text\n"), file("VERSION", "1.0")],
    },
];

/// The instructions for a model that is to write patches of `dialect`.
///
/// They are Markdown, end with a line feed, and hold under every profile of the engine.
#[must_use]
pub fn prompt(dialect: Dialect, channel: Channel) -> String {
    let whole = dialect != Dialect::Codex;
    let mut out = String::from("# Changing files with a patch\n\n");
    out += match channel {
        Channel::Tool => {
            "Change files by calling the tool `apply_patch`. Its whole input is one patch: plain \
             text, no JSON, no quotes.\n"
        }
        Channel::Argument => {
            "Change files by calling the tool `apply_patch`. Its argument is a string that holds \
             one patch.\n"
        }
        Channel::Message => {
            "Answer with one patch and nothing else: no explanation before or after it.\n"
        }
    };
    out += "Do not put the patch into a code fence or a heredoc, and do not add line numbers.\n\n\
            ## Form\n\n```\n";
    out += "*** Begin Patch\n\
            [one section for each file]\n\
            *** End Patch\n\
            ```\n\n\
            A section begins with one of these lines:\n\n";
    out += if whole {
        "- `*** Add File: path`: a new file. All of its lines follow, each with `+` in front; \
         without lines the file is empty.\n"
    } else {
        "- `*** Add File: path`: a new file. All of its lines follow, each with `+` in front; \
         there is at least one.\n"
    };
    out += "- `*** Delete File: path`: the file goes. Nothing follows.\n\
            - `*** Update File: path`: the file changes. Hunks follow.\n";
    if dialect == Dialect::Whole {
        out += "- `*** Move File: old -> new`: the file moves. Hunks may follow. When a path has \
                blanks or a `>`, write `*** Update File: old` and `*** Move to: new` below it \
                instead.\n";
    }
    out += "\nThe line `*** Move to: new/path` directly below `*** Update File:` moves the file";
    out += if whole { "; then hunks may be missing.\n\n" } else { " as well.\n\n" };
    out += "A hunk is a line `@@` and the lines below it, each with one character in front: a \
            blank for a line that stays, `-` for one that goes, `+` for one that comes. An empty \
            line that stays is a line with that one blank.\n\n\
            ## Rules\n\n\
            - Read a file before you change it. Copy the lines that stay or go exactly as they are \
            in the file, with their indentation.\n\
            - Together these lines must occur in one place of the file only. Three lines above and \
            three below a change are a good measure; take more where lines repeat.\n";
    out += if whole {
        "- After `@@ ` may stand the line that opens the function or class around the hunk, copied \
         exactly. Several such `@@` lines name nested ones, the outermost first. It helps the \
         reader and may narrow the search; do not rely on it to tell two equal places apart.\n"
    } else {
        "- After `@@ ` may stand the line that opens the function or class around the hunk, copied \
         exactly: the hunk is then looked for below that line. Use one such line for each hunk.\n"
    };
    out += "- Write the hunks of a file in the order of the file, and let no two of them share \
            lines.\n\
            - A hunk needs at least one line that stays or goes, except in an empty file. To add \
            at the end of a file, show its last line, and let `*** End of File` follow the hunk.\n";
    if whole {
        out += "- A line `\\ No newline at end of file` below a line says that it ends the file \
                without a line feed.\n";
    }
    out += "- Paths are relative to the workspace, with `/` between their parts: not absolute, and \
            without `..`.\n\
            - Use `*** Add File:` only for files that do not exist yet.\n\
            - A patch is applied as a whole or not at all. When it is refused, nothing has \
            changed: read the error, look at the file again, and send the corrected patch in \
            full.\n\n\
            ## Examples\n";
    for example in EXAMPLES.iter().filter(|example| recognizes(dialect, example.patch)) {
        out += &format!("\n{}:\n\n```\n{}```\n", example.title, example.patch);
    }
    out
}

/// The description of the tool: the instructions in short.
pub(crate) fn description(dialect: Dialect, channel: Channel) -> String {
    let mut out =
        String::from("Adds, changes, moves and deletes files by one patch, all of it or nothing. ");
    out += match channel {
        Channel::Tool => {
            "The whole input is the patch: plain text from `*** Begin Patch` to `*** End Patch`, \
             no JSON around it. "
        }
        _ => "The patch goes from `*** Begin Patch` to `*** End Patch`. ",
    };
    out += "Sections: `*** Add File: path` with `+` lines, `*** Delete File: path`, `*** Update \
            File: path` with hunks";
    out += match dialect {
        Dialect::Whole => ", `*** Move File: old -> new`",
        Dialect::Codex | Dialect::Tight => "",
    };
    out += "; `*** Move to: path` below an update moves the file. A hunk is a line `@@` and lines \
            that begin with a blank (stays), `-` (goes) or `+` (comes); those that stay or go are \
            copied exactly from the file and must occur in one place only.";
    out
}
