import os

from todo.task import Task


class Store:
    def __init__(self, path):
        self.path = path
        self.tasks = []
        if os.path.exists(path):
            self.load()

    def load(self):
        with open(self.path) as file:
            self.tasks = [Task.parse(line) for line in file]

    def append(self, task):
        self.tasks.append(task)

    def save(self):
        with open(self.path, "w") as file:
            for task in self.tasks:
                file.write(f"{task}\n")
