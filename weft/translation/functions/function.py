"""tf.function: a function of Python that is traced once for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Hashable, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import conversion_status
from weft.framework.context.conversion_status import Status
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.composites import tensors_of
from weft.ops.variables.variable import Variable, variable_creator_scope
from weft.translation import calls
from weft.translation.functions.concrete import ConcreteFunction
from weft.translation.functions.lifting import creator_for
from weft.translation.functions.signature import (
    Arguments,
    FunctionSpec,
    arguments_of_specs,
    is_traced,
    key_of,
    relaxed,
)
from weft.translation.options import options_of

Key = tuple[Hashable, tuple[Dims, ...]]


class Function:
    """What `tf.function` makes of a function: call it with tensors, or with anything that can be hashed.

    Args:
        python_function: the function.
        input_signature: TensorSpecs for all of its arguments; None to trace it for each kind of them.
        autograph: whether its branches and loops over tensors become nodes.
        experimental_autograph_options: optional features of that.
        experimental_relax_shapes: trace it for tensors of unknown sizes once it has been called with a third size.

    Raises:
        TypeError: the function cannot be called, or the signature is of something else than TensorSpecs.
    """

    def __init__(
        self,
        python_function: Callable[..., Nest],
        input_signature: Sequence[Nest] | None = None,
        autograph: bool = True,
        experimental_autograph_options: object = None,
        experimental_relax_shapes: bool = False,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"unsupported callable: tf.function takes a function, got {python_function!r}")
        self._python_function = python_function
        self._options = options_of(True, experimental_autograph_options)
        self._autograph = autograph
        self._relaxes = experimental_relax_shapes
        self._spec = FunctionSpec(python_function, input_signature)
        self._traces: weakref.WeakKeyDictionary[Graph, dict[Key, ConcreteFunction]] = weakref.WeakKeyDictionary()
        self._variables: list[Variable] = []
        self._is_traced = False
        self._bound: weakref.WeakKeyDictionary[object, Function] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())

    def __repr__(self) -> str:
        return f"<tf.function of {self._python_function}>"

    def __get__(self, instance: object, owner: type | None = None) -> Function:
        """The method of an object, with traces of its own."""
        if instance is None:
            return self
        found = self._bound.get(instance)
        if found is None:
            own = weakref.ref(instance)
            function = self._python_function

            @functools.wraps(function)
            def method(*args: Nest, **kwargs: Nest) -> Nest:
                return self._called(functools.partial(function, own()), args, kwargs)

            parameters = list(inspect.signature(function).parameters.values())
            method.__signature__ = inspect.Signature(parameters[1:])  # type: ignore[attr-defined]
            method.autograph_info__ = None  # type: ignore[attr-defined]
            found = self._bound[instance] = Function(
                method, self._spec.input_signature, experimental_relax_shapes=self._relaxes
            )
        return found

    @property
    def python_function(self) -> Callable[..., Nest]:
        """The function that was decorated."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Nest, ...] | None:
        """The TensorSpecs that it was given; None without them."""
        return self._spec.input_signature

    @property
    def function_spec(self) -> FunctionSpec:
        """How it takes its arguments."""
        return self._spec

    def __call__(self, *args: Nest, **kwargs: Nest) -> Nest:
        """Call the trace for such arguments, after tracing it if there is none.

        Raises:
            TypeError: there are arguments that the function does not take, or it returns something that is no tensor.
            ValueError: the arguments do not fit the signature, or the function makes variables again.
        """
        if get_default_graph().runs_eagerly:
            return self._called(self._python_function, args, kwargs)
        arguments = self._spec.arguments(args, kwargs)
        trace = self._trace_for(arguments)
        leaves = [leaf for leaf in nest.flatten(arguments.structure) if is_traced(leaf)]
        return trace.call_flat([tensor for leaf in leaves for tensor in tensors_of(leaf)])

    def get_concrete_function(self, *args: Nest, **kwargs: Nest) -> ConcreteFunction:
        """The trace for arguments of a kind, without a call.

        Args:
            *args: tensors, or TensorSpecs for them, and values of Python; nothing where there is a signature.
            **kwargs: the same, by name.

        Raises:
            TypeError, ValueError: those of a call.
        """
        args, kwargs = arguments_of_specs(self._spec, args, kwargs)
        given = nest.map_structure(_stand_in, (args, kwargs))
        unsigned = FunctionSpec(self._python_function)
        return self._trace_for(unsigned.arguments(given[0], given[1]))

    def get_initialization_function(self, *args: Nest, **kwargs: Nest) -> Callable[[], None]:
        """Trace the function, so that its variables are made; what it returns does nothing, since graphs initialize them.

        Args:
            *args: those of `get_concrete_function`.
            **kwargs: the same, by name.
        """
        self.get_concrete_function(*args, **kwargs)
        return lambda: None

    def _trace_for(self, arguments: Arguments) -> ConcreteFunction:
        traces = self._traces.setdefault(get_default_graph(), {})
        kind, shapes = key_of(arguments)
        if self._spec.flat_input_signature is not None:
            shapes = [as_dims(spec.shape) for spec in self._spec.flat_input_signature]
        found = traces.get((kind, tuple(shapes)))
        if found is None and self._relaxes:
            found, shapes = self._relaxed(traces, kind, shapes)
        if found is None:
            found = traces[kind, tuple(shapes)] = self._traced(arguments, shapes)
        return found

    def _relaxed(
        self, traces: dict[Key, ConcreteFunction], kind: Hashable, shapes: list[Dims]
    ) -> tuple[ConcreteFunction | None, list[Dims]]:
        """A trace that admits these shapes, or the shapes for one where there have been two of other sizes."""
        like = [list(others) for known, others in traces if known == kind]
        for others in like:
            if relaxed(others, shapes) == others:
                return traces[kind, tuple(others)], others
        if len(like) < 2:
            return None, shapes
        return None, functools.reduce(relaxed, like, shapes)

    def _traced(self, arguments: Arguments, shapes: Sequence[Dims]) -> ConcreteFunction:
        made: list[Variable] = []

        def build(*args: Nest, **kwargs: Nest) -> Nest:
            with variable_creator_scope(creator_for(made, not self._is_traced)):
                return self._called(self._python_function, args, kwargs)

        trace = ConcreteFunction(build, self._python_function, arguments, shapes)
        if made:
            # A function that makes variables each time would be found out only when it is called for other arguments.
            self._is_traced = True
            trace = ConcreteFunction(build, self._python_function, arguments, shapes)
        self._is_traced = True
        self._variables += made
        return trace

    def _called(self, function: Callable[..., Nest], args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
        if self._autograph:
            # Also where what calls it is not to be translated.
            with conversion_status.entered(Status.UNSPECIFIED):
                return calls.call(function, args, kwargs, self._options)
        return calls.unconverted(function)(*args, **kwargs)


def _stand_in(leaf: Nest) -> Nest:
    return convert_to_tensor(leaf) if hasattr(leaf, "__array_interface__") and not isinstance(leaf, Tensor) else leaf


def function(
    func: Callable[..., Nest] | None = None,
    input_signature: Sequence[Nest] | None = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Nest:
    """Decorate a function, to have it traced once for each kind of arguments; its branches and loops over tensors become nodes.

    Args:
        func: the function; without one, a decorator is returned.
        input_signature: TensorSpecs for all of its arguments: it is traced once, and refuses others.
        autograph: whether `if`, `while`, `for` and the like over tensors become nodes.
        experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
        experimental_relax_shapes: trace it for unknown sizes once it has been called with several.
        experimental_compile: accepted; XLA compiles all that runs often.

    Returns:
        An object to call; in a graph, the call's results are tensors of it.

    Raises:
        TypeError: `func` cannot be called, or the signature is of something else than TensorSpecs.

    >>> @tf.function
    ... def collatz(n):
    ...     steps = 0
    ...     while n > 1:
    ...         if n % 2 > 0:
    ...             n = 3 * n + 1
    ...         else:
    ...             n = n // 2
    ...         steps += 1
    ...     return steps
    >>> sess.run(collatz(tf.constant(27)))
    np.int32(111)
    """

    def decorate(given: Callable[..., Nest]) -> Function:
        return Function(given, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)

    return decorate if func is None else decorate(func)


def defun(
    func: Callable[..., Nest] | None = None,
    input_signature: Sequence[Nest] | None = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
) -> Nest:
    """The former `tf.function`.

    Args:
        func, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes: those of `tf.function`.
    """
    return function(func, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)
