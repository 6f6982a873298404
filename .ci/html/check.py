"""Looks for rows in the page that a browser made of the HTML, and for colours in its picture."""

import collections
import pathlib
import re
import struct
import sys
import zlib

page, dom, png = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3]).read_bytes()

#: The backgrounds of what goes and what comes, and of the words in them, in the light scheme (crates/cli/src/render/html.rs).
COLOURS = {"deleted": (0xFF, 0xEB, 0xE9), "deleted word": (0xFF, 0xB3, 0xAD), "inserted": (0xDA, 0xFB, 0xE1), "inserted word": (0x8F, 0xE0, 0xA3)}


def pixels(data: bytes) -> collections.Counter:
    """The colours of a PNG without interlacing, 8 bits a channel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, body, header = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, chunk = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        header = struct.unpack(">IIBBBBB", chunk) if kind == b"IHDR" else header
        body += chunk if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = header
    assert depth == 8 and colour in (2, 6) and not interlaced, header
    size = 3 if colour == 2 else 4
    raw, found, last = zlib.decompress(body), collections.Counter(), bytes(width * size)
    for row in range(height):
        start = row * (width * size + 1)
        how, line = raw[start], bytearray(raw[start + 1 : start + 1 + width * size])
        for i in range(len(line)):
            left = line[i - size] if i >= size else 0
            up, corner = last[i], last[i - size] if i >= size else 0
            if how == 1:
                line[i] = line[i] + left & 255
            elif how == 2:
                line[i] = line[i] + up & 255
            elif how == 3:
                line[i] = line[i] + (left + up) // 2 & 255
            elif how == 4:
                guess = left + up - corner
                line[i] = line[i] + min((left, up, corner), key=lambda one: abs(guess - one)) & 255
        found.update(zip(line[0::size], line[1::size], line[2::size]))
        last = bytes(line)
    return found


rows = re.findall(r"<tr>.*?</tr>", dom, re.S)
for wanted in ["src/store.py", "src/todo.py", "def clear():", 'FILE.write_text("\\n".join(lines) + "\\n")']:
    assert wanted in dom, f"{page}: {wanted} is not in the page"
sides = [re.findall(r'<td class="(del|ins)"', row) for row in rows]
assert ["del", "ins"] in sides, f"{page}: no row has both sides"
assert ["ins"] in sides, f"{page}: no row has only something new"
assert "<b>clear" in dom or "clear.&quot;" in dom or re.search(r"<b>[^<]*clear", dom), f"{page}: no word stands out"

colours = pixels(png)
assert len(colours) > 20, f"{page}: the picture is blank: {colours}"
for name, colour in COLOURS.items():
    assert colours[colour] > 50, f"{page}: {name} is not in the picture"
print(f"{page}: {len(rows)} rows; the picture has all {len(COLOURS)} colours")
