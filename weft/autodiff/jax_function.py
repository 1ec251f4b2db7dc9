"""jax_function: a JAX function as a node of the graph, with its derivative.

The function is traced when the graph is built. Its node holds it in serial form (StableHLO), so servers in other processes
run it without the program's Python, as a part of the stage that they compile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weft.autodiff.custom_gradient import custom_gradient
from weft.framework.building.aliases import Array, Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.process.exported_function import call_exported
from weft.platform.imports.jax_modules import jax, jnp, tree_util

_Result = TypeVar("_Result")


def jax_function(function: Callable[..., _Result], name: str | None = None) -> Callable[..., Nest]:
    """Make a function of tensors of a function of JAX arrays.

        dense = tf.jax_function(lambda x, w: jnp.tanh(x @ w))
        loss = tf.reduce_sum(dense(x, w))           # tensors, variables
        gradient, = tf.gradients(loss, w)           # by jax.vjp

    Arguments and results may be lists, tuples and dicts of arrays within each other. Sizes that the graph does not know are
    traced as symbols: all unknown first dimensions as one, the batch; any other as one of its own. Integers have no gradients.

    Args:
        function: a pure function that JAX can trace.
        name: the name of the nodes; the function's when None.
    """
    label = name or getattr(function, "__name__", "jax_function").strip("<>")

    def call(*args: Nest, **kwargs: Nest) -> Nest:
        leaves, structure = tree_util.tree_flatten((args, kwargs))
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        shape_of_result: list[Nest] = []

        def flat(*arrays: Array) -> Sequence[Array]:
            positional, named = tree_util.tree_unflatten(structure, arrays)
            results, result_structure = tree_util.tree_flatten(function(*positional, **named))
            shape_of_result[:] = [result_structure]
            return results

        made = _differentiable(flat, label)(*tensors)
        return tree_util.tree_unflatten(shape_of_result[0], list(made) if isinstance(made, list | tuple) else [made])

    return call


def _differentiable(flat: Callable[..., Sequence[Array]], name: str) -> Callable[..., Nest]:
    """The function on tensors, whose gradient is a node with the vector-Jacobian product."""

    def called(*given: Tensor) -> tuple[list[Tensor], Callable[..., Nest]]:
        places = [index for index, each in enumerate(given) if each.dtype.is_floating]

        def pulled_back(*arrays: Array) -> Sequence[Array]:
            inputs, cotangents = list(arrays[: len(given)]), arrays[len(given) :]

            def of_floats(*floats: Array) -> Sequence[Array]:
                whole = list(inputs)
                for index, value in zip(places, floats, strict=True):
                    whole[index] = value
                return [each for each in flat(*whole) if jnp.issubdtype(each.dtype, jnp.floating)]

            _, pull = jax.vjp(of_floats, *(inputs[index] for index in places))
            products: Sequence[Array] = pull(list(cotangents))
            return products

        results = call_exported(flat, given, name=name)

        def gradient(*cotangents: Tensor) -> list[Tensor | None]:
            wanted = [each for each, made in zip(cotangents, results, strict=True) if made.dtype.is_floating]
            found = iter(call_exported(pulled_back, [*given, *wanted], name=f"{name}_grad") if places else ())
            return [next(found) if index in places else None for index in range(len(given))]

        return results, gradient

    return custom_gradient(called)
