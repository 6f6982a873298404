"""A git directory that somebody fetched, without a work tree: read, and never written."""

import subprocess


class GitDir:
    def __init__(self, path, repository):
        self.path, self.repository = str(path), repository
        self._blobs, self._trees = None, {}

    def run(self, *words):
        """What git prints, or nothing where it fails."""
        run = subprocess.run(["git", "-C", self.path, *words], capture_output=True)
        return run.stdout if run.returncode == 0 else None

    def read(self, name):
        """The bytes of `COMMIT:PATH` or of a blob, or nothing. One process reads all of them."""
        if "\n" in name:
            return None
        if self._blobs is None:
            self._blobs = subprocess.Popen(
                ["git", "-C", self.path, "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        self._blobs.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        self._blobs.stdin.flush()
        head = self._blobs.stdout.readline().split()
        if not head or head[-1] in (b"missing", b"ambiguous"):
            return None
        data = self._blobs.stdout.read(int(head[-1]) + 1)[:-1]
        return data if head[-2] == b"blob" else None

    def commit(self, name):
        """The full name of a commit, or nothing where it is not here."""
        found = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return found.decode().strip() if found else None

    def tree(self, commit):
        """Each file of a commit, with its blob."""
        if commit not in self._trees:
            listed = self.run("ls-tree", "-r", "-z", commit) or b""
            files = {}
            for entry in listed.split(b"\0")[:-1]:
                head, path = entry.split(b"\t", 1)
                mode, _, blob = head.decode().split()
                if mode in ("100644", "100755"):
                    files[path.decode("utf-8", "surrogateescape")] = blob
            self._trees = {commit: files}
        return self._trees[commit]

    def newest(self, *patterns):
        """Each file of all branches whose name fits, as the newest commit has it."""
        words = ["log", "--all", "--format=@%H", "--name-only", "--diff-filter=AM", "-z", "--"]
        listed = (self.run(*words, *patterns) or b"").decode("utf-8", "surrogateescape")
        found, commit = {}, None
        for word in listed.replace("\n", "\0").split("\0"):
            if word.startswith("@") and len(word) == 41:
                commit = word[1:]
            elif word:
                found.setdefault(word, commit)
        return found

    def versions(self, path, most=25, until=None):
        """The last texts that a file had, of all commits or of those until a time."""
        words = ["log", "--all", "--format=%H", "--diff-filter=AM", "-n", str(most)]
        words += [f"--until={until}"] if until else []
        texts = []
        for commit in (self.run(*words, "--", path) or b"").decode().split():
            text = self.read(f"{commit}:{path}")
            if text is not None and text not in texts:
                texts.append(text)
        return texts
