"""One conversation, held with the reference file server and with ours: what each does to the files."""

import os
import pathlib
import sys
import tempfile

import anyio
from mcp import Client, StdioServerParameters

program, *reference = sys.argv[1:]


class Reference:
    name = "reference"

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.parameters = StdioServerParameters(command=reference[0], args=[*reference[1:], str(root)])

    async def read(self, client, path):
        await client.call_tool("read_text_file", {"path": str(self.root / path)})

    async def edit(self, client, path, old, new):
        edits = [{"oldText": old, "newText": new}]
        return await client.call_tool("edit_file", {"path": str(self.root / path), "edits": edits})

    async def write(self, client, path, content):
        return await client.call_tool("write_file", {"path": str(self.root / path), "content": content})


class Ours:
    name = "ours"

    def __init__(self, root: pathlib.Path):
        env = {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
        self.parameters = StdioServerParameters(command=program, args=["serve", "--mcp", "--root", str(root)], env=env)

    async def read(self, client, path):
        result = await client.call_tool("read_file", {"path": path})
        self.sha256 = result.structured_content["data"]["sha256"]

    async def edit(self, client, path, old, new):
        edits = [{"oldText": old, "newText": new}]
        return await client.call_tool("edit_file", {"path": path, "expectedSha256": self.sha256, "edits": edits})

    async def write(self, client, path, content):
        return await client.call_tool("write_file", {"path": path, "content": content, "expectedSha256": self.sha256})


async def crlf(server, client, file):
    file.write_bytes(b"a\r\nb\r\nc\r\n")
    await server.read(client, file.name)
    return await server.edit(client, file.name, "b", "B")


async def latin_1(server, client, file):
    file.write_bytes(b"caf\xe9\nx\n")
    await server.read(client, file.name)
    return await server.edit(client, file.name, "x", "y")


async def duplicate(server, client, file):
    file.write_bytes(b"x = 1\ny = 2\nx = 1\n")
    await server.read(client, file.name)
    return await server.edit(client, file.name, "x = 1", "x = 3")


async def newer(server, client, file):
    file.write_bytes(b"old\n")
    await server.read(client, file.name)
    file.write_bytes(b"a human's work\n")
    return await server.write(client, file.name, "the model's idea\n")


#: What is asked, and (refused, bytes) of the reference server and of ours.
CASES = [
    ("a line of a CRLF file is edited", crlf, (False, b"a\nB\nc\n"), (False, b"a\r\nB\r\nc\r\n")),
    ("a line of a Latin-1 file is edited", latin_1, (False, b"caf\xef\xbf\xbd\ny\n"), (False, b"caf\xe9\ny\n")),
    ("a text that is there twice is edited", duplicate, (False, b"x = 3\ny = 2\nx = 1\n"), (True, b"x = 1\ny = 2\nx = 1\n")),
    ("a file is written that a human changed", newer, (False, b"the model's idea\n"), (True, b"a human's work\n")),
]


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for kind, column in [(Reference, 2), (Ours, 3)]:
            root = pathlib.Path(folder).resolve() / kind.name
            root.mkdir()
            server = kind(root)
            async with Client(server.parameters, mode="legacy") as client:
                for what, talk, *expected in CASES:
                    file = root / talk.__name__
                    result = await talk(server, client, file)
                    found = (bool(result.is_error), file.read_bytes())
                    print(f"{kind.name:9} {what}: {'refused' if found[0] else 'done'}, {found[1]}")
                    assert found == expected[column - 2], (kind.name, what, found, expected[column - 2], result)


anyio.run(main)
