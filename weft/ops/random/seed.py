"""Seeds of random ops: what the graph's seed and an op's own seed amount to."""

from __future__ import annotations

import hashlib
from typing import Final

from weft.framework.graphs.graph import get_default_graph
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging

DEFAULT_GRAPH_SEED: Final = 87654321
_MAXINT32: Final = 2**31 - 1


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seeds for an op that is made now; (None, None) when neither graph nor op has one.

    With a graph seed alone the op's place in the graph is its seed; with an op seed alone the graph's is a fixed
    number.

    Args:
        op_seed: the seed that the op was given, or None.
    """
    _tell_fraction(op_seed)
    graph = get_default_graph()
    if graph.seed is None:
        if op_seed is None:
            return None, None
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAXINT32
    else:
        seeds = graph.seed % _MAXINT32, (graph.last_id if op_seed is None else op_seed) % _MAXINT32
    # Kernels take (0, 0) for "no seed".
    return (0, _MAXINT32) if seeds == (0, 0) else seeds


def set_random_seed(seed: int | None) -> None:
    """Set the default graph's seed, which makes random ops made after this repeat themselves in each session.

    >>> tf.set_random_seed(1)
    >>> x = tf.random_uniform([2])
    >>> with tf.Session() as one, tf.Session() as two:
    ...     print((one.run(x) == two.run(x)).all())
    True

    Args:
        seed: the seed, an int; None for numbers that differ from session to session.

    Raises:
        TypeError: it is no number.
    """
    check_arguments(set_random_seed, seed=seed)
    _tell_fraction(seed)
    get_default_graph().seed = seed


def _tell_fraction(seed: int | None) -> None:
    """Programs get numbers by such a seed in TensorFlow too, and the same ones by all that are cut off to one."""
    if isinstance(seed, float) and not seed.is_integer():
        tf_logging.warning("The seed %s is no whole number: %d is taken, as for all that begin with it.", seed, seed)


def seed_of_shared(graph_seed: int | None, shared_name: str) -> int:
    """The seed of what programs share by a name: they agree on it, TensorFlow's too, and their graphs need not be the same."""
    digest = hashlib.md5(f"{graph_seed}{shared_name}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF
