"""Files and texts as cases have them, and the cases of one file."""

import base64
import json
import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

OUTSIDE = "{outside}"


def entry(data, mode="644"):
    """A file of the schema, in the shortest form."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is None:
        found = {"base64": base64.b64encode(data).decode()}
    elif len(data) > 4000 and (pieces := repeats(text)):
        found = {"pieces": pieces}
    else:
        found = {"text": text}
    if mode != "644":
        found["mode"] = mode
    return found["text"] if list(found) == ["text"] else found


def repeats(text):
    """The text as lines that are repeated; `None` where that is not shorter."""
    pieces = []
    for line in text.splitlines(keepends=True):
        if pieces and pieces[-1][0] == line:
            pieces[-1][1] += 1
        else:
            pieces.append([line, 1])
    # One long line may repeat within itself.
    pieces = [
        [piece[0][0], len(piece[0])] if piece[1] == 1 and len(set(piece[0])) == 1 else piece
        for piece in pieces
    ]
    short = []
    for piece, count in pieces:
        if count > 1:
            short.append([piece, count])
        elif short and isinstance(short[-1], str):
            short[-1] += piece
        else:
            short.append(piece)
    size = sum(len(piece if isinstance(piece, str) else piece[0]) for piece in short)
    return short if size * 4 < len(text) else None


def tree(top, outside=None):
    """The files beneath a directory, as the schema has them."""
    found, names = {}, {}
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in sorted(files) + [
            name for name in folders if os.path.islink(os.path.join(folder, name))
        ]:
            path = Path(folder) / name
            seen, at = path.lstat(), str(path.relative_to(top))
            if stat.S_ISLNK(seen.st_mode):
                found[at] = {"symlink": os.readlink(path).replace(str(outside), OUTSIDE)}
            elif stat.S_ISFIFO(seen.st_mode):
                found[at] = {"fifo": True}
            elif stat.S_ISSOCK(seen.st_mode):
                found[at] = {"socket": True}
            elif seen.st_nlink > 1 and seen.st_ino in names:
                found[at] = {"hardlink": names[seen.st_ino]}
            else:
                names[seen.st_ino] = at
                mode = oct(stat.S_IMODE(seen.st_mode))[2:]
                found[at] = entry(path.read_bytes(), mode)
        for name in folders:
            path = Path(folder) / name
            if not path.is_symlink() and not any(path.iterdir()):
                found[str(path.relative_to(top))] = {"dir": True}
    # A second name of a file outside is a name of that file.
    if outside:
        for path in Path(outside).rglob("*"):
            if path.is_file() and (at := names.get(path.lstat().st_ino)):
                found[at] = {"hardlink": os.path.relpath(path, top)}
    return found


def unescape(text):
    """Reads the escapes that the scenarios and attacks have."""
    out, at = bytearray(), 0
    data = text.encode()
    while at < len(data):
        if data[at : at + 1] != b"\\":
            out += data[at : at + 1]
            at += 1
            continue
        letter = data[at + 1 : at + 2]
        at += 2
        if letter == b"x":
            out.append(int(data[at : at + 2], 16))
            at += 2
        elif letter == b"u":
            end = data.index(b"}", at)
            out += chr(int(data[at + 1 : end], 16)).encode()
            at = end + 1
        else:
            out += {b"n": b"\n", b"r": b"\r", b"0": b"\0", b"s": b" ", b"\\": b"\\"}[letter]
    return bytes(out)


def step(workspace, line):
    """Does one line of `setup.txt` or `after.txt`, or of a group of attacks. False: it cannot."""
    verb, _, rest = line.partition(" ")
    if verb == "sh":
        done = subprocess.run(
            ["sh", "-euc", rest], cwd=workspace, env={**os.environ, "HOME": str(workspace)}
        )
        return done.returncode == 0
    words = rest.split(" ", 1)
    if verb == "mode":
        os.chmod(workspace / words[1], int(words[0], 8))
    elif verb == "repeat":
        path, text = words[1].split(" ", 1)
        (workspace / path).write_bytes(unescape(text) * int(words[0]))
    elif verb in ("dir", "write", "symlink", "hardlink", "fifo", "socket"):
        path = workspace / words[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        if verb == "dir":
            path.mkdir(parents=True, exist_ok=True)
        elif verb == "write":
            path.write_bytes(unescape(words[1]))
        elif verb == "symlink":
            path.symlink_to(words[1])
        elif verb == "hardlink":
            os.link(workspace / words[1], path)
        elif verb == "fifo":
            os.mkfifo(path)
        else:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
    elif verb:
        return False
    return True


def strip_of(text):
    """How many leading parts the names of a diff have that are no part of the path."""
    names = re.findall(r"^(?:---|\+\+\+) ([^\t\n]+)", text, re.M)
    names += [name for pair in re.findall(r"^diff --git (\S+) (\S+)$", text, re.M) for name in pair]
    names = [name.strip('"') for name in names if name != "/dev/null"]
    return 1 if names and all(name[:2] in ("a/", "b/") for name in names) else 0


def dialect_of(text):
    if re.search(r"^diff --git ", text, re.M):
        return "git"
    return "unified" if re.search(r"^--- .*\n\+\+\+ ", text, re.M) else None


def wrapped_in(text):
    """The dialect of the patch that a text has somewhere; `None`: there is none to be seen."""
    if re.search(r"\b(create|update|delete)_file\b", text):
        return "operations"
    if re.search(r"<<<<<<<|-------.*SEARCH", text):
        return "blocks"
    if re.search(r"(begin|end)[ _]?patch|(add|update|delete|edit|move)[ _]?file", text, re.I):
        return "envelope"
    return dialect_of(re.sub(r'\\n|"', "\n", text))


class Cases:
    """The cases of one file."""

    def __init__(self, name):
        self.name, self.cases, self.ids = name, [], set()

    def add(
        self,
        id,
        promise,
        dialect,
        text,
        before,
        allow,
        source,
        rules="any",
        options=None,
        forbidden=(),
        says="",
    ):
        data = text.encode() if isinstance(text, str) else text
        # Grammars differ in whether a file is moved without a change.
        if (
            promise.startswith("sections.")
            and "refused" not in allow[0]
            and re.search(rb"^\*\*\* Move (to: .*\n\*\*\* (?!End of)|File)", data, re.M)
        ):
            promise = "sections.moves-alone"
        # A name may look as if it were outside, and be a name like others on a Unix.
        if promise == "guard.outside" and not leads_out(data.decode(errors="replace")):
            promise = "guard.names"
        # Which files are secrets, and which are changed only after an approval, is each project's own.
        if rules == "any" and promise in ("guard.approval", "guard.secrets") and "refused" in allow[0]:
            rules = "house"
        found = {"id": f"{self.name}/{id}", "promise": promise, "dialect": dialect, "rules": rules}
        if says:
            found["says"] = says
        if dialect in ("unified", "git"):
            options = {"strip": strip_of(data.decode(errors="replace")), **(options or {})}
        elif dialect == "wrapped" and (wraps := wrapped_in(data.decode(errors="replace"))):
            found["wraps"] = wraps
        found |= {"text": entry(data), "before": before, "allow": allow}
        if options:
            found["options"] = options
        if forbidden:
            found["forbidden"] = list(forbidden)
        if OUTSIDE in json.dumps([found["text"], before], ensure_ascii=False):
            found["outside"] = True
        found["source"] = source
        if harmful(found):
            print(f"left out: {found['id']}", file=sys.stderr)
            return
        assert found["id"] not in self.ids, found["id"]
        self.ids.add(found["id"])
        self.cases.append(found)

    def lines(self):
        return "".join(json.dumps(case) + "\n" for case in self.cases)


PATHS = re.compile(
    r"(?:File: |Move to: |-> |^--- |^\+\+\+ |^rename \w+ |^copy \w+ )\"?(?:[ab]/)?(\S*)", re.M
)


def leads_out(text):
    """Whether a path of the patch is outside the workspace on a Unix, links left aside."""
    paths = [os.path.normpath(path) for path in PATHS.findall(text.replace("/dev/null", ""))]
    return any(path.startswith(("/", "..", OUTSIDE)) for path in paths)


def harmful(case):
    """Whether an applier that trusts the text could reach a file that is nobody's to lose: a path
    leads to the system, or climbs further than what is watched."""
    text = (
        json.dumps(case["text"], ensure_ascii=False)
        .encode()
        .decode("unicode_escape", errors="replace")
    )
    text += " ".join(
        str(value.get("symlink", "")) + "\n"
        for value in case["before"].values()
        if isinstance(value, dict)
    )
    known = text.replace("/dev/null", "").replace(OUTSIDE, "")
    if "../../../../" in known or "/.." * 4 in known or "~root" in known:
        return True
    paths = PATHS.findall(known)
    paths += [
        value["symlink"]
        for value in case["before"].values()
        if isinstance(value, dict) and "symlink" in value
    ]
    return any(
        path.startswith(("/", "file:/", "FILE:/")) and len(path) > 1 and OUTSIDE not in path
        for path in paths
        if path not in ("/secret", "/new", "/dir/new")
    )


def files(after):
    return [{"files": after}]


def refused(*kinds):
    return [{"refused": list(kinds)}]


def places(lines, old):
    """All places where the old lines stand."""
    return [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
