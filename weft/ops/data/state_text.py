"""The state of an iteration as text: JSON, arrays in it as serial TensorProtos.

Not pickled, since a checkpoint may come from elsewhere and must not run code.
"""

from __future__ import annotations

import base64
import json
from typing import Final

import numpy as np
from tensorboard.compat.proto import tensor_pb2

from weft.errors import DataLossError, UnimplementedError
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto
from weft.ops.data.element import SourcedElement, State, boxed
from weft.ops.data.reshaping import Listed
from weft.ops.sparse.serialization import Part

_TENSOR: Final = "tensor"
_TUPLE: Final = "tuple"
_BYTES: Final = "bytes"
_LISTED: Final = "listed"
_RECORD: Final = ", record "
"""Between the file and the number of the record that an element comes from."""


def text_of_state(state: State) -> bytes:
    """The state as text."""
    return json.dumps(_plain(state)).encode()


def state_of_text(text: bytes) -> State:
    """The state that a text tells; DataLossError when it is none."""
    try:
        return _state(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise DataLossError.of(f"The saved state of an iterator cannot be read: {error}") from error


def _plain(state: State) -> State:
    if isinstance(state, np.ndarray) and state.dtype == object and state.ndim == 0 and isinstance(state[()], Listed):
        return {_LISTED: _plain(list(state[()].elements))}
    if isinstance(state, np.ndarray | np.generic):
        return {_TENSOR: _base64(make_tensor_proto(_saved(np.asarray(state))).SerializeToString())}
    if isinstance(state, bytes):
        return {_BYTES: _base64(state)}
    if isinstance(state, tuple):
        source = _RECORD.join(map(str, state.place)) if isinstance(state, SourcedElement) else None
        return {_TUPLE: [_plain(each) for each in state], "source": source}
    if isinstance(state, dict):
        return {"dict": {key: _plain(each) for key, each in state.items()}}
    return [_plain(each) for each in state] if isinstance(state, list) else state


def _saved(array: State) -> State:
    if array.dtype != object:
        return array
    items = array.ravel().tolist()
    if any(isinstance(item, Part) for item in items):
        return np.array(list(map(bytes, items)), object).reshape(array.shape)
    if not all(isinstance(item, bytes | str) for item in items):
        raise UnimplementedError.of("Elements that hold datasets cannot be saved with an iterator")
    return array


def _state(plain: State) -> State:
    if isinstance(plain, list):
        return [_state(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    if _TENSOR in plain:
        return make_ndarray(tensor_pb2.TensorProto.FromString(base64.b64decode(plain[_TENSOR])))
    if _LISTED in plain:
        return boxed(Listed(_state(plain[_LISTED])))
    if _BYTES in plain:
        return base64.b64decode(plain[_BYTES])
    if _TUPLE in plain:
        parts = [_state(each) for each in plain[_TUPLE]]
        if plain["source"] is None:
            return tuple(parts)
        element = SourcedElement(parts)
        path, _, number = plain["source"].rpartition(_RECORD)
        element.place = path, int(number)
        return element
    return {key: _state(each) for key, each in plain["dict"].items()}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
