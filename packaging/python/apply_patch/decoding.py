"""Logits processors under which a model writes nothing but patches that apply.

A `Matcher` says which tokens may come next. `apply_mask` gives all others the logit minus infinity,
in any engine whose logits are a NumPy array or turn into one (ONNX Runtime, MLX); the processors
have the shapes that transformers, vLLM and llama-cpp-python call. None of these is imported here.

A model that is held to the files may be pushed to a wrong place. `denied` of a processor says how
much it was pushed: throw an output away where it is above 0.9.

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
    "denied_share",
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


def denied_share(logits: Any, mask: Any) -> float:
    """The share of the probability that the mask takes away, from 0 to 1.

    `logits` is one row, `mask` is what `Matcher.allowed` returns.
    """
    import numpy

    logits = numpy.asarray(logits, dtype=numpy.float64)
    weights = numpy.exp(logits - logits.max())
    return float(weights[_banned(mask, len(weights))].sum() / weights.sum())


class _Follower:
    """A matcher that follows one output, also when it goes back, as in beam search."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._tokens: list[int] = []
        # The shares that the mask took within old lines, and before how many tokens.
        self._denied: list[tuple[int, float]] = []

    @property
    def denied(self) -> float:
        return max((share for _, share in self._denied), default=0.0)

    def row(self, tokens: Sequence[int], scores: Any) -> Any:
        """One row of logits, a tensor or a NumPy array, under the mask after these tokens."""
        mask = self.mask(tokens)
        if mask is None:
            return scores
        if self._matcher.is_in_old_line:
            row = scores.tolist() if hasattr(scores, "tolist") else scores
            self._denied.append((len(self._tokens), denied_share(row, mask)))
        return _mask_row(scores, mask)

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
        self._denied = [(at, share) for at, share in self._denied if at <= shared]
        for token in tokens[shared:]:
            if self._matcher.has_ended:
                return None  # What follows is padding.
            self._matcher.accept(token)
            self._tokens.append(token)
        return None if self._matcher.has_ended else self._matcher.allowed()


def _mask_row(scores: Any, mask: bytes) -> Any:
    """Masks one row of logits, a tensor or a NumPy array."""
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
            try:
                scores[nth] = self._rows[nth].row(row[self._prompt :], scores[nth])
            except ValueError:
                if len(rows) == 1:
                    raise
                # Where too few tokens may follow, beam search goes on with some that may not.
                scores[nth] = float("-inf")
        return scores

    @property
    def denied(self) -> list[float]:
        """For each row the largest share of the probability that the mask took in an old line."""
        return [row.denied for row in self._rows]


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
        return self._follower.row(input_ids[self._prompt :], scores)

    @property
    def denied(self) -> float:
        """The largest share of the probability that the mask took in an old line."""
        return self._follower.denied


class RequestProcessor:
    """For one request of vLLM: what `AdapterLogitsProcessor.new_req_logits_processor` returns.

    It is called with the tokens of the output and a row of logits; where vLLM gives the tokens of
    the prompt too, they come first.
    """

    def __init__(self, vocabulary: Vocabulary, files: BoundFiles) -> None:
        self._follower = _Follower(Matcher(vocabulary, files))

    def __call__(self, *arguments: Any) -> Any:
        *_, output, logits = arguments
        return self._follower.row(output, logits)

    @property
    def denied(self) -> float:
        """The largest share of the probability that the mask took in an old line."""
        return self._follower.denied
