"""Variable scopes and get_variable: names, sharing, defaults, initializers, getters and regularizers."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_variables_are_named_by_variable_scopes_and_ops_by_both(graph):
    with graph.name_scope("name"), tf.variable_scope("scope") as scope:
        variable, value = tf.get_variable("v", [1]), tf.constant(1.0)
    assert variable.name == "scope/v:0"
    assert value.name == "name/scope/Const:0"
    assert (scope.name, scope.original_name_scope) == ("scope", "name/scope/")


def test_a_scope_opened_again_is_the_same_for_variables_but_new_for_ops():
    names = []
    for _ in range(2):
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
            names.append((tf.get_variable("v", [1]).name, tf.constant(1.0).name))
    assert names == [("scope/v:0", "scope/Const:0"), ("scope/v:0", "scope_1/Const:0")]


def test_a_scope_object_leads_back_to_where_it_was():
    with tf.variable_scope("a") as first:
        made = tf.get_variable("v", [1])
    with tf.variable_scope("b"), tf.variable_scope(first, reuse=True) as again:
        assert tf.get_variable("v") is made
        assert (again.name, again.original_name_scope) == ("a", "a/")
        assert tf.constant(1.0).name == "b/a/Const:0"


def test_default_names_are_made_unique():
    names = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="layer") as outer, tf.variable_scope(None, "in") as inner:
            names += [outer.name, inner.name]
    assert names == ["layer", "layer/in", "layer_1", "layer_1/in"]


def test_without_an_auxiliary_name_scope_ops_stay_where_they_were(graph):
    with graph.name_scope("name"), tf.variable_scope("scope", auxiliary_name_scope=False) as scope:
        assert tf.constant(1.0).name == "name/Const:0"
        assert tf.get_variable("v", [1]).name == "scope/v:0"
    assert scope.original_name_scope == "name/"


def test_a_scope_entered_twice_settles_its_default_name_once():
    scope = tf.variable_scope(None, default_name="layer")
    with scope as first:
        pass
    with scope as second:
        pass
    assert first.name == second.name == "layer"


def test_an_existing_name_is_refused_unless_reused():
    tf.get_variable("v", [1])
    with pytest.raises(ValueError, match="Variable v already exists, disallowed") as info:
        tf.get_variable("v", [1])
    assert "Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? Originally defined at:" in str(info.value)
    assert "test_variable_scope.py" in str(info.value)


def test_a_missing_name_is_refused_when_reusing():
    with tf.variable_scope("a", reuse=True), pytest.raises(ValueError, match="Variable a/v does not exist, or was not"):
        tf.get_variable("v", [1])
    tf.get_variable_scope().reuse_variables()
    with pytest.raises(ValueError, match="Variable v does not exist"):
        tf.get_variable("v", [1])


def test_reuse_is_inherited():
    with tf.variable_scope("a"), tf.variable_scope("b"):
        made = tf.get_variable("v", [1])
    with tf.variable_scope("a", reuse=True), tf.variable_scope("b", reuse=False):
        assert tf.get_variable("v") is made


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ({"shape": [3]}, r"Trying to share variable v, but specified shape \(3,\) and found shape \(2,\)\."),
        ({"dtype": tf.int32}, "Trying to share variable v, but specified dtype int32 and found dtype float32_ref."),
    ],
)
def test_sharing_needs_equal_shape_and_type(again, message):
    tf.get_variable("v", [2])
    tf.get_variable_scope().reuse_variables()
    with pytest.raises(ValueError, match=message):
        tf.get_variable("v", **again)


def test_constant_initializers_give_the_shape_and_the_type():
    whole = tf.get_variable("whole", initializer=0)
    array = tf.get_variable("array", initializer=np.array([1.0, 2.0]))
    tensor = tf.get_variable("tensor", initializer=tf.ones([3], tf.float16))
    assert [v.dtype.base_dtype for v in (whole, array, tensor)] == [tf.int32, tf.float64, tf.float16]
    assert [v.shape.as_list() for v in (whole, array, tensor)] == [[], [2], [3]]
    with pytest.raises(ValueError, match=r"If initializer is a constant, do not specify shape\."):
        tf.get_variable("v", [1], initializer=tf.constant([1.0]))
    with pytest.raises(ValueError, match="Initializer type '<dtype: 'float32'>' and explicit dtype"):
        tf.get_variable("v", dtype=tf.int32, initializer=tf.constant([1.0]))


def test_default_initializers_depend_on_the_type(graph):
    tf.get_variable("f", [2, 3])
    number, flag = tf.get_variable("i", [2], dtype=tf.int32), tf.get_variable("b", [2], dtype=tf.bool)
    assert graph.get_operation_by_name("f/Initializer/random_uniform/RandomUniform")
    assert run([number, flag])[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"An initializer for variable c of .* is required"):
        tf.get_variable("c", [], dtype=tf.complex64)
    with pytest.raises(ValueError, match=r"not valid\. It should .* Shape of a new variable \(n\) must be fully defined, but"):
        tf.get_variable("n")


def test_initializers_come_in_many_forms():
    def partly(shape, dtype, partition_info):
        assert partition_info is None
        return tf.ones(shape, dtype)

    variables = [
        tf.get_variable("a", [2], initializer=tf.zeros_initializer),
        tf.get_variable("b", [2], initializer=tf.constant_initializer(3.0)),
        tf.get_variable("c", [2], initializer=partly),
        tf.get_variable("d", [2], initializer=lambda shape, dtype: tf.fill(shape, tf.constant(7, dtype))),
        tf.get_variable("e", initializer=lambda: tf.constant([8.0, 9.0])),
    ]
    assert [v.tolist() for v in run(variables)] == [[0, 0], [3, 3], [1, 1], [7, 7], [8, 9]]
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        tf.get_variable("f", initializer=partly)


def test_scopes_set_defaults():
    with tf.variable_scope("a", initializer=tf.constant_initializer(2.0), dtype=tf.float64, use_resource=True) as scope:
        variable = tf.get_variable("v", [1])
        plain = tf.Variable(1.0)
        scope.set_use_resource(False)
        with tf.variable_scope("b", dtype=tf.float16):
            inner = tf.get_variable("v", [1])
    assert variable.dtype == tf.float64
    assert type(variable).__name__ == type(plain).__name__ == "ResourceVariable"
    assert inner.dtype == tf.float16._as_ref
    assert [v.tolist() for v in run([variable, inner])] == [[2.0], [2.0]]


def test_constraints_are_not_inherited():
    def double(value):
        return value * 2.0

    with tf.variable_scope("a", constraint=double):
        assert tf.get_variable("v", [1]).constraint is double
        with tf.variable_scope("b"):
            assert tf.get_variable("v", [1]).constraint is None


def test_regularization_losses_are_collected_once(graph):
    def regularizer(variable):
        return tf.reduce_sum(variable, name="sum")

    for reuse in (False, True):
        with tf.variable_scope("a", regularizer=regularizer, reuse=reuse):
            tf.get_variable("v", [2])
            tf.get_variable("free", [2], regularizer=tf.no_regularizer)
    (loss,) = graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "a/v/Regularizer/sum:0"


def test_custom_getters_are_chained_from_the_inside():
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name))
        return getter(name, *args, **kwargs) * 2.0

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name))
        return getter(f"{name}_changed", *args, **kwargs)

    with tf.variable_scope("a", custom_getter=outer), tf.variable_scope("b", custom_getter=inner):
        value = tf.get_variable("v", [1])
    assert isinstance(value, tf.Tensor)
    assert seen == [("inner", "a/b/v"), ("outer", "a/b/v_changed")]
    assert [v.name for v in tf.global_variables()] == ["a/b/v_changed:0"]


def test_a_caching_device_and_a_device_apply(graph):
    with graph.device("/job:ps"), tf.variable_scope("a", caching_device="/job:worker"):
        variable = tf.get_variable("v", [1])
    assert (variable.device, variable.value().device) == ("/job:ps", "/job:worker")
    assert variable.initial_value.device == ""


def test_local_variables_are_neither_global_nor_trainable():
    variable = tf.get_local_variable("v", [1])
    assert tf.local_variables() == [variable]
    assert tf.global_variables() == tf.trainable_variables() == []


def test_a_scope_knows_its_variables():
    tf.get_variable("v", [1])
    with tf.variable_scope("a") as scope:
        first, second = tf.get_variable("v", [1]), tf.get_variable("w", [1], trainable=False)
    assert scope.global_variables() == [first, second]
    assert scope.trainable_variables() == [first]
    assert scope.local_variables() == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None,), TypeError, "If default_name is None then name_or_scope is required"),
        ((3,), TypeError, "VariableScope: name_or_scope must be a string or VariableScope."),
    ],
)
def test_a_scope_needs_a_name(arguments, error, message):
    with pytest.raises(error, match=message), tf.variable_scope(*arguments):
        pass


def test_reuse_must_make_sense():
    with pytest.raises(ValueError, match=r"The reuse parameter must be True or False or None\."):
        tf.variable_scope("a", reuse=5)
    with pytest.raises(ValueError, match="reuse=True cannot be used without"), tf.variable_scope(None, "d", reuse=True):
        pass


def test_slots_beside_a_variable_initialize_beside_it(graph):
    variable = tf.get_variable("v", [1])
    with graph.colocate_with(variable.op):
        tf.get_variable("slot", [1], initializer=tf.zeros_initializer())
    assert graph.get_operation_by_name("slot/Initializer/zeros").attrs["_class"] == ["loc:@v"]
    assert graph.get_operation_by_name("slot").attrs["_class"] == ["loc:@v"]


def test_the_former_name_of_variable_scope_works(caplog):
    with tf.variable_op_scope([tf.constant(1.0)], None, "layer") as scope:
        assert tf.get_variable("v", [1]).name == "layer/v:0"
    assert scope.name == "layer"


def test_a_scope_that_is_opened_again_keeps_its_original_name_scope():
    reopened = tf.variable_scope("again")
    for name in ("again/Const", "again_1/Const"):
        with reopened as scope:
            assert scope.original_name_scope == "again/"
            assert tf.constant(1.0).op.name == name


def test_names_inside_a_scope_that_is_opened_again_count_anew(graph):
    made = []
    for _ in range(2):
        with tf.variable_scope("outer"):
            with tf.variable_scope("inner"), tf.variable_scope("deep"):
                pass
            for _ in range(2):
                with tf.variable_scope(None, "inner") as scope:
                    made.append(scope.name)
    assert made == ["outer/inner_1", "outer/inner_2"] * 2


def test_a_scope_that_is_gone_back_to_forgets_what_was_opened_in_it(graph):
    with tf.variable_scope("outer") as outer, tf.variable_scope(None, "inner"):
        pass
    names = []
    for _ in range(2):
        with tf.variable_scope(outer), tf.variable_scope(None, "inner") as scope:
            names.append(scope.name)
    with tf.variable_scope("outer"), tf.variable_scope(None, "inner") as scope:
        names.append(scope.name)
    assert names == ["outer/inner"] * 3
