"""Microseconds for a token of constrained decoding in Python, at 152 000 logits: the mask, the mask applied, and whole processors.

    benches/decoding.py [THREADS]

Needs the wheel and NumPy; with torch its tensors too, on so many THREADS. Medians and minima: torch shares work with threads that other
programs may keep from running.
"""

import sys
import time

import numpy

from apply_patch import BoundFiles, Matcher, Vocabulary, decoding

COUNT = 151_936
BEGIN = [*b"*** Begin Patch\n*** Update File: a.txt\n@@\n"]
PLACES = {"a header": [], "an old line": [*BEGIN, ord("-")], "an added line": [*BEGIN, ord("+"), ord("a")]}


def measure(place, name, call, count=300):
    """A row of the table."""
    times = []
    for _ in range(count + 20):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    times = sorted(times[20:])
    print(f"| {place} | {name} | {times[count // 2] * 1e6:.1f} | {times[0] * 1e6:.1f} |")


def processors(place, output, logits, ids):
    """Both shapes of processors, with tokens and logits of one library."""
    kind = type(logits).__module__
    transformers = decoding.TransformersProcessor(VOCABULARY, FILES)
    transformers(ids([[7]]), logits[None])
    rows = ids([[7, *output]])
    measure(place, f"`TransformersProcessor`, {kind}", lambda: transformers(rows, logits[None]))
    request = decoding.RequestProcessor(VOCABULARY, FILES)
    measure(place, f"`RequestProcessor`, {kind}", lambda: request(output, logits))


tokens = [bytes([token]) if token < 256 else b"q%d" % token for token in range(COUNT - 1)]
VOCABULARY = Vocabulary([*tokens, None], end=[COUNT - 1])
FILES = BoundFiles({"a.txt": "one\ntwo\nq300 q4000 x\n" * 30 + "x\n"})

try:
    import torch

    torch.set_num_threads(int(sys.argv[1]) if sys.argv[1:] else torch.get_num_threads())
except ImportError:
    torch = None
print("| where | what | median | least |\n|---|---|---:|---:|")
for place, output in PLACES.items():
    matcher = Matcher(VOCABULARY, FILES)
    for token in output:
        matcher.accept(token)
    masks = numpy.zeros((1, -(-COUNT // 32)), dtype=numpy.int32)
    logits = numpy.random.default_rng(1).normal(size=COUNT).astype(numpy.float32)
    measure(place, "`fill_next_token_bitmask`", lambda: decoding.fill_next_token_bitmask(matcher, masks))
    processors(place, output, logits, numpy.array)
    if torch:
        processors(place, output, torch.from_numpy(logits), torch.tensor)
batch = [matcher.copy() for _ in range(64)]
masks = numpy.zeros((64, -(-COUNT // 32)), dtype=numpy.int32)
measure(place, "`fill_next_token_bitmasks`, 64 rows", lambda: decoding.fill_next_token_bitmasks(batch, masks), 50)
