"""Cases that are generated. What they come to is worked out by the plainest rule there is: a hunk goes
to the one place where its old lines stand, and with none or several it is refused. No applier is
asked. Each family has random numbers of its own, so that a change of one leaves the others.
"""
import difflib
import hashlib
import random
import re
import zlib

from casefile import Cases, entry, files, places, refused

WORDS = "alpha beta gamma delta store load parse count total index value items queue token".split()


def random_file(rng, size, alike=0.5):
    """Lines as of a program, of which many are alike."""
    lines = []
    while len(lines) < size:
        name = rng.choice(WORDS)
        lines.append(f"def {name}_{rng.randrange(4)}(self):" if rng.random() > alike else f"def {rng.choice(WORDS[:3])}():")
        for _ in range(rng.randint(1, 4)):
            lines.append(rng.choice([f"    {rng.choice(WORDS)} = {rng.randrange(3)}", "    return None", "    pass",
                                     "    self.check()", f"    log({rng.choice(WORDS[:4])})"]))
        if rng.random() < 0.6:
            lines.append("")
    return lines[:size]


def edit(rng, lines, at, count, context, fresh, trim=True):
    """A hunk that replaces `count` lines at `at`: where it begins, its body, and the new lines."""
    low, high = max(0, at - context), min(len(lines), at + count + context)
    while trim and low < at and lines[low] == "":
        low += 1
    while trim and high > at + count and lines[high - 1] == "":
        high -= 1
    added = [f"{re.match(' *', lines[at] if at < len(lines) else '')[0]}fresh_{fresh}_{n}()" for n in range(rng.randint(0 if count else 1, 2))]
    body = [" " + line for line in lines[low:at]] + ["-" + line for line in lines[at:at + count]]
    body += ["+" + line for line in added] + [" " + line for line in lines[at + count:high]]
    return low, body, added


def old_lines(body):
    return [line[1:] for line in body if line[0] in " -"]


def new_lines(body):
    return [line[1:] for line in body if line[0] in " +"]


def text_of(lines, final=True):
    return "\n".join(lines) + ("\n" if lines and final else "")


def envelope(sections):
    """An envelope of (header, body lines)."""
    out = ["*** Begin Patch"]
    for header, body in sections:
        out += [f"*** {header}", *body]
    return "\n".join(out + ["*** End Patch", ""])


def unified(path, hunks, git=True):
    """A diff of one file; a hunk is (line from 0, body, offset of the new line)."""
    out = [f"diff --git a/{path} b/{path}"] if git else []
    out += [f"--- a/{path}", f"+++ b/{path}"]
    for low, body, shift in hunks:
        old, new = old_lines(body), new_lines(body)
        line = lambda count, at: f"{at + 1 if count else at},{count}"
        out.append(f"@@ -{line(len(old), low)} +{line(len(new), low + shift)} @@")
        out += body
    return "\n".join(out + [""])


def squeezed(line):
    return line.strip().translate(str.maketrans("‘’“”–—\u00a0", "''\"\"--\x20"))


def place_cases():
    rng, cases = random.Random("place"), Cases("place")
    wanted = {"one": 150, "several": 90, "none": 90}
    made = dict.fromkeys(wanted, 0)
    while made != wanted:
        lines = random_file(rng, rng.randint(6, 40))
        at = rng.randrange(len(lines))
        count = rng.randint(0, min(3, len(lines) - at))
        low, body, added = edit(rng, lines, at, count, rng.randint(0, 3), sum(made.values()))
        old = old_lines(body)
        if not old or not any(old) or old[-1] == "" or (not count and not added):
            continue
        file = list(lines)
        if rng.random() < 0.3:
            # The file has changed since: one of the old lines is another.
            spot = low + rng.randrange(len(old))
            file[spot] = rng.choice([file[spot] + "x", file[spot].replace("a", "o") or "new", "    other()"])
        spots = places(file, old)
        # Where it would fit if blanks were overlooked, rules differ; so they do where an insertion has
        # one side only.
        loose = places([squeezed(line) for line in file], [squeezed(line) for line in old])
        sides = body[0][0] == " " and body[-1][0] == " "
        if spots != loose or not count and not sides:
            continue
        kind = {0: "none", 1: "one"}.get(len(spots), "several")
        if made[kind] == wanted[kind]:
            continue
        made[kind] += 1
        name, number = f"{rng.choice(WORDS)}.py", made[kind]
        after = list(file)
        if spots:
            after[spots[0]:spots[0] + len(old)] = new_lines(body)
        allow = {"one": files({name: text_of(after)}), "none": refused("patch_apply_error"),
                 "several": refused("multiple_matches")}[kind]
        before = {name: text_of(file)}
        cases.add(f"envelope-{kind}-{number:03}", f"place.{kind}", "envelope",
                  envelope([(f"Update File: {name}", ["@@", *body])]), before, allow, "generated")
        if number <= 60:
            block = [name, "<<<<<<< SEARCH", *old, "=======", *new_lines(body), ">>>>>>> REPLACE", ""]
            unfit = refused("patch_apply_error") if kind == "none" else allow
            cases.add(f"block-{kind}-{number:03}", f"place.{kind}", "blocks", "\n".join(block), before, unfit, "generated")
    return cases


def number_cases():
    """Diffs: the stated line, a line that moved, and a place that is nowhere."""
    rng, cases = random.Random("numbers"), Cases("numbers")
    wanted = {"one": 70, "stated": 50, "none": 50, "several": 30}
    made = dict.fromkeys(wanted, 0)
    while made != wanted:
        lines = random_file(rng, rng.randint(20, 60), 0.8)
        at = rng.randrange(4, len(lines) - 8)
        low, body, added = edit(rng, lines, at, rng.randint(0, 3), 3, sum(made.values()), trim=False)
        if len(body) < 6 or body[0][0] != " " or body[2][0] != " " or body[-3][0] != " ":
            continue
        old, shift = old_lines(body), rng.choice([0, 0, 3, 7])
        file = [f"# line {n}" for n in range(shift)] + lines
        if rng.random() < 0.3:
            file[shift + low + rng.randrange(len(old))] = "    other()"
        if rng.random() < 0.4:
            spot = rng.randrange(len(file))
            file[spot:spot] = [*old, ""]
        if not 0 < low < len(file) - len(old) - 4:
            continue
        spots = places(file, old)
        loose = places([squeezed(line) for line in file], [squeezed(line) for line in old])
        if spots != loose or any(spot + len(old) >= len(file) or spot == 0 for spot in spots):
            continue
        kind = "none" if not spots else "one" if len(spots) == 1 else "stated" if low in spots else "several"
        if made[kind] == wanted[kind]:
            continue
        made[kind] += 1
        number, git = made[kind], made[kind] % 2 == 0
        after = list(file)
        if spots:
            spot = low if kind == "stated" else spots[0]
            after[spot:spot + len(old)] = new_lines(body)
        allow = {"none": refused("patch_apply_error"), "several": refused("multiple_matches")}.get(
            kind, files({"m.py": text_of(after)}))
        cases.add(f"{kind}-{number:03}", f"place.{kind}", "git" if git else "unified",
                  unified("m.py", [(low, body, 0)], git), {"m.py": text_of(file)}, allow, "generated")
    return cases


def hunks_in(rng, lines, wanted, fresh, context=3):
    """Some hunks of one file, apart from each other, and the file after them; or nothing."""
    spots = sorted(rng.sample(range(1, len(lines) - 2), wanted))
    if any(b - a < 2 * context + 3 for a, b in zip(spots, spots[1:])):
        return None
    hunks, after, shift = [], list(lines), 0
    for number, at in enumerate(spots):
        low, body, added = edit(rng, lines, at, rng.randint(1, 2), context, f"{fresh}{number}", trim=False)
        old = old_lines(body)
        # As diff has it: three lines around, and none of them blank at an end.
        if "" in (old[0], old[-1]) or len(places(lines, old)) != 1 or len(places(after, old)) != 1:
            return None
        if len(places([squeezed(line) for line in lines], [squeezed(line) for line in old])) != 1:
            return None
        hunks.append((low, body, shift))
        spot = places(after, old)[0]
        after[spot:spot + len(old)] = new_lines(body)
        shift += len(new_lines(body)) - len(old)
    return hunks, after


def pair_cases():
    """Two files of few different lines, and their diff, applied to what it was made from."""
    rng, cases = random.Random("pairs"), Cases("pairs")
    few = ["a", "b", "", "    x", "}", "\t{", "a ", "--- a", "+++ b", "@@ -1 +1 @@", "*** End Patch", "-", "+", " ", "\\ No newline", "é"]
    number = 0
    while number < 200:
        words = rng.sample(few, rng.randint(3, len(few)))
        end = rng.choice(["\n", "\n", "\n", "\r\n"])
        old = [rng.choice(words) for _ in range(rng.randint(1, 40))]
        new = list(old)
        for _ in range(rng.randint(1, 6)):
            at = rng.randint(0, len(new))
            new[at:at + rng.randint(0, 3)] = [rng.choice(words) for _ in range(rng.randint(0, 3))]
        lines = [[line + end for line in side] for side in (old, new)]
        for side in lines:
            if side and rng.random() < 0.3 and side[-1] != end:
                side[-1] = side[-1].removesuffix(end)
        old, new = lines
        if old == new or not new:
            continue
        number += 1
        context = rng.choice([3, 3, 1])
        body = []
        for line in difflib.unified_diff(old, new, "a/pair.txt", "b/pair.txt", n=context):
            body.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
        before, after = {"pair.txt": "".join(old)}, {"pair.txt": "".join(new)}
        head = "diff --git a/pair.txt b/pair.txt\n" if number % 2 else ""
        bare = any("\n\\ No newline" in line for line in body)
        promise = "ends.marker" if bare else "bytes.line-ends" if end != "\n" else "place.stated"
        cases.add(f"diff-{number:03}", promise, "git" if head else "unified", head + "".join(body), before, files(after),
                  "generated", says=f"{context} lines of context")
        if number % 3 == 0 and old:
            cases.add(f"reverse-{number:03}", "ends.marker" if bare else "diffs.reverse", "git" if head else "unified", head + "".join(body), after, files(before),
                      "generated", options={"reverse": True}, says="back to the file that the diff was made from")
        # As one hunk of an envelope: the whole file, which stands in one place.
        plain = all(line.endswith("\n") for line in old + new) and end == "\n"
        if plain and old[-1] != "\n" and old[0] != "\n" and new[-1] != "\n":
            whole = [line[:-1] for line in difflib.ndiff(old, new) if line[0] != "?"]
            whole = [line[0] + line[2:] for line in whole]
            if any(line[0] != "+" for line in whole) and whole[-1] != " ":
                cases.add(f"envelope-{number:03}", "place.one", "envelope", envelope([("Update File: pair.txt", ["@@", *whole])]),
                          before, files(after), "generated", says="one hunk for the whole file")
    return cases


def moved_cases():
    """The diff of a file that has changed elsewhere since: it goes to where it was meant, or is refused."""
    rng, cases = random.Random("moved"), Cases("moved")
    few = ["a", "b", "", "    x", "}", "\t{"]
    number = 0
    while number < 120:
        words = rng.sample(few, rng.randint(3, len(few)))
        old = [rng.choice(words) + "\n" for _ in range(rng.randint(12, 40))]
        new = list(old)
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(new))
            new[at:at + rng.randint(0, 3)] = [rng.choice(words) + "\n" for _ in range(rng.randint(0, 3))]
        if old == new:
            continue
        number += 1
        body = list(difflib.unified_diff(old, new, "a/pair.txt", "b/pair.txt"))
        # Above the first hunk nothing else is changed: what is there is in both files.
        top = [f"new at the top {n}\n" for n in range(rng.choice([1, 2, 5]))]
        cases.add(f"diff-{number:03}", "place.moved", "unified", "".join(body), {"pair.txt": "".join(top + old)},
                  files({"pair.txt": "".join(top + new)}) + refused(), "generated", says="lines were inserted at the top since")
    # A block that stands many times, and more of it at the top since. The stated line fits, and so
    # does the one that moved as far as the second hunk, of which there is no doubt.
    for number in range(1, 13):
        block = [f"[{rng.choice(WORDS)}]", "on = 1", ""]
        blocks, more = rng.randint(5, 9), rng.randint(1, 2)
        tail = [f"{rng.choice(WORDS)} {n}" for n in range(8)]
        lines = block * blocks + tail
        low = 3 * rng.randint(2, blocks - 3)
        first = [" ", " " + block[0], "-on = 1", "+on = 2", " ", " " + block[0]]
        second = [" " + line for line in tail[1:4]] + ["-" + tail[4], "+changed"] + [" " + line for line in tail[5:8]]
        diff = unified("m.ini", [(low - 1, first, 0), (3 * blocks + 1, second, 0)], number % 2 == 0)
        after = list(lines)
        after[low + 1], after[3 * blocks + 4] = "on = 2", "changed"
        cases.add(f"block-{number:03}", "place.moved", "git" if number % 2 == 0 else "unified", diff,
                  {"m.ini": text_of(block * more + lines)}, files({"m.ini": text_of(block * more + after)}) + refused(), "generated",
                  says="the second hunk shows how far the file has moved")
    return cases


def header_cases():
    """The same lines in several functions: the header says in which."""
    rng, cases = random.Random("headers"), Cases("headers")
    for number in range(1, 61):
        shared = [f"        {word}()" for word in rng.sample(WORDS, 3)]
        classes, wanted, lines = rng.sample(WORDS, rng.randint(2, 4)), [], []
        for name in classes:
            lines += [f"class {name}:", f"    def only_{name}(self):", f"        {name} = 1", ""]
            wanted.append((name, len(lines)))
            lines += ["    def run(self):", *shared, ""]
        name, at = rng.choice(wanted)
        nested = number % 2 == 0
        headers = [f"@@ class {name}:", "@@     def run(self):"] if nested else [f"@@ class {name}:"]
        body = [" " + shared[0], "-" + shared[1], f"+        fresh_{number}()", " " + shared[2]]
        after = list(lines)
        after[at + 2] = f"        fresh_{number}()"
        cases.add(f"class-{number:03}", "place.header", "envelope", envelope([("Update File: m.py", [*headers, *body])]),
                  {"m.py": text_of(lines)}, files({"m.py": text_of(after)}), "generated", rules="codex")
    return cases


def long_cases():
    """What takes long where every place is tried with every line."""
    cases = Cases("long")
    for number, (same, hunk) in enumerate([(20000, 400), (50000, 50), (3000, 1500), (100000, 3)], 1):
        before = {"long.txt": {"pieces": [["x\n", same], "end\n"]}}
        text = envelope([("Update File: long.txt", ["@@", *[" x"] * hunk, "-y", "+z"])])
        cases.add(f"none-{number:03}", "place.none", "envelope", text, before, refused("patch_apply_error"), "generated",
                  says="lines that are all alike, and a last one that is nowhere")
        text = envelope([("Update File: long.txt", ["@@", *[" x"] * hunk, "+z", " x"])])
        cases.add(f"several-{number:03}", "place.several", "envelope", text, before, refused("multiple_matches"), "generated",
                  says="lines that are all alike")
        text = envelope([("Update File: long.txt", ["@@", *[" x"] * hunk, "-end", "+END"])])
        after = {"long.txt": {"pieces": [["x\n", same], "END\n"]}}
        cases.add(f"one-{number:03}", "place.one", "envelope", text, before, files(after), "generated", says="the last of many lines")
        body = [*[" x"] * 3, "-end", "+END"]
        text = unified("long.txt", [(same - 3, body, 0)], False)
        cases.add(f"stated-{number:03}", "place.one", "unified", text, before, files(after), "generated", says="the last of many lines")
        text = unified("long.txt", [(0, [*[" x"] * hunk, "-y", "+z", " x"], 0)], False)
        cases.add(f"none-diff-{number:03}", "place.none", "unified", text, before, refused("patch_apply_error"), "generated",
                  says="lines that are all alike, and one that is nowhere")
    return cases


def many_cases():
    """Several hunks, several files, and one that does not fit among those that do."""
    rng, cases = random.Random("many"), Cases("many")
    number = 0
    while number < 110:
        before, after, sections, diffs = {}, {}, [], []
        for name in rng.sample(["a.py", "src/b.py", "src/deep/c.py", "d.py"], rng.randint(1, 3)):
            lines = random_file(rng, rng.randint(24, 60), 0.2)
            found = hunks_in(rng, lines, rng.randint(1, 3), f"{number}_")
            if not found:
                break
            hunks, result = found
            before[name], after[name] = text_of(lines), text_of(result)
            sections.append((f"Update File: {name}", [line for _, body, _ in hunks for line in ["@@", *body]]))
            diffs.append(unified(name, hunks, rng.random() < 0.5))
        else:
            if len(diffs) > 1 and len({text.startswith("diff") for text in diffs}) > 1:
                continue
            number += 1
            cases.add(f"hunks-{number:03}", "place.one", "envelope", envelope(sections), before, files(after), "generated")
            dialect = "git" if diffs[0].startswith("diff") else "unified"
            cases.add(f"hunks-diff-{number:03}", "place.one", dialect, "".join(diffs), before, files(after), "generated")
    return cases


def atomic_cases():
    rng, cases = random.Random("atomic"), Cases("atomic")
    number = 0
    while number < 100:
        before, good, diffs = {"gone.txt": "bye\n", "keep.txt": "keep\n"}, [], []
        for name in ["a.py", "src/b.py"]:
            lines = random_file(rng, rng.randint(24, 50), 0.2)
            found = hunks_in(rng, lines, rng.randint(1, 2), f"{number}_")
            if not found:
                break
            before[name] = text_of(lines)
            good.append((f"Update File: {name}", [line for _, body, _ in found[0] for line in ["@@", *body]]))
            diffs.append(unified(name, found[0]))
        else:
            number += 1
            extra = [("Add File: new.txt", ["+new"]), ("Delete File: gone.txt", []),
                     ("Update File: keep.txt\n*** Move to: kept.txt", [])]
            extra_diffs = ["diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n",
                           "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n",
                           "diff --git a/keep.txt b/kept.txt\nsimilarity index 100%\nrename from keep.txt\nrename to kept.txt\n"]
            parts = list(zip(good + extra, diffs + extra_diffs))
            rng.shuffle(parts)
            parts = parts[:rng.randint(2, 5)]
            bad = rng.choice(["missing", "no-place", "no-place", "no-delete", "no-move"])
            section, diff = {
                "missing": (("Update File: none.py", ["@@", "-a", "+b"]),
                            "diff --git a/none.py b/none.py\n--- a/none.py\n+++ b/none.py\n@@ -1,3 +1,3 @@\n x\n-a\n+b\n y\n"),
                "no-place": (("Update File: other.py", ["@@", " never", "-stood", "+here"]),
                             "diff --git a/other.py b/other.py\n--- a/other.py\n+++ b/other.py\n@@ -1,3 +1,3 @@\n never\n-stood\n+here\n before\n"),
                "no-delete": (("Delete File: none.py", []),
                              "diff --git a/none.py b/none.py\ndeleted file mode 100644\n--- a/none.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"),
                "no-move": (("Update File: none.py\n*** Move to: some.py", []),
                            "diff --git a/none.py b/some.py\nsimilarity index 100%\nrename from none.py\nrename to some.py\n"),
            }[bad]
            before["other.py"] = "one\ntwo\nthree\nfour\n"
            where = rng.choice([len(parts), len(parts), rng.randint(1, len(parts))])
            parts.insert(where, (section, diff))
            kinds = ["patch_apply_error"] if bad == "no-place" else ["not_found", "patch_apply_error"]
            cases.add(f"{bad}-{number:03}", "atomic.patch", "envelope", envelope([part[0] for part in parts]), before,
                      refused(*kinds), "generated")
            if number <= 70:
                cases.add(f"{bad}-diff-{number:03}", "atomic.patch", "git", "".join(part[1] for part in parts), before,
                          refused(*kinds), "generated")
    # The first hunk of a file fits and the second does not; the text ends in the middle.
    for number in range(1, 21):
        lines = [f"line {n}" for n in range(30)]
        low, miss = rng.randint(1, 10), rng.randint(15, 25)
        first = [f" line {low}", f"-line {low + 1}", f"+new {number}", f" line {low + 2}"]
        second = [f" line {miss}", f"-lin {miss + 1}", "+no", f" line {miss + 2}"]
        before = {"f.txt": text_of(lines), "g.txt": "g\n"}
        cases.add(f"second-hunk-{number:03}", "atomic.file", "envelope",
                  envelope([("Delete File: g.txt", []), ("Update File: f.txt", ["@@", *first, "@@", *second])]), before,
                  refused("patch_apply_error"), "generated")
        cases.add(f"second-hunk-diff-{number:03}", "atomic.file", "unified",
                  unified("f.txt", [(low, first, 0), (miss, second, 0)], False), before,
                  refused("patch_apply_error"), "generated")
        text = envelope([("Update File: g.txt", ["@@", "-g", "+G"]), ("Update File: f.txt", ["@@", *first])])
        cut = text[:text.index("*** End Patch") - rng.choice([0, 0, 3, 9])]
        cases.add(f"cut-off-{number:03}", "atomic.cut-off", "envelope", cut, before, refused("patch_parse_error"), "generated",
                  says="the end of the answer is missing")
    return cases


def ends_cases():
    rng, cases = random.Random("ends"), Cases("ends")
    marker = "\\ No newline at end of file"
    for number in range(1, 61):
        lines = [f"{rng.choice(WORDS)} {n}" for n in range(rng.randint(5, 12))]
        had, has = rng.random() < 0.5, rng.random() < 0.5
        name, last = "end.txt", len(lines) - 1
        kind = rng.choice(["replace", "append", "cut", "keep"])
        keep = lines[last - 3:last]
        if kind == "replace":
            body, after = [*(" " + line for line in keep), "-" + lines[last], "+changed"], lines[:last] + ["changed"]
        elif kind == "append":
            body = [*(" " + line for line in keep), "-" + lines[last], "+" + lines[last], "+added"]
            after = lines + ["added"]
            if had:
                body = [*(" " + line for line in keep), " " + lines[last], "+added"]
        elif kind == "cut":
            had, has = True, True
            body, after = [*(" " + line for line in keep), "-" + lines[last]], lines[:last]
        else:
            # The last line stays, and the one above it goes.
            has = had
            body = [" " + lines[last - 2], "-" + lines[last - 1], "+changed", " " + lines[last]]
            after = lines[:last - 1] + ["changed", lines[last]]
        marked = []
        for line in body:
            marked.append(line)
            old_end = line[0] in "- " and line[1:] == lines[last] and not had
            new_end = line[0] in "+ " and line == [one for one in body if one[0] in "+ "][-1] and not has and kind != "cut"
            if (line[0] == "-" and old_end) or (line[0] == "+" and new_end) or (line[0] == " " and old_end and kind == "keep"):
                marked.append(marker)
        low = lines.index(body[0][1:])
        old, new = (len([line for line in body if line[0] in signs]) for signs in (" -", " +"))
        diff = f"--- a/{name}\n+++ b/{name}\n@@ -{low + 1},{old} +{low + 1},{new} @@\n" + "\n".join(marked) + "\n"
        before, result = {name: text_of(lines, had)}, {name: text_of(after, has)}
        cases.add(f"diff-{kind}-{number:03}", "ends.marker", "unified", diff, before, files(result), "generated")
        if kind in ("replace", "append"):
            # Without a marker nothing is said: the end stays as it was, or gets its line feed.
            ways = [{name: text_of(after, had)}] if had else [{name: text_of(after, False)}, {name: text_of(after, True)}]
            cases.add(f"envelope-{kind}-{number:03}", "ends.final-newline", "envelope",
                      envelope([(f"Update File: {name}", ["@@", *body])]), before, [{"files": way} for way in ways], "generated")
        elif kind == "keep":
            cases.add(f"envelope-{kind}-{number:03}", "ends.final-newline", "envelope",
                      envelope([(f"Update File: {name}", ["@@", *body])]), before, files(result), "generated")
    for number in range(1, 21):
        lines = [f"{rng.choice(WORDS)} {n % 3}" for n in range(9)] + ["tail", "", "tail"][:rng.randint(1, 3)]
        before = {"f": text_of(lines)}
        cases.add(f"top-{number:03}", "ends.first-line", "unified",
                  "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+top\n" + "".join(f" {line}\n" for line in lines[:3]), before,
                  files({"f": text_of(["top", *lines])}), "generated")
        cases.add(f"end-of-file-{number:03}", "ends.end-of-file", "envelope",
                  envelope([("Update File: f", ["@@", " " + lines[-1], "+last", "*** End of File"])]), before,
                  files({"f": text_of([*lines, "last"])}), "generated")
    for number, (text, want) in enumerate([("+a", "a\n"), ("+a\n+b", "a\nb\n"), ("+\n+a", "\na\n"), ("+ a", " a\n"), ("++a", "+a\n"),
                                           ("+\ta\t", "\ta\t\n"), ("+*** End Patch", "*** End Patch\n"), ("+@@", "@@\n"), ("+-a", "-a\n")], 1):
        cases.add(f"add-{number:03}", "ends.new-file", "envelope", envelope([("Add File: new", text.split("\n"))]), {},
                  files({"new": want}), "generated")
        count = text.count("\n") + 1
        head = f"--- /dev/null\n+++ b/new\n@@ -0,0 +1,{count} @@\n"
        cases.add(f"add-diff-{number:03}", "ends.new-file", "unified", f"{head}{text}\n", {}, files({"new": want}), "generated")
        cases.add(f"add-diff-bare-{number:03}", "ends.new-file", "unified", f"{head}{text}\n{marker}\n", {},
                  files({"new": want[:-1]}), "generated")
    return cases


# Lines that have what text tools stumble over. No LF, and no lone CR at an end.
ODD = [
    "tab\there", "trailing blank ", "trailing tab\t", "form\ffeed", "vertical\vtab", "lone\rreturn", "nel\u0085inside", "ls\u2028inside",
    "ps\u2029inside", "fs\x1cinside", "gs\x1dinside", "rs\x1einside", "us\x1finside", "escape \x1b[31m", "nbsp\u00a0here", "zero\u200bwidth",
    "bom\ufeffinside", "emoji 👩‍👩‍👧‍👦", "flag 🇩🇪", "combining e\u0301", "precomposed é", "rtl שלום", "cjk 日本語", "astral 𝔘𝔫𝔦",
    "override \u202etxt", "soft\u00adhyphen", "ideographic\u3000space", "long " + "x" * 5000, "percent %s %d %%", "backslash \\n \\", "quote ' \" `",
    "dollar $HOME $(id)", "nul-like \\0", "*** not a header", "--- not a name", "+++ not a name", "@@ not a hunk @@", "diff --git not", "# comment",
    "<<<<<<< SEARCH inside", "\u0301starts with a mark", "private \ue000", "noncharacter \ufdd0",
]


def unicode_cases():
    cases = Cases("unicode")
    for number, odd in enumerate(ODD, 1):
        lines = ["first", "second", odd, "fourth", "fifth", "sixth", "seventh"]
        kinds = {
            "context": ([" second", " " + odd, "-fourth", "+changed", " fifth"], ["first", "second", odd, "changed", *lines[4:]]),
            "removed": ([" second", "-" + odd, "+plain", " fourth"], ["first", "second", "plain", *lines[3:]]),
            "beside": ([" fourth", "-fifth", "+changed", " sixth"], ["first", "second", odd, "fourth", "changed", *lines[5:]]),
        }
        for kind, (body, after) in kinds.items():
            before, result = {"odd.txt": text_of(lines)}, {"odd.txt": text_of(after)}
            promise = "unicode.lines" if any(ord(char) > 127 for char in odd) or ord(odd[min(len(odd) - 1, 4)]) < 32 else "bytes.untouched"
            cases.add(f"{kind}-{number:03}", promise, "envelope", envelope([("Update File: odd.txt", ["@@", *body])]), before,
                      files(result), "generated", says=ascii(odd[:40])[1:-1])
            low = lines.index(body[0][1:])
            # All context there is within three lines, as diff has it.
            top, end = max(0, low - 2), min(len(lines), low + len(old_lines(body)) + 2)
            full = [" " + line for line in lines[top:low]] + body + [" " + line for line in lines[low + len(old_lines(body)):end]]
            cases.add(f"{kind}-diff-{number:03}", promise, "unified" if number % 2 else "git",
                      unified("odd.txt", [(top, full, 0)], number % 2 == 0), before, files(result), "generated", says=ascii(odd[:40])[1:-1])
        body = [" second", "+" + odd, " third"]
        before = {"odd.txt": "first\nsecond\nthird\nfourth\n"}
        cases.add(f"added-{number:03}", "unicode.lines", "envelope", envelope([("Update File: odd.txt", ["@@", *body])]), before,
                  files({"odd.txt": text_of(["first", "second", odd, "third", "fourth"])}), "generated", says=ascii(odd[:40])[1:-1])
        cases.add(f"added-diff-{number:03}", "unicode.lines", "unified",
                  unified("odd.txt", [(0, [" first", *body, " fourth"], 0)], False), before,
                  files({"odd.txt": text_of(["first", "second", odd, "third", "fourth"])}), "generated", says=ascii(odd[:40])[1:-1])
    # Letters that look alike, and are not.
    alike = [("é", "e\u0301"), ("Å", "\u212b"), ("a", "а"), ("ﬁ", "fi"), ("Ω", "\u2126"), ("가", "\u1100\u1161"), ("ß", "ss"), ("İ", "i\u0307"),
             ("\u03c2", "\u03c3"), ("１", "1"), ("²", "2"), ("x\u200by", "xy"), ("x\u200dy", "xy"), ("A", "a")]
    for number, (there, said) in enumerate(alike, 1):
        for turn, (there, said) in enumerate([(there, said), (said, there)], 1):
            before = {"t.txt": f"one\nname {there} end\nthree\nfour\n"}
            body = [" one", f"-name {said} end", "+changed", " three"]
            cases.add(f"alike-{number:03}-{turn}", "unicode.alike", "envelope", envelope([("Update File: t.txt", ["@@", *body])]), before,
                      refused("patch_apply_error"), "generated", says=f"{ascii(there)} is there, {ascii(said)} was said")
            cases.add(f"alike-diff-{number:03}-{turn}", "unicode.alike", "git", unified("t.txt", [(0, body + [" four"], 0)]), before,
                      refused("patch_apply_error"), "generated", says=f"{ascii(there)} is there, {ascii(said)} was said")
    names = ["ärger.txt", "日本/語.txt", "with blank.txt", "quote'.txt", "ümlaut dir/ß.txt", "😀.md", "-dash.txt", "a+b@c.txt", "é/è.txt", "100%.txt",
             "semi;colon", "par(en).txt", "[x].txt", "$var", "#hash", "a=b", "~tilde", "dot.", "..two", "a.b.c"]
    for number, name in enumerate(names, 1):
        before, after = {name: "one\ntwo\nthree\n"}, {name: "one\nchanged\nthree\n"}
        body = [" one", "-two", "+changed", " three"]
        cases.add(f"name-{number:03}", "unicode.names", "envelope", envelope([(f"Update File: {name}", ["@@", *body])]), before, files(after),
                  "generated", says=name)
        text = unified(name, [(0, body, 0)], False)
        if " " in name:
            text = re.sub(r"^((?:---|\+\+\+) .*)$", "\\1\t", text, flags=re.M)
        cases.add(f"name-diff-{number:03}", "unicode.names", "unified", text, before, files(after), "generated", says=name)
    return cases


def bytes_cases():
    rng, cases = random.Random("bytes"), Cases("bytes")
    for number in range(1, 51):
        style = rng.choice(["crlf", "mixed", "bom", "crlf-bom", "not-utf8", "mode", "no-end", "lone-cr"])
        lines = [f"{rng.choice(WORDS)} {n}".encode() for n in range(rng.randint(8, 16))]
        ends = [b"\n"] * len(lines)
        if style.startswith("crlf"):
            ends = [b"\r\n"] * len(lines)
        at = rng.randint(4, len(lines) - 4)
        if style == "mixed":
            # Around the change they are alike: what an inserted line ends in is then not in doubt.
            ends = [rng.choice([b"\n", b"\r\n"]) for _ in lines]
            ends[at - 3:at + 4] = [ends[at]] * 7
        if style == "not-utf8":
            lines[0] = b"latin \xe4\xf6\xfc"
            lines[-1] = b"\xff\xfe\x80 end"
        if style == "lone-cr":
            lines[0] = b"a\rb\rc"
        if style == "no-end":
            ends[-1] = b""
        mark = b"\xef\xbb\xbf" if "bom" in style else b""
        mode = rng.choice(["755", "600", "640"]) if style == "mode" else "644"
        new = [b"fresh one", b"fresh two"][:rng.randint(0, 2)]
        end = ends[at]
        data = mark + b"".join(line + end for line, end in zip(lines, ends))
        kept = b"".join(line + end for line, end in zip(lines[:at], ends))
        rest = b"".join(line + end for line, end in zip(lines[at + 1:], ends[at + 1:]))
        result = mark + kept + b"".join(line + end for line in new) + rest
        body = [" " + lines[n].decode() for n in (at - 2, at - 1)] + ["-" + lines[at].decode()]
        body += ["+" + line.decode() for line in new] + [" " + lines[n].decode() for n in (at + 1, at + 2)]
        before, after = {"f.txt": entry(data, mode)}, {"f.txt": entry(result, mode)}
        promise = {"mode": "bytes.mode", "not-utf8": "encoding.kept"}.get(
            style, "bytes.line-ends" if style in ("crlf", "mixed", "crlf-bom") else "bytes.untouched"
        )
        cases.add(f"{style}-{number:03}", promise, "envelope", envelope([("Update File: f.txt", ["@@", *body])]), before, files(after),
                  "generated", says="the text says LF, the file has what it has")
        # A diff has the bytes of each line, and three lines around.
        low, high = at - 3, min(len(lines), at + 4)
        full = [b" " + lines[n] + ends[n] for n in range(low, at)] + [b"-" + lines[at] + ends[at]]
        full += [b"+" + line + end for line in new]
        full += [b" " + lines[n] + (ends[n] or b"\n\\ No newline at end of file\n") for n in range(at + 1, high)]
        head = f"--- a/f.txt\n+++ b/f.txt\n@@ -{low + 1},{high - low} +{low + 1},{high - low - 1 + len(new)} @@\n".encode()
        cases.add(f"{style}-diff-{number:03}", promise, "unified", head + b"".join(full), before, files(after), "generated",
                  says="the diff has the file's own bytes")
    for number in range(1, 13):
        # The new line is said to end in CRLF, or its CR to go.
        lines = [f"{rng.choice(WORDS)} {n}" for n in range(9)]
        to_crlf = number % 2 == 0
        end, other = ("\n", "\r\n") if to_crlf else ("\r\n", "\n")
        data = "".join(line + end for line in lines)
        result = "".join(line + (other if n == 4 else end) for n, line in enumerate(lines))
        full = [f" {line}{end}" for line in lines[1:4]] + [f"-{lines[4]}{end}", f"+{lines[4]}{other}"] + [f" {line}{end}" for line in lines[5:8]]
        cases.add(f"only-ends-{number:03}", "bytes.line-ends", "unified", "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n" + "".join(full),
                  {"f": data}, files({"f": result}), "generated", says="only the end of a line changes")
    return cases


def encoding_cases():
    rng, cases = random.Random("encoding"), Cases("encoding")
    for number in range(1, 25):
        coding, mark = rng.choice([("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")])
        lines = [f"{rng.choice(WORDS)} {n} é日" for n in range(9)]
        at = rng.randint(3, 5)
        body = [" " + lines[at - 1], "-" + lines[at], "+frisch ü", " " + lines[at + 1]]
        code = lambda lines: entry(mark + text_of(lines).encode(coding))
        after = lines[:at] + ["frisch ü"] + lines[at + 1:]
        allow = files({"wide.txt": code(after)}) + refused()
        cases.add(f"utf-16-{number:03}", "encoding.utf-16", "envelope", envelope([("Update File: wide.txt", ["@@", *body])]),
                  {"wide.txt": code(lines)}, allow, "generated", says="edited as text, or refused; never mixed")
    for number in range(1, 17):
        lines = [f"{rng.choice(WORDS)} {n}" for n in range(9)]
        data = lambda lines: entry("\n".join(lines).encode("latin-1") + b"\n")
        lines[0] = "caf\xe9"
        plain = [f" {lines[3]}", f"-{lines[4]}", "+plain", f" {lines[5]}"]
        cases.add(f"latin-1-{number:03}", "encoding.kept", "envelope", envelope([("Update File: l1.txt", ["@@", *plain])]), {"l1.txt": data(lines)},
                  files({"l1.txt": data(lines[:4] + ["plain"] + lines[5:])}), "generated", says="bytes that are no UTF-8 stay")
        mixed = [f" {lines[3]}", f"-{lines[4]}", "+fran\xe7ais", f" {lines[5]}"]
        cases.add(f"mixed-{number:03}", "encoding.mixed", "envelope", envelope([("Update File: l1.txt", ["@@", *mixed])]), {"l1.txt": data(lines)},
                  refused("patch_apply_error") + files({"l1.txt": data(lines[:4] + ["fran\xe7ais"] + lines[5:])}), "generated",
                  says="no UTF-8 into a file of another encoding")
        binary = entry(b"\x89BIN\r\n\x1a\n\0\0\0\r" + bytes(rng.randrange(256) for _ in range(40)) + b"\none\ntwo\nthree\n")
        cases.add(f"binary-{number:03}", "encoding.binary", "envelope", envelope([("Update File: b.bin", ["@@", " one", "-two", "+2", " three"])]),
                  {"b.bin": binary}, refused("binary_file"), "generated", says="a file with NUL is not edited as text")
    return cases


def section_cases():
    """Chains of operations on a few files, done one after the other."""
    rng, cases = random.Random("sections"), Cases("sections")
    number = 0
    while number < 80:
        before = {f"f{n}.txt": text_of([f"file {n}", "line a", "line b", "line c"]) for n in range(4)}
        now, sections, fresh, touched = dict(before), [], 0, set()
        for _ in range(rng.randint(2, 6)):
            verb = rng.choice(["add", "update", "update", "move", "edit-move", "delete"])
            names = sorted(now)
            if verb == "add":
                name = f"new{fresh}.txt"
                fresh += 1
                sections.append((f"Add File: {name}", [f"+made {fresh}", "+line a", "+line b"]))
                now[name] = f"made {fresh}\nline a\nline b\n"
                continue
            name = rng.choice(names)
            if verb == "delete":
                if name in touched or len(names) < 3:
                    continue
                sections.append((f"Delete File: {name}", []))
                del now[name]
                continue
            lines = now[name].split("\n")[:-1]
            spot = rng.randrange(len(lines))
            body = [f"-{lines[spot]}", f"+edit {len(sections)}"]
            body = [f" {lines[spot - 1]}", *body] if spot else [*body, *(f" {line}" for line in lines[1:2])]
            result = text_of(lines[:spot] + [f"edit {len(sections)}"] + lines[spot + 1:])
            target = f"moved{fresh}.txt"
            if verb == "update":
                sections.append((f"Update File: {name}", ["@@", *body]))
                now[name] = result
            else:
                fresh += 1
                edits = ["@@", *body] if verb == "edit-move" else []
                sections.append((f"Update File: {name}\n*** Move to: {target}", edits))
                now[target] = result if edits else now[name]
                del now[name]
                touched.add(target)
            touched.add(name)
        if len(sections) < 2 or now == before:
            continue
        number += 1
        cases.add(f"chain-{number:03}", "sections.order", "envelope", envelope(sections), before, files(now), "generated",
                  says="sections are done one after the other")
    return cases


def git_base85(data):
    """git's form of compressed bytes: lines of 52, each with its length before."""
    letters = ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~")
    packed, lines = zlib.compress(data, 9), []
    for at in range(0, len(packed), 52):
        piece = packed[at:at + 52]
        count = chr(ord("A") + len(piece) - 1) if len(piece) <= 26 else chr(ord("a") + len(piece) - 27)
        text = ""
        for word in range(0, len(piece), 4):
            value, five = int.from_bytes(piece[word:word + 4].ljust(4, b"\0"), "big"), ""
            for _ in range(5):
                value, rest = divmod(value, 85)
                five = letters[rest] + five
            text += five
        lines.append(count + text)
    return "\n".join(lines) + "\n"


def blob(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def diff_cases():
    """What a diff of git can say besides lines."""
    rng, cases = random.Random("diffs"), Cases("diffs")
    lines = lambda seed: [f"{WORDS[(seed + n) % len(WORDS)]} {n}" for n in range(8)]
    for number in range(1, 13):
        text = text_of(lines(number))
        body = [" " + line for line in lines(number)[1:4]] + ["-" + lines(number)[4], "+changed"] + [" " + line for line in lines(number)[5:8]]
        hunk = "@@ -2,7 +2,7 @@\n" + "\n".join(body) + "\n"
        changed = text.replace(lines(number)[4], "changed")
        head = lambda old, new: f"diff --git a/{old} b/{new}\n"
        names = "--- a/old.txt\n+++ b/dir/new.txt\n"
        same = "similarity index 100%\n"
        add = lambda id, promise, patch, before, allow, says: cases.add(
            f"{id}-{number:03}", promise, "git", patch, before, allow, "generated", says=says)
        move = "rename from old.txt\nrename to dir/new.txt\n"
        add("rename", "diffs.renames", head("old.txt", "dir/new.txt") + same + move, {"old.txt": text, "other": "x\n"},
            files({"dir/new.txt": text, "other": "x\n"}), "a file is renamed")
        add("rename-edit", "diffs.renames", head("old.txt", "dir/new.txt") + "similarity index 80%\n" + move + names + hunk,
            {"old.txt": text}, files({"dir/new.txt": changed}), "a file is renamed and changed")
        add("copy", "diffs.renames", head("old.txt", "dir/new.txt") + same + "copy from old.txt\ncopy to dir/new.txt\n", {"old.txt": text},
            files({"old.txt": text, "dir/new.txt": text}), "a file is copied")
        add("copy-edit", "diffs.renames", head("old.txt", "dir/new.txt") + "similarity index 80%\ncopy from old.txt\ncopy to dir/new.txt\n"
            + names + hunk, {"old.txt": text}, files({"old.txt": text, "dir/new.txt": changed}), "a copy is changed")
        add("rename-missing", "diffs.renames", head("old.txt", "dir/new.txt") + same + move, {"other": "x\n"}, refused("not_found", "patch_apply_error"),
            "the file to be renamed is not there")
        add("mode", "diffs.modes", head("run", "run") + "old mode 100644\nnew mode 100755\n", {"run": text},
            files({"run": {"text": text, "mode": "755"}}), "a file may be run")
        add("mode-edit", "diffs.modes", head("run", "run") + "old mode 100755\nnew mode 100644\n--- a/run\n+++ b/run\n" + hunk,
            {"run": {"text": text, "mode": "755"}}, files({"run": changed}), "a file may not be run any more, and is changed")
        made = "--- /dev/null\n+++ b/n/e/w\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        add("new", "diffs.files", head("n/e/w", "n/e/w") + "new file mode 100644\n" + made, {}, files({"n/e/w": "one\ntwo\n"}),
            "a new file in new directories")
        add("new-run", "diffs.modes", head("n/e/w", "n/e/w") + "new file mode 100755\n" + made, {},
            files({"n/e/w": {"text": "one\ntwo\n", "mode": "755"}}), "a new file may be run")
        add("new-empty", "diffs.files", head("empty", "empty") + "new file mode 100644\nindex 0000000..e69de29\n", {"x": "x\n"},
            files({"x": "x\n", "empty": ""}), "a new file that is empty")
        if number <= 3:
            add("new-there", "diffs.files", head("w", "w") + "new file mode 100644\n--- /dev/null\n+++ b/w\n@@ -0,0 +1 @@\n+one\n", {"w": text},
            refused("already_exists", "patch_apply_error"), "the new file is there already")
        gone = "".join(f"-{line}\n" for line in lines(number))
        add("delete", "diffs.files", head("d", "d") + "deleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1,8 +0,0 @@\n" + gone,
            {"d": text, "x": "x\n"}, files({"x": "x\n"}), "a file goes")
        add("delete-other", "diffs.files", head("d", "d") + "deleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1,8 +0,0 @@\n" + gone,
            {"d": text + "more\n"}, refused("patch_apply_error"), "the file that goes has other lines")
        add("swap", "diffs.simultaneous", head("p", "q") + same + "rename from p\nrename to q\n" + head("q", "p") + same + "rename from q\nrename to p\n",
            {"p": text, "q": "q\n"}, files({"q": text, "p": "q\n"}), "two files swap their names")
        data = bytes(rng.randrange(256) for _ in range(rng.randint(5, 200)))
        other = bytes(rng.randrange(256) for _ in range(rng.randint(5, 200)))
        part = lambda data: f"literal {len(data)}\n{git_base85(data)}\n"
        add("binary", "diffs.binary", head("b", "b") + f"index {blob(data)}..{blob(other)} 100644\nGIT binary patch\n" + part(other) + part(data),
            {"b": entry(data)}, files({"b": entry(other)}), "a binary file changes")
        add("binary-new", "diffs.binary", head("b", "b") + f"new file mode 100644\nindex {'0' * 40}..{blob(other)}\nGIT binary patch\n" + part(other)
            + "literal 0\nHcmV?d00001\n\n", {}, files({"b": entry(other)}), "a binary file is new")
        add("binary-other", "diffs.binary-checked", head("b", "b") + f"index {blob(data)}..{blob(other)} 100644\nGIT binary patch\n" + part(other) + part(data),
            {"b": entry(data + b"\0")}, refused("patch_apply_error", "stale_file"), "the binary file is another than the diff was made for")
        outside = "new file mode 100644\n--- /dev/null\n+++ b/../../outside/new\n@@ -0,0 +1 @@\n+one\n"
        secret = "--- a/../outside/secret\n+++ b/../outside/secret\n@@ -1,2 +1,2 @@\n outside the workspace\n-one\n+two\n"
        paths = {
            "climb": head("../outside/secret", "../outside/secret") + secret,
            "climb-new": head("../../outside/new", "../../outside/new") + outside,
            "climb-rename": head("old.txt", "../outside/new") + same + "rename from old.txt\nrename to ../outside/new\n",
            "climb-take": head("../outside/secret", "new") + same + "rename from ../outside/secret\nrename to new\n",
            "climb-copy": head("../outside/secret", "new") + same + "copy from ../outside/secret\ncopy to new\n",
            "git-config": head(".git/config", ".git/config") + "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-one\n+two\n",
            "git-hook": head(".git/hooks/post-checkout", ".git/hooks/post-checkout")
            + "new file mode 100755\n--- /dev/null\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+id\n",
            "git-rename": head("old.txt", ".git/hooks/x") + same + "rename from old.txt\nrename to .git/hooks/x\n",
        }
        if number <= 3:
            before = {"old.txt": text, ".git/config": "one\n"}
            for id, patch in paths.items():
                # The same with other names behind, so that three are not one.
                patch = patch.replace("post-checkout", f"post-checkout{number}").replace("outside/new", f"outside/new{number}")
                forbidden = [".git"] if id.startswith("git") else []
                cases.add(f"{id}-{number:03}", "guard.git" if forbidden else "guard.read" if id == "climb-copy" else "guard.outside", "git", patch, before,
                          refused("outside_workspace", "permission_denied"), "generated", forbidden=forbidden, says=id.replace("-", " "))
            link = head("l", "l") + "new file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../outside\n\\ No newline at end of file\n"
            through = head(f"l/new{number}", f"l/new{number}") + f"new file mode 100644\n--- /dev/null\n+++ b/l/new{number}\n@@ -0,0 +1 @@\n+one\n"
            cases.add(f"link-and-through-{number:03}", "guard.links", "git", link + through, before, refused(), "generated",
                      says="a link is made, and a file written through it")
            cases.add(f"through-{number:03}", "guard.links", "git", through, {"l": {"symlink": "../outside"}},
                      refused("outside_workspace", "permission_denied"), "generated", says="a file is written through a link")
    return cases


FAMILIES = [
    place_cases, number_cases, pair_cases, moved_cases, header_cases, long_cases, many_cases, atomic_cases, ends_cases,
    unicode_cases, bytes_cases, encoding_cases, section_cases, diff_cases,
]
