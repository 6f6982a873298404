"""Writes stand-ins for the programs of the platforms that nothing is built for here: the first bytes of their formats, and nothing that runs.

    python standins.py PROGRAMS
"""

import struct
import sys
from pathlib import Path


def mach(processor: int) -> bytes:
    return b"\xcf\xfa\xed\xfe" + struct.pack("<I", processor)


def windows(processor: int) -> bytes:
    return b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", processor)


def linux(processor: int) -> bytes:
    header = bytearray(64)
    header[:5] = b"\x7fELF\x02"
    struct.pack_into("<H", header, 18, processor)
    return bytes(header)


FORMATS = {
    "x86_64-unknown-linux-musl/apply-patch": linux(0x3E),
    "aarch64-unknown-linux-musl/apply-patch": linux(0xB7),
    "x86_64-apple-darwin/apply-patch": mach(0x01000007),
    "aarch64-apple-darwin/apply-patch": mach(0x0100000C),
    "x86_64-pc-windows-gnu/apply-patch.exe": windows(0x8664),
    "aarch64-pc-windows-gnullvm/apply-patch.exe": windows(0xAA64),
}

for name, content in FORMATS.items():
    path = Path(sys.argv[1]) / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
