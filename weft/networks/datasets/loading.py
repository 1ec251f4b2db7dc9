"""The data sets of tf.keras.datasets, as tuples of arrays for training and for tests."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from weft.framework.building.aliases import Array
from weft.networks.datasets.files import get_file

_STORE: Final = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
Split = tuple[tuple[Array, Array], tuple[Array, Array]]


def mnist(path: str = "mnist.npz") -> Split:
    """Handwritten digits: `[60000, 28, 28] uint8` and their labels for training, 10,000 for tests.

    Args:
        path: the name in the cache.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays.
    """
    found = get_file(path, _STORE + "mnist.npz")
    with np.load(found) as arrays:
        return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def fashion_mnist() -> Split:
    """Clothes: `[60000, 28, 28] uint8` and their labels for training, 10,000 for tests.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays.
    """
    names = [f"{part}-{what}.gz" for part in ("train", "t10k") for what in ("labels-idx1-ubyte", "images-idx3-ubyte")]
    paths = [get_file(name, _STORE + name, cache_subdir="datasets/fashion-mnist") for name in names]
    parts = []
    for labels_path, images_path in (paths[:2], paths[2:]):
        labels = np.frombuffer(gzip.decompress(Path(labels_path).read_bytes()), np.uint8, offset=8)
        images = np.frombuffer(gzip.decompress(Path(images_path).read_bytes()), np.uint8, offset=16)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return parts[0], parts[1]


def _cifar_batch(path: Path, label_key: bytes) -> tuple[Array, list[int]]:
    # The archive's hash is not known beforehand; it holds pickles, as its makers published it.
    content = pickle.loads(path.read_bytes(), encoding="bytes")
    return content[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), list(content[label_key])


def _cifar(name: str, origin: str, train: Sequence[str], test: str, label_key: bytes) -> Split:
    folder = Path(get_file(name, origin, untar=True))
    batches = [_cifar_batch(folder / each, label_key) for each in train]
    images, labels = np.concatenate([each[0] for each in batches]), [label for each in batches for label in each[1]]
    test_images, test_labels = _cifar_batch(folder / test, label_key)
    return (images, np.array(labels, np.uint8)[:, None]), (test_images, np.array(test_labels)[:, None])


def cifar10() -> Split:
    """Photographs of 10 kinds: `[50000, 32, 32, 3] uint8` and labels `[50000, 1]` for training, 10,000 for tests.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays.
    """
    train = [f"data_batch_{number}" for number in range(1, 6)]
    origin = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    return _cifar("cifar-10-batches-py", origin, train, "test_batch", b"labels")


def cifar100(label_mode: str = "fine") -> Split:
    """Photographs of 100 kinds, or of 20 with `label_mode="coarse"`; shapes as of `cifar10`.

    Args:
        label_mode: "fine" for 100 kinds, "coarse" for 20.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays.

    Raises:
        ValueError: another `label_mode`.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError("`label_mode` must be one of `fine`, `coarse`.")
    origin = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    return _cifar("cifar-100-python", origin, ["train"], "test", f"{label_mode}_labels".encode())


def boston_housing(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Split:
    """House prices by 13 features: `[404, 13]` and prices for training, 102 for tests.

    Args:
        path: the name in the cache.
        test_split: the part that is for tests, at least 0 and below 1.
        seed: of the order.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays.

    Raises:
        ValueError: `test_split` is out of bounds.
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"test_split must be in [0, 1), but is {test_split}")
    with np.load(get_file(path, _STORE + "boston_housing.npz"), allow_pickle=True) as arrays:
        x, y = arrays["x"], arrays["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    cut = int(len(x) * (1 - test_split))
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def imdb(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Split:
    """Reviews of films as lists of words' ranks, and whether they praise.

    Args:
        path: the name in the cache.
        num_words: how many words are known, the most frequent first; all when None.
        skip_top: how many of the most frequent words to leave out.
        maxlen: the greatest length; longer ones are left out.
        seed: of the order.
        start_char: the number that begins each review; none when None.
        oov_char: the number of a word that is not known; such words are dropped when None.
        index_from: what is added to ranks.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays; the reviews are lists.
    """
    with np.load(get_file(path, _STORE + "imdb.npz"), allow_pickle=True) as arrays:
        parts = [(arrays[f"x_{name}"], arrays[f"y_{name}"]) for name in ("train", "test")]
    generator = np.random.RandomState(seed)
    made = []
    for texts, labels in parts:
        order = np.arange(len(texts))
        generator.shuffle(order)
        words = _Words(num_words, skip_top, maxlen, start_char, oov_char, index_from)
        made.append(words.of(texts[order], labels[order]))
    return made[0], made[1]


def imdb_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The words of `imdb`'s reviews and their ranks.

    Args:
        path: the name in the cache.
    """
    return _word_index(path, "imdb_word_index.json")


def reuters(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Split:
    """Newswires as lists of words' ranks, and their topics, of which there are 46.

    Args:
        path: the name in the cache.
        num_words: how many words are known, the most frequent first; all when None.
        skip_top: how many of the most frequent words to leave out.
        maxlen: the greatest length; longer ones are left out.
        test_split: the part that is for tests.
        seed: of the order.
        start_char: the number that begins each text; none when None.
        oov_char: the number of a word that is not known; such words are dropped when None.
        index_from: what is added to ranks.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, NumPy arrays; the texts are lists.
    """
    with np.load(get_file(path, _STORE + "reuters.npz"), allow_pickle=True) as arrays:
        texts, labels = arrays["x"], arrays["y"]
    order = np.arange(len(texts))
    np.random.RandomState(seed).shuffle(order)
    words = _Words(num_words, skip_top, maxlen, start_char, oov_char, index_from)
    x, y = words.of(texts[order], labels[order])
    cut = int(len(x) * (1 - test_split))
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def reuters_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The words of `reuters`'s newswires and their ranks.

    Args:
        path: the name in the cache.
    """
    return _word_index(path, "reuters_word_index.json")


def _word_index(path: str, name: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(Path(get_file(path, _STORE + name)).read_text(encoding="utf-8"))
    return found


class _Words(NamedTuple):
    """Which words of texts are kept; the arguments of `imdb`."""

    num_words: int | None
    skip_top: int
    maxlen: int | None
    start_char: int | None
    oov_char: int | None
    index_from: int

    def of(self, texts: Sequence[Sequence[int]], labels: Array) -> tuple[Array, Array]:
        """The texts that are short enough, with the words that are known, and their labels."""
        begun = [_begun(each, self.start_char, self.index_from) for each in texts]
        pairs = zip(begun, labels, strict=True)
        kept = [(each, label) for each, label in pairs if self.maxlen is None or len(each) < self.maxlen]
        limit = self.num_words or max((max(each) for each, _ in kept), default=0) + 1
        rows = [_known(each, self.skip_top, limit, self.oov_char) for each, _ in kept]
        column = np.empty(len(rows), object)
        column[:] = rows
        return column, np.array([label for _, label in kept])


def _begun(review: Sequence[int], start: int | None, index_from: int) -> list[int]:
    moved = [rank + index_from for rank in review]
    return moved if start is None else [start, *moved]


def _known(review: Sequence[int], skip_top: int, limit: int, oov: int | None) -> list[int]:
    if oov is None:
        return [rank for rank in review if skip_top <= rank < limit]
    return [rank if skip_top <= rank < limit else oov for rank in review]
