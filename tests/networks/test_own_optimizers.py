"""Optimizers that a program wrote for TensorFlow 1.15's tf.keras; the losses were printed by 1.15.5 for the same classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.random.RandomState(0).rand(64, 4).astype(np.float32)
Y = 2 * X.sum(1, keepdims=True)


class Momentum(tf.keras.optimizers.Optimizer):
    """Steps by the mean of gradients, as a program would write it."""

    def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9, name: str = "Momentum", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("momentum", momentum)

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self.add_slot(var, "mean")
            self.add_slot(var, "ones", initializer="ones")

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        kind = var.dtype.base_dtype
        mean = self.get_slot(var, "mean")
        new = mean.assign(self._get_hyper("momentum", kind) * mean + grad, use_locking=self._use_locking)
        return var.assign_sub(self._decayed_lr(kind) * new / tf.cast(self.iterations + 1, kind), use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._resource_scatter_add(var, indices, -self._decayed_lr(var.dtype.base_dtype) * grad)

    def get_config(self) -> dict[str, Any]:
        names = ("learning_rate", "decay", "momentum")
        return {**super().get_config(), **{name: self._serialize_hyperparameter(name) for name in names}}


def losses(optimizer: Any) -> list[float]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(4,))])
    model.compile(optimizer, "mse")
    found: list[float] = model.fit(X, Y, epochs=3, batch_size=16, shuffle=False, verbose=0).history["loss"]
    return found


def test_a_programs_own_optimizer_trains() -> None:
    optimizer = Momentum(0.05, decay=0.01, clipnorm=1.0)
    assert losses(optimizer) == pytest.approx([3.67939, 2.50977, 1.74212], abs=2e-5)
    assert optimizer.get_config() == {
        "name": "Momentum", "clipnorm": 1.0, "learning_rate": pytest.approx(0.05), "decay": pytest.approx(0.01),
        "momentum": pytest.approx(0.9),
    }  # fmt: skip
    assert [np.shape(each) for each in optimizer.get_weights()] == [(), (4, 1), (4, 1), (1,), (1,)]
    optimizer.learning_rate = 0.5
    assert tf.keras.backend.get_value(optimizer.lr) == 0.5


def test_rows_that_come_repeatedly_are_summed_for_it() -> None:
    embedding = tf.keras.layers.Embedding(10, 3, embeddings_initializer="ones", input_length=2)
    dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
    model = tf.keras.Sequential([embedding, tf.keras.layers.Flatten(), dense])
    model.compile(Momentum(0.05), "mse")
    found = model.fit(np.array([[1, 2], [3, 1]] * 4), np.ones((8, 1)), epochs=3, shuffle=False, verbose=0).history["loss"]
    assert found == pytest.approx([25.0, 0.14062, 0.60631], abs=2e-5)


def test_an_update_of_its_own_may_call_that_of_adam() -> None:
    class Doubled(tf.keras.optimizers.Adam):
        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            coefficients = (apply_state or {}).get((var.device, var.dtype.base_dtype))
            assert coefficients is not None
            assert coefficients["lr_t"].dtype == tf.float32
            return super()._resource_apply_dense(grad * 2.0, var, apply_state)

    assert losses(Doubled(0.05)) == pytest.approx([3.39648, 1.583, 0.51835], abs=2e-5)


def test_gradients_of_its_own_are_the_ones_that_are_applied() -> None:
    class Half(tf.keras.optimizers.SGD):
        def _compute_gradients(self, loss: Any, var_list: Any, grad_loss: Any = None) -> Any:
            return [(grad * 0.5, var) for grad, var in super()._compute_gradients(loss, var_list, grad_loss)]

    variable = tf.Variable([1.0, 2.0], use_resource=True)
    step = Half(1.0).minimize(lambda: tf.reduce_sum(variable * variable), [variable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(variable).tolist() == [0.0, 0.0]


def test_weights_of_its_own_and_shared_tensors_are_made() -> None:
    class Counting(tf.keras.optimizers.SGD):
        def _create_slots(self, var_list: Any) -> None:
            self.seen = self.add_weight("seen", [2], tf.float32, "ones")

        def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: Any) -> None:
            super()._prepare_local(var_device, var_dtype, apply_state)
            apply_state[var_device, var_dtype]["half"] = apply_state[var_device, var_dtype]["lr_t"] / 2.0

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            place = (var.device, var.dtype.base_dtype)
            kept = (apply_state or {}).get(place) or self._fallback_apply_state(*place)
            with tf.control_dependencies([self.seen.assign_add([1.0, 2.0])]):
                return var.assign_sub(kept["half"] * grad)

    variable = tf.Variable([1.0, 2.0], use_resource=True)
    optimizer = Counting(0.5)
    step = optimizer.minimize(lambda: tf.reduce_sum(variable * variable), [variable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(variable).tolist() == [0.5, 1.0]
        assert session.run(optimizer.seen).tolist() == [2.0, 3.0]


class Delegating(tf.keras.optimizers.Optimizer):
    """Updates variables by another optimizer, half as fast."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__("Delegating")
        self._optimizer = optimizer

    def _create_slots(self, var_list: Any) -> None:
        self._optimizer._create_slots(var_list)

    def _prepare(self, var_list: Any) -> Any:
        return self._optimizer._prepare(var_list)

    def _resource_apply_dense(self, grad: Any, var: Any, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer._resource_apply_dense(grad / 2.0, var, *args, **kwargs)

    def _resource_apply_sparse(self, grad: Any, var: Any, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer._resource_apply_sparse(grad / 2.0, var, *args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return super().get_config()


@pytest.mark.parametrize(
    ("inner", "dense", "sparse"),
    [
        (tf.keras.optimizers.SGD(0.1, momentum=0.9), [0.855, 1.855], [1.0, 1.855]),
        (tf.keras.optimizers.Adam(0.1), [0.7656174, 1.7656174], [1.0, 1.7656174]),
        (tf.keras.optimizers.Nadam(0.1), [0.8389229, 1.8389229], [1.0, 1.8389229]),
    ],
)
def test_an_optimizer_updates_variables_by_another_one(inner: Any, dense: list[float], sparse: list[float]) -> None:
    whole, rows = (tf.Variable([1.0, 2.0], use_resource=True) for _ in range(2))
    grads = [(tf.ones([2]), whole), (tf.IndexedSlices(tf.ones([1]), tf.constant([1])), rows)]
    step = Delegating(inner).apply_gradients(grads)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        session.run(step)
        found = session.run([whole, rows])
    assert found[0] == pytest.approx(dense, abs=1e-5)
    assert found[1] == pytest.approx(sparse, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("SGD", 0.8), ("Adam", 0.8), ("Adagrad", 0.83564717), ("RMSprop", 0.45435667), ("Nadam", 0.81598663), ("Adamax", 0.8)],
)
def test_variables_of_two_types_are_updated_by_one_optimizer(name: str, value: float) -> None:
    single = tf.Variable(np.float32([1, 2]), use_resource=True)
    double = tf.Variable(np.float64([1, 2]), use_resource=True)
    optimizer = getattr(tf.keras.optimizers, name)(0.1)
    step = optimizer.apply_gradients([(tf.ones_like(each), each) for each in (single, double)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        session.run(step)
        for found in session.run([single, double]):
            assert found == pytest.approx([value, value + 1], abs=1e-5)
