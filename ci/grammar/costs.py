"""Measures what the grammars cost: their compilation, and the token masks along real patches.

usage: costs.py GRAMMAR_FOLDER VOCABULARIES GIT_DIR[,GIT_DIR…] [OTHER.lark…]

It is run by hand; crates/patch-grammar/grammar/README.md has its table. VOCABULARIES is as for tokens.py. The patches are
the latest commits of the repositories that only change text, and no more than 3 kB of it; their
tokens are the longest that fit. Time is the processor's, so that other programs count for little. Other people's grammars may be named to be measured in the same run.
The masks of a grammar that does not take a patch end where it is refused.
"""

import itertools
import json
import pathlib
import subprocess
import sys
import time

import without_torch  # noqa: F401  (must come before xgrammar)
import llguidance
import llguidance.numpy
import numpy
import xgrammar

from check import STEM
from tokens import VOCABULARIES, Vocabulary

PATCHES = 40


def git(folder, *arguments):
    return subprocess.run(["git", "--git-dir", folder, *arguments], capture_output=True, check=True).stdout


def envelope(diff):
    """A git diff of changed text files as a patch; `None` for any other."""
    out, in_hunk = [b"*** Begin Patch"], False
    for line in diff.split(b"\n"):
        if line.startswith(b"diff --git "):
            in_hunk = False
        elif line.startswith((b"new file", b"deleted file", b"rename", b"old mode", b"GIT binary", b"Binary files", b"similarity")):
            return None
        elif line.startswith(b"+++ b/") and not in_hunk:
            out.append(b"*** Update File: " + line[6:].rstrip(b"\t"))
        elif line.startswith(b"@@ ") or line.startswith(b"@@"):
            in_hunk = True
            out.append(b"@@")
        elif in_hunk and line[:1] in (b" ", b"+", b"-"):
            out.append(line)
        elif line.startswith(b"\\"):
            return None
    return b"\n".join([*out, b"*** End Patch", b""]) if len(out) > 1 else None


def patches(folders):
    """The same number from each repository."""
    for folder in folders:
        found = 0
        for commit in git(folder, "rev-list", "--no-merges", "--max-count=2000", "HEAD").decode().split():
            try:
                patch = envelope(git(folder, "show", "--format=", "--no-renames", commit))
                if patch is None or not 400 < len(patch) < 3_000:
                    continue
                patch.decode()
            except (subprocess.CalledProcessError, UnicodeDecodeError):
                continue
            yield patch
            found += 1
            if found * len(folders) >= PATCHES:
                break


def measured(fill, accept, tokens):
    """Nanoseconds of each mask along one patch."""
    costs = []
    for token in tokens:
        begun = time.thread_time_ns()
        fill()
        costs.append(time.thread_time_ns() - begun)
        if not accept(token):
            break
    return costs


def xgrammar_costs(vocabulary, grammar, all_tokens):
    begun = time.process_time()
    compiled = xgrammar.GrammarCompiler(vocabulary.xgrammar, cache_enabled=False, max_threads=1).compile_grammar(grammar())
    compilation = time.process_time() - begun
    words = numpy.zeros((1, (len(vocabulary.tokens) + 31) // 32), dtype=numpy.int32)
    costs = []
    for tokens in all_tokens:
        matcher = xgrammar.GrammarMatcher(compiled)
        costs += measured(lambda: matcher.fill_next_token_bitmask(words), matcher.accept_token, tokens)
    return compilation, costs


def llguidance_costs(vocabulary, slices, lark, all_tokens):
    tokenizer = vocabulary.llguidance.with_slices(slices)
    grammar = llguidance.LLMatcher.grammar_from_lark(lark)
    begun = time.process_time()
    llguidance.LLMatcher(tokenizer, grammar).compute_bitmask()
    compilation = time.process_time() - begun
    words = llguidance.numpy.allocate_token_bitmask(1, len(vocabulary.tokens))
    costs = []
    for tokens in all_tokens:
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        fill = lambda: llguidance.numpy.fill_next_token_bitmask(matcher, words)
        costs += measured(fill, matcher.consume_token, tokens)
    return compilation, costs


def main():
    folder, vocabularies = map(pathlib.Path, sys.argv[1:3])
    general = llguidance.LLTokenizer.general_slices()
    ours = json.loads((folder / "llguidance_slices.json").read_text())
    vocabulary = Vocabulary("o200k", VOCABULARIES["o200k"](vocabularies), general)
    all_tokens = [vocabulary.llguidance.greedy_tokenize(patch.decode()) for patch in itertools.islice(patches(sys.argv[3].split(",")), PATCHES)]
    print(f"{len(all_tokens)} patches, {sum(map(len, all_tokens))} tokens")
    read = lambda stem, ending: (folder / f"{stem}.{ending}").read_text(encoding="utf-8")
    rows = {}
    for other in map(pathlib.Path, sys.argv[4:]):
        text = other.read_text(encoding="utf-8")
        rows[f"XGrammar, {other.name}"] = lambda text=text: xgrammar_costs(vocabulary, lambda: xgrammar.Grammar.from_lark(text), all_tokens)
        rows[f"llguidance, {other.name}"] = lambda text=text: llguidance_costs(vocabulary, general, text, all_tokens)
        rows[f"llguidance, {other.name}, slices"] = lambda text=text: llguidance_costs(vocabulary, ours, text, all_tokens)
    for dialect, stem in STEM.items():
        for ending in ("ebnf",) if dialect == "tight" else ("gbnf", "ebnf"):
            text = read(stem, ending)
            rows[f"XGrammar, {stem}.{ending}"] = lambda text=text: xgrammar_costs(vocabulary, lambda: xgrammar.Grammar.from_ebnf(text), all_tokens)
        lark = read(stem, "lark")
        rows[f"llguidance, {stem}.lark"] = lambda lark=lark: llguidance_costs(vocabulary, general, lark, all_tokens)
        rows[f"llguidance, {stem}.lark, slices"] = lambda lark=lark: llguidance_costs(vocabulary, ours, lark, all_tokens)
    for name, measure in rows.items():
        compilation, costs = measure()
        costs = numpy.array(costs) / 1000
        print(f"{name:45} {len(costs):6} masks  mean {costs.mean():8.1f} µs  99 % {numpy.percentile(costs, 99):9.1f} µs  compiled in {compilation * 1000:6.0f} ms", flush=True)


if __name__ == "__main__":
    main()
