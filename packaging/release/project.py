"""What a release is of: the version, the words of the crate `apply-patch`, and the platforms."""

import json
import os
import struct
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "apply-patch"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
MAINTAINER = "apply-patch maintainers <apply-patch@users.noreply.github.com>"
# The name in the registry of MCP servers; the wheel, the npm package and the image have it too, for the registry to find.
MCP_NAME = "io.github.apply-patch/apply-patch"
IMAGE = "ghcr.io/apply-patch/apply-patch"


@dataclass(frozen=True)
class Target:
    """A platform: the name that rustc has for it, and those that packagers have."""

    name: str
    system: str  # linux, macos or windows
    processor: str  # x86_64 or aarch64

    @property
    def program(self) -> str:
        return f"{NAME}.exe" if self.system == "windows" else NAME

    @property
    def go(self) -> str:
        """The processor as Debian and the images of containers call it."""
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.processor]


TARGETS = (
    Target("x86_64-unknown-linux-musl", "linux", "x86_64"),
    Target("aarch64-unknown-linux-musl", "linux", "aarch64"),
    Target("x86_64-apple-darwin", "macos", "x86_64"),
    Target("aarch64-apple-darwin", "macos", "aarch64"),
    Target("x86_64-pc-windows-gnu", "windows", "x86_64"),
    Target("aarch64-pc-windows-gnullvm", "windows", "aarch64"),
)


class WrongProgram(Exception):
    """A file that is not a program of the platform that it is given for."""


def machine(program: bytes) -> tuple[str, str]:
    """The system and the processor that a program is for, by its first bytes."""
    elf = {0x3E: "x86_64", 0xB7: "aarch64"}
    mach = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
    windows = {0x8664: "x86_64", 0xAA64: "aarch64"}
    if program[:5] == b"\x7fELF\x02":
        return "linux", elf.get(struct.unpack_from("<H", program, 18)[0], "unknown")
    if program[:4] == b"\xcf\xfa\xed\xfe":
        return "macos", mach.get(struct.unpack_from("<I", program, 4)[0], "unknown")
    if program[:2] == b"MZ" and len(program) >= 64:
        start = struct.unpack_from("<I", program, 60)[0]
        if program[start : start + 4] == b"PE\0\0":
            return "windows", windows.get(struct.unpack_from("<H", program, start + 4)[0], "unknown")
    return "unknown", "unknown"


def wants_interpreter(program: bytes) -> bool:
    """Whether an ELF program is linked dynamically, and so runs only where its libraries are."""
    start, size, count = struct.unpack_from("<Q", program, 32)[0], *struct.unpack_from("<HH", program, 54)
    return any(struct.unpack_from("<I", program, start + nth * size)[0] == 3 for nth in range(count))


class Project:
    """The crate `apply-patch`, as cargo describes it."""

    def __init__(self) -> None:
        metadata = json.loads(self.cargo("metadata", "--format-version", "1", "--no-deps"))
        self.crate = next(one for one in metadata["packages"] if one["name"] == NAME)
        self.version: str = self.crate["version"]
        self.repository: str = self.crate["repository"]
        self.description: str = self.crate["description"]
        self.licence: str = self.crate["license"]

    @staticmethod
    def cargo(*arguments: str) -> str:
        command = ["cargo", arguments[0], "--locked", *arguments[1:]]
        return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout

    @cached_property
    def time(self) -> int:
        """The time that everything in the release has: SOURCE_DATE_EPOCH, or that of the commit. So the same sources give the same files."""
        if given := os.environ.get("SOURCE_DATE_EPOCH"):
            return int(given)
        git = ["git", "log", "-1", "--format=%ct"]
        return int(subprocess.run(git, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def download(self, file: str) -> str:
        """Where a file of this release will be."""
        return f"{self.repository}/releases/download/v{self.version}/{file}"

    def folder(self, target: Target) -> str:
        """The one folder in the archive of a target, and the archive's name without its ending."""
        return f"{NAME}-{self.version}-{target.name}"

    def archive(self, target: Target) -> str:
        return f"{self.folder(target)}.{'zip' if target.system == 'windows' else 'tar.gz'}"


def programs(folder: Path) -> dict[Target, Path]:
    """The programs in FOLDER/TARGET/, each looked at whether it is for that target."""
    known = {target.name: target for target in TARGETS}
    found = {}
    for place in sorted(folder.iterdir()):
        if place.name not in known:
            raise WrongProgram(f"{place}: no such target; there are {', '.join(known)}")
        target = known[place.name]
        program = place / target.program
        content = program.read_bytes()
        if machine(content) != (target.system, target.processor):
            raise WrongProgram(f"{program} is for {' on '.join(machine(content))}")
        if target.system == "linux" and wants_interpreter(content):
            raise WrongProgram(f"{program} is not static")
        found[target] = program
    if not found:
        raise WrongProgram(f"{folder} has no programs")
    return dict(sorted(found.items(), key=lambda one: TARGETS.index(one[0])))
