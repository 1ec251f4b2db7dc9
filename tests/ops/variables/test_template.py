"""Templates share the variables that a function makes among its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def scaled(x: Any, factor: float = 1.0) -> Any:
    return x * tf.get_variable("scale", [], initializer=tf.ones_initializer()) * factor


def names(variables: list[Any]) -> list[str]:
    return [variable.op.name for variable in variables]


def test_calls_share_variables() -> None:
    template = tf.make_template("net", scaled)
    first, second = template(2.0), template(3.0)
    assert (first.op.name, second.op.name) == ("net/mul_1", "net_1/mul_1")
    assert names(tf.global_variables()) == ["net/scale"]
    assert names(template.trainable_variables) == names(template.variables) == ["net/scale"]
    assert (template.name, template.variable_scope_name, template.non_trainable_variables) == ("net", "net/", [])


def test_templates_of_one_name_have_variables_of_their_own() -> None:
    for _ in range(2):
        tf.make_template("net", scaled)(1.0)
    assert names(tf.global_variables()) == ["net/scale", "net_1/scale"]


def test_a_unique_name_shares_between_templates() -> None:
    tf.make_template("net", scaled, unique_name_="shared")(1.0)
    with pytest.raises(ValueError, match="already exists"):
        tf.make_template("net", scaled, unique_name_="shared")(1.0)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        tf.make_template("net", scaled, unique_name_="shared")(1.0)
    assert names(tf.global_variables()) == ["shared/scale"]


def test_a_scope_can_be_settled_before_the_first_call() -> None:
    early = tf.make_template("net", scaled, create_scope_now_=True)
    tf.make_template("net", scaled)(1.0)
    early(1.0)
    assert names(tf.global_variables()) == ["net_1/scale", "net/scale"]


def test_arguments_of_every_call_are_given_once() -> None:
    template = tf.make_template("net", scaled, factor=10.0)
    with tf.Session() as session:
        value = template(2.0)
        session.run(tf.global_variables_initializer())
        assert session.run(value) == 20.0


def test_a_further_call_may_make_no_trainable_variable() -> None:
    def careless(x: Any) -> Any:
        return x * tf.get_variable("w", []) + tf.Variable(1.0)

    template = tf.make_template("net", careless)
    template(1.0)
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
        template(1.0)


def test_a_template_has_a_name() -> None:
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, scaled)
