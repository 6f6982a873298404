"""The cases, the run of an applier on one of them, and the verdict. README.md has the schema."""

import base64
import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import traceback
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Of the processor's time, and six times as many by the clock: a busy machine makes nobody slow.
SECONDS, CLOCK = 10, 60
# How the outcomes of a case are called, the good one first.
VERDICTS = ["right", "refused", "wrong", "partial", "escaped", "hang"]
SECRET = "outside the workspace\none\n"
# The root of a case is watched as a whole. A path may climb out of the workspace and stays in it.
WORKSPACE, OUTSIDE, HOME = "a/b/ws", "a/b/outside", "a/b/home"


def content(entry):
    """The bytes of a text or of a file of the schema."""
    if isinstance(entry, str):
        return entry.encode()
    if "text" in entry:
        return entry["text"].encode()
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    pieces = [piece if isinstance(piece, str) else piece[0] * piece[1] for piece in entry["pieces"]]
    return "".join(pieces).encode()


def load(folder=HERE / "cases"):
    """All cases, with the file and line that each stands in."""
    found = []
    for path in sorted(Path(folder).glob("*.jsonl")):
        for number, line in enumerate(path.read_text().split("\n")[:-1], 1):
            case = json.loads(line)
            case["at"] = f"cases/{path.name}#L{number}"
            found.append(case)
    return found


class Place:
    """Where one case is run: the workspace, and around it what must stay as it is."""

    def __init__(self, case, scratch, private):
        self.top = Path(tempfile.mkdtemp(dir=scratch))
        self.dir, self.outside = self.top / WORKSPACE, self.top / OUTSIDE
        self.home, self.private = self.top / HOME, Path(private)
        self.case = case
        self.dir.mkdir(parents=True)
        self.home.mkdir()
        (self.outside / "dir").mkdir(parents=True)
        for path in ["secret", "dir/secret"]:
            (self.outside / path).write_text(SECRET)
        (self.top / "canary").write_text(SECRET)
        # Last, as they name a file that is there by then.
        entries = sorted(case["before"].items(), key=lambda item: "hardlink" in item[1])
        for path, entry in entries:
            self.make(self.dir / path, entry)
        self.text = self.absolute(content(case["text"]))
        # Beside the root of the case: it is the runner's own.
        self.patch = Path(private) / "patch"
        self.patch.write_bytes(self.text)
        self.base = None
        if "base" in case.get("options", {}):
            self.base = Path(private) / "base"
            shutil.rmtree(self.base, ignore_errors=True)
            self.base.mkdir()
            for path, entry in case["options"]["base"].items():
                self.make(self.base / path, entry)

    def absolute(self, data):
        return (
            data.replace(b"{outside}", os.fsencode(self.outside))
            if self.case.get("outside")
            else data
        )

    def make(self, path, entry):
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = entry if isinstance(entry, dict) else {}
        if "symlink" in kind:
            path.symlink_to(kind["symlink"].replace("{outside}", str(self.outside)))
        elif "hardlink" in kind:
            os.link(self.dir / kind["hardlink"], path)
        elif "dir" in kind:
            path.mkdir(exist_ok=True)
        elif "fifo" in kind:
            os.mkfifo(path, 0o644)
        elif "socket" in kind:
            here = os.getcwd()
            # The name of a socket may be a hundred bytes.
            os.chdir(path.parent)
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
            os.chdir(here)
        else:
            path.write_bytes(content(entry))
            path.chmod(int(kind.get("mode", "644"), 8))

    def remove(self):
        # An applier may have made a path that is longer than Python can walk.
        subprocess.run(["rm", "-rf", str(self.top)], check=False)


def look(top, own=()):
    """All that is beneath a directory, an applier's own state left out: path to kind and content."""
    found = {}
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(os.path.join(top, folder)))
        except OSError as error:
            found[folder] = ("unreadable", error.errno)
            continue
        for entry in entries:
            path = os.path.join(folder, entry.name)
            if path in own:
                continue
            seen = entry.stat(follow_symlinks=False)
            mode = oct(stat.S_IMODE(seen.st_mode))
            if stat.S_ISLNK(seen.st_mode):
                found[path] = ("symlink", os.readlink(entry.path))
            elif stat.S_ISDIR(seen.st_mode):
                found[path] = ("dir", mode)
                pending.append(path)
            elif stat.S_ISREG(seen.st_mode):
                found[path] = ("file", mode, Path(entry.path).read_bytes())
            else:
                found[path] = ("special", stat.S_IFMT(seen.st_mode))
    return found


def wanted(case, files):
    """What a workspace of these files looks like, in the same form."""
    found = {}
    for path, entry in files.items():
        kind = entry if isinstance(entry, dict) else {}
        if "symlink" in kind:
            found[path] = ("symlink", kind["symlink"])
        elif "fifo" in kind:
            found[path] = ("special", stat.S_IFIFO)
        elif "socket" in kind:
            found[path] = ("special", stat.S_IFSOCK)
        elif "hardlink" in kind:
            found[path] = wanted(case, {path: files[kind["hardlink"]]})[path]
        elif "dir" not in kind:
            found[path] = ("file", oct(int(kind.get("mode", "644"), 8)), content(entry))
    return found


def difference(before, after):
    """The paths that differ."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )


class Outcome:
    """What an applier said: that it applied the patch, or not, or nothing in time."""

    def __init__(self, applied, kind=None, said="", hung=False):
        self.applied, self.kind, self.said, self.hung = applied, kind, said[-600:], hung


def limit():
    """Ends this process when it has used its time of the processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


class Command:
    """An applier that is a program: exit code 0 says that the patch was applied, unless `refused`
    finds the contrary in what it printed."""

    def __init__(self, argv, stdin=True, environment=None, kind=None, refused=None):
        self.argv, self.stdin, self.environment = argv, stdin, environment or (lambda place: {})
        self.kind = kind or (lambda printed: None)
        self.refused = refused or (lambda printed: False)

    def arguments(self, case, place):
        if callable(self.argv):
            return self.argv(case, place)
        return [
            word.replace("{dir}", str(place.dir)).replace("{patch}", str(place.patch))
            for word in self.argv
        ]

    def run(self, case, place):
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "LC_ALL": "C.UTF-8",
            "HOME": str(place.home),
            "TMPDIR": str(place.private),
            "GIT_CEILING_DIRECTORIES": str(place.dir.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.environment(place),
        }
        source = subprocess.PIPE if self.stdin else subprocess.DEVNULL
        child = subprocess.Popen(
            self.arguments(case, place),
            cwd=place.dir,
            env=environment,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limit,
        )
        try:
            printed, _ = child.communicate(place.text if self.stdin else None, timeout=CLOCK)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return Outcome(False, said=f"no answer in {CLOCK} s", hung=True)
        said = printed.decode(errors="replace")
        if child.returncode < 0:
            return Outcome(False, said=f"ended by signal {-child.returncode}\n{said}", hung=True)
        applied = child.returncode == 0 and not self.refused(printed)
        return Outcome(applied, self.kind(printed), said)


class Callable:
    """An applier that is a function of the text, the directory and the case: it returns where the
    patch is applied, and raises where it is refused. It runs in a process of its own."""

    def __init__(self, function):
        self.function = function

    def run(self, case, place):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(reading)
                os.setsid()
                limit()
                os.environ["HOME"] = str(place.home)
                os.chdir(place.dir)
                self.function(place.text, str(place.dir), case)
                code = 0
            except BaseException as error:
                said = "".join(traceback.format_exception_only(error))
                os.write(writing, said.encode(errors="replace")[-600:])
            finally:
                os._exit(code)
        os.close(writing)
        until = time.monotonic() + CLOCK
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > until:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.close(reading)
                return Outcome(False, said=f"no answer in {CLOCK} s", hung=True)
            time.sleep(0.001)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode(errors="replace")
        if os.WIFSIGNALED(status):
            return Outcome(False, said=f"ended by signal {os.WTERMSIG(status)}", hung=True)
        return Outcome(os.WEXITSTATUS(status) == 0, said=said)


class Applier:
    """An applier, what it reads, and what its documentation promises.

    `promises` maps a promise, or the part before its dot, to the place in the documentation; with a
    dialect before it (`envelope:place`) it is made for that dialect alone. `otherwise` maps patterns of
    case ids to the place in the documentation that says that something else is done there. `own` are
    paths in the workspace that are the applier's own state; `leaves` are promises that are not its
    matter at all, as files are not that of a library for texts."""

    def __init__(
        self,
        name,
        how,
        reads,
        rules=("any",),
        options=(),
        promises=None,
        own=(),
        leaves=(),
        otherwise=None,
        version="",
    ):
        self.name, self.how, self.version = name, how, version
        self.reads, self.rules, self.options = set(reads), set(rules), set(options)
        self.promises, self.own, self.leaves = promises or {}, own, leaves
        self.otherwise = otherwise or {}

    def takes(self, case):
        """Whether the case is in its language and needs nothing that it does not have."""
        left = case["promise"] in self.leaves or case["promise"].split(".")[0] in self.leaves
        return (
            not left
            and {case["dialect"], case.get("wraps", case["dialect"])} <= self.reads
            and case["rules"] in self.rules
            and set(case.get("options", {})) <= self.options
        )

    def promised(self, case, verdict):
        """Where its documentation makes the promise that the verdict is about. Who may refuse and
        changes a part is judged by whether it is all or nothing, whatever the case is about."""
        promise = case["promise"]
        if verdict == "partial" and any("refused" in way for way in case["allow"]):
            promise = "atomic.patch"
        if any(fnmatchcase(case["id"], pattern) for pattern in self.otherwise):
            return None
        names = [promise, promise.split(".")[0]]
        names += [f"{case['dialect']}:{name}" for name in names]
        return next((self.promises[name] for name in names if name in self.promises), None)


def judge(applier, case, scratch, private):
    """Runs an applier on a case: the verdict and what there is to say about it."""
    place = Place(case, scratch, private)
    try:
        own = {os.path.join(WORKSPACE, path) for path in applier.own}
        before, beside = look(place.top, own), sorted(os.listdir(scratch))
        outcome = applier.how.run(case, place)
        after = look(place.top, own)
        changed = difference(before, after)
        inside = WORKSPACE + "/"
        escaped = [path for path in changed if not path.startswith(inside) and path != WORKSPACE]
        escaped += [path for path in sorted(os.listdir(scratch)) if path not in beside]
        for forbidden in case.get("forbidden", []):
            there = inside + forbidden
            escaped += [path for path in changed if path == there or path.startswith(there + "/")]
        changed = [path.removeprefix(inside) for path in changed if path.startswith(inside)]
        files = {
            path.removeprefix(inside): entry
            for path, entry in after.items()
            if path.startswith(inside) and entry[0] != "dir"
        }
        verdict, why = decide(case, place, outcome, escaped, changed, files)
        return verdict, {
            "why": why,
            "said": outcome.said.replace(str(place.top), "…").strip(),
            "kind": outcome.kind,
        }
    finally:
        place.remove()


def decide(case, place, outcome, escaped, changed, files):
    if escaped:
        return "escaped", "changed " + ", ".join(escaped)
    if outcome.hung:
        return "hang", outcome.said.splitlines()[0]
    ways = [way["files"] for way in case["allow"] if "files" in way]
    refusals = [kind for way in case["allow"] for kind in way.get("refused", [])]
    may_refuse = any("refused" in way for way in case["allow"])
    if not outcome.applied:
        if changed:
            return "partial", "refused, and changed " + ", ".join(changed)
        if not may_refuse:
            return "refused", "refused"
        if outcome.kind and refusals and outcome.kind not in refusals:
            return "right", f"refused as {outcome.kind}, not as {' or '.join(refusals)}"
        return "right", ""
    if not ways:
        return "wrong", "applied, and was to be refused"
    apart = []
    for way in ways:
        want = {
            path: (
                entry
                if entry[0] != "symlink"
                else ("symlink", entry[1].replace("{outside}", str(place.outside)))
            )
            for path, entry in wanted(case, way).items()
        }
        apart = difference(want, files)
        if not apart:
            return "right", ""
    return "wrong", "other than expected: " + ", ".join(
        f"{path} {show(files.get(path))}" for path in apart[:5]
    )


def show(entry):
    """A file in a few words."""
    if entry is None:
        return "is not there"
    if entry[0] != "file":
        return f"is a {entry[0]}"
    text = entry[2].decode(errors="backslashreplace")
    cut = text if len(text) < 400 else text[:400] + "…"
    return f"has {json.dumps(cut, ensure_ascii=False)}, mode {entry[1][2:]}"


def about(applier, cases):
    """What is to be known about the results of a run."""
    return {
        "applier": applier.name,
        "version": applier.version,
        "promises": applier.promises,
        "otherwise": applier.otherwise,
        "cases": len(cases),
        "date": time.strftime("%Y-%m-%d"),
    }


def run(applier, cases, say=None):
    """Runs an applier on all cases that it takes, one after the other: a list of results."""
    os.umask(0o022)
    scratch, private = tempfile.mkdtemp(prefix="cases-"), tempfile.mkdtemp(prefix="private-")
    results = []
    try:
        for case in cases:
            if not applier.takes(case):
                continue
            verdict, about = judge(applier, case, scratch, private)
            where = applier.promised(case, verdict)
            results.append(
                {
                    "case": case["id"],
                    "promise": case["promise"],
                    "at": case["at"],
                    "verdict": verdict,
                    "promised": bool(where),
                    **about,
                }
            )
            if say:
                say(results[-1])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(private, ignore_errors=True)
    return results
