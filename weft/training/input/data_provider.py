"""slim's datasets of records: what describes one, and what provides a record's items as tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.types.printed import printed
from weft.training.input.parallel_reader import parallel_read


class DataDecoder(ABC):
    """Makes items, such as an image and a label, of a record."""

    __repr__ = printed("tf.contrib.slim")

    @abstractmethod
    def decode(self, data: TensorLike, items: Sequence[str] | None = None) -> list[Nest]:
        """The items of a record, a scalar string, as tensors.

        Args:
            data: `[]` string, the record.
            items: names out of `list_items()`; all when None.
        """

    @abstractmethod
    def list_items(self) -> Collection[str]:
        """The names of the items."""


class Dataset:
    """A description of a dataset: where its records are, how they are read and decoded, how many there are.

    Args:
        data_sources: files, or patterns of files.
        reader: makes a reader, such as tf.TFRecordReader.
        decoder: makes items of a record.
        num_samples: how many records there are.
        items_to_descriptions: what each item is, in words.
        kwargs: what else is to be known of it, such as `num_classes`; each becomes an attribute.
    """

    __repr__ = printed("tf.contrib.slim")

    def __init__(
        self, data_sources: Nest, reader: Nest, decoder: Nest, num_samples: Nest, items_to_descriptions: Nest, **kwargs: Nest
    ) -> None:
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        vars(self).update(kwargs)


class DataProvider:
    """Tensors of a dataset by the names of its items.

    Args:
        items_to_tensors: the tensors.
        num_samples: how many records there are.
    """

    __repr__ = printed("tf.contrib.slim")

    def __init__(self, items_to_tensors: Mapping[str, Nest], num_samples: Nest) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Nest]:
        """The tensors of some items.

        Args:
            items: names out of `list_items()`.

        Raises:
            ValueError: these are no list or tuple, or an item is not there.
        """
        if not isinstance(items, list | tuple):
            raise ValueError(f"items must be a list or tuple, got {items!r}")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {list(self._items_to_tensors)}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Collection[str]:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> Nest:
        """How many records there are."""
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """The items of a dataset's next record, read by queue runners; each run gives another record.

        provider = slim.dataset_data_provider.DatasetDataProvider(dataset)
        image, label = provider.get(["image", "label"])

    Args:
        dataset: the description.
        num_readers: how many readers read at a time.
        reader_kwargs: the arguments of the dataset's reader.
        shuffle: whether to mix files and records.
        num_epochs: how often to read the dataset; None for ever.
        common_queue_capacity: how many records are kept ready.
        common_queue_min: how many of them at least, for mixing.
        record_key: the item that is a record's key.
        seed: of the mixing.
        scope: the name scope.

    Raises:
        ValueError: there are no such files, or an item has the name `record_key`.
    """

    def __init__(
        self, dataset: Dataset, num_readers: int = 1, reader_kwargs: Mapping[str, Nest] | None = None, shuffle: bool = True,
        num_epochs: int | None = None, common_queue_capacity: int = 256, common_queue_min: int = 128,
        record_key: str = "record_key", seed: int | None = None, scope: str | None = None,
    ) -> None:  # fmt: skip
        key, data = parallel_read(
            dataset.data_sources, reader_class=dataset.reader, num_epochs=num_epochs, num_readers=num_readers,
            reader_kwargs=reader_kwargs, shuffle=shuffle, capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min, seed=seed, scope=scope,
        )  # fmt: skip
        items = list(dataset.decoder.list_items())
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in tensors:
            raise ValueError(f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}")
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
