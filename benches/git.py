#!/usr/bin/env python3
"""Compares `apply-patch git` with the four commands of git that do the same, and prints a table for RESULTS.md.

usage: git.py --ours PROGRAM [--dir DIR] [--files N] [--changes N] [--runs N] [--batch N]

The repository is bare, made by `git fast-import` from a fixed seed; each patch changes a line in so many files, spread over the
tree. git runs `apply --cached`, `write-tree`, `commit-tree` and `update-ref`, with an index that it has already and that knows the
tree. They take turns on fresh copies, the trees that result are compared, and the times are medians. `--batch` is one process for so
many patches, the first of them left out; its time is that of all divided by their number. Either it gets the next request when it has
answered the last, or all at once.
"""
import argparse, json, os, random, shutil, statistics, subprocess, tempfile, threading, time
from pathlib import Path

WORDS = "let value = return(x); if some_function &mut match self. Ok(()) ? pub fn struct impl for in vec![] 0..n".split()


def path(at):
    return f"src/d{at % 50:02}/e{at // 50 % 10}/file{at}.txt"


def lines(at):
    chance = random.Random(at)
    return [" ".join(f"{chance.choice(WORDS)}{chance.randrange(1000)}" for _ in range(8)) for _ in range(60)]


def git(args, at, stdin=b"", **more):
    done = subprocess.run(["git", *args], cwd=at, input=stdin, stdout=subprocess.PIPE, check=True, env=ENVIRONMENT, **more)
    return done.stdout.decode().strip()


def repository(at, files):
    at.mkdir()
    git(["init", "-q", "--bare", "-b", "main"], at)
    stream = ["commit refs/heads/main\ncommitter A U Thor <a@example.com> 1700000000 +0000\ndata 0\n"]
    for number in range(files):
        text = "\n".join(lines(number)) + "\n"
        stream.append(f"M 644 inline {path(number)}\ndata {len(text)}\n{text}\n")
    git(["fast-import", "--quiet"], at, "".join(stream).encode())
    git(["read-tree", "main"], at)
    # As after an earlier commit: the index knows the ids of its directories.
    git(["write-tree"], at)


def patch(files, changes, run):
    """The change number `run`: as an envelope, and as a diff."""
    envelope, diff = ["*** Begin Patch"], []
    for number in (at * files // changes for at in range(changes)):
        name, text = path(number), lines(number)
        old = text[29] if run == 0 else f"run {run - 1}"
        hunk = [f" {text[28]}", f"-{old}", f"+run {run}", f" {text[30]}"]
        envelope += [f"*** Update File: {name}", "@@", *hunk]
        diff += [f"diff --git a/{name} b/{name}", f"--- a/{name}", f"+++ b/{name}", "@@ -29,3 +29,3 @@", *hunk]
    return "\n".join([*envelope, "*** End Patch"]) + "\n", "\n".join(diff) + "\n"


def timed(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ours", required=True)
parser.add_argument("--dir", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
parser.add_argument("--durability", default="process")
for name, default in [("files", 10_000), ("changes", 50), ("runs", 15), ("batch", 100)]:
    parser.add_argument(f"--{name}", type=int, default=default)
args = parser.parse_args()

with tempfile.TemporaryDirectory(dir=args.dir) as scratch:
    scratch = Path(scratch)
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in [("NAME", "A U Thor"), ("EMAIL", "a@example.com")]}
    ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": str(scratch), "XDG_STATE_HOME": str(scratch / "state"), **who}
    made = scratch / "made"
    repository(made, args.files)
    envelope, diff = patch(args.files, args.changes, 0)
    (scratch / "patch.diff").write_text(diff)
    (scratch / "patch.txt").write_text(envelope)

    def fresh():
        at = scratch / "copy"
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(made, at)
        return at

    pipeline = f"git apply --cached {scratch}/patch.diff && git update-ref refs/heads/main $(git commit-tree -p main -m change $(git write-tree))"
    ours = [args.ours, "git", "--quiet", "--durability", args.durability]
    once, theirs, batch, together = [], [], [], []
    for _ in range(args.runs):
        at = fresh()
        theirs.append(timed(lambda: subprocess.run(["sh", "-c", pipeline], cwd=at, check=True, env=ENVIRONMENT)))
        wanted = git(["rev-parse", "main^{tree}"], at)
        at = fresh()
        once.append(timed(lambda: subprocess.run([*ours, "--onto", "main", str(scratch / "patch.txt")], cwd=at, check=True, env=ENVIRONMENT,
                                                 stdout=subprocess.DEVNULL)))
        assert git(["rev-parse", "main^{tree}"], at) == wanted, "another tree"
    def ask(process, requests):
        for request in requests:
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["ok"], "refused"

    def ask_at_once(process, requests):
        def send():
            process.stdin.write("".join(request + "\n" for request in requests).encode())
            process.stdin.flush()

        sender = threading.Thread(target=send)
        sender.start()
        assert all(json.loads(process.stdout.readline())["ok"] for _ in requests), "refused"
        sender.join()

    requests = [json.dumps({"id": run, "onto": "main", "patch": patch(args.files, args.changes, run)[0]}) for run in range(args.batch + 1)]
    for _ in range(max(1, args.runs // 5)):
        for times, way in [(batch, ask), (together, ask_at_once)]:
            at = fresh()
            process = subprocess.Popen([*ours, "--batch"], cwd=at, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            ask(process, requests[:1])
            times.append(timed(lambda: way(process, requests[1:])) / args.batch)
            process.stdin.close()
            assert process.wait() == 0
            git(["fsck", "--strict", "--no-progress", "--no-dangling"], at)

theirs, once, batch, together = (statistics.median(times) * 1000 for times in (theirs, once, batch, together))
print(f"\n{args.files} files, {args.changes} of them changed by a patch; durability {args.durability}\n")
print("| what | ms | share of git |\n|---|---:|---:|")
print(f"| git, four commands | {theirs:.2f} | |")
print(f"| apply-patch git, a process a patch | {once:.2f} | {once / theirs:.3f} |")
print(f"| apply-patch git --batch, one request after the other, a patch | {batch:.2f} | {batch / theirs:.3f} |")
print(f"| apply-patch git --batch, all requests at once, a patch | {together:.2f} | {together / theirs:.3f} |")
