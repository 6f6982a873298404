"""Cases from the scenarios, dialects and attacks that the tests of this repository have."""

import json
import re
import sys
import tempfile
from pathlib import Path

from casefile import (
    OUTSIDE,
    Cases,
    dialect_of,
    files,
    places,
    refused,
    repeats,
    step,
    tree,
    unescape,
)

TESTS = Path(__file__).resolve().parent.parent / "tests"
NEW = "new\n"


# The scenarios.


def scenario_promise(number, name, kind, reason):
    by_reason = guard_promise(reason, kind)
    by_number = {318: "bytes.mode", 320: "diffs.renames", 324: "guard.approval", 628: "diffs.binary", 656: "diffs.headers"}
    if number in by_number:
        return by_number[number]
    if 400 <= number < 500:
        return by_reason or ("guard.harmless" if not kind else "guard.names")
    ranges = [
        (0, 99, "dialects.envelope"),
        (100, 111, "dialects.wrapped"),
        (112, 116, "place.rules"),
        (117, 121, "place.overlooked"),
        (122, 123, "place.several"),
        (124, 128, "place.rules"),
        (129, 134, "sections.existing"),
        (135, 147, "ends.final-newline"),
        (148, 163, "place.rules"),
        (164, 169, "place.overlooked"),
        (200, 217, "sections.refused" if kind else "sections.order"),
        (290, 290, "diffs.simultaneous"),
        (291, 292, "diffs.directories"),
        (300, 300, "sections.moves"),
        (301, 303, "bytes.mode"),
        (304, 316, "sections.refused" if kind else "sections.moves"),
        (317, 319, "diffs.modes"),
        (320, 323, "diffs.files"),
        (324, 327, "guard.links"),
        (328, 339, "diffs.headers"),
        (340, 341, "bytes.line-ends"),
        (500, 599, "guard.stale"),
        (610, 616, "place.overlooked"),
        (617, 622, "dialects.envelope"),
        (623, 627, "diffs.place"),
        (628, 633, "diffs.files"),
        (650, 653, "place.applied"),
        (655, 657, "diffs.files"),
        (658, 660, "diffs.whitespace"),
        (700, 706, "bytes.untouched"),
        (707, 709, "ends.final-newline"),
        (710, 713, "bytes.line-ends"),
        (714, 717, "encoding.declared"),
        (718, 718, "bytes.line-ends"),
        (719, 722, "diffs.binary"),
        (723, 732, "diffs.binary-checked"),
        (803, 807, "dialects.placeholders"),
    ]
    for low, high, promise in ranges:
        if low <= number <= high:
            return promise
    return None


def guard_promise(reason, kind):
    if reason == "symlink":
        return "guard.links" if kind == "outside_workspace" else "guard.links-inside"
    groups = {
        "guard.outside": "traversal absolute_path tilde mount",
        "guard.hard-links": "hard_links",
        "guard.git": "git_directory bare_repository",
        "guard.version-control": "version_control",
        "guard.secrets": "forbidden",
        "guard.approval": "guarded",
        "guard.names": "control_character invisible_character not_portable root trailing_slash empty_component "
        "dot_component collision too_deep too_long",
        "guard.kinds": "special_file directory read_only",
    }
    return next((group for group, reasons in groups.items() if reason in reasons.split()), None)


# Flags of our program that a case can state in general words: the name of the option, and whether a
# value follows.
FLAGS = {
    "-R": ("reverse", False),
    "--expect": ("expect", True),
    "--allow": ("approve", True),
    "--create-parents": ("create_parents", False),
    "--overwrite": ("overwrite", False),
    "--fuzz": ("fuzz", True),
    "--skip-applied": ("skip_applied", False),
    "--base": ("base", True),
    "--ambiguous": ("ambiguous", True),
    "-p": ("strip", True),
    "--names": ("names", True),
    "--hard-links": ("hard_links", True),
    "--encoding": ("encoding", True),
    "--whitespace": ("whitespace", True),
    "--expect-from": ("expect", True),
    "--environment": ("environment", True),
    "--skip-binary": ("skip_binary", False),
    "--directory": ("directory", True),
    "--allow-delete": ("allow_delete", True),
    "--allow-move": ("allow_move", True),
    "--allow-placeholders": ("allow_placeholders", False),
}
# Scenarios of rules that this project has, and others with as good a reason have not: a link needs an approval,
# numbers of a diff that do not fit, a marker in an envelope, a large file, `.editorconfig`, placeholders.
HOUSE = {324, 625, 705, 708, 709, 710, 718, 803, 804}
# Rules of `strict` that these scenarios rest on, although their names do not say so.
STRICT = {341, 713}


def options_of(args, folder=None):
    """Options, rules and form that arguments state; `None` where they ask for something else."""
    options, rules, form = {}, "any", None
    args = [
        part
        for arg in args
        for part in (arg.split("=", 1) if arg.startswith("--") and "=" in arg else [arg])
    ]
    words = iter(args)
    for word in words:
        if word in ("apply", "-q"):
            continue
        if word == "--profile":
            rules = next(words)
        elif word == "--from":
            form = next(words)
        elif word in FLAGS:
            name, has_value = FLAGS[word]
            value = next(words) if has_value else True
            if name == "expect" and word == "--expect":
                path, _, sha = value.rpartition("=")
                options.setdefault("expect", {})[path] = sha
            elif name == "expect":
                options.setdefault("expect", {})
                for path, sha in json.loads((folder / "expect.json").read_text()).items():
                    options["expect"].setdefault(path, sha)
            elif name == "base":
                options["base"] = tree(folder / "base")
            elif name == "strip":
                options["strip"] = int(value)
            elif name in ("approve", "encoding"):
                options.setdefault(name, []).append(value)
            else:
                options[name] = value
        else:
            return None
    return options, rules, form


def scenarios():
    cases = Cases("scenarios")
    for folder in sorted(TESTS.glob("scenarios/*/")):
        number = int(folder.name.split("-")[0])
        read = lambda name: (folder / name).read_text() if (folder / name).exists() else None
        error = dict(line.split(": ", 1) for line in (read("error.txt") or "").splitlines())
        found = options_of((read("args.txt") or "").splitlines(), folder)
        kind, reason = error.get("kind"), error.get("reason")
        promise = scenario_promise(number, folder.name, kind, reason)
        # What prints and writes nothing is no case; neither is what stops half way on purpose.
        if not found or not promise or error.get("exit") in ("2", "6"):
            continue
        options, rules, form = found
        name = folder.name.split("-", 1)[1]
        if rules == "any" and (name.startswith("strict-") or number in STRICT):
            rules = "strict"
        if rules == "any" and number in HOUSE:
            rules = "house"
        patch = (folder / "patch.txt").read_bytes()
        if number in (402, 403):
            # An applier that takes it must not write where somebody else's files are.
            patch = re.sub(rb"File: /\S*", b"File: {outside}/new", patch)
        text = patch.decode(errors="replace")
        dialect = dialect_of(text) or "envelope"
        if form in (None, "auto") and not text.lstrip("\ufeff\r\n").startswith(
            ("***", "---", "diff ")
        ):
            dialect = "wrapped"
        elif "Content-Transfer-Encoding" in text:
            dialect = "wrapped"
        if dialect == "envelope" and form == "envelope":
            options["form"] = "envelope"
        with tempfile.TemporaryDirectory() as around:
            before, after = (
                build(Path(around), folder, *names)
                for names in (("before", "setup.txt"), ("after", "after.txt"))
            )
        if before is None or after is None:
            continue
        allow = refused(*filter(None, [kind])) if error else files(after)
        forbidden = paths_of(text) if error and promise == "guard.git" else []
        cases.add(
            folder.name,
            promise,
            dialect,
            patch,
            before,
            allow,
            f"tests/scenarios/{folder.name}",
            rules,
            options,
            forbidden,
            name.replace("-", " "),
        )
    return cases


def build(around, folder, name, steps):
    workspace = around / name / "ws"
    workspace.mkdir(parents=True)
    if (folder / name).exists():
        for path in sorted((folder / name).rglob("*")):
            target = workspace / path.relative_to(folder / name)
            if path.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
                target.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    lines = (folder / steps).read_text().splitlines() if (folder / steps).exists() else []
    # What is beside the workspace there has no place in the schema.
    lines = [line for line in lines if not line.split(" ")[1].startswith("..")]
    if not all(step(workspace, line) for line in lines):
        return None
    return {
        path: (
            {"symlink": value["symlink"].replace("../elsewhere", "../outside")}
            if "symlink" in value
            else value
        )
        for path, value in tree(workspace).items()
    }


def paths_of(text):
    """The paths that the headers of an envelope name."""
    found = re.findall(
        r"^\*\*\* (?:Add|Update|Delete) File: (.*?)\r?$|^\*\*\* Move to: (.*?)\r?$", text, re.M
    )
    return [path.strip() for pair in found for path in pair if path and ".." not in path]


# The dialects.


def dialects():
    cases = Cases("dialects")
    before = tree(TESTS / "dialects/before")
    for path in sorted(TESTS.glob("dialects/*.txt")):
        head, _, rest = path.read_bytes().partition(b"=====sent\n")
        sent, mark, inside = rest.partition(b"\n=====is\n")
        recovered = head.startswith(b"recovered")
        number, name = path.stem.split("-", 1)
        text, fence = sent.decode(errors="replace"), re.search(rb"^[>\s]*(```|~~~)", sent, re.M)
        bare = name.startswith("bare") and "blank" not in name and "mark" not in name
        # Diffs as other tools write them have lines around that are no part of them.
        around = 207 <= int(number) <= 221
        if bare or around:
            dialect = dialect_of(text) or "envelope"
        elif re.match(rb".*\n<<<<<<< SEARCH", sent) and not fence:
            dialect = "blocks"
        else:
            dialect = "wrapped"
        promise = "around" if around else "fenced" if fence and text[0] != "{" else "recovered"
        allow = refused()
        if recovered:
            after = plainly(before, inside.decode())
            if after is None:
                print(f"left out: {path.name}", file=sys.stderr)
                continue
            allow = files(after)
            # Whether an empty last line of a new file ends it or is one more line, rules differ.
            made = [
                name
                for name in after
                if name not in before and re.search(r"^\+$\n?(?=\*\*\* |\Z)", inside.decode(), re.M)
            ]
            if made:
                allow += files({**after, **{name: after[name] + "\n" for name in made}})
        cases.add(
            path.stem,
            f"dialects.{promise}" if recovered else "dialects.refused",
            dialect,
            sent,
            before,
            allow,
            f"tests/dialects/{path.name}",
            says=name.replace("-", " "),
        )
    return cases


def plainly(before, text):
    """Applies a clean patch to a few files by the naive rule. `None`: it is beyond that."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    sections = sections_of(text)
    if sections is None:
        return None
    now = {path: value for path, value in before.items()}
    for verb, path, target, body in sections:
        if verb == "delete":
            if path not in now:
                return None
            del now[path]
        elif verb == "add":
            marked = bool(body) and body[-1].startswith("\\ No newline")
            body = body[:-1] if marked else body
            now[path] = "".join(line[1:] + "\n" for line in body)
            # A last line that is empty says that the one before it has an end.
            if marked or (body and body[-1] == "+"):
                now[path] = now[path][:-1]
        else:
            lines = now[path].split("\n")
            for hunk in hunks_of(body):
                old = [line[1:] for line in hunk if line[:1] in (" ", "-", "")]
                new = [line[1:] for line in hunk if line[:1] in (" ", "+", "")]
                spots = places(lines, old)
                if len(spots) != 1:
                    return None
                lines[spots[0] : spots[0] + len(old)] = new
            now[path] = "\n".join(lines)
            if target:
                now[target] = now.pop(path)
    return now


def sections_of(text):
    """The sections of an envelope or a plain diff: verb, path, new path, body."""
    found = []
    if "*** Begin Patch" in text:
        for line in text.split("\n"):
            line = line.rstrip("\r")
            header = re.fullmatch(r"\*\*\* (Add|Update|Delete) File: (?:\./)?(.*)", line)
            move = re.fullmatch(r"\*\*\* Move File: (.*) -> (.*)", line)
            if header:
                found.append([header[1].lower(), header[2], None, []])
            elif move:
                found.append(["update", move[1], move[2], []])
            elif line.startswith("*** Move to: "):
                found[-1][2] = line.removeprefix("*** Move to: ")
            elif line.startswith("*** End Patch"):
                return found
            elif found and not line.startswith("*** "):
                found[-1][3].append(line)
        return found
    old, left = None, [0, 0]
    for line in text.split("\n"):
        if left != [0, 0]:
            found[-1][3].append(line)
            left[0] -= line[:1] in (" ", "-", "")
            left[1] -= line[:1] in (" ", "+", "")
        elif line.startswith("--- "):
            old = re.split(r"\t|  ", line[4:])[0]
        elif line.startswith("+++ ") and old is not None:
            new = re.split(r"\t|  ", line[4:])[0]
            name = lambda path: re.sub(r"^[ab]/", "", path.strip())
            verb = "add" if old == "/dev/null" else "delete" if new == "/dev/null" else "update"
            found.append([verb, name(new if verb == "add" else old), None, []])
        elif (header := re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)) and found:
            left = [int(count or 1) for count in header.groups()]
            if found[-1][0] != "add":
                found[-1][3].append("@@")
        elif re.match(r"rename |copy |GIT binary|new file mode 12|old mode", line):
            return None
    return found or None


def hunks_of(body):
    hunks = [[]]
    for line in body:
        if line.startswith("@@"):
            hunks.append([])
        else:
            hunks[-1].append(line)
    # Empty lines before a header are between sections.
    for hunk in hunks:
        while hunk and hunk[-1] == "":
            hunk.pop()
    return [hunk for hunk in hunks if hunk]


# The attacks.

PATCHES = ["add", "update", "delete", "from", "to", "codex", "diff"]


def attacks():
    cases = Cases("attacks")
    for path in sorted(TESTS.glob("hostile/*.txt")):
        group, setup, run, ordinal = "", [], None, 0
        runs = []
        for line in path.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("[") and line.endswith("]"):
                group, setup, run = line[1:-1], [], None
            elif line.startswith("|"):
                if run is not None and run["text"] is not None:
                    run["text"] = more(run["text"], line[1:])
            elif line.startswith("absent "):
                pass
            elif " => " in line:
                what, _, want = line.rpartition(" => ")
                want = want.split(" ") + [None, None]
                run = {
                    "what": what,
                    "exit": int(want[0]),
                    "kind": want[1],
                    "reason": want[2],
                    "text": b"",
                    "group": group,
                    "setup": list(setup),
                }
                runs.append(run)
            else:
                setup.append(line)
        for run in runs:
            ordinal += 1
            attack(cases, path, run, ordinal)
    return cases


def more(text, line):
    """The input with one more line of the file."""
    if line.startswith("*"):
        count, piece = line[1:].lstrip().split(" ", 1)
        if "{n}" in piece:
            added = (
                b"".join(unescape(piece.replace("{n}", str(n))) for n in range(int(count)))
                if int(count) < 500
                else None
            )
        else:
            added = unescape(piece) * int(count) if int(count) < 200000 else None
    elif line.startswith("-"):
        added = unescape(line[1:].removeprefix(" "))
    else:
        added = unescape(line.removeprefix(" ")) + b"\n"
    return None if added is None else text + added


def attack(cases, path, run, ordinal):
    verb, _, rest = run["what"].partition(" ")
    wanted = [run["kind"]] if run["kind"] else []
    promise = guard_promise(run["reason"], run["kind"]) or {
        "patch_parse_error": "dialects.refused",
        "already_exists": "guard.names",
        "multiple_matches": "place.several",
        "permission_denied": "guard.git",
        "command_failed": "guard.names",
    }.get(run["kind"])
    if run["exit"] == 0:
        promise = "guard.harmless"
    # The state directory and its locks are our program's own matter, and so are its limits.
    if (
        path.name.startswith(("5", "7"))
        or run["exit"] in (2, 5)
        or promise is None
        or run["reason"] == "state_directory"
    ):
        return
    with tempfile.TemporaryDirectory() as around:
        workspace, outside = Path(around) / "ws", Path(around) / "outside"
        (workspace / "d").mkdir(parents=True)
        (outside / "dir").mkdir(parents=True)
        for name in ["a.txt", "d/b.txt"]:
            (workspace / name).write_text("one\n")
        for name in ["secret", "dir/secret"]:
            (outside / name).write_text("one\n")
        if not all(step(workspace, line) for line in run["setup"]):
            return
        if sorted(str(at.relative_to(outside)) for at in outside.rglob("*")) != [
            "dir",
            "dir/secret",
            "secret",
        ]:
            return
        before = tree(workspace, outside)
    if sum(len(json.dumps(value)) for value in before.values()) > 8000:
        return
    source, slug = f"tests/hostile/{path.name}", re.sub(r"[^a-z0-9]+", "-", run["group"].lower())
    if verb == "try":
        operations, target = rest.split(" ", 1)
        target = (
            unescape(target).decode().replace("/etc/passwd", f"{OUTSIDE}/secret")
            if rest.endswith(" /etc/passwd")
            else unescape(target).decode()
        )
        for name in dict.fromkeys(
            name
            for op in operations.split(",")
            for name in (PATCHES if op in ("patch", "all") else [op])
            if name in PATCHES
        ):
            text, form, rules, options = operation(name, target)
            allow = files(outcome(name, target, before)) if run["exit"] == 0 else refused(*wanted)
            forbidden = [target] if promise == "guard.git" and run["exit"] != 0 else []
            cases.add(
                f"{path.stem[0]}-{ordinal:03}-{slug}-{name}",
                promise,
                form,
                text,
                before,
                allow,
                source,
                rules,
                options,
                forbidden,
                f"{run['group']}: {name} {ascii(target)[1:-1]}",
            )
    elif verb == "run" and rest.startswith("apply") and run["text"] and run["exit"] != 0:
        found = options_of(rest.split(" "))
        if (
            not found
            or len(run["text"]) > 60000
            and not repeats(run["text"].decode(errors="replace"))
        ):
            return
        options, rules, form = found
        text = run["text"].decode(errors="replace")
        dialect = dialect_of(text) or "envelope"
        forbidden = [name for name in paths_of(text) if promise == "guard.git"]
        cases.add(
            f"{path.stem[0]}-{ordinal:03}-{slug}",
            promise,
            dialect,
            run["text"],
            before,
            refused(*wanted),
            source,
            rules,
            options,
            forbidden,
            run["group"],
        )


def operation(name, path):
    """One way to reach for a path: text, dialect, rules, options."""
    patch = lambda before, after: f"*** Begin Patch\n*** {before}{path}{after}\n*** End Patch\n"
    parents = {"create_parents": True}
    return {
        "add": lambda: (patch("Add File: ", "\n+new"), "envelope", "any", parents),
        "update": lambda: (patch("Update File: ", "\n@@\n-one\n+two"), "envelope", "any", {}),
        "delete": lambda: (patch("Delete File: ", ""), "envelope", "any", {}),
        "from": lambda: (
            patch("Update File: ", "\n*** Move to: moved.txt\n@@\n-one\n+two"),
            "envelope",
            "any",
            {},
        ),
        "to": lambda: (
            patch("Update File: a.txt\n*** Move to: ", "\n@@\n-one\n+two"),
            "envelope",
            "any",
            parents,
        ),
        "codex": lambda: (patch("Add File: ", "\n+new"), "envelope", "codex", {}),
        "diff": lambda: (
            f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-one\n+two\n",
            "unified",
            "any",
            {},
        ),
    }[name]()


def outcome(name, path, before):
    """What the operation comes to where nothing forbids it."""
    after = dict(before)
    if name in ("add", "codex"):
        after[path] = NEW
    elif name in ("update", "diff"):
        after[path] = "two\n"
    elif name == "delete":
        del after[path]
    else:
        # A move with a change: not everybody's grammar has one without.
        old, new = (path, "moved.txt") if name == "from" else ("a.txt", path)
        del after[old]
        after[new] = "two\n"
    return after


FAMILIES = [scenarios, dialects, attacks]
