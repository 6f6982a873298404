"""Applies patches to commits of git repositories by the million, over the machines of a Ray cluster.

    python apply_many.py PATCHES RESULTS [--address ADDRESS] [--part N]

PATCHES is a file of JSON lines, each with `id`, `repo` (a directory of a git repository), `rev` (a commit) and `patch`. RESULTS is a
directory: `part-000000.jsonl` there has what became of the first N of them, and so on: `id`, `ok`, and `tree`, the id of the tree that the
patch makes of the commit's, or `kind` and `reason` of the error. No work tree is needed, and nothing is written to a repository.

A part gets its name when it is whole. A worker that is lost has its part done by another; a run that was stopped goes on where it was, and
does no part twice.
"""

import argparse
import json
import os
from pathlib import Path

import ray

from apply_patch import GitTree, PatchError

# The lines of a part are sent to a worker at once.
PART = 500


def outcome(patch, trees):
    """What becomes of one patch. `trees` are those that this worker has opened."""
    at = patch["repo"], patch["rev"]
    try:
        if at not in trees:
            trees[at] = GitTree(*at)
        tree = trees[at].tree_of(trees[at].plan(patch["patch"]))
    except PatchError as error:
        return {"id": patch["id"], "ok": False, "kind": error.kind, "reason": error.details.get("reason")}
    return {"id": patch["id"], "ok": True, "tree": tree}


@ray.remote(max_retries=-1)
def apply_part(lines, result):
    """Applies the patches of a part, and tells how many there were."""
    trees = {}
    result = Path(result)
    # Two workers may be at the same part when one of them is taken for lost.
    draft = result.with_name(f".{result.name}.{os.getpid()}")
    with draft.open("w") as out:
        for line in lines:
            print(json.dumps(outcome(json.loads(line), trees)), file=out)
    draft.rename(result)
    return len(lines)


def parts(patches, size):
    """The lines of the file, in parts."""
    lines = []
    with open(patches) as file:
        for line in file:
            lines.append(line)
            if len(lines) == size:
                yield lines
                lines = []
    if lines:
        yield lines


def run(patches, results, size=PART):
    """Applies what is not done yet, and tells how many patches that were."""
    results = Path(results)
    results.mkdir(parents=True, exist_ok=True)
    # So many parts wait for a worker: the file is not in memory.
    most = 4 * int(ray.cluster_resources().get("CPU", 1))
    waiting, done = [], 0
    for nth, lines in enumerate(parts(patches, size)):
        result = results / f"part-{nth:06}.jsonl"
        if result.exists():
            continue
        if len(waiting) >= most:
            ready, waiting = ray.wait(waiting)
            done += sum(ray.get(ready))
        waiting.append(apply_part.remote(lines, str(result.absolute())))
    return done + sum(ray.get(waiting))


def main():
    arguments = argparse.ArgumentParser(description="Applies patches to commits, over a Ray cluster.")
    arguments.add_argument("patches")
    arguments.add_argument("results")
    arguments.add_argument("--address", help="of a cluster that runs; otherwise one is started here")
    arguments.add_argument("--part", type=int, default=PART, help="patches in a part (%(default)s)")
    given = arguments.parse_args()
    ray.init(address=given.address, include_dashboard=False, log_to_driver=False)
    print(f"{run(given.patches, given.results, given.part)} patches applied or refused")


if __name__ == "__main__":
    main()
