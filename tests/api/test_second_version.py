"""tf.compat.v2 has the names of the second version of the API, with its arguments."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import numpy as np
import pytest
import weft.compat.v2 as tf

import weft as tf1
from weft.api.second_version import forms


def test_the_module_is_found_by_its_path_and_as_an_attribute() -> None:
    assert tf1.compat.v2 is tf
    assert tf.keras is tf1.keras
    assert tf.nn.relu is tf1.nn.relu
    assert tf.losses is tf1.keras.losses


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf1.Graph]:
    with tf1.Graph().as_default() as made:
        yield made


def test_the_first_version_stands_in_the_second() -> None:
    assert tf.compat.v1.placeholder is tf1.placeholder
    assert importlib.import_module("weft.compat.v2.compat.v1").Session is tf1.Session


@pytest.mark.parametrize("path", sorted(forms.table()))
def test_a_form_passes_arguments_that_the_function_takes(path: str) -> None:
    form = getattr(forms, forms.attribute(path))
    head, *words = forms.table()[path].split()
    arguments = [word.partition("=")[0].partition(">") for word in words if word[0] != "!"]
    assert list(inspect.signature(form).parameters) == [name for name, _, _ in arguments]
    passed = {other if is_renamed else name for name, is_renamed, other in arguments}
    passed |= {word[1:].partition("=")[0] for word in words if word[0] == "!"}
    if path == "Variable":  # takes what it takes by its metaclass
        return
    target = pkgutil.resolve_name(f"weft:{head.partition('>')[2] or path}")
    assert passed - {""} <= set(inspect.signature(target).parameters)
    with pytest.raises(TypeError, match=rf"{path.rpartition('.')[2]}\(\) too many positional arguments"):
        form(*[None] * (len(arguments) + 1))


def test_arguments_have_the_order_and_the_defaults_of_the_second_version() -> None:
    x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    v = tf.Variable(x)
    assert isinstance(v, tf.Variable)
    assert isinstance(tf1.Variable(1.0, use_resource=False), tf.Variable)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        got = session.run(
            [
                tf.reduce_sum(v, 0, True),
                tf.argmax(x, 1, tf.int32),
                tf.gather(x, [1], None, 1),
                tf.where([True, False], 0.0, x),
                tf.nn.dropout(x, 1e-9),
                tf.ones_like(input=x),
                tf.math.in_top_k([1, 1], x, 1),
                tf.strings.length("a", "BYTE", name="length"),
                tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]),
                tf.transpose(x, None, False, "turned"),
                tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)),
            ]
        )
    assert v.op.type == "VarHandleOp"
    assert got[0].tolist() == [[4.0, 7.0]]
    assert (got[1].dtype, got[1].tolist()) == (np.int32, [1, 1])
    assert got[2].tolist() == [[2.0], [5.0]]
    assert got[3].tolist() == [[0.0, 2.0], [0.0, 5.0]]
    assert np.allclose(got[4], x)
    assert got[5].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert got[6].tolist() == [True, True]
    assert got[7] == 1
    assert np.allclose(got[8], np.log(2))
    assert got[9].tolist() == x.T.tolist()
    assert got[10] == (3,)


def test_a_name_of_the_first_version_alone_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"weft\.compat\.v2' has no attribute 'placeholder'"):
        _ = tf.placeholder
    with pytest.raises(AttributeError, match=r"weft\.compat' has no attribute 'v3'"):
        _ = tf1.compat.v3


def test_volumes_are_transposed_by_their_new_names() -> None:
    made = tf.nn.conv3d_transpose(
        input=tf.ones([1, 2, 2, 2, 3]), filters=tf.ones([2, 2, 2, 4, 3]), output_shape=[1, 4, 4, 4, 4], strides=2
    )
    assert made.shape == [1, 4, 4, 4, 4]
