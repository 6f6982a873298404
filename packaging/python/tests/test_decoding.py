"""A matcher lets a model write nothing but patches that apply."""

import copy
import pickle
import random
import threading

import pytest

import apply_patch
from apply_patch import BoundFiles, Matcher, Vocabulary

FILE = "def a():\n    return 1\n\n\ndef b():\n    return 1\n"
BEGIN = b"*** Begin Patch\n*** Update File: f.py\n@@\n"
END = 256


@pytest.fixture
def vocabulary():
    return Vocabulary([*(bytes([byte]) for byte in range(256)), None], end=[END])


@pytest.fixture
def files():
    return BoundFiles({"f.py": FILE})


def tokens(mask):
    return [at for at in range(8 * len(mask)) if mask[at // 8] >> at % 8 & 1]


def test_random_outputs_apply(vocabulary, files):
    chance = random.Random(1)
    ended = 0
    for _ in range(20):
        matcher = Matcher(vocabulary, files)
        for _ in range(1500):
            allowed = tokens(matcher.allowed())
            near = [token for token in allowed if token in {*b"\n* -"}]
            wanted = near if near and chance.random() < 0.7 else allowed
            token = END if END in allowed else chance.choice(wanted)
            matcher.accept(token)
            if token == END:
                ended += 1
                apply_patch.apply_in_memory({"f.py": FILE}, matcher.text)
                break
    assert ended > 10


def test_a_token_that_misses_is_an_error(vocabulary, files):
    matcher = Matcher(vocabulary, files)
    for byte in BEGIN:
        matcher.accept(byte)
    matcher.accept(ord("-"))
    with pytest.raises(ValueError):
        matcher.accept(ord("x"))
    assert matcher.text == BEGIN + b"-"


def test_a_mask_is_written_into_a_buffer(vocabulary, files):
    matcher = Matcher(vocabulary, files)
    mask = bytearray(vocabulary.mask_len)
    assert matcher.allowed(mask) is None
    assert mask == matcher.allowed()
    assert tokens(mask) == [ord("*")]


def test_it_goes_back(vocabulary, files):
    matcher = Matcher(vocabulary, files)
    before = matcher.allowed()
    other = matcher.copy()
    matcher.accept(ord("*"))
    assert matcher.rollback(5) == 1
    assert matcher.allowed() == before
    assert other.text == b""


def test_files_that_cannot_be_shown_are_refused():
    with pytest.raises(ValueError, match="not UTF-8"):
        BoundFiles({"f": b"\xff\n"})
    with pytest.raises(ValueError, match="not one of"):
        BoundFiles({"f": "a\n"}, operations=["rename"])


def test_operations_decide_which_sections_may_begin(vocabulary):
    bound = BoundFiles({"f": "a\n"}, paths=["g"], operations=["delete"])
    matcher = Matcher(vocabulary, bound)
    assert matcher.forced() == b"*** Begin Patch\n*** Delete File: "


class Arrays:
    """The arrays of an engine: those of NumPy, or the tensors of torch."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip(name, reason=f"{name} is not installed")
        self.int32 = self.module.int32

    def of(self, values, dtype=None):
        make = self.module.tensor if self.name == "torch" else self.module.array
        return make(values, dtype=dtype or self.module.float32)

    def zeros(self, *shape, dtype=None):
        return self.module.zeros(shape, dtype=dtype or self.module.float32)


@pytest.fixture(params=["numpy", "torch"])
def arrays(request):
    pytest.importorskip("numpy")
    return Arrays(request.param)


def kept(row):
    """The tokens of a row of logits that may follow; all others have minus infinity."""
    row = row.tolist()
    assert all(value in (0, -float("inf")) for value in row)
    return [token for token, value in enumerate(row) if value == 0]


def as_bytes(words):
    return b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words.tolist())


def test_logits_are_masked(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch.decoding import apply_mask

    for dtype in (numpy.float16, numpy.float32, numpy.float64):
        masked = apply_mask(numpy.zeros((2, 300), dtype=dtype), Matcher(vocabulary, files).allowed())
        assert masked.dtype == dtype
        assert [kept(row) for row in masked] == [[ord("*")]] * 2


def test_masks_are_written_into_the_memory_of_the_host(vocabulary, files, arrays):
    from apply_patch.decoding import fill_next_token_bitmask, fill_next_token_bitmasks

    one, other = Matcher(vocabulary, files), Matcher(vocabulary, files)
    for byte in BEGIN:
        other.accept(byte)
    # Engines pad the rows, and begin with all bits set.
    words = vocabulary.mask_len // 4 + 2
    masks = arrays.zeros(3, words, dtype=arrays.int32) - 1
    fill_next_token_bitmask(other, masks, 1)
    assert masks[0].tolist() == masks[2].tolist() == [-1] * words
    assert as_bytes(masks[1]) == other.allowed() + bytes(8)
    fill_next_token_bitmask(one, masks, -1)
    assert as_bytes(masks[2]) == one.allowed() + bytes(8)
    masks[...] = -1
    fill_next_token_bitmasks([other, None, one], masks)
    assert [as_bytes(row)[:-8] for row in masks] == [other.allowed(), b"\xff" * vocabulary.mask_len, one.allowed()]
    alone = arrays.zeros(words, dtype=arrays.int32)
    fill_next_token_bitmask(one, alone)
    assert as_bytes(alone) == one.allowed() + bytes(8)


def test_masks_that_cannot_be_filled_are_refused(vocabulary, files, arrays):
    from apply_patch.decoding import fill_next_token_bitmask, fill_next_token_bitmasks

    matcher = Matcher(vocabulary, files)
    masks = arrays.zeros(2, 9, dtype=arrays.int32)
    for refused, said in [
        (lambda: fill_next_token_bitmask(matcher, masks, 2), "no row 2"),
        (lambda: fill_next_token_bitmask(matcher, masks, -3), "no row -3"),
        (lambda: fill_next_token_bitmasks([matcher] * 3, masks), "3 matchers"),
        (lambda: fill_next_token_bitmasks([matcher] * 2, masks), "given twice"),
        (lambda: fill_next_token_bitmask(matcher, masks[:, :8]), "contiguous"),
        (lambda: fill_next_token_bitmask(matcher, arrays.zeros(2, 8, dtype=arrays.int32)), "has 36 bytes, and there is room for 32"),
        (lambda: fill_next_token_bitmask(matcher, arrays.zeros(2, 2, 9, dtype=arrays.int32)), "one or two dimensions"),
        (lambda: fill_next_token_bitmask(matcher, arrays.zeros(0, 9, dtype=arrays.int32)), "one or two dimensions"),
        (lambda: fill_next_token_bitmask(matcher, bytes(36)), "written to"),
        (lambda: fill_next_token_bitmask(matcher, bytearray(38)), "words of 4 bytes"),
    ]:
        with pytest.raises((ValueError, IndexError), match=said):
            refused()
    assert masks.tolist() == [[0] * 9] * 2


def test_masks_of_another_device_are_refused(vocabulary, files):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from apply_patch.decoding import fill_next_token_bitmask

    with pytest.raises(ValueError, match="on meta: fill masks on the CPU"):
        fill_next_token_bitmask(Matcher(vocabulary, files), torch.zeros(9, dtype=torch.int32, device="meta"))


def test_logits_are_masked_in_place(vocabulary, files, arrays):
    from apply_patch.decoding import apply_token_bitmask_inplace, fill_next_token_bitmasks

    one, other = Matcher(vocabulary, files), Matcher(vocabulary, files)
    for byte in b"*** Begin Patch\n*** Update File: f.py\n@@\n":
        other.accept(byte)
    masks = arrays.zeros(2, 9, dtype=arrays.int32)
    fill_next_token_bitmasks([one, other], masks)
    dtypes = ["float16", "float32", "float64", *(["bfloat16"] if arrays.name == "torch" else [])]
    for dtype in dtypes:
        # More logits than bits, and less.
        for count in (257, 400, 200):
            logits = arrays.zeros(2, count, dtype=getattr(arrays.module, dtype))
            apply_token_bitmask_inplace(logits, masks)
            assert [kept(row) for row in logits] == [
                [token for token in tokens(matcher.allowed()) if token < count] for matcher in (one, other)
            ]
    row = arrays.of([1.5] * 50)
    apply_token_bitmask_inplace(row, masks[0])
    assert [token for token, value in enumerate(row.tolist()) if value == 1.5] == [ord("*")]


def test_a_batch_is_filled_as_each_of_it_is(vocabulary, files):
    from apply_patch.decoding import fill_next_token_bitmasks

    matchers = []
    for nth in range(64):
        matchers.append(Matcher(vocabulary, files))
        for byte in BEGIN[: nth % len(BEGIN)]:
            matchers[-1].accept(byte)
    row = vocabulary.mask_len
    masks = memoryview(bytearray(64 * row)).cast("B", (64, row))
    wanted = b"".join(matcher.allowed() for matcher in matchers)
    fill_next_token_bitmasks(matchers, masks)
    assert masks.tobytes() == wanted

    def fill_often(matchers):
        own = memoryview(bytearray(64 * row)).cast("B", (64, row))
        for _ in range(200):
            fill_next_token_bitmasks(matchers, own)

    # Two threads that take the same matchers in another order do not wait for each other.
    threads = [threading.Thread(target=fill_often, args=(some,), daemon=True) for some in (matchers, matchers[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_processors_follow_the_output(vocabulary, files, arrays):
    from apply_patch import decoding

    prompt = [7, 8, 9]
    transformers = decoding.TransformersProcessor(vocabulary, files)
    several = decoding.TransformersProcessor(vocabulary, files)
    llama = decoding.LlamaCppProcessor(vocabulary, files)
    request = decoding.RequestProcessor(vocabulary, files)
    matcher, output = Matcher(vocabulary, files), []
    for byte in BEGIN + b" def a():\n+# a\n":
        ids = arrays.of([prompt + output], arrays.int32)
        wanted = [token for token in tokens(matcher.allowed()) if token < 257]
        assert kept(transformers(ids, arrays.zeros(1, 257))[0]) == wanted
        twice = arrays.of([prompt + output] * 2, arrays.int32)
        assert [kept(row) for row in several(twice, arrays.zeros(2, 257))] == [wanted] * 2
        assert kept(llama(ids[0], arrays.zeros(257))) == wanted
        assert kept(request(output, arrays.zeros(257))) == wanted
        output.append(byte)
        matcher.accept(byte)


def test_beams_may_be_exchanged(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch import decoding

    processor = decoding.TransformersProcessor(vocabulary, files)
    begin = [*BEGIN]
    scores = numpy.zeros((2, 257), dtype=numpy.float32)
    processor(numpy.array([[1], [1]]), scores.copy())
    for rows in ([b" ", b"+"], [b"+", b" "], [b" def", b"+xyz"]):
        ids = numpy.array([[1, *begin, *row] for row in rows])
        masked = processor(ids, scores.copy())
        for row, text in zip(masked, rows):
            matcher = Matcher(vocabulary, files)
            for token in [*begin, *text]:
                matcher.accept(token)
            wanted = [token for token in tokens(matcher.allowed()) if token < 257]
            assert numpy.flatnonzero(row == 0).tolist() == wanted


def test_a_beam_without_a_way_on_is_dead_and_others_go_on(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch import decoding

    processor = decoding.TransformersProcessor(vocabulary, files)
    scores = numpy.zeros((2, 257), dtype=numpy.float32)
    processor(numpy.array([[1], [1]]), scores.copy())
    # Only `*` may be first.
    masked = processor(numpy.array([[1, ord("*")], [1, ord("x")]]), scores.copy())
    assert numpy.flatnonzero(masked[0] == 0).tolist() == [ord("*")]
    assert (masked[1] == -numpy.inf).all()
    masked = processor(numpy.array([[1, *b"**"], [1, *b"**"]]), scores.copy())
    assert (masked[0] == masked[1]).all()
    alone = decoding.TransformersProcessor(vocabulary, files)
    alone(numpy.array([[1]]), scores[:1].copy())
    with pytest.raises(ValueError):
        alone(numpy.array([[1, ord("x")]]), scores[:1].copy())


def test_what_follows_the_end_is_not_masked(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch import decoding

    processor = decoding.RequestProcessor(vocabulary, files)
    output = [*BEGIN, *b"-def a():\n*** End Patch", END]
    logits = numpy.zeros(257, dtype=numpy.float32)
    assert (processor(output, logits) == 0).all()
    assert (processor([*output, 0], logits) == 0).all()


def test_a_vocabulary_without_a_way_on_leaves_nothing(files, arrays):
    from apply_patch import decoding

    poor = Vocabulary([b"*", b"x", None], end=[2])
    for processor in (decoding.RequestProcessor(poor, files), decoding.LlamaCppProcessor(poor, files)):
        assert kept(processor(arrays.of([], arrays.int32), arrays.zeros(5))) == [0]
        assert kept(processor(arrays.of([0, 0, 0], arrays.int32), arrays.zeros(5))) == []
    assert kept(decoding.RequestProcessor(poor, files)([0], arrays.zeros(0))) == []


def test_what_the_mask_takes_in_old_lines_is_told(vocabulary, files, arrays):
    from apply_patch import decoding

    def wants(byte):
        logits = arrays.zeros(257)
        logits[byte] = 50
        return logits

    processor = decoding.RequestProcessor(vocabulary, files)
    several = decoding.TransformersProcessor(vocabulary, files)
    output = [*BEGIN]
    several(arrays.of([[1]] * 2, arrays.int32), arrays.zeros(2, 257))

    def denied(output, byte):
        processor(output, wants(byte))
        rows = arrays.of([[1, *output]] * 2, arrays.int32)
        several(rows, arrays.of([wants(byte).tolist()] * 2))
        assert several.denied == pytest.approx([processor.denied] * 2, abs=1e-6)
        return processor.denied

    assert denied(output, ord("x")) == 0  # No old line has begun.
    output.append(ord("-"))
    assert denied(output, ord("d")) < 0.01
    assert denied([*output, *b"def "], ord("x")) > 0.99
    assert denied(output, ord("d")) < 0.01  # It went back.
    assert decoding.denied_share(arrays.of([0.0, 0.0]), b"\x01\0\0\0") == 0.5


def test_lists_have_a_share_too():
    pytest.importorskip("numpy")
    from apply_patch.decoding import denied_share

    assert denied_share([0.0, 0.0], b"\x01\0\0\0") == 0.5


COPIES = [copy.copy, copy.deepcopy, *(lambda value, at=at: pickle.loads(pickle.dumps(value, at)) for at in range(2, 6))]


@pytest.mark.parametrize("again", COPIES)
def test_values_are_copied_and_pickled(vocabulary, files, again):
    matcher = Matcher(vocabulary, files)
    for byte in BEGIN + b"-def":
        matcher.accept(byte)
    other = again(matcher)
    assert (other.text, other.allowed(), other.is_in_old_line) == (matcher.text, matcher.allowed(), True)
    other.accept(ord(" "))
    assert matcher.text == BEGIN + b"-def" and matcher.rollback(99) == len(BEGIN) + 4
    assert other.rollback(99) == len(BEGIN) + 5
    new = Matcher(again(vocabulary), again(files))
    assert (len(again(vocabulary)), new.forced()) == (257, matcher.forced())


def test_a_pickle_has_what_matchers_share_once():
    vocabulary = Vocabulary([b"token %d" % nth for nth in range(5000)], end=[0])
    files = BoundFiles({"f": "".join(f"{line}\n" for line in range(5000))})
    one = len(pickle.dumps([Matcher(vocabulary, files)]))
    assert len(pickle.dumps([Matcher(vocabulary, files) for _ in range(9)])) < one + 1000


def test_bytes_that_are_no_pickle_of_ours_are_refused(vocabulary, files):
    matcher = Matcher(vocabulary, files)
    for byte in BEGIN:
        matcher.accept(byte)
    other = BoundFiles({"g": "x\n"})
    for value in (vocabulary, files, matcher):
        unpack, (*shared, packed) = value.__reduce__()
        for cut in [b"", packed[:1], packed[:-1], packed + b"\0", b"x" + packed[1:], packed[:1] + b"\xff" + packed[2:], packed[:2] + b"\xff" * 9]:
            with pytest.raises(ValueError):
                unpack(*shared, cut)
    with pytest.raises(ValueError, match="was not made with"):
        unpack(vocabulary, other, packed)
    with pytest.raises(ValueError, match="was not made with"):
        unpack(Vocabulary([b"x"], end=[0]), files, packed)
    with pytest.raises(ValueError, match="end token 257"):
        Vocabulary([b"x"] * 257, end=[257])


def test_an_output_is_finished_within_its_limits(vocabulary, files, arrays):
    from apply_patch import decoding

    def looping(processor, rows):
        """What a model writes that would add lines for ever."""
        output = [[] for _ in range(rows)]
        for _ in range(300):
            logits = arrays.zeros(rows, 257)
            for byte in b"+\n":
                logits[:, byte] = 9
            ids = arrays.of([[1, *row] for row in output], arrays.int32)
            row = processor(ids, logits)[0].tolist()
            token = max(range(257), key=row.__getitem__)
            assert row[token] > -float("inf")
            for tokens in output:
                tokens.append(token)
            if token == END:
                return bytes(output[0][:-1])
        return None

    for rows in (1, 2):
        free = decoding.TransformersProcessor(vocabulary, files)
        assert looping(free, rows) is None
        for limits in ({"max_tokens": 120}, {"max_tokens": 90}, {"max_added_lines": 3}, {"max_added_lines": 1, "max_tokens": 200}):
            text = looping(decoding.TransformersProcessor(vocabulary, files, **limits), rows)
            assert text is not None, limits
            assert len(text) + 1 <= limits.get("max_tokens", 300)
            assert text.count(b"\n+") <= limits.get("max_added_lines", 300)
            assert apply_patch.apply_in_memory({"f.py": FILE}, text)["f.py"] != FILE
    few = decoding.RequestProcessor(vocabulary, files, max_tokens=20)
    with pytest.raises(ValueError, match="max_tokens_left: too few"):
        few([], arrays.zeros(257))
    with pytest.raises(ValueError, match="too few"):
        decoding.fill_next_token_bitmask(Matcher(vocabulary, files), arrays.zeros(9, dtype=arrays.int32), max_tokens_left=3)
    with pytest.raises(ValueError, match="max_added_lines: too few"):
        Matcher(vocabulary, files, max_added_lines=0)
    limited = Matcher(vocabulary, files, max_added_lines=1)
    for byte in BEGIN + b"+# a\n":
        limited.accept(byte)
    assert ord("+") not in tokens(limited.allowed())
    assert ord("+") not in tokens(pickle.loads(pickle.dumps(limited)).allowed())
