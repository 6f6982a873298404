"""Lets a small model write patches: free, held to the files by a matcher, and with a budget too.

    write.py MODEL.gguf [OUTPUTS for each task, 4 unless told] [--show]

Fails unless each output that is held applies once it has ended, and each one with a budget has
ended within it. Free outputs are only counted.
"""

import itertools
import re
import sys
import time

import apply_patch
import numpy
from apply_patch import BoundFiles, Vocabulary
from apply_patch.decoding import LlamaCppProcessor
from cyllama.llama import llama_cpp

TOKENS = 120
ADDED = 6
TEMPERATURE = 0.8
WAYS = {
    "free": None,
    "held": {},
    "held, with a budget": {"max_tokens": TOKENS, "max_added_lines": ADDED},
}

UPDATE = ("update",)
ALL = ("update", "add", "delete", "move")
TWINS = "\n\n\n".join(f"def {name}():\n    x = 1\n    return x" for name in "abc") + "\n"
TASKS = [
    (
        "Say hello to the name in upper case.",
        {"greet.py": 'def greet(name):\n    return "Hello, " + name\n'},
        UPDATE,
    ),
    ("Let b return 3.", {"src/two.py": TWINS}, UPDATE),
    (
        "Change the port to 8080 and add a timeout.",
        {"config.toml": '[server]\nhost = "localhost"\nport = 80\n\n[log]\nlevel = "info"'},
        UPDATE,
    ),
    (
        "Add a line for Zürich, and correct the spelling of Köln.",
        {"städte.txt": "Genève\r\nKoeln\r\n東京\r\n"},
        UPDATE,
    ),
    ("Write the other planets below, one a line.", {"planets.txt": "Mercury\n"}, UPDATE),
    (
        "Move the text into docs/intro.md.",
        {"README.md": "# Things\n\nA list of things.\n\n- one\n- two\n", "LICENSE": "MIT\n"},
        ALL,
    ),
    (
        "Check that the divisor is not zero, in C and in its header.",
        {
            "div.c": '#include "div.h"\n\nint divide(int a, int b)\n{\n\treturn a / b;\n}\n',
            "div.h": "#ifndef DIV_H\n#define DIV_H\nint divide(int a, int b);\n#endif\n",
        },
        ALL,
    ),
]
EXAMPLE = ("Let it say goodbye.", {"bye.py": 'def bye():\n    print("Hello")\n'})
ANSWER = """*** Begin Patch
*** Update File: bye.py
@@
 def bye():
-    print("Hello")
+    print("Goodbye")
*** End Patch
"""


def asked(task, files):
    shown = "\n".join(f"The file {path}:\n```\n{text}\n```" for path, text in files.items())
    return f"{shown}\n{task} Answer with one patch and nothing else."


class Model(llama_cpp.LlamaModel):
    """A model on one thread, which reads the prompt of a task once."""

    def __init__(self, path):
        parameters = llama_cpp.LlamaModelParams()
        parameters.n_gpu_layers = 0
        super().__init__(path, parameters)
        self.vocab = self.get_vocab()
        # This version of the engine looks for it here when it is asked for logits.
        self.n_vocab = self.vocab.n_vocab
        parameters = llama_cpp.LlamaContextParams()
        parameters.n_ctx = parameters.n_batch = 3072
        parameters.n_threads = parameters.n_threads_batch = 1
        self.context = llama_cpp.LlamaContext(self, parameters)
        self.end = [token for token in range(self.n_vocab) if self.vocab.is_eog(token)]
        # The vocabulary has printable characters for all bytes.
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printable]
        self.octets = {chr(byte): byte for byte in printable}
        self.octets |= {chr(256 + nth): byte for nth, byte in enumerate(others)}
        self.tokens = [self.bytes_of(token) for token in range(self.n_vocab)]

    def bytes_of(self, token):
        if self.vocab.is_control(token):
            return None
        return bytes(self.octets[char] for char in self.vocab.get_text(token))

    def logits_after(self, tokens, position):
        self.context.decode(llama_cpp.llama_batch_get_one(tokens, position))
        return numpy.array(self.context.get_logits(), dtype=numpy.float32)

    def read(self, task, files):
        said = [apply_patch.prompt(), asked(*EXAMPLE), ANSWER, asked(task, files)]
        turns = zip(["system", "user", "assistant", "user"], said)
        text = "".join(f"<|im_start|>{who}\n{said}<|im_end|>\n" for who, said in turns)
        self.prompt = self.vocab.tokenize(text + "<|im_start|>assistant\n", False, True)
        self.context.kv_cache_clear()
        self.first = self.logits_after(self.prompt, 0)

    def write(self, seed, processor):
        """The tokens of one output, and the seconds that the processor took."""
        self.context.memory_seq_rm(0, len(self.prompt), -1)
        chance = numpy.random.default_rng(seed)
        logits, output, took = self.first, [], 0.0
        while len(output) < TOKENS and not (output and output[-1] in self.end):
            if output:
                logits = self.logits_after(output[-1:], len(self.prompt) + len(output) - 1)
            begun = time.perf_counter()
            scores = processor([*self.prompt, *output], logits) if processor else logits
            took += time.perf_counter() - begun
            weights = numpy.exp((scores - scores.max()) / TEMPERATURE, dtype=numpy.float64)
            output.append(int(chance.choice(self.n_vocab, p=weights / weights.sum())))
        return output, took


def judged(files, text):
    """Whether a text has a patch, and whether that applies and changes something."""
    found = re.search(rb"\*\*\* Begin Patch\n.*?\*\*\* End Patch", text, re.DOTALL)
    text = found[0] if found else text
    try:
        apply_patch.parse(text)
        return True, apply_patch.apply_in_memory(files, text) != files
    except apply_patch.ParseError:
        return False, False
    except apply_patch.PatchError:
        return True, False


def is_wrong(limits, text, ended, applies):
    """Whether an output is not as promised."""
    if limits is None:
        return False
    added = len(re.findall(rb"^\+", text, re.MULTILINE))
    is_cut_off = "max_tokens" in limits and not ended
    return is_cut_off or (ended and not applies) or added > limits.get("max_added_lines", added)


def print_table(sums):
    print("| outputs | in all | ended | parse | apply | tokens each | ms a token | for the mask |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for way, (outputs, *shares, tokens, took, masking) in sums.items():
        row = [way, f"{outputs:.0f}", *(f"{share:.0f} ({share / outputs:.0%})" for share in shares)]
        times = [f"{took / tokens * 1e3:.1f}", f"{masking / tokens * 1e3:.2f}"]
        print(f"| {' | '.join([*row, f'{tokens / outputs:.0f}', *times])} |")


def main(path, count="4", *show):
    llama_cpp.disable_logging()
    llama_cpp.ggml_backend_load_all()
    model = Model(path)
    vocabulary = Vocabulary(model.tokens, model.end)
    sums = {way: numpy.zeros(7) for way in WAYS}
    wrong = 0
    for task, files, operations in TASKS:
        model.read(task, files)
        bound = BoundFiles(files, operations=operations)
        for seed, (way, limits) in itertools.product(range(int(count)), WAYS.items()):
            processor = None if limits is None else LlamaCppProcessor(vocabulary, bound, **limits)
            begun = time.perf_counter()
            output, masking = model.write(seed, processor)
            took = time.perf_counter() - begun
            ended = output[-1] in model.end
            text = b"".join(model.tokens[token] or b"" for token in output)
            parses, applies = judged(files, text)
            sums[way] += [1, ended, parses, applies, len(output), took, masking]
            failed = is_wrong(limits, text, ended, applies)
            wrong += failed
            if show or failed:
                print(f"-- {way}, seed {seed}: {task} {ended=} {parses=} {applies=} {failed=}")
                print(text.decode(errors="replace"))
    print(f"{path.rsplit('/')[-1]}, at most {TOKENS} tokens, with a budget {ADDED} added lines:\n")
    print_table(sums)
    sys.exit(f"{wrong} outputs are wrong" if wrong else 0)


main(*sys.argv[1:])
