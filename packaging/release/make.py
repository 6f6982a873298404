"""Makes everything of a release from the programs, and one version number: that of the crate `apply-patch`.

    python packaging/release/make.py PROGRAMS OUT

PROGRAMS/TARGET/apply-patch (or apply-patch.exe) is the program for TARGET, as rustc calls it. OUT must not exist; it gets

    apply-patch-VERSION-TARGET.tar.gz (or .zip)   the program with licences, readme, manual pages and completions
    apply-patch_VERSION_ARCHITECTURE.deb          for each Linux, where dpkg-deb is at hand
    apply-patch-VERSION-oci.tar                   the image for containers, for all Linux programs
    apply-patch-VERSION.cdx.json                  the bill of materials (CycloneDX)
    install.sh, install.ps1                       which fetch an archive and hold it against SHA256SUMS
    apply-patch.rb, scoop.json, *.yaml, server.json    for Homebrew, Scoop, winget, and the registry of MCP servers
    SHA256SUMS                                    of all these files

The same sources and programs give the same bytes. Needs Python 3.11, cargo, git (or SOURCE_DATE_EPOCH), and a program among those given that runs here.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import registries
import sbom
from contents import CannotRun, archive, beside, runs_here
from debian import debian
from image import image
from project import ROOT, Project, WrongProgram, programs


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(given: Path, out: Path) -> None:
    project = Project()
    found = programs(given)
    extra = beside(runs_here(found, project.version))
    out.mkdir(parents=True)
    archives = {target: archive(project, target, program, extra, out) for target, program in found.items()}
    checksums = {target: checksum(path) for target, path in archives.items()}
    packages = [debian(project, target, program, extra, out) for target, program in found.items()]
    if not any(packages):
        print("no package for Debian: there is no dpkg-deb, or no Linux program")
    if not image(project, found, out):
        print("no image for containers: there is no Linux program")
    sbom.write(project, out)
    for write in (registries.homebrew, registries.scoop, registries.winget):
        write(project, checksums, out)
    registries.mcp_server(project, out)
    for script in ("install.sh", "install.ps1"):
        shutil.copy(ROOT / "packaging" / script, out / script)
    files = sorted(out.iterdir())
    sums = "".join(f"{checksum(path)}  {path.name}\n" for path in files)
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    except (WrongProgram, CannotRun, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
