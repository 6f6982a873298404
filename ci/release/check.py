"""Checks the files of a release against each other, and against the schemas that there are.

    python check.py DIST VERSION
"""

import hashlib
import importlib.resources
import json
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import jsonschema
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

dist, version = Path(sys.argv[1]), sys.argv[2]
TARGETS = {
    f"{processor}-{rest}"
    for rest in ("unknown-linux-musl", "apple-darwin")
    for processor in ("x86_64", "aarch64")
} | {"x86_64-pc-windows-gnu", "aarch64-pc-windows-gnullvm"}
BASE = f"https://github.com/apply-patch/apply-patch/releases/download/v{version}/"
wrong = []


def check(holds: object, what: str) -> None:
    if not holds:
        wrong.append(what)


def archive_of(target: str) -> str:
    return f"apply-patch-{version}-{target}.{'zip' if 'windows' in target else 'tar.gz'}"


# Every file is in the list with its checksum, and what is listed is there.
sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
there = {path.name for path in dist.iterdir()} - {"SHA256SUMS"}
check(set(sums) == there, f"SHA256SUMS and the files differ in {set(sums) ^ there}")
for name in there:
    check(hashlib.sha256((dist / name).read_bytes()).hexdigest() == sums.get(name), f"{name}: another checksum")
wanted = {archive_of(target) for target in TARGETS}
wanted |= {f"apply-patch-{version}-oci.tar", f"apply-patch-{version}.cdx.json", "install.sh", "install.ps1"}
wanted |= {"apply-patch.rb", "scoop.json", "server.json"}
wanted |= {f"ApplyPatch.ApplyPatch{part}.yaml" for part in ("", ".installer", ".locale.en-US")}
check(wanted <= there, f"missing: {wanted - there}")

# All archives have the same files, but for the name of the program.
beside = {"README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "man/apply-patch.1", "man/apply-patch-undo.1"}
beside |= {f"completions/{name}" for name in ("apply-patch.bash", "_apply-patch", "apply-patch.fish", "_apply-patch.ps1", "apply-patch.elv")}
for target in TARGETS:
    path = dist / archive_of(target)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            sizes = {one.filename: one.file_size for one in archive.infolist()}
            modes = {one.filename: one.external_attr >> 16 & 0o777 for one in archive.infolist()}
    else:
        with tarfile.open(path) as archive:
            sizes = {one.name: one.size for one in archive}
            modes = {one.name: one.mode for one in archive}
            archive.fileobj.seek(0)
            check(all((one.uid, one.gid, one.type) == (0, 0, tarfile.REGTYPE) for one in archive), f"{path.name}: owners or kinds")
    top = f"apply-patch-{version}-{target}/"
    program = top + ("apply-patch.exe" if "windows" in target else "apply-patch")
    check({program} | {top + name for name in beside} <= set(sizes), f"{path.name}: files are missing")
    check(all(name.startswith(top) for name in sizes), f"{path.name}: a file is outside of {top}")
    check(all(sizes.values()), f"{path.name}: a file is empty")
    check({name for name, mode in modes.items() if mode & 0o111} == {program}, f"{path.name}: modes")

# What package managers fetch: the URL of an archive of this release, each beside its checksum.
def pairs_of(name: str) -> list[tuple[str, str]]:
    text = (dist / name).read_text()
    if name == "scoop.json":
        return [(one["url"], one["hash"]) for one in json.loads(text)["architecture"].values()]
    if name.endswith(".yaml"):
        return [(one["InstallerUrl"], one["InstallerSha256"].lower()) for one in yaml.safe_load(text)["Installers"]]
    return re.findall(r'url "([^"]+)"\s+sha256 "([0-9a-f]{64})"', text)


for name, parts in {
    "apply-patch.rb": ("apple-darwin", "linux-musl"),
    "scoop.json": ("windows",),
    "ApplyPatch.ApplyPatch.installer.yaml": ("windows",),
}.items():
    pairs = pairs_of(name)
    files = {url.removeprefix(BASE) for url, _ in pairs}
    check(files == {archive_of(target) for target in TARGETS if any(part in target for part in parts)}, f"{name}: names {files}")
    check(all(sums.get(url.removeprefix(BASE)) == checksum for url, checksum in pairs), f"{name}: another checksum")
manifests = [yaml.safe_load((dist / name).read_text()) for name in there if name.startswith("ApplyPatch.")]
check({one["PackageVersion"] for one in manifests} == {version}, "winget: another version")
check(sorted(one["ManifestType"] for one in manifests) == ["defaultLocale", "installer", "version"], "winget: its three manifests")
installers = next(one["Installers"] for one in manifests if one["ManifestType"] == "installer")
nested = [one["NestedInstallerFiles"][0]["RelativeFilePath"] for one in installers]
check(all(re.fullmatch(rf"apply-patch-{re.escape(version)}-[a-z0-9_-]+\\apply-patch\.exe", one) for one in nested), f"winget: {nested}")

# The entry in the registry of MCP servers.
server = json.loads((dist / "server.json").read_text())
schemas = importlib.resources.files("skillsaw") / "schemas/mcp_registry"
schema = json.loads((schemas / "v2025_12_11/server.schema.json").read_text())
check(schema["$id"] == server["$schema"], f"server.json says that its schema is {server['$schema']}")
for error in jsonschema.Draft7Validator(schema).iter_errors(server):
    check(False, f"server.json: {error.message}")
check({server["version"]} == {version} == {one.get("version", version) for one in server["packages"]}, "server.json: another version")
check({one["identifier"] for one in server["packages"]} == {"apply-patch-cli", "apply-patch", f"ghcr.io/apply-patch/apply-patch:{version}"}, "server.json: names")

# The bill of materials.
text = (dist / f"apply-patch-{version}.cdx.json").read_text()
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
check(error is None, f"the bill of materials: {error}")
bill = json.loads(text)
names = {one["name"]: one for one in bill["components"]}
for name in ("patch-engine", "fs-guard", "clap", "rmcp", "tree-sitter", "rustix"):
    check(names.get(name, {}).get("scope") == "required", f"the bill of materials has no {name}, or not as a part")
for name in ("proptest", "criterion", "pyo3", "napi"):
    check(name not in names, f"the bill of materials has {name}, which is not in the program")
check(all("licenses" in one for one in bill["components"]), "the bill of materials has crates without a licence")
known = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
check(all({one["ref"], *one["dependsOn"]} <= known for one in bill["dependencies"]), "the bill of materials has edges to nowhere")

print("\n".join(f"error: {line}" for line in wrong) if wrong else f"ok: {len(there)} files, {len(names)} crates in the bill of materials")
sys.exit(bool(wrong))
