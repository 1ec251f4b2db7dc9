"""The exceptions that weft raises: one class per status code, as TensorFlow 1.x has them.

    Exception
    └── OpError
        ├── CancelledError            1   the step or the session was cancelled
        ├── UnknownError              2   a status of another system that fits nowhere else
        ├── InvalidArgumentError      3   the caller's mistake
        ├── DeadlineExceededError     4   a timeout passed
        ├── NotFoundError             5   a file, container or session is not there
        ├── AlreadyExistsError        6
        ├── PermissionDeniedError     7
        ├── ResourceExhaustedError    8   memory or quota
        ├── FailedPreconditionError   9   e.g. an uninitialized variable
        ├── AbortedError             10   a peer gave up; a retry from a higher level may succeed
        ├── OutOfRangeError          11   the end of the input, a closed queue, a counter's limit
        ├── UnimplementedError       12
        ├── InternalError            13   weft's own mistake
        ├── UnavailableError         14   a peer is not there; a retry may succeed
        ├── DataLossError            15   a file is damaged
        └── UnauthenticatedError     16

Blame is in the type: InvalidArgumentError is the caller's, UnavailableError and AbortedError are a peer's, InternalError
is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, Self

OK: Final = 0
CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
DEADLINE_EXCEEDED: Final = 4
NOT_FOUND: Final = 5
ALREADY_EXISTS: Final = 6
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
FAILED_PRECONDITION: Final = 9
ABORTED: Final = 10
OUT_OF_RANGE: Final = 11
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
DATA_LOSS: Final = 15
UNAUTHENTICATED: Final = 16


class OpError(Exception):
    """What a graph's execution raises; carries the operation that failed, when there is one.

    `op` is the client graph's Operation (None when the node was made by a pass, such as Send), `node_def` its NodeDef. `remedy`
    is the next step for who reads the error, empty where none is known; `message` goes without it.

    Args:
        node_def, op: the failed node's NodeDef and the Operation, or None.
        message: the text.
        error_code: the status code, such as `tf.errors.NOT_FOUND`.
    """

    def __init__(self, node_def: object, op: Any, message: str, error_code: int) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._inputs: Callable[..., Iterable[str]] | None = None
        self.remedy = ""

    def __reduce__(self) -> tuple[object, ...]:
        # An Operation belongs to its graph and does not travel; the rest does.
        if type(self) is OpError:
            return OpError, (self._node_def, None, self._message, self._error_code)
        return type(self), (self._node_def, None, self._message)

    @property
    def message(self) -> str:
        """The text that tells what went wrong, without the place where the op was built."""
        return self._message

    @property
    def op(self) -> Any:
        """The Operation that failed, or None."""
        return self._op

    def locate(self, op: Any, node_def: object = None, inputs: Callable[..., Iterable[str]] | None = None) -> None:
        """Say which Operation has failed, once it is known.

        Args:
            op: the operation.
            node_def: its NodeDef.
            inputs: tells the lines that describe the operation's inputs, should anybody print the error.
        """
        self._op = op
        self._node_def = node_def or self._node_def
        self._inputs = inputs

    @property
    def error_code(self) -> int:
        """The integer status code."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The NodeDef that failed, or None."""
        return self._node_def

    def __str__(self) -> str:
        lines = [f"{self._message}", *([f"  {self.remedy}"] if self.remedy else [])]
        if self._op is None:
            return "\n".join(lines)
        lines.append(f"\t [[node {self._op.name} (op: {self._op.type}, device: {self._op.device!r})]]")
        if self._inputs is not None:
            lines.extend(self._inputs(self._op))
        op = self._op
        while op is not None:
            built = op.built_at
            if built:
                lines.append(f"\nOperation {op.name!r} was built at:\n{built}")
            op = op.original_op
        return "\n".join(lines)


class InaccessibleTensorError(ValueError):
    """Raised for a fetch of what a branch or a loop makes; its results can be fetched, and what nodes outside make of them."""


class _StatusError(OpError):
    """An OpError of the one status code that its class stands for."""

    _code: ClassVar[int]

    def __init__(self, node_def: object, op: object, message: str) -> None:
        super().__init__(node_def, op, message, self._code)

    @classmethod
    def of(cls, message: str, op: object = None) -> Self:
        """The error with a message, and of the operation that failed if there is one.

        Args:
            message: what went wrong, and what to do.
            op: the operation; None where none has failed.
        """
        return cls(None, op, message)


class CancelledError(_StatusError):
    """Raised when a step, a queue or a session is cancelled."""

    _code = CANCELLED


class UnknownError(_StatusError):
    """Raised for a status from elsewhere that fits no other class."""

    _code = UNKNOWN


class InvalidArgumentError(_StatusError):
    """Raised for input that cannot be right."""

    _code = INVALID_ARGUMENT


class DeadlineExceededError(_StatusError):
    """Raised when a timeout passes."""

    _code = DEADLINE_EXCEEDED


class NotFoundError(_StatusError):
    """Raised when a file, session or resource does not exist."""

    _code = NOT_FOUND


class AlreadyExistsError(_StatusError):
    """Raised when what is to be made exists."""

    _code = ALREADY_EXISTS


class PermissionDeniedError(_StatusError):
    """Raised when the caller may not."""

    _code = PERMISSION_DENIED


class ResourceExhaustedError(_StatusError):
    """Raised when memory runs out."""

    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_StatusError):
    """Raised when the state is not ready, e.g. a variable has no value."""

    _code = FAILED_PRECONDITION


class AbortedError(_StatusError):
    """Raised when a peer gave up; a higher level may retry."""

    _code = ABORTED


class OutOfRangeError(_StatusError):
    """Raised at the end of the input.

    >>> element = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    >>> sess.run(element)
    np.int64(0)
    >>> try:
    ...     sess.run(element)
    ... except tf.errors.OutOfRangeError as error:
    ...     print(error.error_code == tf.errors.OUT_OF_RANGE)
    True
    """

    _code = OUT_OF_RANGE


class UnimplementedError(_StatusError):
    """Raised when there is no implementation."""

    _code = UNIMPLEMENTED


class InternalError(_StatusError):
    """Raised when an invariant of weft does not hold."""

    _code = INTERNAL


class UnavailableError(_StatusError):
    """Raised when a task cannot be reached."""

    _code = UNAVAILABLE


class DataLossError(_StatusError):
    """Raised when a file is damaged beyond repair."""

    _code = DATA_LOSS


class UnauthenticatedError(_StatusError):
    """Raised when the caller is unknown."""

    _code = UNAUTHENTICATED


_CODE_TO_CLASS: Final[dict[int, type[_StatusError]]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_CLASS_TO_CODE: Final[dict[type[OpError], int]] = {cls: code for code, cls in _CODE_TO_CLASS.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a status code; KeyError when there is none.

    Args:
        error_code: the code, such as `tf.errors.NOT_FOUND`.
    """
    return _CODE_TO_CLASS[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The status code of a class; KeyError when it is none of this module's."""
    return _CLASS_TO_CODE[cls]


def from_status(error_code: int, message: str, node_def: object = None, op: object = None) -> OpError:
    """Make the exception for a status that came over the wire; unknown codes become UnknownError.

    Args:
        error_code: the code.
        message: the text.
        node_def, op: the failed node's NodeDef and the Operation, or None.

    Returns:
        An instance of the code's class.
    """
    return _CODE_TO_CLASS.get(error_code, UnknownError)(node_def, op, message)
