"""Appliers that are known, how each is called, and what its documentation promises."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from suite import HERE, Applier, Callable, Command

ENVELOPE, DIFFS = ["envelope"], ["unified", "git"]
ALL = ["envelope", "unified", "git", "blocks", "operations", "wrapped"]
# What a library that changes a text has no part in: files are read and written by the adapter here.
FILES = ["guard", "sections", "atomic", "bytes.mode"]
TEXTS = [*FILES, "encoding"]


def version(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return ""


# This project's program.


def ours(program, profile):
    """`apply-patch`. What a case leaves open is done by `profile`."""
    flags = {
        "reverse": lambda value: ["--reverse"],
        "create_parents": lambda value: ["--create-parents"],
        "overwrite": lambda value: ["--overwrite"],
        "skip_applied": lambda value: ["--skip-applied"],
        "skip_binary": lambda value: ["--skip-binary"],
        "fuzz": lambda value: ["--fuzz", value],
        "ambiguous": lambda value: ["--ambiguous", value],
        "names": lambda value: ["--names", value],
        "hard_links": lambda value: ["--hard-links", value],
        "whitespace": lambda value: ["--whitespace", value],
        "environment": lambda value: ["--environment", value],
        "directory": lambda value: ["--directory", value],
        "allow_delete": lambda value: ["--allow-delete", value],
        "allow_move": lambda value: ["--allow-move", value],
        "allow_placeholders": lambda value: ["--allow-placeholders"],
        "approve": lambda value: [word for glob in value for word in ("--allow", glob)],
        "encoding": lambda value: [word for glob in value for word in ("--encoding", glob)],
        "expect": lambda value: [
            word for path, sha in value.items() for word in ("--expect", f"{path}={sha}")
        ],
        "form": lambda value: ["--from", value],
    }

    def argv(case, place):
        rules = profile if case["rules"] in ("any", "house") else case["rules"]
        words = [program, "apply", "--json", "--durability", "none", "--profile", rules]
        for name, value in case.get("options", {}).items():
            if name == "base":
                words += ["--base", str(place.base)]
            elif name == "strip":
                # By itself it takes off the prefixes that git writes, and no more.
                words += ["-p", str(value)] if value not in (0, 1) else []
            else:
                words += flags[name](value)
        return words

    def kind(printed):
        try:
            return json.loads(printed)["error"]["kind"]
        except (ValueError, KeyError, TypeError):
            return None

    home = lambda place: {
        "XDG_STATE_HOME": str(place.private / "state"),
        "XDG_CONFIG_HOME": str(place.private / "config"),
    }
    promises = {
        "place": "docs/placement.md",
        "bytes": "README.md, “Byte for byte”",
        "atomic": "README.md, “All or nothing”",
        "dialects": "docs/dialects.md",
        "guard": "docs/safety.md",
        "encoding": "docs/profiles.md, --encoding",
        "ends": "docs/profiles.md, “At the ends of a file”",
        "unicode": "docs/profiles.md, “What fuzz may write”",
        "diffs": "docs/profiles.md and docs/coming-from-git.md",
        "sections": "docs/profiles.md",
    }
    rules = ["any", "house", "strict", "codex"] if profile == "standard" else ["any", "house", "codex"]
    name = "apply-patch" if profile == "standard" else "apply-patch --profile codex"
    return Applier(
        name,
        Command(argv, environment=home, kind=kind),
        ALL,
        rules,
        [*flags, "base", "strip"],
        promises,
        own=[".apply-patch"],
        version=version(program, "--version"),
    )


# Programs.


def reverse(options, word):
    """The argument by which an applier takes a diff backwards, where a case wants that."""
    return [word] if options.get("reverse") else []


def git_apply():
    def argv(case, place):
        options = case.get("options", {})
        return [
            "git",
            "apply",
            "--whitespace=nowarn",
            f"-p{options.get('strip', 1)}",
            *reverse(options, "-R"),
            *(["--directory", options["directory"]] if "directory" in options else []),
            "-",
        ]

    promises = {
        "place.one": "git-apply(1), DESCRIPTION",
        "place.none": "git-apply(1), -C: “by default no context is ever ignored”",
        "ends.marker": "git-diff(1), as in the manual of diffutils, “Incomplete lines”",
        "atomic": "git-apply(1), --reject: “by default fails the whole patch and does not touch the working tree”",
        "guard.outside": "git-apply(1), --unsafe-paths: “a patch that affects outside the working area … is rejected”",
        "diffs.renames": "git-diff(1), “Generating patch text with -p”",
        "diffs.modes": "git-diff(1), “Generating patch text with -p”",
        "diffs.files": "git-diff(1), “Generating patch text with -p”",
        "diffs.simultaneous": "git-diff(1), “Generating patch text with -p”: “all the file1 files in the output refer to files before the commit”",
        "place.stated": "git-apply(1), DESCRIPTION",
        "diffs.reverse": "git-apply(1), -R",
        "diffs.binary": "git-apply(1), --binary: “currently we always allow binary patch application”",
    }
    return Applier(
        "git apply",
        Command(argv),
        DIFFS,
        options=["strip", "reverse", "directory"],
        promises=promises,
        version=version("git", "--version"),
    )


def gnu_patch():
    def argv(case, place):
        options = case.get("options", {})
        # Without fuzz, rejects and backups: exact context, and no file beside the patched ones.
        return [
            "patch",
            "-s",
            "-f",
            "-F0",
            "--no-backup-if-mismatch",
            "-r",
            "-",
            f"-p{options.get('strip', 1)}",
            *reverse(options, "-R"),
        ]

    promises = {
        "place.one": "patch(1): “scans both forwards and backwards for a set of lines matching the context”",
        "place.none": "patch(1), -F: no context is ignored with -F0",
        "place.stated": "patch(1): the line in the hunk, and any offset, is tried first",
        "guard.outside": "NEWS of 2.7: “ignore destination file names that are absolute or that contain a component of ..”",
        "guard.links": "NEWS of 2.7.5: links are followed “as long as they do not leave the working directory”",
        "diffs.renames": "NEWS of 2.7: “most features of the diff --git format, including renames and copies”",
        "diffs.modes": "NEWS of 2.7: “permission changes”",
        "diffs.files": "patch(1), -E and -p",
        "diffs.reverse": "patch(1), -R",
        "ends.marker": "the manual of diffutils, “Incomplete lines”",
        "dialects.around": "patch(1): “tries to skip any leading garbage, apply the diff, and then skip any trailing garbage”",
    }
    return Applier(
        "patch",
        Command(argv),
        DIFFS,
        options=["strip", "reverse"],
        promises=promises,
        version=version("patch", "--version"),
    )


def codex(program):
    """The tool of the codex program, which answers to the name `apply_patch`."""
    told = "apply_patch_tool_instructions.md of its repository"
    promises = {
        "place.one": f"{told}: context uniquely identifies the place",
        "place.header": f"{told}: @@ says in which class or function, several @@ in which of a class",
        "sections.order": f"{told}: Add, Delete and Update of several files",
        "sections.moves": f"{told}: Move to",
    }
    how = Command([program], environment=lambda place: {"CODEX_HOME": str(place.private / "codex")})
    return Applier(
        "codex apply_patch",
        how,
        [*ENVELOPE, "wrapped"],
        ["any", "codex"],
        ["create_parents", "overwrite"],
        promises,
        version=version(os.path.realpath(program), "--version"),
    )


def mpatch(program):
    def argv(case, place):
        # As strict as it can be: without fuzz, and all or nothing.
        flags = reverse(case.get("options", {}), "-R")
        return [program, "-a", "-f", "0", *flags, str(place.patch), str(place.dir)]

    told, safe = "its README", "its README, “Will it change the wrong code?”"
    promises = {
        "place.one": f"{told}: “finding where they belong in the code, not by trusting line numbers”",
        "place.none": f"{safe}: “a hunk that fails changes nothing”, and -f 0",
        "place.stated": f"{safe}: “the diff's line numbers pick the nearest”",
        "blocks:place.several": f"{safe}: “if they can't decide, the hunk fails instead of guessing”",
        "atomic": f"{told}, -a: “write files only if every patch and hunk applies”",
        "guard.outside": f"{safe}: “a patch can't touch files outside the target directory”",
        "guard.links": f"{safe}: “a patch can't touch files outside the target directory”",
        "bytes.untouched": f"{told}, Features: “leaves the rest alone”",
        "bytes.line-ends": f"{told}, Features: “line endings … stay as they were”",
        "diffs.modes": f"{told}, Limitations: 100644 and 100755 are supported",
        "diffs.reverse": f"{told}, -R",
        "dialects.fenced": f"{told}, Supported Input Formats: Markdown code blocks",
        "blocks:dialects.recovered": f"{told}, Supported Input Formats: Aider search/replace blocks",
    }
    return Applier(
        "mpatch",
        # It documents that it says so, and ends with 0, where it finds no patch.
        Command(argv, stdin=False, refused=lambda printed: b"No patches found" in printed),
        [*DIFFS, "blocks", "wrapped"],
        options=["strip", "reverse"],
        promises=promises,
        otherwise={
            "bytes/only-ends-*": f"{told}, Features: “line endings … stay as they were”",
            "dialects/226-*": f"{told}: the path is “just above the block”",
            "dialects/234-*": f"{told}: a block has no other lines",
        },
        version=version(program, "--version"),
    )


def patchloom(program):
    how = Command([program, "--cwd", "{dir}", "--contain", "patch", "apply", "-", "--apply"])
    told = "its PATCHLOOM.md"
    promises = {
        "envelope:place.one": f"{told}: Begin Patch: “update hunks require a unique exact match”",
        "place.stated": "its README, Commands: “apply unified diffs with stale detection”",
        "place.none": f"{told}, Exit codes: 5 for “stale/missing patch context”",
        "envelope:place.several": f"{told}: Begin Patch: “update hunks require a unique exact match”",
        "guard.outside": "its README, --contain: “reject ../ / absolute path escapes”",
        "git:diffs.files": f"{told}, patch.apply: files that are new, empty or go",
    }
    return Applier(
        "patchloom",
        how,
        [*DIFFS, *ENVELOPE],
        ["any", "codex"],
        ["strip", "create_parents", "overwrite"],
        promises,
        own=[".patchloom"],
        otherwise={
            "diffs/delete-other-*": f"{told}, patch.apply: “leftover bytes rewrite the file”",
            "scenarios/322-*": f"{told}, patch.apply: “leftover bytes rewrite the file”",
            "scenarios/629-*": f"{told}: a diff of a mode alone is refused",
        },
        version=version(program, "--version"),
    )


def diffy(program):
    """diffy is a library; `program` is made from diffy.rs."""

    def argv(case, place):
        options = case.get("options", {})
        return [program, str(options.get("strip", 1)), case["dialect"], *reverse(options, "reverse")]

    told = "its documentation"
    promises = {
        "place.stated": f"{told}, “Applying a Patch”: from the given position",
        "place.one": f"{told}, “Applying a Patch”: “iterating forward and backward from the given position”",
        "place.none": f"{told}, “Applying a Patch”: “until all context lines from a hunk match”",
        "diffs.files": f"{told}, ParseOptions: files that are new or go",
        "diffs.modes": f"{told}, FilePatch::new_mode",
        "diffs.renames": f"{told}, FileOperation::Rename and Copy",
        "diffs.binary": f"{told}, BinaryPatch::apply, feature `binary`",
        "diffs.reverse": f"{told}, Patch::reverse",
        "encoding.kept": f"{told}, “UTF-8 and Non-UTF-8”",
    }
    return Applier(
        "diffy",
        Command(argv),
        DIFFS,
        options=["strip", "reverse"],
        promises=promises,
        leaves=FILES,
        version=(Path(program).parent / "version").read_text().strip(),
    )


def jsdiff(folder):
    promises = {
        "place.stated": "its README, applyPatch: the line of the header first",
        "place.one": "its README, applyPatch: the line of the header, then backwards and forwards",
        "place.none": "its README, applyPatch: “all context lines matching exactly”, fuzzFactor 0",
        "diffs.renames": "its README, “Git patches”: the pattern for renames, copies and swaps",
        "diffs.simultaneous": "its README, “Git patches”: the pattern for swaps",
        "diffs.files": "its README, parsePatch: isCreate, isDelete",
        "diffs.modes": "its README, parsePatch: newMode",
        "diffs.reverse": "its README, reversePatch",
    }

    def argv(case, place):
        options = case.get("options", {})
        words = [str(folder), str(options.get("strip", 1)), *reverse(options, "reverse")]
        return ["node", str(HERE / "jsdiff.cjs"), *words]

    how = Command(argv)
    package = Path(folder) / "node_modules/diff/package.json"
    return Applier(
        "jsdiff",
        how,
        DIFFS,
        options=["strip", "reverse"],
        promises=promises,
        leaves=TEXTS,
        version=json.loads(package.read_text())["version"],
    )


# Libraries that change a text; the files are written here, all after all texts are made.


def beneath(directory, path):
    """A path of a patch. What is outside is refused here: the libraries know no files."""
    found = os.path.normpath(os.path.join(directory, path))
    if os.path.isabs(path) or not found.startswith(directory + os.sep):
        raise ValueError(f"{path} is not beneath {directory}")
    return found


def text_in(path):
    with open(path, newline="", encoding="utf-8") as file:
        return file.read()


def write_all(directory, texts):
    for path, text in {beneath(directory, path): text for path, text in texts.items()}.items():
        if text is None:
            # What the patch made and removed again was never there.
            if os.path.lexists(path):
                os.remove(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.write(text)


def stripped(name, case):
    """A name of a diff without the parts that are no part of the path, and without a time stamp."""
    name = name.split("\t")[0].strip()
    return (
        name
        if name == "/dev/null"
        else "/".join(name.split("/")[case.get("options", {}).get("strip", 1) :])
    )


def agents_apply(text, directory, case):
    """`apply_diff` of openai-agents takes one section; the envelope around it is read here."""
    from agents.apply_diff import apply_diff

    lines, sections = text.decode().split("\n"), []
    while lines and not lines[-1]:
        lines.pop()
    if not lines or lines[0].rstrip() != "*** Begin Patch" or lines[-1].rstrip() != "*** End Patch":
        raise ValueError("not an envelope")
    for line in lines[1:-1]:
        header = re.fullmatch(r"\*\*\* (Add|Update|Delete) File: (.*?)\r?", line)
        if header:
            sections.append([header[1], header[2], None, []])
        elif line.startswith("*** Move to: ") and sections:
            sections[-1][2] = line.removeprefix("*** Move to: ").rstrip("\r")
        elif sections:
            sections[-1][3].append(line)
        elif line.strip():
            raise ValueError(f"{line!r} is in no section")
    now = {}
    # A name that was written in this patch is read from what was written.
    read = lambda path: now[path] if path in now else text_in(beneath(directory, path))
    for verb, path, target, body in sections:
        diff = "\n".join(body)
        if verb == "Delete":
            if read(path) is None:
                raise ValueError(f"{path} is gone")
            now[path] = None
        elif verb == "Add":
            now[path] = apply_diff("", diff, mode="create") + "\n" * bool(body)
        else:
            now[target or path] = apply_diff(read(path), diff) if body else read(path)
            if target:
                now[path] = None
    write_all(directory, now)


def whatthepatch_apply(text, directory, case):
    import whatthepatch

    now, found = {}, list(whatthepatch.parse_patch(text.decode()))
    if not found:
        raise ValueError("no diff")
    for diff in found:
        if diff.header is None:
            raise ValueError("a diff without names")
        # It takes `a/` and `b/` off, but not in every form.
        old, new = (re.sub("^[ab]/", "", name) for name in (diff.header.old_path, diff.header.new_path))
        before = "" if old == "/dev/null" else text_in(beneath(directory, old))
        lines = whatthepatch.apply_diff(diff, before) if diff.changes else before.splitlines()
        end = "\r\n" if "\r\n" in before else "\n"
        # It knows lines: what ends the last one is as it was in the file.
        last = lines and (not before or before.endswith("\n"))
        result = end.join(lines) + (end if last else "")
        if new == "/dev/null":
            now[old] = None
        else:
            if old not in ("/dev/null", new):
                now[old] = None
            now[new] = result
    write_all(directory, now)


def unidiff_apply(text, directory, case):
    """unidiff only reads diffs: a hunk is put here at the line that it states, if it fits there."""
    from unidiff import PatchSet

    now, found = {}, PatchSet(text.decode())
    if not found:
        raise ValueError("no diff")
    for file in found:
        old, new = stripped(file.source_file, case), stripped(file.target_file, case)
        before = (
            []
            if old == "/dev/null"
            else re.findall(r"[^\n]*\n|[^\n]+", text_in(beneath(directory, old)))
        )
        shift = 0
        for hunk in file:
            source = [line.value for line in hunk if line.is_context or line.is_removed]
            target = [line.value for line in hunk if line.is_context or line.is_added]
            source, target = ends(hunk, source, target)
            at = max(hunk.source_start - 1, 0) + shift
            if before[at : at + len(source)] != source:
                raise ValueError(f"{new}: the lines of the hunk are not at line {at + 1}")
            before[at : at + len(source)] = target
            shift += len(target) - len(source)
        if new == "/dev/null":
            now[old] = None
        else:
            if old not in ("/dev/null", new):
                now[old] = None
            now[new] = "".join(before)
    write_all(directory, now)


def ends(hunk, source, target):
    """The lines of a hunk, without the line feed where the marker says that there is none."""
    last = None
    for line in hunk:
        if line.line_type == "\\":
            if last in (" ", "-") and source:
                source[-1] = source[-1].removesuffix("\n")
            if last in (" ", "+") and target:
                target[-1] = target[-1].removesuffix("\n")
        last = line.line_type
    return source, target


def agents_sdk():
    promises = {
        "place.one": "its docstring: “apply a V4A diff to the provided text”",
        "place.none": "it raises “Invalid Context”",
        "place.header": "its docstrings: headers “narrow the search”, also stacked ones",
    }
    return Applier(
        "openai-agents apply_diff",
        Callable(agents_apply),
        ENVELOPE,
        ["any", "codex"],
        ["create_parents", "overwrite"],
        promises,
        leaves=[*TEXTS, "dialects"],
        version=package("openai-agents"),
    )


def whatthepatch():
    promises = {"place.stated": "its README, “Applying”"}
    return Applier(
        "whatthepatch",
        Callable(whatthepatch_apply),
        DIFFS,
        options=["strip"],
        promises=promises,
        leaves=[*TEXTS, "diffs"],
        version=package("whatthepatch"),
    )


def unidiff():
    promises = {
        "place.stated": "its README: it reads diffs; a small writer puts hunks at their lines"
    }
    return Applier(
        "unidiff and a writer",
        Callable(unidiff_apply),
        DIFFS,
        options=["strip"],
        promises=promises,
        leaves=[*TEXTS, "diffs"],
        version=package("unidiff"),
    )


def package(name):
    from importlib import metadata

    return metadata.version(name)


def known(where):
    """The appliers that are at hand, by name, each to be called. `where` are paths by name."""
    found = {}
    if program := where.get("ours"):
        found["ours"] = lambda: ours(program, "standard")
        found["ours-codex"] = lambda: ours(program, "codex")
    if shutil.which("git"):
        found["git"] = git_apply
    if shutil.which("patch"):
        found["patch"] = gnu_patch
    for name, make in {
        "codex": codex,
        "jsdiff": jsdiff,
        "mpatch": mpatch,
        "patchloom": patchloom,
        "diffy": diffy,
    }.items():
        if path := where.get(name):
            found[name] = lambda make=make, path=path: make(path)
    for name, module, make in [
        ("openai-agents", "agents", agents_sdk),
        ("whatthepatch", "whatthepatch", whatthepatch),
        ("unidiff", "unidiff", unidiff),
    ]:
        try:
            __import__(module)
        except ImportError:
            continue
        found[name] = make
    return found
