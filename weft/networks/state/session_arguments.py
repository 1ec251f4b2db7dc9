"""SessionArguments: what Keras' functions and compiled models hand to each run of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self

from weft.framework.building.aliases import Array, Nest, SessionLike
from weft.framework.nodes.operation import Tensor
from weft.proto.messages import RunMetadata, RunOptions


@dataclass(frozen=True)
class SessionArguments:
    """Arguments of `Session.run` that a program gives to `K.function` or `compile`.

    Attributes:
        fetches: operations and tensors to run as well, whose values nobody gets; one, or a list.
        feed_dict: what is fed as well.
        options: the options of each run.
        run_metadata: what each run writes down.
    """

    fetches: Nest = None
    feed_dict: Mapping[Tensor, Array] | None = None
    options: RunOptions | None = None
    run_metadata: RunMetadata | None = None

    @classmethod
    def names(cls) -> set[str]:
        """The names of the arguments."""
        return {each.name for each in fields(cls)}

    @classmethod
    def of(cls, given: Mapping[str, Nest]) -> Self:
        """Those that are given by their names.

        Raises:
            ValueError: there is another.
        """
        for unknown in given.keys() - cls.names():
            known = ", ".join(sorted(cls.names()))
            raise ValueError(f'Invalid argument "{unknown}" passed to K.function with TensorFlow backend: it takes {known}')
        return cls(**given)

    def run(self, session: SessionLike, fetches: Nest, feeds: Mapping[Tensor, Array]) -> Nest:
        """Run; the values of `fetches`."""
        further = self.fetches if self.fetches is not None else []
        return session.run(
            [fetches, further], {**feeds, **(self.feed_dict or {})}, options=self.options, run_metadata=self.run_metadata
        )[0]


NOTHING: Final = SessionArguments()
