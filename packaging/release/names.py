"""Asks the registries whether the names that a release is published under are free, or ours.

    python packaging/release/names.py [REGISTRY:NAME…]

Without names all that are published are asked for: each crate, the wheel, each npm package. The
registries are crates.io, PyPI and npm; a name is ours if its repository there is that of Cargo.toml.
Prints a table. The exit code is 1 if a name is somebody else's. A registry that does not answer is
skipped, and named.

The image, the extension and the manifests are published under names of accounts; no client asks for
those, and the table says what to look at. Needs Python 3.11 with pip, cargo, and node with npm.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from project import IMAGE, MCP_NAME, ROOT, TARGETS, Project
from registries import WINGET

FREE, OURS, UNKNOWN = "free", "ours", "no answer"
BY_HAND = {
    f"the image {IMAGE}": "the organization apply-patch on GitHub",
    f"the MCP server {MCP_NAME}": "the same",
    "the extension apply-patch.apply-patch": "the publisher apply-patch in the Visual Studio Marketplace and in Open VSX",
    f"the winget package {WINGET}": "the folder of that name in the repository winget-pkgs",
}


def run(*command: str) -> tuple[int, str, str]:
    """The exit code, the output and what went to standard error, outside of this workspace: cargo would answer from it."""
    with tempfile.TemporaryDirectory() as nowhere:
        try:
            done = subprocess.run(command, cwd=nowhere, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            return 127, "", str(error)
    return done.returncode, done.stdout, done.stderr


def on_crates_io(name: str) -> list[str] | str:
    # Offline cargo says of every name that it is not there.
    code, out, err = run("cargo", "info", "--config", "net.offline=false", "--registry", "crates-io", name)
    if code != 0:
        return FREE if "could not find `" in err else UNKNOWN
    return re.findall(r"^repository: (.*)$", out, re.MULTILINE)


def on_pypi(name: str) -> list[str] | str:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    code, out, err = run(*pip, "index", "versions", "-vv", "--pre", "--ignore-requires-python", name)
    # Of a name that has no file for this machine pip says the same as of one that is not there, but for this.
    if code != 0 and "404 Client Error" in out + err:
        return FREE
    if code != 0 and ("Could not fetch" in out + err or "No matching distribution" not in err):
        return UNKNOWN
    report = ("--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--ignore-requires-python", "--report", "-")
    # Only wheels: to look at sources pip runs them.
    code, out, _ = run(*pip, "install", *report, "--only-binary", ":all:", name)
    said = json.loads(out)["install"][0]["metadata"] if code == 0 else {}
    urls = [url.partition(", ")[2] for url in said.get("project_url", [])]
    return [url for url in (*urls, said.get("home_page")) if url]


def on_npm(name: str) -> list[str] | str:
    code, out, err = run("npm", "view", "--json", name, "name", "repository.url")
    if code != 0:
        return FREE if "E404" in out + err else UNKNOWN
    # Without a repository it is the name alone.
    said = json.loads(out)
    return [said["repository.url"]] if isinstance(said, dict) else []


ASK = {"crates.io": on_crates_io, "PyPI": on_pypi, "npm": on_npm}


def plain(url: str) -> str:
    """The owner and the name of a repository, of each of its spellings."""
    path = re.sub(r"^(git\+)?[a-z]+://(www\.)?|^git@", "", url.lower()).replace(":", "/")
    return "/".join(path.split("/")[:3]).removesuffix(".git")


def whose(registry: str, name: str, repository: str) -> str:
    """FREE, OURS, UNKNOWN, or the repository of somebody else."""
    found = ASK[registry](name)
    if isinstance(found, str):
        return found
    if plain(repository) in map(plain, found):
        return OURS
    return f"somebody else's: {', '.join(found) or 'it states no repository'}"


def published() -> list[tuple[str, str]]:
    """Every name that a release uploads, with its registry."""
    metadata = json.loads(Project.cargo("metadata", "--format-version", "1", "--no-deps"))
    names = [("crates.io", one["name"]) for one in metadata["packages"] if one["publish"] is None]
    names.append(("PyPI", tomllib.loads((ROOT / "packaging/python/pyproject.toml").read_text())["project"]["name"]))
    with tempfile.TemporaryDirectory() as out:
        targets = [f"{target.name}=," for target in TARGETS]
        subprocess.run(["node", ROOT / "packaging/npm/make.mjs", out, *targets], check=True, stdout=subprocess.DEVNULL)
        names += [("npm", json.loads((one / "package.json").read_text())["name"]) for one in Path(out).iterdir()]
    names.append(("npm", re.search(r'^const NAME: &str = "(.*)";', (ROOT / "packaging/wasm/src/main.rs").read_text(), re.MULTILINE)[1]))
    return sorted(names)


def main(arguments: list[str]) -> int:
    project = Project()
    names = [tuple(argument.split(":", 1)) for argument in arguments] or published()
    rows = [(registry, name, whose(registry, name, project.repository)) for registry, name in names]
    for registry, name, answer in rows:
        print(f"{registry:10} {name:28} {answer}")
    if not arguments:
        print("\nnot asked; look at each by hand:")
        for name, account in BY_HAND.items():
            print(f"  {name}: {account}")
    good = [name for _, name, answer in rows if answer in (FREE, OURS)]
    unknown = [f"{name} ({registry})" for registry, name, answer in rows if answer == UNKNOWN]
    taken = [f"{name} ({registry})" for registry, name, answer in rows if answer not in (FREE, OURS, UNKNOWN)]
    if unknown:
        print(f"skipped in part: no registry answered for {', '.join(unknown)}")
    if taken:
        print(f"error: somebody else has {', '.join(taken)}")
    print(f"{len(good)} of {len(rows)} names are free or ours")
    return bool(taken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
