"""The readers of transcripts: each yields answers of models, as `README.md` describes them."""

import hashlib
import json
import re

CREDENTIALS = re.compile(r"(^|/)(auth|credentials?|\.credentials)\.json$|(^|/)\.env")
PATCH_IN_SHELL = re.compile(
    r"(?:apply_patch|applypatch)\s*<<-?\s*(['\"]?)(\w+)\1\s*\n(.*?)(?:\n\2\s*(?:\n|$|\))|$)", re.S
)


def lines_of_json(text):
    for line in text.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def all_answers(git, bases):
    for reader in (codex, claude, aider, folders):
        yield from reader(git)
    yield from predictions(git, bases)


def readable(git, *patterns):
    """The transcripts of a repository, and never a file of credentials."""
    for path, commit in sorted(git.newest(*patterns).items()):
        if not CREDENTIALS.search(path):
            text = git.read(f"{commit}:{path}")
            if text:
                yield path, text


# Codex: rollouts


def patch_of_call(payload):
    """The envelope of a call of codex's own tool, the form of the call, and its directory."""
    name, given = payload.get("name"), payload.get("input") or payload.get("arguments")
    if payload.get("type") == "custom_tool_call":
        return (given, "envelope", None) if name == "apply_patch" else (None, None, None)
    if payload.get("type") == "local_shell_call":
        arguments = payload.get("action")
    else:
        try:
            arguments = json.loads(given or "")
        except ValueError:
            return None, None, None
    if not isinstance(arguments, dict):
        return None, None, None
    if name == "apply_patch":
        return arguments.get("input") or arguments.get("patch"), "envelope", None
    command = arguments.get("command") or arguments.get("cmd") or ""
    directory = arguments.get("workdir") or arguments.get("working_directory")
    if isinstance(command, list):
        if len(command) == 2 and command[0] in ("apply_patch", "applypatch"):
            return command[1], "argument", directory
        command = command[-1] if command else ""
    match = PATCH_IN_SHELL.search(command) if isinstance(command, str) else None
    if not match or match[3].count("*** Begin Patch") != 1:
        return None, None, None
    return match[3] + "\n", "heredoc", directory


def codex(git):
    seen = set()
    for path, text in readable(git, "*rollout-*.jsonl"):
        commit, directory, model, when, asked, outputs = None, None, None, None, [], {}
        for line in lines_of_json(text):
            payload = line.get("payload") if isinstance(line.get("payload"), dict) else line
            kind = payload.get("type")
            state = payload.get("git") or line.get("git")
            if isinstance(state, dict):
                commit = commit or state.get("commit_hash")
            directory = payload.get("cwd") or directory
            when = when or line.get("timestamp") or payload.get("timestamp")
            if line.get("type") == "turn_context":
                model = payload.get("model") or model
            if kind in ("custom_tool_call", "function_call", "local_shell_call"):
                patch, form, there = patch_of_call(payload)
                if isinstance(patch, str) and payload.get("call_id") not in seen:
                    seen.add(payload.get("call_id"))
                    asked.append((payload.get("call_id"), patch, form, there or directory, model))
            elif kind in ("custom_tool_call_output", "function_call_output"):
                outputs[payload.get("call_id")] = payload.get("output")
        for number, (call, patch, form, there, model_then) in enumerate(asked):
            said = outputs.get(call)
            said = said if isinstance(said, str) else json.dumps(said or "")
            yield {
                "kind": "codex",
                "session": path,
                "number": number,
                "model": model_then,
                "form": form,
                "text": patch,
                "applied": "Success. Updated" in said if said != '""' else None,
                "commit": git.commit(commit) if commit else None,
                "directory": there,
                "when": when,
            }


# Claude: sessions

EDITS = ("Edit", "MultiEdit")


def shown(text):
    """A text as hunks of sessions show it: two blanks for each tab at the beginning of a line."""
    return re.sub(r"^\t+", lambda tabs: "  " * len(tabs[0]), text, flags=re.M)


def after_hunks(before, hunks):
    """The text that the session's own hunks make of it; nothing where they do not fit exactly."""
    old, new, at = before.split("\n"), [], 0
    for hunk in hunks:
        start = max(hunk["oldStart"] - 1, 0)
        new += old[at:start]
        at = start
        for line in hunk["lines"]:
            if line.startswith("\\"):
                continue
            if line[:1] in (" ", "-"):
                if at >= len(old) or old[at] != line[1:]:
                    return None
                at += 1
            if line[:1] in (" ", "+"):
                new.append(line[1:])
    return "\n".join(new + old[at:])


def after_edits(before, edits, hunks):
    """The text that Claude's tool left: by its rule where the hunks show the same, else by them."""
    after = before
    for edit in edits:
        old, new = edit.get("old_string"), edit.get("new_string")
        if not isinstance(old, str) or not isinstance(new, str) or not old:
            return after_hunks(before, hunks)
        after = after.replace(old, new, -1 if edit.get("replace_all") else 1)
    if after_hunks(shown(before), hunks) == shown(after):
        return after
    return after_hunks(before, hunks)


def calls_of(line):
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict):
            yield message, part


def claude(git):
    calls = {}
    for path, text in readable(git, "*.jsonl"):
        if "rollout-" in path or b'"tool_use"' not in text:
            continue
        for line in lines_of_json(text):
            for message, part in calls_of(line):
                if part.get("type") == "tool_use" and part.get("name") in EDITS:
                    calls.setdefault(
                        part.get("id"),
                        {
                            "session": path,
                            "model": message.get("model"),
                            "call": part,
                            "said": None,
                        },
                    )
                elif part.get("type") == "tool_result" and part.get("tool_use_id") in calls:
                    call = calls[part["tool_use_id"]]
                    found = line.get("toolUseResult")
                    call["said"] = call["said"] or (bool(part.get("is_error")), found)
    numbers = {}
    for call in calls.values():
        answer = claude_answer(call)
        if answer:
            answer["number"] = numbers[call["session"]] = numbers.get(call["session"], -1) + 1
            yield answer


def claude_answer(call):
    given = call["call"].get("input")
    if not isinstance(given, dict) or not isinstance(given.get("file_path"), str):
        return None
    failed, found = call["said"] or (None, None)
    found = found if isinstance(found, dict) else {}
    name = re.split(r"[/\\]", given["file_path"])[-1] or "file"
    before, after = found.get("originalFile"), None
    edits = given.get("edits") if call["call"]["name"] == "MultiEdit" else [given]
    edits = [edit for edit in edits or [] if isinstance(edit, dict)]
    if before and not failed and not found.get("userModified"):
        after = after_edits(before, edits, found.get("structuredPatch") or [])
    return {
        "kind": "claude",
        "session": call["session"],
        "model": call["model"],
        "form": call["call"]["name"].lower(),
        "text": None,
        "call": {**given, "file_path": name},
        "old": [edit.get("old_string") for edit in edits],
        "applied": None if failed is None else not failed,
        "before": {name: {"text": before}} if before else None,
        "after": {name: {"text": after}} if after is not None else None,
    }


# Aider: histories

TOOL = re.compile(
    r"> ?(Tokens: |Applied edit to |Commit [0-9a-f]{7}|The LLM did not conform|Add file)"
)
MODEL = re.compile(r"> (Main model|Model|Editor model): (\S+)(?: with (?:.*, )?(\S+) edit format)?")
BLOCK = re.compile(r"^<{5,9} ?SEARCH", re.M)
FAILED = re.compile(r"failed to match|did not conform|NoMatch|NotUnique|NoExactMatch", re.I)
# Aider tells the model what failed; only the first line of that is marked as its own.
REPORT = re.compile(r"> #+ \d+ SEARCH/REPLACE block")
REPORT_END = re.compile(r"Just reply with fixed versions|Don't re-send them\.$")


class History:
    """Walks over the lines of a history, and tells answers from what Aider and its user say."""

    def __init__(self):
        self.model = self.style = self.fence = None
        self.block = self.report = False
        self.answer, self.said = [], []

    def turn(self):
        """The answer that is complete, its model, its edit format, and what Aider said below."""
        whole = self.model, self.style, self.answer, self.said
        self.answer, self.said = [], []
        self.fence, self.block, self.report = None, False, False
        return whole

    def settings(self, line):
        known = MODEL.match(line)
        if known and known[1] != "Editor model":
            self.model = known[2]
        if known:
            self.style = known[3] or self.style

    def text(self, line):
        self.answer.append(line)
        mark = re.match(r"`{3,}", line)
        if mark and not self.block:
            self.fence = (
                None if self.fence and line.startswith(self.fence) else self.fence or mark[0]
            )
        if BLOCK.match(line):
            self.block = True
        elif re.match(r">{5,9} ?REPLACE", line):
            self.block = False


def turns(text):
    history = History()
    for line in text.split("\n"):
        start = line.startswith("# aider chat started")
        if start or (line.startswith("#### ") and line.endswith("  ")):
            yield history.turn()
            continue
        if TOOL.match(line):
            history.fence, history.block = None, False
        inside = history.fence or history.block
        if history.report and not line.startswith("> Commit"):
            history.said.append(line)
            history.report = not REPORT_END.match(line)
        elif line.startswith(">") and not line.startswith(">>>") and not inside:
            history.settings(line)
            history.said.append(line)
            history.report = bool(REPORT.match(line))
        elif history.said and history.answer and line.strip():
            yield history.turn()
            history.text(line)
        elif not (history.said and history.answer):
            history.said = history.said if history.answer else []
            history.text(line)
    yield history.turn()


def form_of(text, style):
    """The form of an answer; nothing where it has no change in the format that Aider reads."""
    style = (style or "").removeprefix("editor-")
    if style == "whole":
        return "whole" if "```" in text else None
    if BLOCK.search(text):
        return "blocks" if style in ("diff", "diff-fenced", "") else None
    if re.search(r"^\*\*\* Begin Patch", text, re.M):
        return "envelope" if style in ("patch", "") else None
    if re.search(r"^(--- |\+\+\+ |diff --git |@@ )", text, re.M):
        return "diff" if style.startswith("udiff") else None
    return None


def aider(git):
    done = set()
    for path, newest in git.newest("*.aider.chat.history.md").items():
        longest = max(git.versions(path, 40) or [b""], key=len)
        folder = path.rpartition("/")[0]
        number = -1
        for model, style, lines, said in turns(
            longest.decode("utf-8", "replace").replace("\r\n", "\n")
        ):
            text = "\n".join(lines).strip("\n") + "\n"
            form = form_of(text, style)
            if not form:
                continue
            number += 1
            answer = {
                "kind": "aider",
                "session": path,
                "number": number,
                "model": model,
                "form": form,
                "text": text,
                **aider_result(git, "\n".join(said), text),
            }
            key = (hashlib.sha256(text.encode()).hexdigest(), str(answer.get("after")))
            if key not in done and not folder:
                done.add(key)
                yield answer


def aider_result(git, said, text):
    """Whether Aider applied an answer whole, and the files of the commit that came of it."""
    applied = re.findall(r"^> Applied edit to (.*?)\s*$", said, re.M)
    if not applied:
        return {"applied": False if FAILED.search(said) else None, "before": None, "after": None}
    result = {"applied": not FAILED.search(said), "before": None, "after": None}
    behind = said[said.rfind("> Applied edit to") :]
    match = re.search(r"^> Commit ([0-9a-f]{7,40}) ", behind, re.M)
    commit = match and git.commit(match[1])
    if not commit or not git.commit(f"{commit}^"):
        return result
    parent = dict(git.tree(git.commit(f"{commit}^")))
    child = git.tree(commit)
    names = {path.replace("\\", "/").removeprefix("./") for path in applied}
    near = {path for path in parent if path.rsplit("/", 1)[-1] in text} | names
    before = {path: {"blob": parent[path]} for path in sorted(near) if path in parent}
    # A commit may also hold changes of the person's own, in files that the answer does not name.
    after = {path: file for path, file in before.items() if path not in names}
    after.update({path: {"blob": child[path]} for path in sorted(names) if path in child})
    return {**result, "before": before, "after": after}


# Predictions of benchmarks

NAMES = {
    "of": ("instance_id", "task_id"),
    "model": ("model_name_or_path", "model"),
    "text": ("model_patch", "diff"),
}


def predictions(git, bases):
    """Diffs in the files of a benchmark's run, for the commits that `bases` states."""
    done = set()
    for path, text in readable(git, "*pred*.jsonl", "*pred*.json", "*/traces/*.json"):
        if not bases or not any(name.encode() in text for name in NAMES["text"]):
            continue
        for number, row in enumerate(rows_of(text)):
            found = {key: first(row, names) for key, names in NAMES.items()}
            known = bases.get(found["of"])
            patch = found["text"]
            if not known or not isinstance(patch, str) or written_by_git(*known, patch):
                continue
            if (found["of"], patch) not in done:
                done.add((found["of"], patch))
                yield {
                    "kind": "prediction",
                    "session": path,
                    "number": number,
                    "model": found["model"] or (row.get("full_result") or {}).get("model"),
                    "form": "diff",
                    "text": patch,
                    "applied": False if "Git Apply Failed" in str(row.get("stderr")) else None,
                    "git": known[0].path,
                    "before": before_of(known[0], known[1], patch),
                    "after": None,
                }


def first(row, names):
    return next((row[name] for name in names if isinstance(row.get(name), str)), None)


def before_of(base, commit, patch):
    """The files of a commit that a diff names."""
    tree = base.tree(commit)
    named = re.findall(r"^(?:---|\+\+\+) (?:[ab]/)?([^\s]+)", patch, re.M)
    return {path: {"blob": tree[path]} for path in sorted(set(named)) if path in tree}


def rows_of(text):
    try:
        whole = json.loads(text)
    except ValueError:
        return list(lines_of_json(text))
    if isinstance(whole, dict) and not any(isinstance(row, dict) for row in whole.values()):
        return [whole]
    if isinstance(whole, dict) and first(whole, NAMES["text"]):
        return [whole]
    rows = whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else []
    return [row for row in rows if isinstance(row, dict)]


def written_by_git(base, commit, patch):
    """Whether each file of a diff has the id that git writes: then no model wrote it."""
    tree = base.tree(commit)
    found = re.findall(
        r"^diff --git a/(\S+) .*\n(?:.*mode .*\n)*index ([0-9a-f]+)\.\.", patch, re.M
    )
    files = re.findall(r"^--- ", patch, re.M)
    true = [path for path, old in found if tree.get(path, "0" * 40).startswith(old)]
    return len(true) == len(files)


def folders(git):
    """Benchmarks that keep a file before and the diff of each model beside it."""
    head = git.commit("HEAD")
    tree = git.tree(head) if head else {}
    for path, blob in sorted(tree.items()):
        match = re.fullmatch(r"(.*)/before\.(\w+)", path)
        if not match:
            continue
        number = -1
        for diff in sorted(name for name in tree if name.startswith(f"{match[1]}/diffs/")):
            text = (git.read(tree[diff]) or b"").decode("utf-8", "replace")
            if not text.strip():
                continue
            number += 1
            named = re.search(r"^\+\+\+ (?:b/)?([^\s/][^\s]*)", text, re.M)
            name = named[1] if named and ".." not in named[1] else f"before.{match[2]}"
            yield {
                "kind": "folder",
                "session": match[1],
                "number": number,
                "model": diff.rsplit("/", 1)[-1].removesuffix(".diff").split("__")[0],
                "form": "diff",
                "text": text,
                "applied": None,
                "before": {name: {"blob": blob}},
                "after": None,
            }
