"""contrib.layers' encoders of symbols: rows of tables, looked up once each or averaged over a document."""

from __future__ import annotations

from weft.framework.building.aliases import Initializer, Regularizer, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.functional.feature_functions import dense_to_sparse
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.nn.embedding import embedding_lookup, safe_embedding_lookup_sparse
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse


def embedding_lookup_unique(
    params: object, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """As `tf.nn.embedding_lookup`, but that rows which are asked for several times are fetched once.

    Args:
        params: the table, `[rows, ...]`: a variable, a partitioned one, or a list of parts.
        ids: row numbers of any shape, int32 or int64.
        partition_strategy: how rows lie in several parts, "mod" or "div".
        name: a name for the nodes' scope.

    Returns:
        The rows, of the shape of `ids` followed by that of a row.

    Raises:
        ValueError: there are no `params`.
    """
    with input_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        distinct, places = unique(reshape(ids, [-1]))
        rows = embedding_lookup(params, distinct, partition_strategy)
        found = reshape(gather(rows, places), concat([shape(ids), shape(rows)[1:]], 0))
        found.set_shape(ids.get_shape().concatenate(rows.get_shape()[1:]))
        return found


def bow_encoder(
    ids: TensorLike | SparseTensor, vocab_size: int, embed_dim: int, sparse_lookup: bool = True,
    initializer: Initializer | None = None, regularizer: Regularizer | None = None, trainable: bool = True,
    scope: ScopeLike = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The mean of the rows of a document's symbols, a "bag of words".

    Args:
        ids: symbols, `[batch, length]`, int32 or int64, dense or sparse.
        vocab_size: the number of symbols.
        embed_dim: the length of a row.
        sparse_lookup: whether zeros of dense `ids` are padding and do not count; a document without symbols has row 0.
        initializer: that of the table; the scope's when None.
        regularizer: that of the table.
        trainable: whether optimizers train the table.
        scope: the variable scope; needed where the table is reused.
        reuse: whether the table exists already.

    Returns:
        `[batch, embed_dim]`, float32.

    Raises:
        ValueError: a size is missing.
        TypeError: `ids` are sparse where `sparse_lookup` is off.
    """
    if not vocab_size or not embed_dim:
        raise ValueError(f"Must specify vocab size and embedding dimension: got vocab_size={vocab_size}, embed_dim={embed_dim}")
    with variable_scope(scope, "bow_encoder", [ids.values if isinstance(ids, SparseTensor) else ids], reuse=reuse):
        table = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], dtype=dtypes.float32, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
        )  # fmt: skip
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else dense_to_sparse(ids)
            return safe_embedding_lookup_sparse([table], sparse, combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(table, ids), axis=1)
