"""TensorList and TensorArrayV3 nodes that ask for what cannot be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf

HUGE = 2**30


def _array() -> tuple[tf.Tensor, tf.Tensor]:
    handle, flow = tf.raw_ops.TensorArrayV3(size=1, dtype=tf.float32, dynamic_size=True)
    return handle, flow


def _list(elements: int = 1) -> tf.Tensor:
    return tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=elements, element_dtype=tf.float32)


def _written_far_out() -> tf.Tensor:
    handle, flow = _array()
    return tf.raw_ops.TensorArrayWriteV3(handle=handle, index=HUGE, value=1.0, flow_in=flow)


def _scattered_far_out() -> tf.Tensor:
    return tf.raw_ops.TensorListScatterV2(tensor=[[1.0, 2.0]], indices=[HUGE], element_shape=[2], num_elements=-1)


def _set_far_out() -> tf.Tensor:
    return tf.raw_ops.TensorListSetItem(
        input_handle=_list(), index=HUGE, item=[1.0, 2.0], resize_if_index_out_of_bounds=True
    )  # fmt: skip


@pytest.mark.parametrize(
    "build",
    [
        lambda: _list(HUGE),
        lambda: tf.raw_ops.TensorListResize(input_handle=_list(), size=HUGE),
        lambda: tf.raw_ops.TensorArrayV3(size=HUGE, dtype=tf.float32)[1],
        _written_far_out,
        _scattered_far_out,
        _set_far_out,
    ],
)
def test_a_length_that_would_fill_the_memory_is_refused(build: Callable[[], tf.Tensor]) -> None:
    refused = pytest.raises(tf.errors.ResourceExhaustedError, match=r"would have \d+ elements: at most 16777216")
    with tf.Graph().as_default(), tf.Session() as session, refused:
        session.run(build().op)


@pytest.mark.parametrize(
    ("lengths", "text"),
    [([3, -1], "numbers from 0 on"), ([1, 2], "sum of lengths is 3"), ([2**62, 2**62, 2**62, 2**62, 2], "sum of lengths")],
)
def test_lengths_that_do_not_fit_are_refused(lengths: list[int], text: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle, flow = _array()
        sizes = tf.constant(lengths, tf.int64)
        pieces = (
            tf.raw_ops.TensorListSplit(tensor=[1.0, 2.0], element_shape=[-1], lengths=sizes),
            tf.raw_ops.TensorArraySplitV3(handle=handle, value=[1.0, 2.0], lengths=sizes, flow_in=flow),
        )
        for each in pieces:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(each.op)
