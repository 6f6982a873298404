"""The programs that are given the answers, each in a fresh folder with the files before."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

TIME = 60


class Outcome:
    def __init__(self, applied, files, error=None, said=""):
        self.applied, self.files, self.error, self.said = applied, files, error or {}, said


class Folder:
    """A folder with files, of which are read what a program left there."""

    def __init__(self, files):
        self.home = Path(tempfile.mkdtemp(prefix="real-"))
        self.root = self.home / "work"
        self.root.mkdir()
        for path, data in files.items():
            if data is not None:
                file = self.root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)

    def files(self):
        found = {}
        for directory, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".apply-patch", ".git")]
            for name in names:
                file = os.path.join(directory, name)
                if not os.path.islink(file):
                    with open(file, "rb") as data:
                        found[os.path.relpath(file, self.root)] = data.read()
        return found

    def run(self, words, text=b""):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.home),
            "APPLY_PATCH_DURABILITY": "none",
        }
        try:
            return subprocess.run(
                words, input=text, cwd=self.root, env=environment, capture_output=True, timeout=TIME
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, b"", b"no answer in time")


def encoded(text):
    return text.encode("utf-8", "surrogatepass")


def there(here, text, root):
    return here(text, root) if here else text


def ours(program, profile, answer, before, here=None):
    """The program that is measured. An answer with its root in its paths is told the new root."""
    with Folder(before) as folder:
        words = [program, "-C", str(folder.root), "--json"]
        if answer.get("call"):
            text = encoded(json.dumps(our_arguments(answer["call"], before)))
            run = folder.run([*words, "tool", "edit_file", "--args", "-"], text)
        else:
            run = folder.run(
                [*words, "--profile", profile], encoded(there(here, answer["text"], folder.root))
            )
        try:
            error = json.loads(run.stdout).get("error")
        except ValueError:
            error = {"kind": "no answer", "message": run.stderr.decode("utf-8", "replace")[-300:]}
        return Outcome(
            run.returncode == 0, folder.files(), error, run.stdout.decode("utf-8", "replace")
        )


def our_arguments(call, before):
    """The arguments of Claude's calls by our names, as its users' adapters give them."""
    edits = []
    for edit in call.get("edits") or [call]:
        one = {"oldText": edit.get("old_string"), "newText": edit.get("new_string")}
        if edit.get("replace_all"):
            one["replaceAll"] = True
        edits.append(one)
    read = hashlib.sha256(before[call["file_path"]]).hexdigest()
    return {"path": call["file_path"], "edits": edits, "expectedSha256": read}


def codex(program, text, before, here=None):
    with Folder(before) as folder:
        patch = there(here, text, folder.root)
        if len(encoded(patch)) < 100_000 and "\0" not in patch:
            run = folder.run([program, patch])
        else:
            run = folder.run([program], encoded(patch))
        return Outcome(
            run.returncode == 0, folder.files(), said=run.stderr.decode("utf-8", "replace")
        )


PEERS = {
    "git apply": ["git", "apply", "-"],
    "git apply --recount": ["git", "apply", "--recount", "-"],
    "git apply --3way": ["git", "apply", "--3way", "-"],
    "patch": ["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-r", "-"],
}


def peer(name, text, before):
    with Folder(before) as folder:
        if name.startswith("git"):
            folder.run(["git", "init", "-q"])
            folder.run(["git", "add", "-A"])
        run = folder.run(PEERS[name], encoded(text))
        return Outcome(
            run.returncode == 0, folder.files(), said=run.stderr.decode("utf-8", "replace")
        )
