"""Logits processors under which a model writes nothing but patches that apply.

A `Matcher` says which tokens may come next. `apply_mask` gives all others the logit minus infinity,
in any engine whose logits are a NumPy array or turn into one (ONNX Runtime, MLX); the processors
have the shapes that transformers, vLLM and llama-cpp-python call. None of these is imported here.

    >>> from apply_patch import BoundFiles, Matcher, Vocabulary
    >>> vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [None], end=[256])
    >>> matcher = Matcher(vocabulary, BoundFiles({"a.txt": "one\\n"}))
    >>> matcher.forced()
    b'*** Begin Patch\\n*** Update File: a.txt\\n@@'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._native import BoundFiles, Matcher, Vocabulary

__all__ = [
    "LlamaCppProcessor",
    "RequestProcessor",
    "TransformersProcessor",
    "apply_mask",
]


def _banned(mask: Any, count: int) -> Any:
    """A NumPy array of `count` booleans: which tokens may not follow."""
    import numpy

    bits = numpy.unpackbits(numpy.frombuffer(mask, dtype=numpy.uint8), bitorder="little")
    banned = numpy.ones(count, dtype=bool)
    known = min(count, len(bits))
    banned[:known] = bits[:known] == 0
    return banned


def apply_mask(logits: Any, mask: Any) -> Any:
    """Returns the logits, those of tokens that may not follow minus infinity.

    `logits` has the tokens in its last dimension; `mask` is what `Matcher.allowed` returns. Tokens
    beyond the mask (models pad their last layer) may not follow.
    """
    import numpy

    logits = numpy.asarray(logits)
    return numpy.where(_banned(mask, logits.shape[-1]), logits.dtype.type("-inf"), logits)


class _Follower:
    """A matcher that follows one output, also when it goes back, as in beam search."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._tokens: list[int] = []

    def mask(self, tokens: Sequence[int]) -> bytes | None:
        """The mask after these tokens; `None` once the output has ended."""
        tokens = [int(token) for token in tokens]
        shared = 0
        for one, other in zip(self._tokens, tokens):
            if one != other:
                break
            shared += 1
        self._matcher.rollback(len(self._tokens) - shared)
        del self._tokens[shared:]
        for token in tokens[shared:]:
            if self._matcher.has_ended:
                return None  # What follows is padding.
            self._matcher.accept(token)
            self._tokens.append(token)
        return None if self._matcher.has_ended else self._matcher.allowed()


def _mask_row(scores: Any, mask: bytes | None) -> Any:
    """Masks one row of logits, a tensor or a NumPy array."""
    if mask is None:
        return scores
    if hasattr(scores, "masked_fill"):
        banned = scores.new_tensor(_banned(mask, scores.shape[-1]).tolist()).bool()
        return scores.masked_fill(banned, float("-inf"))
    return apply_mask(scores, mask)


class TransformersProcessor:
    """For `model.generate(..., logits_processor=[TransformersProcessor(vocabulary, files)])`.

    The prompt is what the first call has. Made anew for each call of `generate`.
    """

    def __init__(self, vocabulary: Vocabulary, files: BoundFiles) -> None:
        self._matcher = Matcher(vocabulary, files)
        self._prompt: int | None = None
        self._rows: list[_Follower] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        rows = input_ids.tolist()
        if self._prompt is None:
            self._prompt = len(rows[0])
        while len(self._rows) < len(rows):
            self._rows.append(_Follower(self._matcher.copy()))
        for nth, row in enumerate(rows):
            mask = self._rows[nth].mask(row[self._prompt :])
            scores[nth] = _mask_row(scores[nth], mask)
        return scores


class LlamaCppProcessor:
    """For `Llama.create_completion(..., logits_processor=LogitsProcessorList([...]))`.

    The prompt is what the first call has. Made anew for each completion.
    """

    def __init__(self, vocabulary: Vocabulary, files: BoundFiles) -> None:
        self._follower = _Follower(Matcher(vocabulary, files))
        self._prompt: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._prompt is None:
            self._prompt = len(input_ids)
        return _mask_row(scores, self._follower.mask(input_ids[self._prompt :]))


class RequestProcessor:
    """For one request of vLLM: what `AdapterLogitsProcessor.new_req_logits_processor` returns.

    It is called with the tokens of the output and a row of logits; where vLLM gives the tokens of
    the prompt too, they come first.
    """

    def __init__(self, vocabulary: Vocabulary, files: BoundFiles) -> None:
        self._follower = _Follower(Matcher(vocabulary, files))

    def __call__(self, *arguments: Any) -> Any:
        *_, output, logits = arguments
        return _mask_row(logits, self._follower.mask(output))
