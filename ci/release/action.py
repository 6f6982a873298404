"""Runs the steps of action.yml as a runner of GitHub would: the inputs and outputs filled in, each step in bash.

    python action.py TEMP [INPUT=VALUE]…

What the steps print is printed; the exit code is that of the first step that fails.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
action = yaml.safe_load((ROOT / "action.yml").read_text())
temp = Path(sys.argv[1])
given = dict(argument.split("=", 1) for argument in sys.argv[2:])
unknown = set(given) - set(action["inputs"])
if unknown:
    sys.exit(f"action.yml has no inputs {unknown}")
known = {f"inputs.{name}": given.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
known |= {"github.action_path": str(ROOT), "runner.temp": str(temp)}


def filled(text: str) -> str:
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: known[found[1]], text)


for step in action["runs"]["steps"]:
    if step["shell"] != "bash":
        sys.exit(f"a step is for {step['shell']}")
    if condition := step.get("if"):
        name, empty = re.fullmatch(r"([\w.-]+) != ('')", condition).groups()
        if known[name] == "":
            continue
    if "${{" in step["run"]:
        sys.exit("a script has an input in its text, which may be another script")
    output, path = temp / "output", temp / "path"
    output.write_text("")
    path.touch()
    files = {"GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(path), "RUNNER_OS": "Linux", "RUNNER_TEMP": str(temp)}
    environment = {**os.environ, **files, **{name: filled(value) for name, value in step.get("env", {}).items()}}
    code = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=environment).returncode
    if code:
        sys.exit(code)
    for line in output.read_text().splitlines():
        name, value = line.split("=", 1)
        known[f"steps.{step['id']}.outputs.{name}"] = value
for name, one in action["outputs"].items():
    print(f"{name}={filled(one['value'])}")
