//! The settings for each client of the Model Context Protocol to start the server.

use std::path::PathBuf;

use apply_patch_api::engine::commit::approval::ApprovalPolicy::{self, Always, Never, OnRequest};
use apply_patch_api::tools::choices;
use apply_patch_api::tools::settings::Choice;
use serde_json::{Map, Value, json};

use crate::outside::{absolute, config_home, home};

/// The name of the server in every configuration.
pub(crate) const NAME: &str = "apply-patch";

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Codex,
    Claude,
    Cursor,
    VsCode,
    Gemini,
    OpenCode,
    Zed,
    Windsurf,
    Cline,
    Goose,
    Generic,
}

choices! { false:
    Client {
        "codex" = Codex, "claude" = Claude, "cursor" = Cursor, "vscode" = VsCode, "gemini" = Gemini,
        "opencode" = OpenCode,
        "zed" = Zed, "windsurf" = Windsurf, "cline" = Cline, "goose" = Goose, "generic" = Generic
    }
}

/// Where a configuration holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigScope {
    /// In every project of the user.
    User,
    /// In one project, for everyone at work there.
    Project,
}

/// How the server is to be started.
#[derive(Debug)]
pub(crate) struct Server {
    /// The program: a path, or a name to be looked up.
    pub(crate) program: String,
    /// The project, absolute.
    pub(crate) project: String,
    /// Who approves changes.
    pub(crate) approve: ApprovalPolicy,
    /// The variables read by the program.
    pub(crate) variables: Vec<String>,
    /// Those of them that are set, and to what.
    pub(crate) set: Map<String, Value>,
    /// The tools that only read, and all tools.
    pub(crate) readers: Vec<String>,
    pub(crate) tools: Vec<String>,
}

impl Server {
    /// The tools that the client need not ask about.
    fn unasked(&self, approve: ApprovalPolicy) -> &[String] {
        if approve == Never { &self.tools } else { &self.readers }
    }
}

/// How a client is told of the server.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) way: Way,
    /// The decisions, with their reasons.
    pub(crate) notes: Vec<String>,
}

/// Who writes the client's file.
#[derive(Debug)]
pub(crate) enum Way {
    /// The client does, with this command, whose first word is the program.
    Command(Vec<String>),
    /// A person does.
    File(Snippet),
}

/// The settings for a file.
#[derive(Debug)]
pub(crate) struct Snippet {
    /// The file; `None` for an unknown client.
    pub(crate) file: Option<ClientFile>,
    pub(crate) format: ConfigFormat,
    pub(crate) settings: Vec<Setting>,
}

/// A file of a client: a directory of the client, and a path beneath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFile {
    /// `None` for the project.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) path: String,
}

impl ClientFile {
    fn in_directory(directory: PathBuf, path: &str) -> Self {
        Self { directory: Some(directory), path: path.to_owned() }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the other places, which may be missing")]
    fn in_project(path: &str) -> Option<Self> {
        Some(Self { directory: None, path: path.to_owned() })
    }

    fn in_home(directory: &str, path: &str) -> Option<Self> {
        Some(Self::in_directory(home()?.join(directory), path))
    }

    fn in_config(directory: &str, path: &str) -> Option<Self> {
        Some(Self::in_directory(config_home()?.join(directory), path))
    }
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigFormat {
    /// JSON, with comments and commas at the end of lists.
    Json,
    Toml,
    Yaml,
}

/// One thing to set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// The keys, from the outermost on.
    pub(crate) keys: Vec<String>,
    /// The value under the last of them.
    pub(crate) value: Value,
}

impl Setting {
    pub(crate) fn new(keys: &[&str], value: Value) -> Self {
        Self { keys: keys.iter().map(|&key| key.to_owned()).collect(), value }
    }
}

impl Client {
    /// The default place of the configuration: the project, if the client's editor knows the
    /// project by the place of the file; else the user's file.
    pub(crate) fn usual_scope(self) -> ConfigScope {
        match self {
            Self::Claude | Self::Cursor | Self::VsCode => ConfigScope::Project,
            _ => ConfigScope::User,
        }
    }

    /// The file; `None` without a file for this scope, if the client's own command writes the file,
    /// or without a home.
    fn file(self, scope: ConfigScope) -> Option<ClientFile> {
        match (self, scope) {
            (Self::Codex, ConfigScope::User) => match absolute("CODEX_HOME") {
                Some(directory) => Some(ClientFile::in_directory(directory, "config.toml")),
                None => ClientFile::in_home(".codex", "config.toml"),
            },
            (Self::Codex, ConfigScope::Project) => ClientFile::in_project(".codex/config.toml"),
            (Self::Cursor, ConfigScope::User) => ClientFile::in_home(".cursor", "mcp.json"),
            (Self::Cursor, ConfigScope::Project) => ClientFile::in_project(".cursor/mcp.json"),
            (Self::VsCode, ConfigScope::Project) => ClientFile::in_project(".vscode/mcp.json"),
            (Self::OpenCode, ConfigScope::User) => {
                ClientFile::in_config("opencode", "opencode.json")
            }
            (Self::OpenCode, ConfigScope::Project) => ClientFile::in_project("opencode.json"),
            (Self::Zed, ConfigScope::User) => ClientFile::in_config("zed", "settings.json"),
            (Self::Windsurf, ConfigScope::User) => {
                ClientFile::in_home(".codeium/windsurf", "mcp_config.json")
            }
            (Self::Cline, ConfigScope::User) => {
                ClientFile::in_home(".cline/data/settings", "cline_mcp_settings.json")
            }
            (Self::Goose, ConfigScope::User) => ClientFile::in_config("goose", "config.yaml"),
            (Self::Zed | Self::Windsurf | Self::Cline | Self::Goose, ConfigScope::Project)
            | (Self::VsCode, ConfigScope::User)
            | (Self::Claude | Self::Gemini | Self::Generic, _) => None,
        }
    }

    /// Whether there is a file for this scope; the unknown client has none, and any will do.
    pub(crate) fn has(self, scope: ConfigScope) -> bool {
        match self {
            Self::Zed | Self::Windsurf | Self::Cline | Self::Goose => scope == ConfigScope::User,
            _ => true,
        }
    }

    /// How the server finds the project: an argument of `--root`, or nothing for a client that
    /// starts the server in the project or names its roots.
    fn root(self, scope: ConfigScope, project: &str) -> Option<String> {
        match (self, scope) {
            (Self::Cursor | Self::VsCode, ConfigScope::Project) => {
                Some("${workspaceFolder}".into())
            }
            // Windsurf has one file for all projects, documents neither the server's working
            // directory nor roots, and interpolates only `${env:…}` and `${file:…}`, never the open
            // project.
            (Self::Windsurf, _) => Some(project.to_owned()),
            _ => None,
        }
    }

    /// Whether the client can show the questions of a server.
    fn shows_questions(self) -> bool {
        matches!(
            self,
            Self::Codex | Self::Claude | Self::Cursor | Self::VsCode | Self::Goose | Self::Generic
        )
    }

    /// The settings for the client's files, or the command that makes them.
    pub(crate) fn setup(self, scope: ConfigScope, server: &Server) -> Setup {
        let mut notes = Vec::new();
        let root = self.root(scope, &server.project);
        if self == Self::Windsurf {
            notes.push(format!(
                "windsurf has one file for all projects and cannot say which is open: whichever \
                 is, this changes files of {}",
                server.project
            ));
        }
        if self == Self::Generic {
            notes.push(
                "the project is the directory in which the client starts the server, or the root \
                 that it names; if calls are refused with `no_roots`, it does neither: add \
                 \"--root\" and the directory to the arguments"
                    .into(),
            );
        }
        if (self, scope) == (Self::Codex, ConfigScope::Project) {
            notes.push("codex reads this file in projects that it trusts".into());
        }
        if self == Self::Cline {
            notes.push(
                "the command line of cline starts the server in the project; in an editor, add \
                 --root to the arguments"
                    .into(),
            );
        }
        let approve = match server.approve {
            Always if !self.shows_questions() => {
                notes.push(format!(
                    "{} cannot show questions of a server, so it is the one that asks",
                    self.name()
                ));
                OnRequest
            }
            approve => approve,
        };
        notes.push(self.who_asks(approve).into());
        let mut args = vec!["serve".to_owned(), "--mcp".into()];
        args.extend(root.into_iter().flat_map(|root| ["--root".into(), root]));
        args.extend(["--approve".into(), approve.name().into()]);
        if self == Self::Claude {
            notes.push(allowed(scope, approve, server));
        }
        let way = match self.command(scope, approve, &server.program, &args) {
            Some(command) => Way::Command(command),
            None => {
                let (format, settings) = self.settings(approve, server, &args);
                Way::File(Snippet { file: self.file(scope), format, settings })
            }
        };
        Setup { way, notes }
    }

    /// The client's own command for a new server, if sufficient: codex's command cannot set who
    /// approves, and the commands of opencode and goose ask a person.
    fn command(
        self,
        scope: ConfigScope,
        approve: ApprovalPolicy,
        program: &str,
        args: &[String],
    ) -> Option<Vec<String>> {
        let command = match (self, scope) {
            (Self::Claude, _) => {
                let names = [NAME.into(), "--".into(), program.into()];
                [&adding("claude", scope)[..], &names, args].concat()
            }
            (Self::Gemini, _) => {
                let trust = (approve == Never).then(|| "--trust".to_owned());
                let trust = Vec::from_iter(trust);
                // Options of the program's own stand behind the dashes.
                let names = [NAME.into(), program.into(), "--".into()];
                [&adding("gemini", scope)[..], &trust, &names, args].concat()
            }
            (Self::VsCode, ConfigScope::User) => {
                let server = json!({ "name": NAME, "command": program, "args": args });
                ["code".into(), "--add-mcp".into(), server.to_string()].into()
            }
            _ => return None,
        };
        Some(command)
    }

    fn settings(
        self,
        approve: ApprovalPolicy,
        server: &Server,
        args: &[String],
    ) -> (ConfigFormat, Vec<Setting>) {
        let program = &server.program;
        let mut plain = json!({ "command": program, "args": args });
        let typed = json!({ "type": "stdio", "command": program, "args": args });
        let format = match self {
            Self::Codex => ConfigFormat::Toml,
            Self::Goose => ConfigFormat::Yaml,
            _ => ConfigFormat::Json,
        };
        let settings = match self {
            Self::Codex => {
                // Codex starts servers with a few variables and the named ones; and where no one
                // can be asked, it refuses whatever it would ask about.
                plain["env_vars"] = json!(server.variables);
                plain["default_tools_approval_mode"] = json!("approve");
                vec![Setting::new(&["mcp_servers", NAME], plain)]
            }
            Self::Cursor => vec![Setting::new(&["mcpServers", NAME], typed)],
            Self::VsCode => vec![Setting::new(&["servers", NAME], typed)],
            Self::Claude | Self::Gemini | Self::Windsurf | Self::Generic | Self::Cline => {
                // These pass on few variables.
                if !server.set.is_empty() {
                    plain["env"] = Value::Object(server.set.clone());
                }
                if self == Self::Cline {
                    plain["autoApprove"] = json!(server.unasked(approve));
                }
                vec![Setting::new(&["mcpServers", NAME], plain)]
            }
            Self::OpenCode => {
                let command: Vec<_> = std::iter::once(program).chain(args).collect();
                let local = json!({ "type": "local", "command": command, "enabled": true });
                let mut settings = vec![Setting::new(&["mcp", NAME], local)];
                // The last matching rule counts, so rules for single tools come last.
                let all = if approve == Never { "allow" } else { "ask" };
                settings.push(Setting::new(&["permission", &format!("{NAME}_*")], json!(all)));
                settings.extend(server.readers.iter().filter(|_| all == "ask").map(|tool| {
                    Setting::new(&["permission", &format!("{NAME}_{tool}")], json!("allow"))
                }));
                settings
            }
            Self::Zed => {
                plain["source"] = json!("custom");
                let mut settings = vec![Setting::new(&["context_servers", NAME], plain)];
                settings.extend(server.unasked(approve).iter().map(|tool| {
                    let key = format!("mcp:{NAME}:{tool}");
                    Setting::new(
                        &["agent", "tool_permissions", "tools", &key],
                        json!({ "default": "allow" }),
                    )
                }));
                settings
            }
            Self::Goose => {
                let extension = json!({
                    "type": "stdio", "name": NAME, "enabled": true, "cmd": program, "args": args,
                    "timeout": 300,
                });
                vec![Setting::new(&["extensions", NAME], extension)]
            }
        };
        (format, settings)
    }

    /// Who is asked, and by whom.
    fn who_asks(self, approve: ApprovalPolicy) -> &'static str {
        match (self, approve) {
            (Self::Goose, Never) => "the server does not ask; goose does unless GOOSE_MODE is auto",
            (_, Never) => "nobody is asked, neither by the client nor by the server",
            (Self::Codex, OnRequest) => {
                "codex does not ask about these tools, as it does not about its own edits in a \
                 project, so that `codex exec` can use them; the server asks before what cannot be \
                 undone"
            }
            (Self::Codex, Always) => {
                "the server shows each plan and asks, and codex does not; `codex exec` cannot \
                 show it, and changes nothing"
            }
            (Self::Claude, Always) => {
                "the server shows each plan and asks; a permission keeps claude from asking too"
            }
            (Self::Cursor, Always) => {
                "the server shows each plan and asks; to be asked once, put \"apply-patch:*\" on \
                 cursor's MCP allowlist"
            }
            (Self::VsCode, Always) => {
                "the server shows each plan and asks; to be asked once, always allow its tools at \
                 the first confirmation"
            }
            (Self::Cline, OnRequest) => {
                "cline asks before calls that change files; `cline PROMPT` asks about none, unless \
                 it has --auto-approve false; the server asks before what cannot be undone"
            }
            (Self::Goose, Always) => {
                "the server shows each plan and asks; to be asked once, GOOSE_MODE has to be auto"
            }
            (_, Always) => "the server shows each plan and asks",
            (Self::Gemini, OnRequest) => {
                "gemini asks before each call; `gemini -p` cannot ask: it needs --approve never, \
                 or --approval-mode yolo"
            }
            (Self::OpenCode, OnRequest) => {
                "opencode asks before each change; `opencode run` cannot ask: it needs --approve \
                 never, or --auto"
            }
            (Self::Goose, OnRequest) => {
                "goose asks if GOOSE_MODE is approve or smart_approve; the server asks before \
                 what cannot be undone"
            }
            (_, OnRequest) => {
                "the client asks before calls that change files; the server asks before what \
                 cannot be undone"
            }
        }
    }
}

/// The beginning of a client's command for a new server.
fn adding(client: &str, scope: ConfigScope) -> [String; 5] {
    let scope = if scope == ConfigScope::User { "user" } else { "project" };
    [client, "mcp", "add", "--scope", scope].map(str::to_owned)
}

/// The tools that claude does not ask about, which its command cannot set.
fn allowed(scope: ConfigScope, approve: ApprovalPolicy, server: &Server) -> String {
    let tools = match approve {
        OnRequest => server.readers.iter().map(|tool| format!("mcp__{NAME}__{tool}")).collect(),
        Always | Never => vec![format!("mcp__{NAME}")],
    };
    let file = if scope == ConfigScope::User {
        "~/.claude/settings.json"
    } else {
        ".claude/settings.json"
    };
    format!(
        "claude asks about a tool until it is allowed; to allow {} at once, add to {file}: {}",
        if approve == OnRequest { "what only reads" } else { "all" },
        json!({ "permissions": { "allow": tools } })
    )
}
