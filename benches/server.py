#!/usr/bin/env python3
"""What an edit costs in a server: processor and wall time of `edit_file` over MCP, early and when old transactions are purged.

usage: server.py --ours PROGRAM [--ours PROGRAM] [--dir DIR] [--edits N]

A line of a file of 200 lines is changed to and fro. The processor time is that of all threads of the server, as the
kernel counts it in nanoseconds.
"""
import argparse, json, os, shutil, subprocess, tempfile, time
from pathlib import Path


class Server:
    def __init__(self, program, tree):
        argv = [program, "serve", "--mcp", "--approve", "never", "--durability", "process"]
        self.process = subprocess.Popen(argv, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.sent = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.call("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method, params):
        self.sent += 1
        self.send({"id": self.sent, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.sent:
                return message["result"]

    def tool(self, name, arguments):
        result = self.call("tools/call", {"name": name, "arguments": arguments})
        assert not result.get("isError"), result

    def processor_seconds(self):
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(program, edits, scratch):
    tree = Path(tempfile.mkdtemp(dir=scratch))
    (tree / "f.rs").write_text("".join(f"let value_{line} = compute({line});\n" for line in range(200)))
    server = Server(program, tree)
    server.tool("read_file", {"path": "f.rs"})
    words = ["compute(100)", "changed(100)"]

    def edit(times):
        cpu, wall = server.processor_seconds(), time.perf_counter()
        for _ in range(times):
            old, new = (f"let value_100 = {word};" for word in words)
            server.tool("edit_file", {"path": "f.rs", "edits": [{"oldText": old, "newText": new}]})
            words.reverse()
        return ((server.processor_seconds() - cpu) / times * 1e3, (time.perf_counter() - wall) / times * 1e3)

    edit(100)
    early = edit(edits)
    # Of more transactions than these the oldest are purged.
    edit(max(0, 1100 - edits))
    late = edit(edits)
    server.end()
    shutil.rmtree(tree)
    return early, late


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", action="append", required=True)
    parser.add_argument("--dir", default="/dev/shm", help="where the tree is changed (default: in memory)")
    parser.add_argument("--edits", type=int, default=500)
    args = parser.parse_args()
    print("| an edit in a server | CPU ms | wall ms | with a purge, CPU ms | wall ms |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="server-", dir=args.dir) as scratch:
        os.environ["XDG_STATE_HOME"] = f"{scratch}/state"
        for program in args.ours:
            early, late = measure(os.path.abspath(program), args.edits, scratch)
            print(f"| {program} | {early[0]:.3f} | {early[1]:.3f} | {late[0]:.3f} | {late[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
