"""What can be checked about an answer without the program that is measured.

Old lines are counted where they stand exactly: one place is certain, none and several are not.
"""

import re

HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*?)\s*$")
NUMBERS = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


class Section:
    def __init__(self, path, operation):
        self.path, self.operation, self.moved = path, operation, None
        self.hunks = []


def sections(text):
    """The files of an envelope or a diff, each with its hunks: lists of lines with their sign."""
    if re.search(r"^\*\*\* Begin Patch", text, re.M):
        return envelope_sections(text)
    return diff_sections(text)


def envelope_sections(text):
    found = []
    for line in text.split("\n"):
        header = HEADER.match(line)
        if header:
            found.append(Section(header[2], header[1]))
            if header[1] == "Add":
                found[-1].hunks.append([])
        elif not found or line.startswith("*** "):
            if found and line.startswith("*** Move to: "):
                found[-1].moved = line[13:].strip()
        elif line.startswith("@@"):
            found[-1].hunks.append([])
        elif line[:1] in ("+", "-", " ", ""):
            if not found[-1].hunks:
                found[-1].hunks.append([])
            found[-1].hunks[-1].append(line or " ")
    return found


def diff_sections(text):
    found, old = [], None
    lines = text.split("\n")
    for nth, line in enumerate(lines):
        if line.startswith("--- ") and nth + 1 < len(lines) and lines[nth + 1].startswith("+++ "):
            old = line[4:].split("\t")[0].strip()
        elif line.startswith("+++ ") and old is not None:
            new = line[4:].split("\t")[0].strip()
            name = old if new == "/dev/null" else new
            operation = {"/dev/null": "Add"}.get(old, "Delete" if new == "/dev/null" else "Update")
            found.append(Section(re.sub(r"^[ab]/", "", name), operation))
            old = None
        elif line.startswith("diff --git ") or line.startswith("```"):
            old = None
        elif found and line.startswith("@@"):
            found[-1].hunks.append([])
        elif found and found[-1].hunks and (line[:1] in ("+", "-", " ") or not line):
            found[-1].hunks[-1].append(line or " ")
    return found


def old_lines(hunk):
    return [line[1:] for line in trimmed(hunk) if line[0] in " -"]


def new_lines(hunk):
    return [line[1:] for line in trimmed(hunk) if line[0] in " +"]


def trimmed(hunk):
    """A hunk without the empty lines at its end, which may only part it from the next."""
    end = len(hunk)
    while end and hunk[end - 1] == " ":
        end -= 1
    return hunk[:end]


def places(lines, old):
    """Each line at which the old lines stand exactly."""
    if not old:
        return []
    return [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]


def split(data):
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")


def certain(before, text):
    """The files that an answer leaves; nothing where a hunk has no or several exact places."""
    files = dict(before)
    found = sections(text)
    for section in found:
        data = files.get(section.path)
        if section.operation == "Add":
            if data is not None or len(section.hunks) != 1:
                return None
            lines = [line[1:] for line in section.hunks[0] if line[0] == "+"]
            files[section.path] = "".join(line + "\n" for line in lines).encode()
        elif data is None or b"\r" in data or (section.operation == "Delete" and section.hunks):
            return None
        elif section.operation == "Delete":
            del files[section.path]
        else:
            after = updated(data, section.hunks)
            if after is None:
                return None
            if section.moved:
                del files[section.path]
            files[section.moved or section.path] = after
    return files if found else None


def updated(data, hunks):
    """A file after its hunks, each in the one place where its old lines stand exactly."""
    lines = split(data)
    for hunk in hunks:
        old = old_lines(hunk)
        at = places(lines, old)
        if len(at) != 1:
            return None
        lines[at[0] : at[0] + len(old)] = new_lines(hunk)
    end = b"" if data and not data.endswith(b"\n") else b"\n"
    return "\n".join(lines).encode("utf-8", "surrogateescape") + end if lines else b""


def blocks(text):
    """The SEARCH texts of an answer, each as its lines."""
    found = re.findall(r"^<{5,9} ?SEARCH.*?\n(.*?)^={5,9}\s*$", text, re.M | re.S)
    return [old.split("\n")[:-1] for old in found if old.strip()]


def olds(answer):
    """The old lines of each hunk or block of an answer, with its file where that is known."""
    if answer.get("old") is not None:
        name = answer["call"]["file_path"]
        return [(name, old.split("\n")) for old in answer["old"] if old]
    if answer["form"] == "blocks":
        return [(None, old) for old in blocks(answer["text"])]
    found = sections(answer["text"])
    return [
        (section.path, old_lines(hunk))
        for section in found
        if section.operation == "Update"
        for hunk in section.hunks
        if old_lines(hunk)
    ]


def counted(answer, before):
    """For each hunk the number of its exact places in the files; texts of a call by bytes."""
    counts = []
    for path, old in olds(answer):
        files = [before[path]] if before.get(path) is not None else list(before.values())
        if answer.get("old") is not None:
            text = "\n".join(old).encode("utf-8", "surrogateescape")
            counts.append(max((data.count(text) for data in files if data), default=0))
        else:
            counts.append(max((len(places(split(data), old)) for data in files if data), default=0))
    return counts


def only_inserts(text):
    """Whether a hunk of a file that is there says nothing of its place: it has no old lines."""
    return any(
        not old_lines(hunk)
        for section in sections(text)
        if section.operation == "Update"
        for hunk in section.hunks
    )


def without_hunks(text):
    """Whether a text that is no envelope has no hunk, or names no file."""
    if "*** Begin Patch" in text:
        return False
    return not re.search(r"^@@", text, re.M) or not re.search(r"^(---|\+\+\+) ", text, re.M)


def short_numbers(text):
    """Whether the numbers of a hunk promise more lines than it has."""
    for match in re.finditer(
        r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*\n((?:[-+ \\].*\n?|\n)*)", text, re.M
    ):
        lines = match[3].split("\n")
        old = sum(line[:1] in ("-", " ") for line in lines)
        new = sum(line[:1] in ("+", " ") for line in lines)
        if old < int(match[1] or 1) or new < int(match[2] or 1):
            return True
    return False


def unsigned(text, line):
    """Whether a line of the text has none of the signs of a hunk."""
    lines = text.split("\n")
    return (
        bool(line)
        and line <= len(lines)
        and lines[line - 1][:1] not in ("+", "-", " ", "@", "*", "\\")
    )


def applied_again(before, text):
    """Whether a hunk only inserts, and its new lines stand there already."""
    for section in sections(text):
        data = before.get(section.path)
        for hunk in section.hunks if data is not None and section.operation == "Update" else []:
            if places(split(data), new_lines(hunk)) and new_lines(hunk) != old_lines(hunk):
                return True
    return False
