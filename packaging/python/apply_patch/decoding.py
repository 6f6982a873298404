"""Logits processors under which a model writes nothing but patches that apply.

A `Matcher` says which tokens may come next. The processors have the shapes that transformers, vLLM
and llama-cpp-python call, and give all other tokens the logit minus infinity. An engine with masks
of its own, packed as those of XGrammar and llguidance, has them filled in place by
`fill_next_token_bitmask` and `fill_next_token_bitmasks`. No engine is imported here.

A model that is held to the files may be pushed to a wrong place. `denied` of a processor says how
much it was pushed: throw an output away where it is above 0.9.

    >>> from apply_patch import BoundFiles, Matcher, Vocabulary
    >>> vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [None], end=[256])
    >>> matcher = Matcher(vocabulary, BoundFiles({"a.txt": "one\\n"}))
    >>> matcher.forced()
    b'*** Begin Patch\\n*** Update File: a.txt\\n@@'
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ._native import BoundFiles, Matcher, Vocabulary, few_tokens, fill_masks

__all__ = [
    "LlamaCppProcessor",
    "RequestProcessor",
    "TransformersProcessor",
    "apply_mask",
    "apply_token_bitmask_inplace",
    "denied_share",
    "fill_next_token_bitmask",
    "fill_next_token_bitmasks",
]


def fill_next_token_bitmask(
    matcher: Matcher, bitmask: Any, index: int = 0, *, max_tokens_left: int | None = None
) -> None:
    """Writes the mask of the tokens that may follow into a row of the host's masks.

    `bitmask` has words of 32 bits, one row or several: a tensor of torch in the memory of the
    processor, a NumPy array, or anything with the buffer protocol. The bit of token `id` is bit
    `id % 32` of word `id // 32`. What a row has beyond the vocabulary is cleared, and so is the row
    of a matcher that has ended. `max_tokens_left` is that of `Matcher.allowed`.
    """
    view, rows, length = _writable(bitmask)
    if not -rows <= index < rows:
        raise IndexError(f"there is no row {index}; the masks have {rows}")
    at = index % rows * length
    fill_masks([matcher], view[at : at + length], length, max_tokens_left)


def fill_next_token_bitmasks(matchers: Sequence[Matcher | None], bitmask: Any) -> None:
    """Writes the mask of each matcher into the row with its number, on all processors.

    The row of None stays as it is, and so do rows beyond the matchers. Meanwhile other threads of
    the interpreter run.
    """
    view, rows, length = _writable(bitmask)
    if len(matchers) > rows:
        raise ValueError(f"there are {len(matchers)} matchers, and the masks have {rows} rows")
    fill_masks(list(matchers), view, length)


def _writable(bitmask: Any) -> tuple[memoryview, int, int]:
    """The bytes of the host's masks, how many rows they are, and how many bytes a row has."""
    if hasattr(bitmask, "data_ptr"):
        if bitmask.device.type != "cpu":
            raise ValueError(f"the masks are on {bitmask.device}: fill masks on the CPU, and copy them")
        bitmask = bitmask.numpy()
    view = memoryview(bitmask)
    if view.readonly or not view.c_contiguous or view.ndim not in (1, 2) or not view.nbytes:
        raise ValueError("the masks have to be one or two dimensions of contiguous memory that can be written to")
    rows = view.shape[0] if view.shape and view.ndim == 2 else 1
    return view.cast("B"), rows, view.nbytes // rows


def apply_token_bitmask_inplace(logits: Any, bitmask: Any) -> None:
    """Gives the tokens that may not follow the logit minus infinity, in place.

    `logits` is a tensor of torch on any device, or a NumPy array, with the tokens in its last
    dimension; `bitmask` has a row of words for each row of them. Tokens beyond the masks may not
    follow.
    """
    if _is_tensor(logits):
        logits.copy_(_masked_tensor(logits, bitmask))
    else:
        logits[...] = _masked_array(logits, bitmask)


def apply_mask(logits: Any, mask: Any) -> Any:
    """Returns the logits, those of tokens that may not follow minus infinity.

    `logits` has the tokens in its last dimension; `mask` is what `Matcher.allowed` returns, for all
    rows. Tokens beyond the mask (models pad their last layer) may not follow.
    """
    return _masked_array(logits, mask)


def denied_share(logits: Any, mask: Any) -> float:
    """The share of the probability that the mask takes away, from 0 to 1.

    `logits` is one row, `mask` is what `Matcher.allowed` returns.
    """
    return float(_denied(logits, _masked(logits, mask)))


def _masked(logits: Any, mask: Any) -> Any:
    return _masked_tensor(logits, mask) if _is_tensor(logits) else _masked_array(logits, mask)


# The smaller one of a logit and a bound: plus infinity for a token that may follow, minus infinity
# for all others. To choose by booleans takes up to ten times as long, where they differ much.


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "masked_fill")


def _shape(mask: Any) -> tuple[int, ...]:
    """A row for each row of logits, or one for all."""
    return (mask.shape[0], -1) if getattr(mask, "ndim", 1) > 1 else (-1,)


@functools.lru_cache(maxsize=16)
def _shifts(device: Any) -> Any:
    import torch  # type: ignore[import-not-found,unused-ignore]

    return torch.arange(31, -1, -1, dtype=torch.int32, device=device)


def _masked_tensor(logits: Any, mask: Any) -> Any:
    import torch  # type: ignore[import-not-found,unused-ignore]

    words = mask
    if not _is_tensor(mask):
        # torch warns of a buffer that cannot be written to.
        words = torch.frombuffer(bytearray(mask) if isinstance(mask, bytes) else mask, dtype=torch.int32)
        words = words.reshape(_shape(mask))
    words = words.to(logits.device)
    # The bit of a token becomes the sign of infinity.
    bounds = ~words.unsqueeze(-1) << _shifts(logits.device)
    bounds &= -(1 << 31)
    bounds |= 0x7F800000
    bounds = bounds.view(torch.float32).flatten(-2)
    beyond = logits.shape[-1] - bounds.shape[-1]
    if beyond > 0:
        bounds = torch.nn.functional.pad(bounds, (0, beyond), value=float("-inf"))
    return torch.minimum(logits, bounds[..., : logits.shape[-1]].to(logits.dtype))


@functools.lru_cache(maxsize=16)
def _bounds(dtype: Any) -> Any:
    """The bounds of eight tokens, by the byte of a mask."""
    import numpy

    bits = numpy.unpackbits(numpy.arange(256, dtype=numpy.uint8)[:, None], axis=1, bitorder="little")
    return numpy.where(bits == 1, numpy.inf, -numpy.inf).astype(dtype)


def _masked_array(logits: Any, mask: Any) -> Any:
    import numpy

    logits = numpy.asarray(logits)
    octets = numpy.frombuffer(mask, dtype=numpy.uint8).reshape(_shape(mask))
    bounds = _bounds(logits.dtype).take(octets, axis=0).reshape(*octets.shape[:-1], -1)
    beyond = logits.shape[-1] - bounds.shape[-1]
    if beyond > 0:
        padding = [(0, 0)] * (bounds.ndim - 1) + [(0, beyond)]
        bounds = numpy.pad(bounds, padding, constant_values=-numpy.inf)
    return numpy.minimum(logits, bounds[..., : logits.shape[-1]])


def _probabilities(logits: Any) -> Any:
    if _is_tensor(logits):
        return logits.float().softmax(-1)
    import numpy

    logits = numpy.asarray(logits)
    weights = numpy.exp(logits - logits.max(), dtype=numpy.result_type(logits.dtype, numpy.float32))
    weights /= weights.sum()
    return weights


def _denied(logits: Any, masked: Any) -> Any:
    """The share of the probability that is gone."""
    return (_probabilities(logits) * (masked == float("-inf"))).sum()


# So many tokens are quicker taken one by one.
_FEW = 64


def _only(logits: Any, tokens: list[int]) -> tuple[Any, Any]:
    """The logits, those of all other tokens minus infinity; and the tokens as indices."""
    if _is_tensor(logits):
        import torch  # type: ignore[import-not-found,unused-ignore]

        masked = torch.full_like(logits, float("-inf"))
        indices = torch.tensor(tokens, dtype=torch.long, device=logits.device)
    else:
        import numpy

        logits = numpy.asarray(logits)
        masked, indices = numpy.full_like(logits, -numpy.inf), numpy.array(tokens, dtype=numpy.intp)
    masked[indices] = logits[indices]
    return masked, indices


class _Follower:
    """A matcher that follows one output, also when it goes back, as in beam search."""

    def __init__(self, matcher: Matcher, max_tokens: int | None) -> None:
        self.matcher = matcher
        self._max_tokens = max_tokens
        self._tokens: list[int] = []
        # The shares that the mask took within old lines, and after how many tokens. A share may be
        # on a device, which would be waited for.
        self._denied: list[tuple[int, Any]] = []

    @property
    def denied(self) -> float:
        return max((float(share) for _, share in self._denied), default=0.0)

    def follow(self, tokens: list[int]) -> bool:
        """Goes where the output is; false once the output has ended."""
        shared = len(self._tokens)
        if tokens[:shared] != self._tokens:
            pairs = zip(self._tokens, tokens)
            shared = next((at for at, (one, other) in enumerate(pairs) if one != other), min(shared, len(tokens)))
            self.matcher.rollback(len(self._tokens) - shared)
            del self._tokens[shared:]
            self._denied = [(at, share) for at, share in self._denied if at <= shared]
        for token in tokens[shared:]:
            if self.matcher.has_ended:
                return False  # The rest is padding.
            self.matcher.accept(token)
            self._tokens.append(token)
        return not self.matcher.has_ended

    @property
    def tokens_left(self) -> int | None:
        """How many tokens the output may still have."""
        return None if self._max_tokens is None else max(self._max_tokens - len(self._tokens), 0)

    def note(self, share: Any) -> None:
        """Notes how much the mask takes here."""
        self._denied.append((len(self._tokens), share))

    def masked(self, tokens: list[int], logits: Any) -> Any:
        """One row of logits under the mask after these tokens."""
        if not self.follow(tokens):
            return logits
        mask = self.matcher.allowed(max_tokens_left=self.tokens_left)
        few = few_tokens(mask, _FEW)
        if few is None or (few and few[-1] >= logits.shape[-1]):
            masked = _masked(logits, mask)
            if self.matcher.is_in_old_line:
                self.note(_denied(logits, masked))
            return masked
        masked, indices = _only(logits, few)
        if self.matcher.is_in_old_line:
            self.note(1 - _probabilities(logits)[indices].sum())
        return masked


def _listed(tokens: Any) -> list[int]:
    return tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)


class TransformersProcessor:
    """For `model.generate(..., logits_processor=[TransformersProcessor(vocabulary, files)])`.

    The prompt is what the first call has. Made anew for each call of `generate`. An output has at
    most `max_added_lines` and `max_tokens`, with the one that ends it, and is whole then.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        files: BoundFiles,
        *,
        max_added_lines: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._matcher = Matcher(vocabulary, files, max_added_lines=max_added_lines)
        self._max_tokens = max_tokens
        self._mask_len = vocabulary.mask_len
        self._prompt: int | None = None
        self._rows: list[_Follower] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = input_ids.shape[-1]
        rows = input_ids[:, self._prompt :].tolist()
        while len(self._rows) < len(rows):
            self._rows.append(_Follower(self._matcher.copy(), self._max_tokens))
        if len(rows) == 1:
            return self._rows[0].masked(rows[0], scores[0])[None]
        length = max(self._mask_len, 4 * -(-scores.shape[-1] // 32))
        # All may follow where the output has ended.
        masks = bytearray(b"\xff" * (length * len(rows)))
        matchers: list[Matcher | None] = [None] * len(rows)
        for nth, (follower, row) in enumerate(zip(self._rows, rows)):
            try:
                if follower.follow(row):
                    matchers[nth] = follower.matcher
            except ValueError:
                # Where too few tokens may follow, beam search goes on with some that may not.
                masks[nth * length : (nth + 1) * length] = bytes(length)
        # All rows that go on have the same number of tokens.
        left = next((row.tokens_left for row, matcher in zip(self._rows, matchers) if matcher), None)
        fill_masks(matchers, memoryview(masks), length, left)
        masked = _masked(scores, memoryview(masks).cast("B", (len(rows), length)))
        for nth, matcher in enumerate(matchers):
            if matcher is not None and matcher.is_in_old_line:
                self._rows[nth].note(_denied(scores[nth], masked[nth]))
        return masked

    @property
    def denied(self) -> list[float]:
        """For each row the largest share of the probability that the mask took in an old line."""
        return [row.denied for row in self._rows]


class _OneOutput:
    """A processor that follows one output."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        files: BoundFiles,
        *,
        max_added_lines: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._follower = _Follower(Matcher(vocabulary, files, max_added_lines=max_added_lines), max_tokens)

    @property
    def denied(self) -> float:
        """The largest share of the probability that the mask took in an old line."""
        return self._follower.denied


class LlamaCppProcessor(_OneOutput):
    """For `Llama.create_completion(..., logits_processor=LogitsProcessorList([...]))`.

    The prompt is what the first call has. Made anew for each completion. `max_added_lines` and
    `max_tokens` are those of `TransformersProcessor`.
    """

    _prompt: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = len(input_ids)
        return self._follower.masked(_listed(input_ids[self._prompt :]), scores)


class RequestProcessor(_OneOutput):
    """For one request of vLLM: what `AdapterLogitsProcessor.new_req_logits_processor` returns.

    It is called with the tokens of the output and a row of logits; where vLLM gives the tokens of
    the prompt too, they come first. `max_added_lines` and `max_tokens` are those of
    `TransformersProcessor`.
    """

    def __call__(self, *arguments: Any) -> Any:
        *_, output, logits = arguments
        return self._follower.masked(_listed(output), logits)
