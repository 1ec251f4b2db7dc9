"""tf.compat.v2.Variable: resource variables, whatever the program has chosen for tf.Variable."""

from __future__ import annotations

from weft.api.second_version import forms
from weft.ops.variables.variable import Variable as _FirstVariable


class _Resource(type):
    """Makes variables of the graph, and takes every variable for one of its own."""

    def __call__(cls, *args: object, **kwargs: object) -> object:
        return forms.__getattr__("Variable")(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _FirstVariable)


class Variable(metaclass=_Resource):
    """A resource variable: `tf.Variable(..., use_resource=True)`, without the arguments that the second version has not."""
