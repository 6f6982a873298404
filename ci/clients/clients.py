"""Other people's clients, set up as `mcp-config` says, against a model on loopback.

Each conversation starts in a project, while the configuration was written from another directory. What a client lists, calls
and asks is counted; the change is undone with the program; one table is printed. Usage: clients.py PROGRAM FOLDER [NAME…],
where the folder has one folder of npm for each package
"""

import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

from mock import Mock

HERE = pathlib.Path(__file__).parent
PROGRAM, INSTALLED = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PATIENCE = 60  # a hang guard, in seconds
VERSIONS = json.loads((HERE.parent / "locks/clients/package.json").read_text())["dependencies"]


def modules(package: str) -> pathlib.Path:
    """Where a package is installed, and what it needs."""
    return INSTALLED / f"{package}@{VERSIONS[package]}".replace("@", "_").replace("/", "_") / "node_modules"


class Place:
    """A home, a project, and another directory, each with the same file."""

    def __init__(self, base: pathlib.Path, mock: Mock):
        self.home, self.project, self.other = base / "home", base / "project", base / "other"
        for folder in [self.home, self.project, self.other]:
            folder.mkdir()
        for folder in [self.project, self.other]:
            (folder / "f").write_text("one\ntwo\n")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            # Not where it usually is: a client has to pass it on.
            "XDG_STATE_HOME": str(base / "state"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
            "CODEX_HOME": str(self.home / ".codex"),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": mock.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": mock.url,
            "ENABLE_TOOL_SEARCH": "false",
            "DISABLE_AUTOUPDATER": "1",
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "mock",
            "GOOSE_DISABLE_KEYRING": "1",
            "GOOSE_TELEMETRY_ENABLED": "false",
            "OPENAI_HOST": mock.url,
            "OPENAI_API_KEY": "none",
            # No daemon stays behind.
            "CLINE_SESSION_BACKEND_MODE": "local",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def run(self, *command: object, at: pathlib.Path | None = None) -> subprocess.CompletedProcess:
        command = [str(word) for word in command]
        return subprocess.run(
            command, cwd=at or self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip

    def ours(self, *args: object, at: pathlib.Path | None = None) -> str:
        done = self.run(PROGRAM, *args, at=at)
        assert done.returncode == 0, (args, done)
        return done.stdout

    def paste(self, block: str, place: str):
        """Puts what `mcp-config` prints into the file that it names, as a person would."""
        path = re.search(r"for ~/(\S+)", place)[1]
        file = self.home / path
        there = file.read_text() if file.exists() else ""
        if path.endswith(".json"):
            file.write_text(json.dumps((json.loads(there) if there else {}) | json.loads(block)))
        else:
            file.write_text(f"{there}\n{block}")

    def write(self, path: str, text: str):
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Lines:
    """A program that speaks JSON-RPC in lines on its standard input and output, and asks."""

    def __init__(self, place: Place, command: list[object], answer):
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=place.project, env=place.env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.heard: queue.Queue = queue.Queue()
        self.answer, self.asked, self.id, self.past = answer, 0, 0, []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.heard.put(json.loads(line))

    def say(self, message: dict):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def until(self, wanted) -> dict:
        while True:
            try:
                message = self.heard.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"no answer after {self.past[-5:]}") from None
            self.past.append(message)
            if "method" in message and "id" in message:
                reply = self.answer(message["method"], message["params"])
                if reply is None:
                    self.say({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
                else:
                    self.asked += 1
                    self.say({"id": message["id"], "result": reply})
            elif wanted(message):
                return message

    def call(self, method: str, params: dict) -> dict:
        self.id += 1
        self.say({"id": self.id, "method": method, "params": params})
        answer = self.until(lambda message: message.get("id") == self.id and "method" not in message)
        assert "result" in answer, (method, answer)
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def codex_home(place: Place, mock: Mock):
    provider = f'[model_providers.mock]\nname = "mock"\nbase_url = "{mock.url}/v1"\nwire_api = "responses"\n'
    place.write(".codex/config.toml", f'# kept\nmodel = "mock"\nmodel_provider = "mock"\n\n{provider}')


def codex_exec(place: Place, mock: Mock) -> int:
    done = place.run(CODEX, "exec", "--skip-git-repo-check", "--json", "change f")
    assert done.returncode == 0, done
    return 0


def codex_app_server(place: Place, mock: Mock) -> int:
    def answer(method: str, params: dict):
        if method == "mcpServer/elicitation/request":
            assert "M f (+1 -1)" in params["message"], params
            return {"action": "accept", "content": {}}
        return None

    server = Lines(place, [CODEX, "app-server"], answer)
    server.call("initialize", {"clientInfo": {"name": "check", "title": "check", "version": "1"}})
    server.say({"method": "initialized"})
    thread = server.call("thread/start", {"cwd": str(place.project), "approvalPolicy": "on-request"})["thread"]["id"]
    server.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "change f"}]})
    server.until(lambda message: message.get("method") == "turn/completed")
    server.close()
    return server.asked


def agent_client_protocol(*command: object):
    def converse(place: Place, mock: Mock) -> int:
        def answer(method: str, params: dict):
            if method != "session/request_permission":
                return None
            once = next(option for option in params["options"] if option["kind"] == "allow_once")
            return {"outcome": {"outcome": "selected", "optionId": once["optionId"]}}

        agent = Lines(place, [*command], answer)
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": nothing})
        session = agent.call("session/new", {"cwd": str(place.project), "mcpServers": []})["sessionId"]
        text = [{"type": "text", "text": "change f"}]
        agent.call("session/prompt", {"sessionId": session, "prompt": text})
        agent.close()
        return agent.asked

    return converse


def gemini_home(place: Place, mock: Mock):
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False}}
    settings |= {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
    place.write(".gemini/settings.json", json.dumps(settings))


def gemini_prompt(place: Place, mock: Mock) -> int:
    done = place.run(GEMINI, "-m", "gemini-2.5-flash", "-p", "change f")
    assert done.returncode == 0, done
    return 0


def opencode_home(place: Place, mock: Mock):
    model = {"name": "mock", "limit": {"context": 100_000, "output": 1000}}
    options = {"baseURL": f"{mock.url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"mock": model}}
    settings = {"model": "mock/mock", "small_model": "mock/mock", "share": "disabled", "provider": {"mock": provider}}
    place.write(".config/opencode/opencode.json", json.dumps(settings | {"autoupdate": False}))


def opencode_run(place: Place, mock: Mock) -> int:
    done = place.run(OPENCODE, "run", "--format", "json", "change f")
    assert done.returncode == 0, done
    return 0


def claude_home(place: Place, mock: Mock):
    # Who works here has said yes to both questions that it asks about a project: those are none about a change.
    trusted = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["apply-patch"]}
    place.write(".claude.json", json.dumps({"hasCompletedOnboarding": True, "projects": {str(place.project): trusted}}))


def claude_print(place: Place, mock: Mock) -> int:
    got = place.run(CLAUDE, "mcp", "get", "apply-patch")
    assert got.returncode == 0 and "Scope: Project" in got.stdout and "Connected" in got.stdout, got
    done = place.run(CLAUDE, "--allowedTools", "mcp__apply-patch", "-p", "change f")
    assert done.returncode == 0, done
    return 0


def goose_home(mode: str):
    def prepare(place: Place, mock: Mock):
        place.write(".config/goose/config.yaml", f"# kept\nGOOSE_MODE: {mode}\n")

    return prepare


def goose_run(place: Place, mock: Mock) -> int:
    done = place.run(GOOSE, "run", "--no-session", "-t", "change f")
    assert done.returncode == 0, done
    return 0


def cline_home(place: Place, mock: Mock):
    settings = {"provider": "cline", "apiKey": "none", "model": "mock", "baseUrl": f"{mock.url}/v1"}
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": "cline", "modes": {}, "providers": {"cline": provider}}
    place.write(".cline/data/settings/providers.json", json.dumps(providers))


def cline_prompt(place: Place, mock: Mock) -> int:
    done = place.run(CLINE, "change f")
    assert done.returncode == 0, done
    return 0


CODEX = modules("@openai/codex") / ".bin/codex"
GEMINI = modules("@google/gemini-cli") / ".bin/gemini"
OPENCODE = modules("opencode-ai") / "opencode-linux-x64/bin/opencode"
GOOSE = modules("@aaif/goose-binary-linux-x64") / "@aaif/goose-binary-linux-x64/bin/goose"
CLINE = modules("cline") / "@cline/cli-linux-x64/bin/cline"
CLAUDE = modules("@anthropic-ai/claude-code") / "@anthropic-ai/claude-code-linux-x64/claude"
# Those that write their own files.
OWN_COMMAND = {"gemini": GEMINI, "claude": CLAUDE}

# The name in conversations/, the client for `mcp-config`, its package, what it needs besides, and how it is driven.
CLIENTS = [
    ("codex-exec", "codex", "@openai/codex", codex_home, codex_exec),
    ("codex-app-server", "codex", "@openai/codex", codex_home, codex_app_server),
    ("gemini-acp", "gemini", "@google/gemini-cli", gemini_home, agent_client_protocol(GEMINI, "-m", "gemini-2.5-flash", "--acp")),
    ("gemini-prompt", "gemini", "@google/gemini-cli", gemini_home, gemini_prompt),
    ("opencode-acp", "opencode", "opencode-ai", opencode_home, agent_client_protocol(OPENCODE, "acp")),
    ("opencode-run", "opencode", "opencode-ai", opencode_home, opencode_run),
    ("goose-acp", "goose", "@aaif/goose-binary-linux-x64", goose_home("approve"), agent_client_protocol(GOOSE, "acp")),
    ("goose-run", "goose", "@aaif/goose-binary-linux-x64", goose_home("auto"), goose_run),
    ("cline-acp", "cline", "cline", cline_home, agent_client_protocol(CLINE, "--acp")),
    ("cline-prompt", "cline", "cline", cline_home, cline_prompt),
    ("claude-print", "claude", "@anthropic-ai/claude-code", claude_home, claude_print),
]


def check(name: str, client: str, package: str, prepare, converse) -> list[str]:
    conversation = json.loads((HERE / "conversations" / f"{name}.json").read_text())
    mock = Mock(conversation["turns"])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Place(pathlib.Path(folder).resolve(), mock)
        prepare(place, mock)
        scope = conversation["scope"]
        at = place.other if scope == "--user" else place.project
        args = ["--client", client, scope, "--approve", conversation["approve"]]
        told = place.run(PROGRAM, "mcp-config", *args, at=at)
        assert told.returncode == 0, told
        if own := OWN_COMMAND.get(client):
            line = told.stdout
            done = place.run("sh", "-c", f'PATH="{own.parent}:$PATH"\n{line}', at=at)
            assert done.returncode == 0, (line, done)
        else:
            place.paste(told.stdout, told.stderr)
        asked = converse(place, mock)
        mock.close()
        found = (place.project / "f").read_text()
        assert len(mock.listed) >= conversation["listed"], sorted(mock.listed)
        turns = conversation["turns"]
        assert len(mock.results) == len(turns) - 1 and "1 updated" in mock.results[0], mock.results
        # The model sees the data, and not only the sentence.
        assert "transactionId" in mock.results[0], mock.results
        reads = any("own" in turn for turn in turns)
        # The log as a resource, in the client's own tool.
        assert not reads or "truncated" in mock.results[-1] and "apply_patch" in mock.results[-1], mock.results
        assert asked == conversation["asked"], asked
        assert found == "ONE\ntwo\n", found
        assert (place.other / "f").read_text() == "one\ntwo\n", "another directory was changed"
        place.ours("undo", at=place.project)
        assert (place.project / "f").read_text() == "one\ntwo\n", "it was not undone"
        place.ours("log", "--verify", at=place.project)
    called = sum("tool" in turn for turn in turns)
    row = [conversation["client"], VERSIONS[package], conversation["approve"], len(mock.listed), called, asked]
    return [*map(str, row), "yes", "yes" if reads else "has none", "the session's"]


HEAD = ["client", "version", "`--approve`", "listed", "called", "asked", "undone", "resources", "directory"]
rows, failed = [], 0
for one in CLIENTS:
    if len(sys.argv) > 3 and one[0] not in sys.argv[3:]:
        continue
    if not (modules(one[2]) / one[2]).exists():
        print(f"skipped in part: {one[0]}: {one[2]} is not installed")
        continue
    try:
        rows.append(check(*one))
    except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
        failed += 1
        print(f"FAILED: {one[0]}: {str(error)[:3000]}")
for row in [HEAD, ["---"] * len(HEAD), *rows]:
    print("| " + " | ".join(row) + " |")
print(f"{len(rows)} passed, {failed} failed")
sys.exit(failed > 0)
