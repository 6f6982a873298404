"""The Python blocks of the documentation, run one after the other, each page in a directory of its own."""

import importlib.util
import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY


@pytest.mark.parametrize("page", ["docs/libraries.md", "docs/grammar.md", "packaging/python/README.md"])
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page.endswith("README.md"):
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "a.txt").write_text("one\n")
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / page).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for nth, block in enumerate(blocks):
        needs = re.match(r"# needs: (\w+)", block)
        if needs and importlib.util.find_spec(needs.group(1)) is None:
            print(f"skipped in part: {needs.group(1)} is not installed")
            continue
        exec(compile(block, f"{page}, block {nth + 1}", "exec"), names)


def test_the_agent_prints_its_transcript():
    run = subprocess.run([sys.executable, REPOSITORY / "examples/agent.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == (REPOSITORY / "examples/agent.txt").read_text()
