"""The bill of materials: every crate that is in the program, on whichever platform, as CycloneDX 1.6.

It is made of what cargo says, in a page of code, and not by cargo-cyclonedx: that writes a file beside every manifest of the workspace, describes the
features of the whole workspace rather than those of the program, and would have to be built first.
"""

import hashlib
import json
import re
import subprocess
import time
import tomllib
import uuid
from pathlib import Path

from project import NAME, ROOT, Project

# A line of `cargo tree --prefix depth`: the depth, the name, the version, and where it comes from if not from crates.io.
LINE = re.compile(r"(\d+)(\S+) v(\S+)")
# Names and versions, which tell every crate of a lock file from the others.
Crate = tuple[str, str]


def tree(edges: str) -> dict[Crate, set[Crate]]:
    """The crates that the program needs over these edges, each with those that it needs itself."""
    command = ["cargo", "tree", "--locked", "-p", NAME, "-e", edges, "--target", "all", "--prefix", "depth"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    needs: dict[Crate, set[Crate]] = {}
    path: list[Crate] = []
    for line in lines.splitlines():
        depth, name, version = LINE.match(line).groups()
        crate = (name, version)
        del path[int(depth) :]
        needs.setdefault(crate, set())
        if path:
            needs[path[-1]].add(crate)
        path.append(crate)
    return needs


def url_of(crate: Crate) -> str:
    """The package URL."""
    return "pkg:cargo/{}@{}".format(*crate)


def component(crate: Crate, said: dict, checksum: str | None, built_in: bool) -> dict:
    """What is known of a crate. `built_in`: it is in the program; otherwise it only ran when that was built."""
    one = {"type": "library", "bom-ref": url_of(crate), "name": crate[0], "version": crate[1], "purl": url_of(crate)}
    one["scope"] = "required" if built_in else "excluded"
    if said["license"]:
        # Old manifests write a slash for OR.
        one["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", said["license"])}]
    if checksum:
        one["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if said["repository"]:
        one["externalReferences"] = [{"type": "vcs", "url": said["repository"].strip()}]
    return one


def bill(project: Project) -> dict:
    """The bill of materials of the program."""
    everything, built_in = tree("normal,build"), tree("normal,no-proc-macro")
    metadata = json.loads(project.cargo("metadata", "--format-version", "1", "--all-features"))
    said = {(one["name"], one["version"]): one for one in metadata["packages"]}
    lock = (ROOT / "Cargo.lock").read_bytes()
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in tomllib.loads(lock.decode())["package"]}
    own = (NAME, project.version)
    program = component(own, said[own], None, True) | {"type": "application", "description": project.description}
    del program["scope"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same sources give the same number.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, url_of(own) + hashlib.sha256(lock).hexdigest())}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(project.time)),
            "component": program,
        },
        "components": [component(one, said[one], checksums[one], one in built_in) for one in sorted(everything) if one != own],
        "dependencies": [{"ref": url_of(one), "dependsOn": sorted(map(url_of, needs))} for one, needs in sorted(everything.items())],
    }


def write(project: Project, out: Path) -> Path:
    path = out / f"{NAME}-{project.version}.cdx.json"
    path.write_text(json.dumps(bill(project), indent=1) + "\n")
    return path
