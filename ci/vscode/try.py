"""Tries the extension in code-server, as a person does: with the mouse, commands and the clipboard.

usage: try.py SCRATCH PACKAGE    SCRATCH has code-server in node_modules; the environment has PROGRAM
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../html"))
from browser import Browser  # noqa: E402

scratch, package = sys.argv[1:]
home, project = f"{scratch}/home", f"{scratch}/project"
keep = os.environ.get("CI_VSCODE_KEEP")

TODO = "".join(f"def task_{number}():\n    return {number}\n\n\n" for number in range(1, 13))
PATCH = """*** Begin Patch
*** Update File: src/todo.py
@@
 def task_2():
-    return 2
+    return "two"
@@
 def task_9():
-    return 9
+    return "nine"
*** Add File: src/__init__.py
+# To do.
*** Delete File: old.txt
*** End Patch
"""


AGENTS = """*** Begin Patch
*** Update File: src/todo.py
@@
 def task_2():
-    return 2
+    return "second"
@@
 def task_9():
-    return 9
+    return "ninth"
*** Add File: src/notes.md
+# Notes
*** End Patch
"""


class Editor(Browser):
    """VS Code in a window of the browser."""

    def __init__(self, address: str, folder: str):
        super().__init__(scratch)
        own, self.session = self.session, None
        self.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=address)
        self.session = own
        self.open(f"{address}/?folder={folder}", 1440)
        self.wait("row('answer.patch')", 120)
        # The menus of extensions come after the files: until then the command is not in the list of all.
        for _ in range(30):
            self.key("F1", 112)
            self.wait("all('.quick-input-widget input')[0]")
            self.call("Input.insertText", text="Apply Patch: Undo")
            time.sleep(1)
            found = self.evaluate("Boolean(choice('Apply Patch: Undo Last Patch'))")
            self.key("Escape", 27)
            if found:
                break

    def evaluate(self, expression: str):
        # What is on the page: elements by their text or name, if they are visible.
        words = """
            const seen = (one) => one.getBoundingClientRect().width > 0;
            // The menu of an editor is in a tree of its own.
            const trees = [document, ...[...document.querySelectorAll('.shadow-root-host')].map((one) => one.shadowRoot)];
            const all = (query) => trees.flatMap((one) => [...one.querySelectorAll(query)]).filter(seen);
            const entry = (text) => all('.monaco-menu .action-label').find((one) => one.textContent === text);
            const row = (text) => all('.monaco-list-row').find((one) => one.textContent.includes(text));
            const box = (text) => row(text)?.querySelector('.custom-view-tree-node-item-checkbox');
            const button = (text) => all('.action-label, .monaco-button').find((one) => (one.ariaLabel || one.textContent).startsWith(text));
            const choice = (text) => all('.quick-input-list .monaco-list-row').find((one) => one.textContent.startsWith(text));
            const said = () => all('.notification-list-item-message').map((one) => one.textContent).join('\\n');
            const text = () => all('.view-lines').map((one) => one.innerText.replaceAll('\\u00a0', ' ')).join('\\n');
            const title = () => all('.quick-input-title')[0]?.textContent ?? '';
        """
        return super().evaluate(f"(() => {{ {words} return {expression}; }})()")

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Waits until something is there."""
        deadline = time.time() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            if time.time() > deadline:
                self.shot("failed")
                sys.exit(f"not seen: {condition}\nmessages: {self.evaluate('said()')}")
            time.sleep(0.2)

    def click(self, element: str, which: str = "left") -> None:
        self.wait(element)
        # What has just come may still move.
        time.sleep(0.5)
        x, y = self.evaluate(f"(({element}).scrollIntoView({{ block: 'nearest' }}), (r => [r.x + r.width / 2, r.y + r.height / 2])(({element}).getBoundingClientRect()))")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=which, clickCount=1)

    def key(self, key: str, code: int, modifiers: int = 0, **more) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            more = more if kind == "rawKeyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers, **more)

    def command(self, name: str) -> None:
        self.key("F1", 112)
        self.wait("all('.quick-input-widget input')[0]")
        self.call("Input.insertText", text=name)
        self.click(f"choice({json.dumps(name)})")

    def shot(self, name: str) -> None:
        if keep:
            time.sleep(0.5)
            self.picture(f"{keep}/{name}.png")


def read(path: str):
    try:
        with open(f"{project}/{path}", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def reset() -> None:
    shutil.rmtree(project, ignore_errors=True)
    os.makedirs(f"{project}/src")
    for path, content in {"src/todo.py": TODO, "old.txt": "old\n", "README.md": "# To do\n", "answer.patch": PATCH}.items():
        with open(f"{project}/{path}", "w", encoding="utf-8") as file:
            file.write(content)


def program(*args: str, patch: str = "") -> dict:
    """Runs the program as an agent does, and returns what it answers."""
    done = subprocess.run([os.environ["PROGRAM"], *args], cwd=project, env=environment, input=patch, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    assert answer["ok"], (args, done.stdout)
    return answer["data"]


def agent(turn: str, patch: str) -> None:
    args = json.dumps({"patch": patch})
    program("tool", "apply_patch", "--agent", "claude", "--session", "refactor", "--turn", turn, "--args", "-", patch=args)


def until(condition, what: str) -> None:
    deadline = time.time() + 30
    while not condition():
        if time.time() > deadline:
            sys.exit(f"not so after 30 seconds: {what}")
        time.sleep(0.2)


def paste(editor: Editor, text: str) -> None:
    """Applies what is copied."""
    written = f"navigator.clipboard.writeText({json.dumps(text)})"
    editor.call("Runtime.evaluate", expression=written, awaitPromise=True)
    editor.command("Apply Patch: Apply Patch from Clipboard")


def person(editor: Editor) -> None:
    # A file, from the explorer's menu.
    editor.click("row('answer.patch')", "right")
    editor.wait("entry('Apply Patch…')")
    editor.shot("1-explorer")
    editor.click("entry('Apply Patch…')")
    editor.wait("row('Hunk 2, line 34') && text().includes('return \"two\"')", 60)
    editor.shot("2-review")

    # A hunk is rejected in the diff editor, a file in the list.
    editor.click("row('Hunk 2, line 34')")
    editor.wait("text().includes('return \"nine\"')")
    editor.click("button('Reject Hunk')")
    editor.wait("text().includes('# To do.')")
    editor.click("row('Hunk 2, line 34')")
    editor.wait("text().includes('return 9') && !text().includes('return \"nine\"')")
    editor.click("box('old.txt')")
    editor.wait("box('old.txt').ariaChecked === 'false' && box('Hunk 2, line 34').ariaChecked === 'false'")
    editor.shot("3-rejected")

    # There is no program yet.
    editor.click("button('Apply What Is Accepted')")
    editor.wait("said().includes('was not found here')")
    editor.shot("4-no-program")
    editor.click("button('How to Install')")
    editor.wait("document.body.textContent.includes(\"Apply a model's patch\")")
    editor.shot("5-walkthrough")
    assert read("old.txt") == "old\n" and read("src/todo.py") == TODO
    os.makedirs(f"{home}/.local/bin")
    os.symlink(os.environ["PROGRAM"], f"{home}/.local/bin/apply-patch")
    editor.command("Apply Patch: Apply What Is Accepted")
    editor.wait("said().includes('Applied to the disk: 1 created, 1 updated.')")
    editor.shot("6-applied")
    assert read("src/todo.py") == TODO.replace("return 2\n", 'return "two"\n'), read("src/todo.py")
    assert (read("src/__init__.py"), read("old.txt")) == ("# To do.\n", "old\n")

    editor.command("Apply Patch: Undo Last Patch")
    editor.wait("title().includes('Undo the last patch?')")
    editor.shot("7-undo")
    editor.click("choice('Undo')")
    until(lambda: read("src/todo.py") == TODO and read("src/__init__.py") is None, "the patch is undone")

    # The clipboard, and a file with unsaved changes.
    editor.command("View: Show Explorer")
    editor.click("row('README.md')")
    editor.wait("text().includes('# To do')")
    editor.click("all('.editor-instance .view-line')[0]")
    editor.key("Home", 36)
    editor.call("Input.insertText", text="typed ")
    patch = "*** Begin Patch\n*** Update File: README.md\n@@\n typed # To do\n+A list.\n*** End Patch\n"
    paste(editor, f"Here it is: \n{patch}")
    editor.wait("row('Hunk 1, line 2')")
    editor.wait("document.body.textContent.includes('Will be made in the editor and not saved')")
    editor.shot("8-unsaved")
    editor.click("button('Apply What Is Accepted')")
    editor.wait("said().includes('Applied in the editor, not saved: 1 updated.')")
    editor.wait("text().includes('A list.')")
    editor.shot("9-in-the-editor")
    assert read("README.md") == "# To do\n"

    # A refusal.
    patch = "*** Begin Patch\n*** Update File: src/todo.py\n@@\n def task_7():\n-    return seven\n+    return 8\n*** End Patch\n"
    paste(editor, patch)
    editor.wait("said().includes('its old lines are not in the file')")
    editor.shot("10-refused")
    editor.click("button('Show')")
    editor.wait("text().includes('def task_7')")
    editor.shot("11-shown")

    # The menu of an editor, and a patch that is not applied after all.
    editor.command("View: Show Explorer")
    editor.click("row('answer.patch')")
    editor.wait("text().includes('*** Begin Patch')")
    editor.click("all('.editor-instance .view-line')[0]", "right")
    editor.wait("entry('Apply Patch…')")
    editor.shot("12-editor-menu")
    editor.click("entry('Apply Patch…')")
    editor.wait("row('Hunk 2, line 34')")
    editor.click("button('Discard the Patch')")
    editor.wait("!row('Hunk 2, line 34') && !text().includes('return \"nine\"')")
    assert read("src/todo.py") == TODO


def changes(editor: Editor) -> None:
    """What an agent did is listed by itself, reviewed, reverted in part and undone."""
    agent("t1", AGENTS)
    editor.wait("row('notes.md') && row('refactor')")
    editor.shot("13-what-agents-did")
    with open(f"{project}/src/todo.py", "w", encoding="utf-8") as file:
        file.write("import os\n\n\n" + TODO.replace("return 2\n", 'return "second"\n').replace("return 9\n", "return 99\n"))
    editor.click("row('2 filesclaude')", "right")
    editor.wait("entry('Review Changes')")
    editor.shot("14-menu")
    editor.click("entry('Review Changes')")
    editor.wait("row('changed since') && row('Hunk 1, line 9')")
    editor.click("row('Hunk 1, line 9')")
    editor.wait("text().includes('return \"second\"') && text().includes('return 2') && text().includes('import os')")
    editor.shot("15-review-of-changes")
    editor.click("row('changed since')")
    editor.wait("text().includes('As it was left')")
    editor.shot("16-changed-since")
    editor.click("row('Hunk 1, line 9')")
    editor.wait("text().includes('import os')")
    editor.click("button('Reject Hunk')")
    editor.wait("box('Hunk 1, line 9').ariaChecked === 'false'")
    editor.click("row('Hunk 1, line 9')")
    editor.wait("text().includes('import os')")
    editor.shot("17-to-be-reverted")
    editor.command("Apply Patch: Comment on Hunk…")
    editor.wait("title().includes('Comment on the hunk')")
    editor.call("Input.insertText", text="Why two?")
    editor.key("Enter", 13)
    editor.wait("row('Hunk 1, line 9').textContent.includes('“Why two?”')")
    assert [note["words"] for note in program("review", "--json", "--notes")["notes"]] == ["Why two?"]

    # Somebody writes while the person reads.
    with open(f"{project}/src/todo.py", "a", encoding="utf-8") as file:
        file.write("# The end.\n")
    editor.click("button('Revert What Is Rejected')")
    editor.wait("said().includes('Nothing was reverted: files have changed.')")
    editor.wait("box('Hunk 1, line 9').ariaChecked === 'false'")
    editor.shot("18-again")
    assert 'return "second"' in read("src/todo.py")
    editor.click("button('Revert What Is Rejected')")
    editor.wait("said().includes('Reverted: 1 hunk in 1 file.')")
    assert read("src/todo.py") == "import os\n\n\n" + TODO.replace("return 9\n", "return 99\n") + "# The end.\n", read("src/todo.py")
    assert read("src/notes.md") == "# Notes\n"

    agent("t2", "*** Begin Patch\n*** Add File: src/done.md\n+# Done\n*** End Patch\n")
    editor.click("row('done.mdclaude')", "right")
    editor.click("entry('Show Diff')")
    editor.wait("text().includes('+# Done')")
    editor.shot("19-diff")
    editor.click("row('done.mdclaude')", "right")
    editor.click("entry('Undo…')")
    editor.wait("title().includes('Undo turn t2 of session refactor?')")
    editor.shot("20-undo-turn")
    editor.click("choice('Undo')")
    until(lambda: read("src/done.md") is None, "the turn is undone")
    editor.wait("row('done.mdclaude, undone')")

    editor.command("Apply Patch: Review Changes Since…")
    editor.wait("title().includes('Review the changes since')")
    editor.call("Input.insertText", text="2h")
    editor.key("Enter", 13)
    editor.wait("document.body.textContent.includes('The changes since 2h')")
    editor.shot("21-since")
    editor.command("Apply Patch: End the Review")
    editor.wait("!document.body.textContent.includes('The changes since 2h')")


def proposals(editor: Editor) -> None:
    """A proposal is shown, approved and undone; another one is declined."""
    patch = "*** Begin Patch\n*** Update File: old.txt\n@@\n-old\n+older\n*** Add File: src/later.md\n+Later.\n*** End Patch\n"
    program("propose", "--json", "--why", "Older is better", "-", patch=patch)
    program("propose", "--json", "--why", "Worse", "-", patch="*** Begin Patch\n*** Delete File: src/notes.md\n*** End Patch\n")
    editor.click("all('.pane-header').find((one) => one.textContent.includes('Proposals'))")
    editor.click("row('Older is better')")
    editor.wait("text().includes('older') && text().includes('Later.')")
    editor.shot("22-proposal")
    editor.click("row('Older is better')", "right")
    editor.click("entry('Approve…')")
    editor.wait("title().includes('Approve p-')")
    editor.shot("23-approve")
    editor.click("choice('Approve')")
    editor.wait("said().includes('Approved: p-')")
    assert (read("old.txt"), read("src/later.md")) == ("older\n", "Later.\n")
    editor.wait("!row('Older is better')")
    editor.click("row('Worse')", "right")
    editor.click("entry('Decline…')")
    editor.wait("title().includes('Decline p-')")
    editor.call("Input.insertText", text="It is still read.")
    editor.key("Enter", 13)
    editor.wait("said().includes('Declined: p-') && !row('Worse')")
    editor.shot("24-declined")
    assert read("src/notes.md") == "# Notes\n"
    found = program("proposals", "--json")["proposals"]
    assert sorted((one["state"], one.get("decidedWhy")) for one in found)[-1][1] == "It is still read.", found


def dark(editor: Editor) -> None:
    """The same by night, for the pictures."""
    editor.command("Preferences: Toggle between Light/Dark Themes")
    editor.wait("all('.monaco-workbench.vs-dark')[0]")
    editor.command("Apply Patch: Review Changes Since…")
    editor.wait("title().includes('Review the changes since')")
    editor.call("Input.insertText", text="2h")
    editor.key("Enter", 13)
    editor.wait("document.body.textContent.includes('The changes since 2h')")
    editor.click("box('src/notes.md')")
    editor.click("row('src/notes.md')")
    editor.shot("25-dark")
    editor.command("Apply Patch: End the Review")
    editor.wait("!document.body.textContent.includes('The changes since 2h')")


reset()
os.makedirs(f"{home}/data/User")
with open(f"{home}/data/User/settings.json", "w", encoding="utf-8") as file:
    json.dump({"workbench.startupEditor": "none", "security.workspace.trust.enabled": False, "files.autoSave": "off"}, file)
places = ["--user-data-dir", f"{home}/data", "--extensions-dir", f"{home}/extensions"]
server = ["node", f"{scratch}/node_modules/code-server/out/node/entry.js", *places]
environment = {**os.environ, "HOME": home}
with open(f"{scratch}/editor.log", "wb") as log:
    subprocess.run([*server, "--install-extension", package], env=environment, stdout=log, stderr=log, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    offline = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check"]
    running = subprocess.Popen([*server, *offline], env=environment, stdout=log, stderr=log)
    try:
        for _ in range(150):
            try:
                urllib.request.urlopen(address).read()
                break
            except OSError:
                time.sleep(0.2)
        editor = Editor(address, project)
        try:
            person(editor)
            changes(editor)
            proposals(editor)
            dark(editor)
        finally:
            editor.close()
    finally:
        running.terminate()
        running.wait()
print("ok: a file, hunks, no program, apply, undo, the clipboard, unsaved changes, a refusal, what agents did and proposals, in code-server")
