"""ProductThreads: small products of NumPy's stay on their thread, and the program's own keep the threads that they had."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.platform.machine.product_threads import DIVIDED, LARGE, Library, ProductThreads, openblas


class Blas:
    """Stands for a library; notes what it was told."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.told: list[int] = []
        self.product_threads = ProductThreads(lambda: Library(lambda: self.threads, self.set))

    def set(self, threads: int) -> None:
        self.threads = threads
        self.told.append(threads)


@pytest.mark.parametrize("shape", [(64, 784, 100), (64, 3136, 1024)])
def test_a_product_that_takes_less_than_blas_spins_behind_it_has_one_thread(shape: tuple[int, int, int]) -> None:
    blas = Blas(8)
    with blas.product_threads.of(*shape):
        assert blas.threads == 1
    assert blas.threads == 8


@pytest.mark.parametrize("shape", [(1 << 10, 1 << 10, 1 << 10), (8, 8, 8), (1, 90, 100), (0, 10, 10)])
def test_large_products_and_those_that_are_not_divided_are_left_alone(shape: tuple[int, int, int]) -> None:
    blas = Blas(8)
    with blas.product_threads.of(*shape):
        assert blas.threads == 8
    assert blas.told == []


def test_products_with_vectors_are_divided_sooner() -> None:
    blas = Blas(2)
    assert DIVIDED > 300 * 100
    with blas.product_threads.of(300, 100, 1):
        assert blas.threads == 1
    with blas.product_threads.of(30, 100, 10):
        assert blas.threads == 2


def test_large_products_have_as_many_threads_as_the_session_asks_for() -> None:
    blas = Blas(8)
    blas.product_threads.set_most(3)
    with blas.product_threads.of(LARGE, 1, 2):
        assert blas.threads == 3
    blas.product_threads.set_most(0)
    with blas.product_threads.of(LARGE, 1, 2):
        assert blas.threads == 8


def test_blocks_within_blocks_and_failures_leave_the_number_as_it_was() -> None:
    blas = Blas(4)
    threads = blas.product_threads
    with pytest.raises(ValueError, match="shapes"), threads.of(100, 100, 100), threads.of(100, 100, 100):
        raise ValueError("shapes")
    assert blas.threads == 4


def test_a_library_with_one_thread_is_not_told_anything() -> None:
    blas = Blas(1)
    with blas.product_threads.of(100, 100, 100):
        pass
    assert blas.told == []


def test_the_library_is_looked_for_once_and_not_for_small_products() -> None:
    looks: list[int] = []
    threads = ProductThreads(lambda: looks.append(1))  # type: ignore[func-returns-value]
    with threads.of(10, 10, 10):
        pass
    assert looks == []
    workers = [threading.Thread(target=lambda: threads.of(100, 100, 100)) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert looks == [1]


def library_with_threads() -> Library:
    library = openblas()
    if library is None:
        pytest.skip("NumPy has another library than OpenBLAS here")
    if library.threads() == 1:
        pytest.skip("NumPy's library has one thread here")
    return library


def test_products_of_a_graph_are_made_by_one_thread_and_a_programs_own_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    library = library_with_threads()
    before, seen, matmul = library.threads(), [], np.matmul

    def noted(*arguments: Any, **keywords: Any) -> Any:
        seen.append(library.threads())
        return matmul(*arguments, **keywords)

    a = np.random.default_rng(0).random((64, 784), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [64, 784])
        product = tf.matmul(fed, fed, transpose_b=True)
        monkeypatch.setattr(np, "matmul", noted)
        made = session.run(product, {fed: a})
    np.testing.assert_allclose(made, a @ a.T, rtol=1e-5)
    assert seen == [1]
    assert library.threads() == before


def test_every_thread_sets_the_number() -> None:
    library = library_with_threads()
    threads, seen = ProductThreads(lambda: library), []

    def multiply() -> None:
        with threads.of(100, 100, 100):
            seen.append(library.threads())

    for _ in range(3):
        worker = threading.Thread(target=multiply)
        worker.start()
        worker.join()
    assert seen == [1, 1, 1]
