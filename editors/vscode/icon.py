#!/usr/bin/env python3
"""Draws the icon of the extension: a removed line, an added line, and a check. usage: editors/vscode/icon.py > icon.png"""

import struct
import sys
import zlib

SIZE, FINE = 256, 4  # pixels of a side, and samples of a side of each


def bar(x, y, left, top, width, height):
    """Whether a point is in a bar with round ends."""
    radius = height / 2
    nearest = min(max(x, left + radius), left + width - radius)
    return (x - nearest) ** 2 + (y - top - radius) ** 2 <= radius**2


def stroke(x, y, x1, y1, x2, y2, width):
    """Whether a point is in a line with round ends."""
    along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2)
    along = min(max(along, 0), 1)
    return (x - x1 - along * (x2 - x1)) ** 2 + (y - y1 - along * (y2 - y1)) ** 2 <= (width / 2) ** 2


def colour(x, y):
    corner = 48
    dx, dy = max(corner - x, x - SIZE + corner, 0), max(corner - y, y - SIZE + corner, 0)
    if dx * dx + dy * dy > corner * corner:
        return (0, 0, 0, 0)
    if stroke(x, y, 116, 176, 148, 208, 26) or stroke(x, y, 148, 208, 212, 132, 26):
        return (255, 255, 255, 255)
    if bar(x, y, 84, 52, 128, 24):
        return (244, 112, 103, 255)
    if bar(x, y, 84, 96, 96, 24):
        return (87, 199, 115, 255)
    if bar(x, y, 36, 58, 34, 12):
        return (244, 112, 103, 255)
    if bar(x, y, 36, 102, 34, 12) or bar(y, x, 91, 47, 34, 12):
        return (87, 199, 115, 255)
    return (31, 41, 68, 255)


def pixel(x, y):
    samples = [colour(x + (i + 0.5) / FINE, y + (j + 0.5) / FINE) for i in range(FINE) for j in range(FINE)]
    alpha = sum(sample[3] for sample in samples)
    if alpha == 0:
        return bytes(4)
    return bytes([round(sum(s[c] * s[3] for s in samples) / alpha) for c in range(3)] + [round(alpha / len(samples))])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(SIZE)) for y in range(SIZE))
header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
sys.stdout.buffer.write(png)
