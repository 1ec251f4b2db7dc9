"""The tokens of sequences: what they begin and end with, and what stands for one in a network."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.ops.nn.embedding import embedding_lookup

# Of ids, the rows of a table.
Embedding = Callable[[Tensor], Tensor]


def looked_up(embedding: Nest) -> Embedding:
    """An embedding as a function of ids: one that is given, or the rows of a table or of its parts."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


def check_tokens(start_tokens: Tensor, end_token: Tensor) -> None:
    """Raise ValueError unless the first inputs are a vector, and what ends a sequence a scalar."""
    if start_tokens.shape.ndims != 1:
        raise ValueError(
            f"start_tokens must be a vector\n  start_tokens: {described(start_tokens)}\n  There is one for each sequence: "
            "tf.fill([batch], token)."
        )
    if end_token.shape.ndims != 0:
        raise ValueError(f"end_token must be a scalar\n  end_token: {described(end_token)}\n  One token ends all sequences.")
