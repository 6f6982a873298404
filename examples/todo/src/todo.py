"""The commands of the list: add, list, done."""

import sys

from store import load, save


def add(text):
    tasks = load()
    tasks.append({"text": text, "done": False})
    save(tasks)


def show():
    for number, task in enumerate(load(), 1):
        mark = "x" if task["done"] else " "
        print(f"{number:3} [{mark}] {task['text']}")


def done(number):
    tasks = load()
    tasks[number - 1]["done"] = True
    save(tasks)


def main(args):
    if args[:1] == ["add"]:
        add(" ".join(args[1:]))
    elif args[:1] == ["list"]:
        show()
    elif args[:1] == ["done"]:
        done(int(args[1]))
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
