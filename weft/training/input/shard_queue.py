"""ShardQueue: the shards of an input, such as names of files, that replicas take one by one, however many there are."""

from __future__ import annotations

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.data_flow.shard_queue import shard_queue_take


class ShardQueue:
    """Hands out the shards of an input to the replicas of a job: each shard of an epoch to one of them.

    Nobody is told how many replicas there are, so they may come and go. A replica has a shard until it takes the next one; when
    its session or its process ends before, another replica gets the shard. Replicas that are faster take more of them.

        with tf.device("/job:ps/task:0"):
            shards = tf.train.ShardQueue(["part-0", "part-1", "part-2"], num_epochs=10)
        iterator = tf.data.make_initializable_iterator(tf.data.TFRecordDataset(shards.take()).batch(32))
        # session.run(iterator.initializer) opens the next shard; OutOfRangeError says that all are done.

    The queue lives on the device in scope as long as its server does: a job that begins anew on the same servers gives it
    another `shared_name`.

    Args:
        shards: [n] strings, the same for all replicas.
        num_epochs: how often each shard is handed out; None for ever.
        shuffle: whether each epoch has a random order.
        seed: that of the order.
        shared_name: the name by which replicas share the queue; `name` when None.
        name: the name of the operations.

    Raises:
        ValueError: there are no shards, or `num_epochs` is not positive.
        TypeError: the shards are one text.

    >>> shards = tf.train.ShardQueue(["a", "b"], shuffle=False)
    >>> shard = shards.take()
    >>> with tf.Session() as session:
    ...     print(session.run(shard), session.run(shard))
    b'a' b'b'
    """

    __repr__ = printed("tf.train")

    def __init__(
        self,
        shards: object,
        num_epochs: int | None = 1,
        shuffle: bool = True,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "shard_queue",
    ) -> None:
        if num_epochs is not None and num_epochs <= 0:
            raise ValueError(f"ShardQueue: num_epochs must be > 0, or None for ever, got {num_epochs!r}")
        if isinstance(shards, str | bytes):
            raise TypeError(f"ShardQueue: shards must be a list of texts, such as names of files, got {shards!r}: [{shards!r}]")
        self._name = name
        self._shared_name = shared_name or name
        self._num_epochs = -1 if num_epochs is None else num_epochs
        self._shuffle = shuffle
        self._seed = -1 if seed is None else seed
        with get_default_graph().name_scope(name):
            self._shards = convert_to_tensor(shards, dtypes.string, name="shards")
        if self._shards.shape.num_elements() == 0:
            raise ValueError("ShardQueue: there are no shards: the list is empty")

    def take(self, name: str | None = None, wait_for_others: bool = True) -> Tensor:
        """The next shard, a scalar string; done with the one that the session took before.

        The step blocks while all that is left is held by others, who may not finish it, and raises OutOfRangeError when all
        shards are done.

        Args:
            name: the name of the operation.
            wait_for_others: whether to block so. Replicas that train in step must not: those that still have a shard would
                wait for this one's gradients. Without it OutOfRangeError comes when none is left to take, and a shard is not
                read to its end where the last one that holds it dies.
        """
        own = {"shared_name": self._shared_name, "num_epochs": self._num_epochs, "shuffle": self._shuffle, "seed": self._seed}
        with get_default_graph().colocate_with(self._shards.op):
            return shard_queue_take(self._shards, **own, waits=wait_for_others, name=name or f"{self._name}/take")
