"""Packages for Debian and what comes of it. `dpkg-deb` (Debian: dpkg) makes them; without it there are none."""

import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from project import LICENCES, MAINTAINER, NAME, ROOT, Project, Target

# Where completions and pages are looked for.
PLACES = {
    f"completions/{NAME}.bash": f"usr/share/bash-completion/completions/{NAME}",
    f"completions/_{NAME}": f"usr/share/zsh/vendor-completions/_{NAME}",
    f"completions/{NAME}.fish": f"usr/share/fish/vendor_completions.d/{NAME}.fish",
}


def control(project: Project, target: Target, size: int) -> str:
    """The description of the package; the program is static and depends on nothing."""
    return f"""Package: {NAME}
Version: {project.version.replace("-", "~")}
Architecture: {target.go}
Maintainer: {MAINTAINER}
Installed-Size: {-(-size // 1024)}
Section: devel
Priority: optional
Homepage: {project.repository}
Description: applies the patches that language models write
 All or nothing, never a guess, undoable: every file of a patch changes or
 none does, a hunk that fits in two places is refused, and what was applied
 can be undone. Nothing outside of the workspace is touched.
"""


def copyright_file(project: Project) -> bytes:
    head = f"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: {NAME}\nSource: {project.repository}\n"
    mit = "\n".join(f" {line}" if line.strip() else " ." for line in (ROOT / "LICENSE-MIT").read_text().splitlines())
    owner = next(line for line in (ROOT / "LICENSE-MIT").read_text().splitlines() if line.startswith("Copyright"))
    apache = " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."
    return f"""{head}
Files: *
Copyright: {owner.removeprefix("Copyright").strip()}
License: Expat or Apache-2.0

License: Expat
{mit}

License: Apache-2.0
{apache}
""".encode()


def debian(project: Project, target: Target, program: Path, extra: dict[str, bytes], out: Path) -> Path | None:
    """Writes the package for a static Linux program."""
    if target.system != "linux" or not shutil.which("dpkg-deb"):
        return None
    documents = f"usr/share/doc/{NAME}"
    files = {f"usr/bin/{NAME}": program.read_bytes(), f"{documents}/copyright": copyright_file(project)}
    files |= {place: extra[name] for name, place in PLACES.items()}
    files[f"{documents}/README.md"] = extra["README.md"]
    files[f"{documents}/changelog.gz"] = gzip.compress(extra["CHANGELOG.md"], 9, mtime=0)
    for name, page in extra.items():
        if name.startswith("man/"):
            files[f"usr/share/man/man1/{name.removeprefix('man/')}.gz"] = gzip.compress(page, 9, mtime=0)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        tree.chmod(0o755)
        for name, content in files.items():
            place = tree / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o755 if name.startswith("usr/bin/") else 0o644)
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(control(project, target, sum(map(len, files.values()))))
        for directory, _, _ in os.walk(tree):
            os.chmod(directory, 0o755)
        path = out / f"{NAME}_{project.version.replace('-', '~')}_{target.go}.deb"
        # dpkg-deb gives everything this time, and no later one.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(project.time)}
        command = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", str(tree), str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return path
