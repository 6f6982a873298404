"""Checks what packages say of themselves, in the packages as they are made: licence and its files, readme, URLs, version, words to be found by.

    python metadata.py VERSION FILE…

FILE is a wheel (.whl), an npm package (.tgz) or a crate (.crate). Everything that is wrong is printed; the exit code is 1 then.
"""

import email
import json
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/apply-patch/apply-patch"
MCP_NAME = "io.github.apply-patch/apply-patch"
EXPRESSION = "MIT OR Apache-2.0"
LICENCES = {name: (ROOT / name).read_bytes() for name in ("LICENSE-APACHE", "LICENSE-MIT")}
# Shorter is not a readme.
LEAST_README = 100
# What is in the package of one platform is described by the package that depends on it.
PLATFORM = "apply-patch-cli-"

version = sys.argv[1]
wrong = []


def check(package: str, holds: object, what: str) -> None:
    """Notes what does not hold."""
    if not holds:
        wrong.append(f"{package}: {what}")


def check_files(package: str, files: dict[str, bytes], readme: str | None, where: str = "") -> None:
    """The licences word for word, and a readme."""
    for name, text in LICENCES.items():
        check(package, files.get(where + name) == text, f"{where}{name} is missing, or is another text")
    if readme is not None:
        check(package, len(files.get(readme, b"")) >= LEAST_README, f"{readme} is missing, or says nothing")


def wheel(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = f"apply_patch-{version}.dist-info"
    said = email.message_from_bytes(files[f"{info}/METADATA"])
    one = path.name
    check(one, said["Version"] == version, f"it is version {said['Version']}")
    check(one, len(said["Summary"] or "") > 20, "no summary")
    check(one, said["License-Expression"] == EXPRESSION, f"the licence is {said['License-Expression']}")
    check(one, sorted(said.get_all("License-File", [])) == sorted(LICENCES), "the licence files are not named")
    check_files(one, files, None, f"{info}/licenses/")
    body = said.get_payload()
    check(one, len(body) >= LEAST_README and (said["Description-Content-Type"] or "").startswith("text/markdown"), "no readme")
    # The registry of MCP servers looks for the name there.
    check(one, f"mcp-name: {MCP_NAME} " in body, "the readme has no name for the registry of MCP servers")
    urls = dict(url.split(", ", 1) for url in said.get_all("Project-URL", []))
    for label in ("Homepage", "Documentation", "Changelog", "Issues"):
        check(one, urls.get(label, "").startswith(REPOSITORY), f"no URL called {label}")
    check(one, said["Requires-Python"] == ">=3.10", f"it wants Python {said['Requires-Python']}")
    check(one, said["Keywords"], "no keywords")
    check(one, len(said.get_all("Classifier", [])) >= 5, "hardly any classifiers")


def unpack(path: Path, top: str) -> dict[str, bytes]:
    """The files of a tarball in which all is in the folder `top`."""
    with tarfile.open(path) as archive:
        members = [member for member in archive if member.isfile()]
        outside = [member.name for member in members if not member.name.startswith(f"{top}/")]
        check(path.name, not outside, f"outside {top}: {outside}")
        return {member.name.removeprefix(f"{top}/"): archive.extractfile(member).read() for member in members}


def npm(path: Path) -> None:
    files = unpack(path, "package")
    said = json.loads(files["package.json"])
    one = said["name"]
    check(one, said["version"] == version, f"it is version {said['version']}")
    check(one, len(said.get("description", "")) > 20, "no description")
    check(one, said.get("license") == f"({EXPRESSION})", f"the licence is {said.get('license')}")
    check_files(one, files, "README.md")
    check(one, said.get("repository", {}).get("url") == f"git+{REPOSITORY}.git", "no repository")
    check(one, said.get("homepage") and said.get("bugs"), "no homepage, or no page for bugs")
    check(one, said.get("keywords"), "no keywords")
    # npm runs and installs nothing of what has no scripts.
    check(one, "scripts" not in said, "it has scripts")
    if one.startswith(PLATFORM):
        system, processor = one.removeprefix(PLATFORM).split("-")
        check(one, (said.get("os"), said.get("cpu")) == ([system], [processor]), "it can be installed on another platform")
    elif one == "apply-patch-cli":
        check(one, said.get("mcpName") == MCP_NAME, "no name for the registry of MCP servers")
        programs = sorted(said["optionalDependencies"])
        every = sorted(f"{PLATFORM}{system}-{processor}" for system in said.get("os", []) for processor in said.get("cpu", []))
        check(one, programs and programs == every, f"it can be installed on {every}, and has programs for {programs}")
        check(one, set(said["optionalDependencies"].values()) == {version}, "its programs are of another version")


def crate(path: Path) -> None:
    top = path.name.removesuffix(".crate")
    files = unpack(path, top)
    said = tomllib.loads(files["Cargo.toml"].decode())["package"]
    one = said["name"]
    check(one, said["version"] == version, f"it is version {said['version']}")
    check(one, len(said.get("description", "")) > 20, "no description")
    check(one, said.get("license") == EXPRESSION, f"the licence is {said.get('license')}")
    check_files(one, files, said.get("readme", "no readme"))
    check(one, said.get("repository") == REPOSITORY, "no repository")
    check(one, 1 <= len(said.get("keywords", [])) <= 5, "no keywords, or more than crates.io takes")
    check(one, said.get("categories"), "no categories")
    check(one, said.get("rust-version"), "it does not say which Rust it needs")
    check(one, said.get("homepage") and said.get("documentation"), "no homepage, or no documentation")
    # What is compiled only with a feature is documented, too.
    features = tomllib.loads(files["Cargo.toml"].decode()).get("features", {})
    described = said.get("metadata", {}).get("docs", {}).get("rs", {})
    check(one, one == "apply-patch" or not features or described, "it has features, and does not say which docs.rs is to build")


KINDS = {".whl": wheel, ".tgz": npm, ".crate": crate}
paths = [Path(name) for name in sys.argv[2:]]
for path in paths:
    KINDS[path.suffix](path)
if not paths:
    wrong.append("no package is given")
print("\n".join(f"error: {line}" for line in wrong) if wrong else f"ok: what {len(paths)} packages say of themselves")
sys.exit(bool(wrong))
