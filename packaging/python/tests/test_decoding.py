"""A matcher lets a model write nothing but patches that apply."""

import random

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


def test_logits_are_masked(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch.decoding import apply_mask

    logits = numpy.zeros((1, 300), dtype=numpy.float32)
    masked = apply_mask(logits, Matcher(vocabulary, files).allowed())
    assert masked.dtype == numpy.float32
    assert numpy.flatnonzero(masked[0] == 0).tolist() == [ord("*")]


def test_processors_follow_the_output(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch import decoding

    def kept(row):
        return numpy.flatnonzero(row == 0).tolist()

    prompt, zeros = [7, 8, 9], numpy.zeros(257, dtype=numpy.float32)
    transformers = decoding.TransformersProcessor(vocabulary, files)
    llama = decoding.LlamaCppProcessor(vocabulary, files)
    request = decoding.RequestProcessor(vocabulary, files)
    output = []
    for byte in b"*** Begin Patch\n":
        ids = numpy.array([prompt + output])
        assert kept(transformers(ids, zeros[None].copy())[0]) == [byte]
        assert kept(llama(ids[0], zeros.copy())) == [byte]
        assert kept(request(output, zeros.copy())) == [byte]
        output.append(byte)


class Tensor:
    """As much of a tensor of torch as is asked for."""

    def __init__(self, values):
        self.values, self.shape = values, (len(values),)

    def new_tensor(self, values):
        return Tensor(values)

    def bool(self):
        return Tensor([bool(value) for value in self.values])

    def masked_fill(self, banned, value):
        return [value if ban else own for ban, own in zip(banned.values, self.values)]


def test_tensors_are_masked_by_their_own_methods(vocabulary, files):
    pytest.importorskip("numpy")
    from apply_patch import decoding

    masked = decoding.RequestProcessor(vocabulary, files)([], Tensor([0.0] * 257))
    assert [at for at, value in enumerate(masked) if value == 0] == [ord("*")]


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


def test_what_the_mask_takes_in_old_lines_is_told(vocabulary, files):
    numpy = pytest.importorskip("numpy")
    from apply_patch import decoding

    def wants(byte):
        logits = numpy.zeros(257, dtype=numpy.float32)
        logits[byte] = 50
        return logits

    processor = decoding.RequestProcessor(vocabulary, files)
    output = [*BEGIN]
    processor(output, wants(ord("x")))  # No old line has begun.
    assert processor.denied == 0
    output.append(ord("-"))
    processor(output, wants(ord("d")))
    assert processor.denied < 0.01
    processor([*output, *b"def "], wants(ord("x")))
    assert processor.denied > 0.99
    processor(output, wants(ord("d")))  # It went back.
    assert processor.denied < 0.01
    assert decoding.denied_share([0.0, 0.0], b"\x01\0\0\0") == 0.5
