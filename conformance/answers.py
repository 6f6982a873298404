"""Cases of the shapes that answers of models and mails have. The texts are made up; the shapes are
those that transcripts show (`real/`). What a case comes to is written beside it."""

from casefile import Cases, files, refused

ONE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n"
BEFORE = {"a.py": ONE, "b.py": "x = 1\ny = 2\nz = 3\n"}
B_AFTER = "x = 1\ny = 20\nz = 3\n"
A_AFTER = ONE.replace("return 2", "return 20")
BOTH = files({"a.py": A_AFTER, "b.py": B_AFTER})
ONLY_A = files({**BEFORE, "a.py": A_AFTER})
ONLY_B = files({**BEFORE, "b.py": B_AFTER})
A_HUNK = "@@ -4,5 +4,5 @@ def one():\n \n def two():\n-    return 2\n+    return 20\n \n \n"
B_HUNK = "@@ -1,3 +1,3 @@\n x = 1\n-y = 2\n+y = 20\n z = 3\n"
A_DIFF = "--- a/a.py\n+++ b/a.py\n" + A_HUNK
B_DIFF = "--- a/b.py\n+++ b/b.py\n" + B_HUNK


def git(path, diff):
    return f"diff --git a/{path} b/{path}\n{diff}"


def mail(number, subject, diff):
    return (
        f"From 0123456789abcdef0123456789abcdef0123456{number} Mon Sep 17 00:00:00 2001\n"
        "From: A Person <person@example.org>\nDate: Mon, 3 Nov 2025 10:00:00 +0000\n"
        f"Subject: [PATCH {number}/2] {subject}\n\nThe reason stands here.\n---\n b.py | 2 +-\n"
        f" 1 file changed, 1 insertion(+), 1 deletion(-)\n\n{diff}-- \n2.47.3\n\n"
    )


def answer_cases():
    cases = Cases("answers")

    def add(id, promise, dialect, text, allow, says, rules="any", before=BEFORE, options=None):
        cases.add(id, promise, dialect, text, before, allow, "answers.py", rules, options, (), says)

    cut(add)
    mails(add)
    quoted(add)
    prefixes(add)
    envelopes(add)
    diffs(add)
    blocks(add)
    return cases


def cut(add):
    whole = git("a.py", A_DIFF) + git("b.py", B_DIFF)
    inside = whole[: whole.index("+y = 20")]
    says = "a diff ends within its last hunk, whose numbers are right"
    add("cut-within-a-hunk", "atomic.cut-off", "git", inside, refused("patch_parse_error"), says)
    before_new = whole[: whole.index("-y = 2")]
    says = "a diff ends before the first change of its last hunk"
    add(
        "cut-before-a-change",
        "atomic.cut-off",
        "git",
        before_new,
        refused("patch_parse_error"),
        says,
    )
    half = whole[: whole.index("y = 20") + 3]
    says = "a diff ends within a line that it inserts"
    add("cut-within-a-line", "atomic.cut-off", "git", half, refused("patch_parse_error"), says)
    header = whole[: whole.index("@@ -1,3")]
    says = "a diff ends behind the names of its last file"
    add("cut-behind-a-header", "atomic.cut-off", "git", header, refused("patch_parse_error"), says)
    first = "*** Begin Patch\n*** Update File: a.py\n@@\n-    return 2\n+    return 20\n"
    envelope = f"{first}*** Update File: b.py\n@@\n x = 1\n-y"
    says = "an envelope ends within a line"
    add("cut-envelope", "atomic.cut-off", "envelope", envelope, refused("patch_parse_error"), says)
    block = "b.py\n<<<<<<< SEARCH\ny = 2\n=======\ny = 2"
    says = "a block ends within its new lines"
    add("cut-block", "atomic.cut-off", "blocks", block, refused("patch_parse_error"), says)


def mails(add):
    first, second = mail(1, "two", git("a.py", A_DIFF)), mail(2, "y", git("b.py", B_DIFF))
    add("mail", "dialects.mails", "git", second, ONLY_B, "a mail of git format-patch")
    add("mails", "dialects.mails", "git", first + second, BOTH, "a series of two mails")
    again = B_DIFF.replace("y = 2\n", "y = 20\n", 1).replace("+y = 20", "+y = 200")
    again = again.replace("-y = 2\n", "-y = 20\n")
    series = second + mail(2, "y again", git("b.py", again))
    allow = files({**BEFORE, "b.py": B_AFTER.replace("20", "200")})
    add(
        "mails-of-one-file",
        "dialects.mails",
        "git",
        series,
        allow,
        "the second mail changes what the first wrote",
    )
    stat = (
        mail(1, "two", "").split("---\n")[0]
        + "---\nThis note is for readers.\n\n"
        + git("a.py", A_DIFF)
    )
    add(
        "mail-with-a-note", "dialects.mails", "git", stat, ONLY_A, "a note stands below the message"
    )
    signed = A_DIFF + "-- \nA Person\nperson@example.org\n"
    add(
        "signature",
        "dialects.mails",
        "unified",
        signed,
        ONLY_A,
        "a signature stands below the diff",
    )


def quoted(add):
    quote = "".join(f"> {line}\n" for line in B_DIFF.splitlines())
    says = "each line is quoted, as in an answer to a mail"
    add("quoted", "dialects.recovered", "wrapped", quote, ONLY_B, says)
    listed = "1. Change y:\n\n" + "".join(
        f"   {line}\n" for line in ["```diff", *B_DIFF.splitlines(), "```"]
    )
    add(
        "indented-by-a-list",
        "dialects.recovered",
        "wrapped",
        listed,
        ONLY_B,
        "a fence is indented by a list",
    )


def prefixes(add):
    bare = B_DIFF.replace("a/b.py", "b.py").replace("b/b.py", "b.py")
    add(
        "no-prefix",
        "diffs.prefixes",
        "unified",
        bare,
        ONLY_B,
        "names have no prefix",
        options={"strip": 0},
    )
    for name, old, new in (("index", "i", "w"), ("commits", "c", "i"), ("objects", "o", "w")):
        text = git("b.py", B_DIFF).replace("a/b.py", f"{old}/b.py").replace("b/b.py", f"{new}/b.py")
        says = f"names have the prefixes {old}/ and {new}/ of diff.mnemonicPrefix"
        add(f"prefix-{name}", "diffs.prefixes", "git", text, ONLY_B, says, options={"strip": 1})
    nested = {"a/b.py": BEFORE["b.py"]}
    text = B_DIFF.replace("b/b.py", "a/b.py")
    says = "the directory is called a, and the names have no prefix"
    allow = files({"a/b.py": B_AFTER})
    add(
        "directory-called-a",
        "diffs.prefixes",
        "unified",
        text,
        allow,
        says,
        before=nested,
        options={"strip": 0},
    )
    stamped = B_DIFF.replace("b.py\n", "b.py\t2025-11-03 10:00:00.000000000 +0000\n", 2)
    add(
        "time-stamps",
        "diffs.prefixes",
        "unified",
        stamped,
        ONLY_B,
        "time stamps stand behind the names",
    )


def envelope(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def envelopes(add):
    lines = ["*** Update File: b.py", "@@", " x = 1", "-y = 2", "+y = 20", " z = 3"]
    add(
        "heredoc",
        "dialects.recovered",
        "wrapped",
        f"apply_patch <<'EOF'\n{envelope(*lines)}EOF\n",
        ONLY_B,
        "a shell command",
    )
    talk = f"I'll change y.\n\n```\n{envelope(*lines)}```\n\nThat is all.\n"
    add(
        "in-prose",
        "dialects.fenced",
        "wrapped",
        talk,
        ONLY_B,
        "an envelope in a fence, among prose",
    )
    same = ["*** Update File: b.py", "@@", " x = 1", "-y = 2", "-z = 3", "+y = 20", "+z = 3"]
    add(
        "line-again",
        "place.one",
        "envelope",
        envelope(*same),
        ONLY_B,
        "a line is removed and inserted again",
    )
    context = [
        "*** Update File: a.py",
        "@@",
        " def one():",
        "@@",
        "-    return 2",
        "+    return 20",
    ]
    add(
        "context-alone",
        "place.one",
        "envelope",
        envelope(*context),
        ONLY_A,
        "the first hunk is context alone",
    )
    blank = [
        "*** Update File: a.py",
        "@@",
        " def two():",
        "-    return 2",
        "+    return 20",
        "",
        "",
        " def three():",
    ]
    add(
        "lost-blanks",
        "place.one",
        "envelope",
        envelope(*blank),
        ONLY_A,
        "empty context lines lost their blank",
    )
    end = ["*** Add File: n.txt", "+one", "+"]
    allow = files({**BEFORE, "n.txt": "one\n"}) + files({**BEFORE, "n.txt": "one\n\n"})
    add(
        "empty-last-line",
        "ends.new-file",
        "envelope",
        envelope(*end),
        allow,
        "a new file ends in an empty line",
    )
    several = ["*** Update File: a.py", "@@", "-", "+# here"]
    add(
        "blank-line-alone",
        "place.several",
        "envelope",
        envelope(*several),
        refused("multiple_matches"),
        "an empty line stands in several places",
    )
    insertion = ["*** Update File: a.py", "@@", "+# where?"]
    says = "lines are inserted, and nothing says where"
    add(
        "no-place",
        "place.none",
        "envelope",
        envelope(*insertion),
        refused("patch_apply_error"),
        says,
        "strict",
    )
    order = [
        "*** Update File: a.py",
        "@@",
        "-    return 3",
        "+    return 30",
        "@@",
        "-    return 1",
        "+    return 10",
    ]
    allow = files(
        {**BEFORE, "a.py": ONE.replace("return 3", "return 30").replace("return 1", "return 10")}
    )
    says = "the hunks stand in another order than in the file"
    add("other-order", "place.one", "envelope", envelope(*order), allow, says, "house")
    framed = envelope(*lines).replace("\n", "\r\n")
    add(
        "carriage-returns",
        "bytes.line-ends",
        "envelope",
        framed,
        ONLY_B,
        "all lines of the text end in CR LF",
    )


def diffs(add):
    unnumbered = A_DIFF.replace("@@ -4,5 +4,5 @@ def one():", "@@ ... @@")
    says = "a hunk has dots in place of its numbers"
    add("dots-for-numbers", "diffs.place", "unified", unnumbered, ONLY_A, says, "house")
    fenced = f"`a.py`\n\n```diff\n{A_DIFF}```\n\n`b.py`\n\n```diff\n{B_DIFF}```\n"
    add(
        "a-fence-a-file",
        "dialects.fenced",
        "wrapped",
        fenced,
        BOTH,
        "each file has a fence of its own",
    )
    made_up = git("b.py", "index 1234567..89abcde 100644\n" + B_DIFF)
    add("made-up-index", "diffs.place", "git", made_up, ONLY_B, "the ids of the blobs are made up")
    wrapped = B_DIFF.replace(" x = 1\n", " x = 1\nwhich is kept\n")
    says = "a line of a hunk has no sign"
    add("no-sign", "dialects.refused", "unified", wrapped, refused("patch_parse_error"), says)
    prose = f"Here is the diff:\n\n{B_DIFF}\nRun the tests afterwards.\n"
    add("prose-around", "dialects.around", "unified", prose, ONLY_B, "prose stands above and below")
    twice = f"```diff\n{B_DIFF}```\n\nWait, better:\n\n```diff\n{B_DIFF.replace('20', '21')}```\n"
    says = "two drafts of one change: nothing tells which is meant"
    add("two-drafts", "dialects.refused", "wrapped", twice, refused("patch_parse_error"), says)


def blocks(add):
    block = "b.py\n```python\n<<<<<<< SEARCH\ny = 2\n=======\ny = 20\n>>>>>>> REPLACE\n```\n"
    add(
        "block",
        "dialects.fenced",
        "wrapped",
        f"I'll change y:\n\n{block}\nDone.\n",
        ONLY_B,
        "a block below its path, among prose",
    )
    chain = block + "\n" + block.replace("y = 20", "y = 200").replace("y = 2\n", "y = 20\n", 1)
    allow = files({**BEFORE, "b.py": B_AFTER.replace("20", "200")})
    add(
        "block-after-block",
        "dialects.fenced",
        "wrapped",
        chain,
        allow,
        "a block changes what one before it wrote",
    )
    new = "n/new.py\n```python\n<<<<<<< SEARCH\n=======\nvalue = 1\n>>>>>>> REPLACE\n```\n"
    allow = files({**BEFORE, "n/new.py": "value = 1\n"})
    add(
        "block-new-file",
        "dialects.fenced",
        "wrapped",
        new,
        allow,
        "nothing is searched: the file is new",
    )
    several = "a.py\n<<<<<<< SEARCH\n    return\n=======\n    pass\n>>>>>>> REPLACE\n"
    text = {"a.py": "def f():\n    return\n\ndef g():\n    return\n"}
    says = "the old lines stand in two places"
    add(
        "block-in-two-places",
        "place.several",
        "blocks",
        several,
        refused("multiple_matches"),
        says,
        before=text,
    )
    absent = block.replace("y = 2\n", "y = 7\n", 1)
    add(
        "block-absent",
        "place.none",
        "blocks",
        absent.replace("```python\n", "").replace("```\n", ""),
        refused("patch_apply_error"),
        "the old lines are not in the file",
    )
    nameless = "```python\n<<<<<<< SEARCH\ny = 2\n=======\ny = 20\n>>>>>>> REPLACE\n```\n"
    add(
        "block-without-a-name",
        "dialects.refused",
        "wrapped",
        nameless,
        refused("patch_parse_error"),
        "no line names the file",
        "house",
    )


FAMILIES = [answer_cases]
