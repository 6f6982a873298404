"""Asks other people's engines for their verdicts on our sentences.

usage: check.py GRAMMAR_FOLDER SENTENCES.jsonl [NODE_FOLDER]

SENTENCES.jsonl is what `cargo xtask sentences` prints. Each engine loads the committed grammar
files and reads every text; one verdict that differs from ours makes the exit code
1. Python lark's Earley parser is slow and gets a share. NODE_FOLDER is where node-llama-cpp is
installed; without it llama.cpp is skipped, and the output says so.

Before that every engine gets damaged grammars, and must disagree: a check that cannot fail shows
nothing.
"""

import json
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile
import time

STEM = {"whole": "apply_patch", "codex": "apply_patch_codex", "tight": "apply_patch_tight"}
EARLEY_SHARE = 6
SHOWN = 5


def lark_engine(**options):
    def load(read):
        import lark

        parser = lark.Lark(read("lark"), **options)

        def accepts(text):
            try:
                parser.parse(text)
                return True
            except lark.exceptions.UnexpectedInput:
                return False

        return accepts

    return load


def xgrammar_engine(build):
    def load(read):
        import without_torch  # noqa: F401  (must come before xgrammar)
        import xgrammar

        compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]), cache_enabled=False)
        compiled = compiler.compile_grammar(build(xgrammar.Grammar, read))

        def accepts(text):
            matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
            return matcher.accept_string(text) and matcher.is_completed()

        return accepts

    return load


def python_regex(read):
    pattern = re.compile(read("regex"))
    return lambda text: pattern.fullmatch(text) is not None


# name: (how to load it, which share of the texts: 1 in n)
ENGINES = {
    "lark LALR strict": (lark_engine(parser="lalr", strict=True), 1),
    "lark Earley": (lark_engine(parser="earley"), EARLEY_SHARE),
    "XGrammar EBNF": (xgrammar_engine(lambda g, read: g.from_ebnf(read("ebnf"))), 1),
    "XGrammar GBNF": (xgrammar_engine(lambda g, read: g.from_ebnf(read("gbnf"))), 1),
    "XGrammar Lark": (xgrammar_engine(lambda g, read: g.from_lark(read("lark"))), 1),
    "XGrammar regex": (xgrammar_engine(lambda g, read: g.from_regex(read("regex"))), 1),
    "Python re": (python_regex, 1),
}


def ask(job):
    """One engine, one dialect, one text in `share`, all or until one is `wrong`. Runs in a process of its own."""
    name, folder, sentences, dialect, share, until_wrong = job
    stem = pathlib.Path(folder) / STEM[dialect]
    accepts = ENGINES[name][0](lambda ending: stem.with_suffix("." + ending).read_text(encoding="utf-8"))
    started = time.monotonic()
    tried, wrong = 0, []
    with open(sentences, encoding="utf-8") as lines:
        mine = (entry for entry in map(json.loads, lines) if entry["dialect"] == dialect)
        for number, entry in enumerate(mine):
            if number % share == 0:
                tried += 1
                if accepts(entry["text"]) != entry["accepted"]:
                    wrong.append(entry)
                    if until_wrong:
                        break
    return name, dialect, tried, wrong, time.monotonic() - started


def ask_llama(folder, sentences, node, until_wrong):
    """llama.cpp's own reader of GBNF, through its binding for Node."""
    script = pathlib.Path(__file__).with_name("llama.mjs")
    copy = pathlib.Path(node) / script.name  # modules are looked up from where the script lies
    copy.write_text(script.read_text())
    for dialect, stem in STEM.items():
        started = time.monotonic()
        grammar = pathlib.Path(folder) / f"{stem}.gbnf"
        until = ["until-wrong"] if until_wrong else []
        run = subprocess.run(["node", copy, grammar, sentences, dialect, *until], capture_output=True, text=True, timeout=600)
        if run.returncode:
            sys.exit(f"llama.cpp ({dialect}): {run.stderr}")
        answer = json.loads(run.stdout)
        yield "llama.cpp GBNF", dialect, answer["tried"], answer["wrong"], time.monotonic() - started


def ask_all(folder, sentences, node, until_wrong=False):
    jobs = [(name, folder, sentences, dialect, share, until_wrong) for name, (_, share) in ENGINES.items() for dialect in STEM]
    pool = multiprocessing.Pool(2, maxtasksperchild=1)
    yield from pool.imap_unordered(ask, jobs, chunksize=1)
    # The pool must be gone before the next process is started: it replaces its workers from a thread,
    # and one forked at the wrong moment would hold the pipe of that process open for ever.
    pool.close()
    pool.join()
    if node:
        yield from ask_llama(folder, sentences, node[0], until_wrong)


def damage(folder, into):
    """Copies the grammars with one word changed in each."""
    for file in pathlib.Path(folder).iterdir():
        if file.suffix in {".lark", ".gbnf", ".ebnf", ".regex"}:
            text = file.read_text(encoding="utf-8")
            damaged = text.replace("Delete File: ", "Delete file: ")
            assert damaged != text, file
            (pathlib.Path(into) / file.name).write_text(damaged, encoding="utf-8")


def main():
    folder, sentences, *node = sys.argv[1:]
    total = disagreements = 0
    with tempfile.TemporaryDirectory() as damaged:
        damage(folder, damaged)
        for name, dialect, tried, wrong, _ in ask_all(damaged, sentences, node, until_wrong=True):
            if not wrong:
                sys.exit(f"{name}, {dialect}: {tried} texts, and a damaged grammar was not noticed")
    print("a damaged grammar is noticed with every engine")
    for name, dialect, tried, wrong, seconds in ask_all(folder, sentences, node):
        print(f"{name:17} {dialect:6} {tried:7} texts  {len(wrong):4} disagreements  {seconds:6.1f} s", flush=True)
        for entry in wrong[:SHOWN]:
            print(f"    we say {entry['accepted']}: {entry['text']!r}")
        total += tried
        disagreements += len(wrong)
    if not node:
        print("skipped in part: llama.cpp, because npm is missing; its grammars were read by XGrammar only")
    with open(sentences, encoding="utf-8") as lines:
        texts = [json.loads(line)["accepted"] for line in lines]
    print(f"{len(texts)} texts ({sum(texts)} accepted), {total} verdicts of other engines, {disagreements} disagreements")
    return 1 if disagreements or not total else 0


if __name__ == "__main__":
    sys.exit(main())
