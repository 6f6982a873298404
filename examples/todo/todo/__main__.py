import sys

from todo.store import Store
from todo.task import Task

USAGE = "usage: todo add TEXT | list | done NUMBER"


def add(store, args):
    store.append(Task(" ".join(args)))
    store.save()


def list_tasks(store, args):
    for number, task in enumerate(store.tasks, 1):
        print(number, task)


def done(store, args):
    task = store.tasks[int(args[0]) - 1]
    task.done = True
    store.save()


COMMANDS = {"add": add, "list": list_tasks, "done": done}


def main(argv):
    if len(argv) < 1 or argv[0] not in COMMANDS:
        print(USAGE)
        return 2
    store = Store("todo.txt")
    COMMANDS[argv[0]](store, argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
