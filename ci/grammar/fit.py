"""Asks other people's engines about grammars that fit a file.

usage: fit.py GRAMMAR_FOLDER SENTENCES.jsonl [NODE_FOLDER]

GRAMMAR_FOLDER and SENTENCES.jsonl are what `cargo xtask fit` writes and prints, with a verdict on
each text. One verdict of an engine that differs makes the exit code 1. Each engine gets a damaged
grammar first, and must disagree. NODE_FOLDER is as for check.py.
"""

import json
import pathlib
import sys
import tempfile

import check

check.STEM = {"strict": "fit_strict", "codex": "fit_codex"}


def llguidance_engine(read):
    import llguidance

    tokenizer = llguidance.LLTokenizer("byte")
    start = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(read("lark")))

    def accepts(text):
        matcher = start.deep_copy()
        tokens = list(text.encode())
        return matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens) and matcher.is_accepting()

    return accepts


ENGINES = {name: check.ENGINES[name][0] for name in ("XGrammar EBNF", "XGrammar GBNF")} | {"llguidance Lark": llguidance_engine}


def ask_all(folder, sentences, node, until_wrong=False):
    """For each engine and profile: how many texts, and those it disagrees on."""
    with open(sentences, encoding="utf-8") as lines:  # not splitlines(), for which U+2028 ends a line
        entries = [json.loads(line) for line in lines]
    for profile, stem in check.STEM.items():
        mine = [entry for entry in entries if entry["dialect"] == profile]
        for name, engine in ENGINES.items():
            accepts = engine(lambda ending: (folder / f"{stem}.{ending}").read_text(encoding="utf-8"))
            yield name, profile, len(mine), [entry for entry in mine if accepts(entry["text"]) != entry["accepted"]]
    if node:
        for name, profile, tried, wrong, _ in check.ask_llama(folder, sentences, node[0], until_wrong):
            yield name, profile, tried, wrong


def damage(folder, into):
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8")
        damaged = text.replace("*** End Patch", "*** End patch")
        assert damaged != text, file
        (into / file.name).write_text(damaged, encoding="utf-8")


def main():
    folder, sentences, *node = sys.argv[1:]
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as damaged:
        damage(folder, pathlib.Path(damaged))
        for name, profile, tried, wrong in ask_all(pathlib.Path(damaged), sentences, node, until_wrong=True):
            if not wrong:
                sys.exit(f"{name}, {profile}: {tried} texts, and a damaged grammar was not noticed")
    disagreements = 0
    for name, profile, tried, wrong in ask_all(folder, sentences, node):
        print(f"{name:17} {profile:6} {tried:7} texts  {len(wrong):4} disagreements", flush=True)
        for entry in wrong[: check.SHOWN]:
            print(f"    we say {entry['accepted']}: {entry['text']!r}")
        disagreements += len(wrong)
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
