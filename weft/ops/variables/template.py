"""make_template: a function that makes its variables at its first call and uses them at every further one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import Getter, Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging


class Template:
    """A function with a variable scope of its own; made by `make_template`."""

    def __init__(
        self, name: str, func: Callable[..., Nest], create_scope_now: bool = False, unique_name: str | None = None,
        custom_getter: Getter | None = None,
    ) -> None:  # fmt: skip
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._has_run = False
        self._variable_scope: VariableScope | None = None
        if create_scope_now:
            # Its operations come with the first call, which opens the first name scope.
            with variable_scope(unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self._variable_scope = scope

    def __call__(self, *args: object, **kwargs: object) -> Nest:
        """The function's result; its variables are those of the first call.

        Raises:
            ValueError: a further call made a trainable variable.
        """
        if self._variable_scope is not None:
            with variable_scope(self._variable_scope, reuse=self._has_run):
                return self._result(args, kwargs)
        with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
            self._variable_scope = scope
            return self._result(args, kwargs)

    def _result(self, args: Any, kwargs: Any) -> Nest:
        graph = get_default_graph()
        everything, trained = (
            graph.get_collection_ref(key) for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
        )
        counts = len(everything), len(trained)
        result = self._func(*args, **kwargs)
        if self._has_run:
            advice = "created when calling a template after the first time, perhaps you used tf.Variable when you meant "
            if len(trained) > counts[1]:
                raise ValueError(f"Trainable variable {advice}tf.get_variable: {trained[counts[1] :]}")
            if len(everything) > counts[0]:
                tf_logging.info("New variables %stf.get_variable: %s", advice, everything[counts[0] :])
        self._has_run = True
        return result

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self._name

    @property
    def func(self) -> Callable[..., Nest]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The variable scope, None before the first call unless it was made at once."""
        return self._variable_scope

    @property
    def var_scope(self) -> VariableScope | None:
        """The former name of `variable_scope`."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the variable scope, ending in '/', with which all its variables' names begin."""
        if self._variable_scope is None:
            return None
        name: str = self._variable_scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    def _collected(self, key: str) -> list[VariableLike]:
        name = self.variable_scope_name
        return [] if name is None else get_default_graph().get_collection(key, name)

    @property
    def variables(self) -> list[VariableLike]:
        """The global and local variables in its scope."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES) + self._collected(GraphKeys.LOCAL_VARIABLES)

    weights = variables

    @property
    def global_variables(self) -> list[VariableLike]:
        """The global variables in its scope."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[VariableLike]:
        """The local variables in its scope."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The trainable variables in its scope."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """The variables in its scope that are not trainable."""
        trained = self.trainable_variables
        return [variable for variable in self.variables if variable not in trained]

    non_trainable_weights = non_trainable_variables


def make_template(
    name_: str, func_: Callable[..., Nest], create_scope_now_: bool = False, unique_name_: str | None = None,
    custom_getter_: Getter | None = None, **kwargs: object,
) -> Template:  # fmt: skip
    """Wrap a function so that all its calls share the variables that it gets with `get_variable`.

        def layer(x):
            return x * tf.get_variable("w", [])

        double = tf.make_template("double", layer)
        y = double(double(x))  # one variable, double/w

    Args:
        name_: the variable scope, made unique at the first call.
        func_: the function.
        create_scope_now_: make the scope's name unique at once.
        unique_name_: the scope's name as it is, in place of `name_`.
        custom_getter_: a custom getter for the scope.
        kwargs: further arguments of the function.

    Raises:
        ValueError: the name is None.
    """
    return Template(
        name_, functools.partial(func_, **kwargs) if kwargs else func_, create_scope_now_, unique_name_, custom_getter_
    )
