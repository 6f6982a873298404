"""The files beside the program: licences, readme, manual pages, completions; and archives of them."""

import gzip
import io
import os
import stat
import subprocess
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from project import LICENCES, NAME, ROOT, Project, Target

COMPLETIONS = {
    "bash": f"{NAME}.bash",
    "zsh": f"_{NAME}",
    "fish": f"{NAME}.fish",
    "powershell": f"_{NAME}.ps1",
    "elvish": f"{NAME}.elv",
}


class CannotRun(Exception):
    """No program that was given runs on this machine, or it is of another version."""


def runs_here(programs: dict[Target, Path], version: str) -> Path:
    """The first program that this machine can run. Every one that runs has to be of this version."""
    able = []
    for program in programs.values():
        try:
            said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30)
        except OSError:
            continue
        if said.returncode != 0:
            continue
        if said.stdout != f"{NAME} {version}\n":
            raise CannotRun(f"{program} says {said.stdout.strip()!r}, and this is {version}")
        able.append(program)
    if not able:
        raise CannotRun("none of the programs runs here, and the manual pages come from one that does")
    return able[0]


def beside(program: Path) -> dict[str, bytes]:
    """The files beside the program, by their path in the archive. `program` makes the manual pages and the completions."""
    files = {name: (ROOT / name).read_bytes() for name in (*LICENCES, "README.md", "CHANGELOG.md")}
    with tempfile.TemporaryDirectory() as pages:
        subprocess.run([program, "man", "--dir", pages], check=True)
        files |= {f"man/{page.name}": page.read_bytes() for page in sorted(Path(pages).iterdir())}
    for shell, file in COMPLETIONS.items():
        # It is printed for the program by its name, and not by the path of this one.
        environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        made = subprocess.run([NAME, "completions", shell], check=True, stdout=subprocess.PIPE, env=environment)
        files[f"completions/{file}"] = made.stdout
    return files


def tar(files: dict[str, tuple[bytes, int]], moment: int, directories: dict[str, int] | None = None) -> bytes:
    """A tar archive of files (with their modes), all of one time and owned by root, in the order of their names."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, mode in sorted((directories or {}).items()):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, mode, moment
            archive.addfile(entry)
        for name, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, moment
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def compress(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=9, mtime=0)


def archive(project: Project, target: Target, program: Path, extra: dict[str, bytes], out: Path) -> Path:
    """Writes the archive of a target."""
    top = project.folder(target)
    files = {f"{top}/{name}": (content, 0o644) for name, content in extra.items()}
    files[f"{top}/{target.program}"] = (program.read_bytes(), 0o755)
    path = out / project.archive(target)
    if path.suffix != ".zip":
        path.write_bytes(compress(tar(files, project.time)))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, (content, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, time.gmtime(project.time)[:6])
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return path
