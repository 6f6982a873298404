//! What to paste into a client so that it starts the server.

use std::fmt;

use serde_json::json;

use crate::settings::Approval;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they are their names")]
pub enum Client {
    Codex,
    Claude,
    Cursor,
    VsCode,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Codex, Self::Claude, Self::Cursor, Self::VsCode];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    /// The file that the block belongs in.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Codex => "~/.codex/config.toml",
            Self::Claude => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
        }
    }

    /// What else has to be set so that a person is asked once for each change, and not twice or never.
    #[must_use]
    pub fn advice(self, approval: Approval) -> &'static str {
        match (self, approval) {
            (_, Approval::Never) => "the server does not ask: let the client ask, or no one will",
            (Self::Codex, Approval::Auto) => {
                "codex asks before calls that change files; the server asks before what cannot be undone"
            }
            (Self::Codex, Approval::Ask) => "the server shows each plan and asks; codex does not ask again",
            (Self::Claude, Approval::Ask) => {
                "the server shows each plan and asks; to be asked once, allow \"mcp__apply-patch\" under permissions in .claude/settings.json"
            }
            (Self::Cursor, Approval::Ask) => {
                "the server shows each plan and asks; to be asked once, let cursor run its tools on its own"
            }
            (Self::VsCode, Approval::Ask) => {
                "the server shows each plan and asks; to be asked once, allow its tools in the first confirmation"
            }
            (_, Approval::Auto) => {
                "the client asks before calls that change files; the server asks before what cannot be undone"
            }
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The block for a client: starts `program` (absolute) for the workspace `root` (absolute).
#[must_use]
pub fn client_config(client: Client, program: &str, root: &str, approval: Approval) -> String {
    let approve = match approval {
        Approval::Never => "never",
        Approval::Ask => "ask",
        Approval::Auto => "auto",
    };
    let args = json!(["serve", "--mcp", "--root", root, "--approve", approve]);
    let plain = json!({ "command": program, "args": args });
    let typed = json!({ "type": "stdio", "command": program, "args": args });
    let block = match client {
        Client::Codex => {
            let mode = match approval {
                Approval::Ask => "approve",
                Approval::Never | Approval::Auto => "auto",
            };
            // A JSON string without surrogate escapes is a TOML string too.
            return format!(
                "[mcp_servers.apply-patch]\ncommand = {}\nargs = {args}\ndefault_tools_approval_mode = \"{mode}\"\n",
                json!(program)
            );
        }
        Client::Claude => json!({ "mcpServers": { "apply-patch": typed } }),
        Client::Cursor => json!({ "mcpServers": { "apply-patch": plain } }),
        Client::VsCode => json!({ "servers": { "apply-patch": typed } }),
    };
    format!("{block:#}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_program_is_where_each_client_looks_for_it() {
        for (client, key) in
            [(Client::Claude, "mcpServers"), (Client::Cursor, "mcpServers"), (Client::VsCode, "servers")]
        {
            let block: Value = serde_json::from_str(&client_config(client, "/b in/x", "/w\"", Approval::Auto)).unwrap();
            let server = &block[key]["apply-patch"];
            assert_eq!((&server["command"], &server["args"][3]), (&json!("/b in/x"), &json!("/w\"")), "{client}");
            assert_eq!(server.get("type").is_some(), client != Client::Cursor);
        }
        let toml = client_config(Client::Codex, "/b", "/w\"\\", Approval::Ask);
        assert_eq!(
            toml,
            "[mcp_servers.apply-patch]\ncommand = \"/b\"\nargs = [\"serve\",\"--mcp\",\"--root\",\"/w\\\"\\\\\",\"--approve\",\"ask\"]\n\
             default_tools_approval_mode = \"approve\"\n"
        );
        for client in Client::ALL {
            let once = [Approval::Never, Approval::Ask, Approval::Auto].map(|approval| client.advice(approval));
            assert!(once[0] != once[1] && once[1] != once[2], "{client}");
        }
    }
}
