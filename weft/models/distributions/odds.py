"""HasOdds: what distributions have in common that are given by logits or by probabilities."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor


class HasOdds:
    """A distribution that knows its parameter in both forms; a subclass sets them before it calls `Distribution.__init__`."""

    _logits: Tensor
    _probs: Tensor

    @property
    def logits(self) -> Tensor:
        """The log-odds of 1, `[...]`; of classes the unnormalised log-probabilities, `[..., classes]`."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of 1, `[...]`; of classes those of each, `[..., classes]`."""
        return self._probs
