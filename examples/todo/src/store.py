"""Reads and writes the list: one line a task, "x " in front when it is done."""

from pathlib import Path

FILE = Path("todo.list")


def load():
    if not FILE.exists():
        return []
    tasks = []
    for line in FILE.read_text().splitlines():
        done = line.startswith("x ")
        tasks.append({"text": line.removeprefix("x "), "done": done})
    return tasks


def save(tasks):
    lines = []
    for task in tasks:
        mark = "x " if task["done"] else ""
        lines.append(mark + task["text"])
    FILE.write_text("\n".join(lines) + "\n")
