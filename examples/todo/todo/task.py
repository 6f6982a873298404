class Task:
    def __init__(self, text, done=False):
        self.text = text
        self.done = done

    @classmethod
    def parse(cls, line):
        mark, text = line.rstrip("\n").split(" ", 1)
        return cls(text, mark == "x")

    def __str__(self):
        return f"{'x' if self.done else '-'} {self.text}"
