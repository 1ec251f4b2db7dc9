"""Columns of a program's own, by the methods of TensorFlow 1, and weft's columns asked by these."""

from __future__ import annotations

import collections
import importlib

import numpy as np
import pytest

import weft as tf

former = importlib.import_module("weft.python.feature_column.feature_column")
later = importlib.import_module("weft.python.feature_column.feature_column_v2")


class Scaled(former._DenseColumn, collections.namedtuple("Scaled", ["key", "factor"])):  # type: ignore[misc]
    @property
    def name(self):
        return f"{self.key}_scaled"

    @property
    def _parse_example_spec(self):
        return {self.key: tf.FixedLenFeature((2,), tf.float32)}

    def _transform_feature(self, inputs):
        return inputs.get(self.key) * self.factor

    @property
    def _variable_shape(self):
        return tf.TensorShape([2])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        weights = tf.get_variable(
            "w", [2], initializer=tf.ones_initializer(), collections=weight_collections, trainable=trainable
        )
        return inputs.get(self) * weights


class Modulo(former._CategoricalColumn, collections.namedtuple("Modulo", ["key", "count"])):  # type: ignore[misc]
    @property
    def name(self):
        return f"{self.key}_modulo"

    @property
    def _parse_example_spec(self):
        return {self.key: tf.VarLenFeature(tf.int64)}

    def _transform_feature(self, inputs):
        found = former._to_sparse_input_and_drop_ignore_values(inputs.get(self.key))
        return tf.SparseTensor(found.indices, tf.mod(found.values, self.count), found.dense_shape)

    @property
    def _num_buckets(self):
        return self.count

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return former._CategoricalColumn.IdWeightPair(inputs.get(self), None)


class Weighted(later.DenseColumn, collections.namedtuple("Weighted", ["key"])):  # type: ignore[misc]
    @property
    def name(self):
        return f"{self.key}_weighted"

    @property
    def parse_example_spec(self):
        return {self.key: tf.FixedLenFeature((2,), tf.float32)}

    @property
    def parents(self):
        return [self.key]

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.key, state_manager)

    @property
    def variable_shape(self):
        return tf.TensorShape([2])

    def create_state(self, state_manager):
        state_manager.create_variable(self, "k", (2,), tf.float32, initializer=tf.constant_initializer(3.0))

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager) * state_manager.get_variable(self, "k")


SCALED, MODULO = Scaled("x", 10.0), Modulo("i", 3)
NUMBERS = tf.feature_column.numeric_column("x", shape=(2,))
WORDS = tf.feature_column.categorical_column_with_vocabulary_list("s", ["a", "b"])


def features():
    return {
        "x": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "i": tf.constant([[7], [4]], tf.int64), "s": tf.constant([["b"], ["a"]]),
        "v": tf.constant([1.0, 2.0]),
    }  # fmt: skip


def value_of(tensor):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensor)


def names(variables):
    return [each.name for each in variables]


def test_own_columns_are_inputs_of_a_model() -> None:
    embedding = tf.feature_column.embedding_column(MODULO, 2, initializer=tf.ones_initializer())
    inputs = tf.feature_column.input_layer(features(), [SCALED, embedding, tf.feature_column.indicator_column(MODULO)])
    # In order of the columns' names: the embedding, the indicator, the numbers.
    expected = [[1.0, 1.0, 0.0, 1.0, 0.0, 10.0, 20.0], [1.0, 1.0, 0.0, 1.0, 0.0, 30.0, 40.0]]
    assert value_of(inputs).tolist() == expected
    made = ["input_layer/i_modulo_embedding/embedding_weights:0", "input_layer/x_scaled/w:0"]
    assert names(tf.trainable_variables()) == names(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)) == made


def test_own_columns_are_summed_and_crossed() -> None:
    crossed = tf.feature_column.crossed_column([MODULO, "s"], 10)
    total = tf.feature_column.linear_model(features(), [SCALED, MODULO, crossed])
    assert value_of(total).tolist() == [[0.0], [0.0]]
    assert sorted(names(tf.trainable_variables())) == [
        "linear_model/bias_weights:0", "linear_model/i_modulo/weights:0", "linear_model/i_modulo_X_s/weights:0",
        "linear_model/x_scaled/w:0", "linear_model/x_scaled/weights:0",
    ]  # fmt: skip


def test_own_columns_tell_what_to_parse_and_what_they_are() -> None:
    spec = tf.feature_column.make_parse_example_spec([SCALED, MODULO])
    assert spec == {"x": tf.FixedLenFeature((2,), tf.float32), "i": tf.VarLenFeature(tf.int64)}
    with pytest.raises(ValueError, match="Items of feature_columns must be a _DenseColumn"):
        tf.feature_column.input_layer(features(), [MODULO])
    assert isinstance(NUMBERS, former._DenseColumn)
    assert isinstance(WORDS, former._CategoricalColumn)
    assert not isinstance(NUMBERS, former._CategoricalColumn)
    assert not isinstance(SCALED, later.DenseColumn)
    assert later.is_feature_column_v2([NUMBERS, WORDS])
    assert not later.is_feature_column_v2([tf.feature_column.indicator_column(MODULO)])


def test_own_columns_train_an_estimator(tmp_path) -> None:
    columns = [SCALED, tf.feature_column.embedding_column(MODULO, 2)]
    estimator = tf.estimator.DNNClassifier([4], columns, model_dir=str(tmp_path))
    estimator.train(lambda: (features(), tf.constant([[0], [1]])), steps=2)
    assert "dnn/input_from_feature_columns/input_layer/x_scaled/w" in estimator.get_variable_names()


def test_columns_are_asked_by_their_former_methods() -> None:
    builder = former._LazyBuilder(features())
    assert value_of(NUMBERS._get_dense_tensor(builder)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert value_of(WORDS._get_sparse_tensors(builder).id_tensor).values.tolist() == [1, 0]
    assert value_of(WORDS._transform_feature(builder)).values.tolist() == [1, 0]
    assert (NUMBERS._variable_shape, WORDS._num_buckets, NUMBERS._var_scope_name) == ((2,), 2, "x")
    table = tf.feature_column.embedding_column(WORDS, 2)._get_dense_tensor(builder, ["mine"], trainable=False)
    assert value_of(table).shape == (2, 2)
    assert names(tf.get_collection("mine")) == names(tf.global_variables()) == ["embedding_weights:0"]
    assert not tf.trainable_variables()
    assert not tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)


def test_features_are_transformed_once_for_all() -> None:
    builder = former._LazyBuilder(features())
    assert builder.get("v") is builder.get("v")
    assert builder.get("v").shape == (2, 1)
    with pytest.raises(ValueError, match="Feature z is not in features dictionary"):
        builder.get("z")
    with pytest.raises(TypeError, match='"key" must be either a "str" or'):
        builder.get(3)


def test_a_column_takes_features_as_they_are_in_a_dict() -> None:
    given = features()
    assert tf.feature_column.numeric_column("v")._transform_feature(given) is given["v"]


def test_all_columns_are_transformed_by_name() -> None:
    made = former._transform_features(features(), [SCALED, NUMBERS, WORDS])
    assert list(made) == [WORDS, NUMBERS, SCALED]
    assert np.array_equal(value_of(made[SCALED]), [[10.0, 20.0], [30.0, 40.0]])
    assert made[SCALED].op.name.startswith("transform_features/x_scaled/")


def test_own_columns_of_both_kinds_are_of_a_layer() -> None:
    layer = tf.keras.layers.DenseFeatures([Weighted("x"), NUMBERS])
    assert value_of(layer(features())).tolist() == [[1.0, 2.0, 3.0, 6.0], [3.0, 4.0, 9.0, 12.0]]
    assert value_of(tf.feature_column.input_layer(features(), [Weighted("x")])).tolist() == [[3.0, 6.0], [9.0, 12.0]]


def test_a_layer_keeps_the_variables_of_columns_that_a_program_asks() -> None:
    layer, column = tf.keras.layers.Dense(1), Weighted("x")
    state = later._StateManagerImpl(layer, True)
    column.create_state(state)
    cache = later.FeatureTransformationCache(features())
    assert value_of(column.get_dense_tensor(cache, state)).tolist() == [[3.0, 6.0], [9.0, 12.0]]
    assert len(layer.trainable_weights) == 1
    with pytest.raises(ValueError, match="Variable does not exist"):
        state.get_variable(column, "other")
    state.add_resource(column, "table", "made")
    assert state.has_resource(column, "table")
    assert state.get_resource(column, "table") == "made"
    with pytest.raises(ValueError, match="Resource does not exist"):
        state.get_resource(column, "other")
