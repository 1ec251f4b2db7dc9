"""make_batched_features_dataset: batches of the features of Examples in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.datasets.dataset import Dataset
from weft.datasets.experimental.csv_files import shuffled_and_repeated
from weft.datasets.experimental.iteration import parse_example_dataset
from weft.datasets.experimental.transformations import parallel_interleave
from weft.datasets.readers import TFRecordDataset
from weft.framework.building.aliases import Nest, NumberLike, TensorLike
from weft.framework.types import dtypes


def make_batched_features_dataset(
    file_pattern: TensorLike,
    batch_size: NumberLike,
    features: Nest,
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Nest] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: NumberLike = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: NumberLike | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of features, as `tf.parse_example` makes them; with `label_key` pairs of the others and that one.

    Args:
        file_pattern: patterns of the files' names.
        batch_size: how many Examples are in a batch.
        features: what to read, by name: FixedLenFeature, VarLenFeature ...
        reader: makes a dataset of serial Examples of a file's name.
        label_key: the feature that is the label.
        reader_args: further arguments of `reader`.
        num_epochs: how often the Examples come; without end when None, and then all batches have one size.
        shuffle, shuffle_buffer_size, shuffle_seed: whether and how files and Examples come in random order.
        prefetch_buffer_size: how many batches are made ahead.
        reader_num_threads: how many files are read at the same time; 1 when None.
        parser_num_threads: how many batches are parsed at the same time; 2 when None.
        sloppy_ordering: see `parallel_interleave`.
        drop_final_batch: whether a last batch of fewer Examples is left out.

    Returns:
        A dataset of dicts of batches, or of pairs of a dict and the label.

    Raises:
        ValueError: the label is no feature.
        TypeError: `reader` makes no dataset.
    """
    if label_key and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
    if isinstance(reader, type) and not issubclass(reader, Dataset):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not supported. For example, "
            "pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    arguments = list(reader_args or ())
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = files.apply(
        parallel_interleave(lambda name: reader(name, *arguments), cycle_length=reader_num_threads or 1, sloppy=sloppy_ordering)
    )
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key:
        dataset = dataset.map(lambda found: (found, found.pop(label_key)))
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def read_batch_features(
    file_pattern: TensorLike,
    batch_size: NumberLike,
    features: Nest,
    reader: Callable[..., Dataset] = TFRecordDataset,
    reader_args: Sequence[Nest] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: NumberLike = 10000,
) -> Nest:
    """The next batch of `make_batched_features_dataset`, as tensors; tf.contrib.data's name.

    Args:
        file_pattern: patterns of the files' names.
        batch_size: how many Examples are in a batch.
        features: what to read, by name: FixedLenFeature, VarLenFeature ...
        reader: makes a dataset of serial Examples of a file's name.
        reader_args: further arguments of `reader`.
        randomize_input: whether files and Examples come in random order.
        num_epochs: how often the Examples come; without end when None.
        capacity: how many Examples the order is drawn from.
    """
    dataset = make_batched_features_dataset(
        file_pattern, batch_size, features, reader, reader_args=reader_args, shuffle=randomize_input,
        num_epochs=num_epochs, shuffle_buffer_size=capacity,
    )  # fmt: skip
    return dataset.make_one_shot_iterator().get_next()
