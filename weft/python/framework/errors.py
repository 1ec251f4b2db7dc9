"""tensorflow.python.framework.errors, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.errors import ABORTED as ABORTED
from weft.errors import ALREADY_EXISTS as ALREADY_EXISTS
from weft.errors import CANCELLED as CANCELLED
from weft.errors import DATA_LOSS as DATA_LOSS
from weft.errors import DEADLINE_EXCEEDED as DEADLINE_EXCEEDED
from weft.errors import FAILED_PRECONDITION as FAILED_PRECONDITION
from weft.errors import INTERNAL as INTERNAL
from weft.errors import INVALID_ARGUMENT as INVALID_ARGUMENT
from weft.errors import NOT_FOUND as NOT_FOUND
from weft.errors import OK as OK
from weft.errors import OUT_OF_RANGE as OUT_OF_RANGE
from weft.errors import PERMISSION_DENIED as PERMISSION_DENIED
from weft.errors import RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED
from weft.errors import UNAUTHENTICATED as UNAUTHENTICATED
from weft.errors import UNAVAILABLE as UNAVAILABLE
from weft.errors import UNIMPLEMENTED as UNIMPLEMENTED
from weft.errors import UNKNOWN as UNKNOWN
from weft.errors import AbortedError as AbortedError
from weft.errors import AlreadyExistsError as AlreadyExistsError
from weft.errors import CancelledError as CancelledError
from weft.errors import DataLossError as DataLossError
from weft.errors import DeadlineExceededError as DeadlineExceededError
from weft.errors import FailedPreconditionError as FailedPreconditionError
from weft.errors import InternalError as InternalError
from weft.errors import InvalidArgumentError as InvalidArgumentError
from weft.errors import NotFoundError as NotFoundError
from weft.errors import OpError as OpError
from weft.errors import OutOfRangeError as OutOfRangeError
from weft.errors import PermissionDeniedError as PermissionDeniedError
from weft.errors import ResourceExhaustedError as ResourceExhaustedError
from weft.errors import UnauthenticatedError as UnauthenticatedError
from weft.errors import UnavailableError as UnavailableError
from weft.errors import UnimplementedError as UnimplementedError
from weft.errors import UnknownError as UnknownError
from weft.errors import error_code_from_exception_type as error_code_from_exception_type
from weft.errors import exception_type_from_error_code as exception_type_from_error_code
from weft.errors import from_status as from_status
