"""What programs make summaries of their own of: the helpers of TensorFlow's summaries, with its arguments."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.summary import nodes

# What a name scope may not have; programs take it out of their tags.
INVALID_SCOPE_CHARACTERS: Final = re.compile(r"[^-_/.A-Za-z0-9]")


def clean_tag(name: str | None) -> str | None:
    """A summary's name as a node may have it.

    Args:
        name: the name.
    """
    return None if name is None else nodes.clean_tag(name)


def collect(val: Tensor, collections: Sequence[str] | None, default_collections: Sequence[str]) -> None:
    """Add a summary to collections.

    Args:
        val: the summary.
        collections: the collections' names.
        default_collections: those for None.
    """
    get_default_graph().add_to_collections(default_collections if collections is None else collections, val)


@contextlib.contextmanager
def summary_scope(
    name: str, family: str | None = None, default_name: str | None = None, values: Sequence[TensorLike] | None = None
) -> Iterator[tuple[str, str]]:
    """Yields the tag and the node's name of a summary.

    Args:
        name: its name.
        family: put in front of the tag, to group tags in TensorBoard.
        default_name: the name where `name` is empty.
        values: what it summarizes; has no effect.
    """
    with nodes.summary_scope(name, family, default_name) as made:
        yield made
