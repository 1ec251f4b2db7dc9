"""Every message has TensorFlow's field names, numbers and wire types, and each reads what the other writes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from weft.proto import (
    checkpoint_state_pb2,
    control_flow_pb2,
    device_attributes_pb2,
    device_filters_pb2,
    example_pb2,
    master_pb2,
    queue_runner_pb2,
    saved_model_pb2,
    tensor_bundle_pb2,
    tensorflow_server_pb2,
)

MODULES = [
    checkpoint_state_pb2,
    control_flow_pb2,
    device_attributes_pb2,
    device_filters_pb2,
    example_pb2,
    master_pb2,
    queue_runner_pb2,
    saved_model_pb2,
    tensor_bundle_pb2,
    tensorflow_server_pb2,
]
OWN_FIELDS_FROM = 1000
OWN_MESSAGES = {"ChannelAdmission"}

# What TensorFlow's Python package has; the master's messages are only in its C++ library, as a serialized descriptor.
_ORACLE = """
import glob, json, os, sys
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields
from google.protobuf.internal.decoder import _DecodeVarint
from tensorflow.core.example import example_pb2
from tensorflow.core.framework import device_attributes_pb2, tensor_slice_pb2
from tensorflow.core.protobuf import (
    config_pb2, control_flow_pb2, error_codes_pb2, named_tensor_pb2, queue_runner_pb2, saved_model_pb2,
    tensor_bundle_pb2, tensorflow_server_pb2,
)
from tensorflow.python.training import checkpoint_state_pb2

def embedded(name):
    start = b"\\n" + bytes([len(name)]) + name.encode()
    for library in glob.glob(os.path.join(os.path.dirname(tf.__file__), "libtensorflow_cc.so.*")):
        data = open(library, "rb").read()
        begin = end = data.find(start)
        while begin >= 0 and data[end] in (10, 18, 26, 34, 42, 50, 58, 66, 98):
            size, body = _DecodeVarint(data, end + 1)
            end = body + size
        if begin >= 0:
            return data[begin:end]
    raise LookupError(name)

pool = descriptor_pool.Default()
pool.AddSerializedFile(embedded("tensorflow/core/protobuf/master.proto"))

KINDS = {"enum": "varint", "int32": "varint", "int64": "varint", "bool": "varint", "uint64": "varint"}

def shape(message):
    found = {}
    for field in message.fields:
        kind = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)[5:].lower()
        found[field.name] = [field.number, KINDS.get(kind, kind), field.is_repeated]
    return found

def answer(request):
    message = pool.FindMessageTypeByName("tensorflow." + request["name"])
    if "data" not in request:
        return shape(message)
    proto = message_factory.GetMessageClass(message).FromString(bytes.fromhex(request["data"]))
    unknown = [field.field_number for field in unknown_fields.UnknownFieldSet(proto)]
    return [proto.SerializeToString(deterministic=True).hex(), unknown]

print(json.dumps([answer(request) for request in json.load(sys.stdin)]))
"""


def ask_tensorflow(requests: list[dict[str, str]]) -> list[Any]:
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")
    done = subprocess.run(
        [interpreter, "-c", _ORACLE],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def all_messages() -> list[Descriptor]:
    def nested(message: Descriptor) -> list[Descriptor]:
        inner = [found for part in message.nested_types for found in nested(part)]
        return [message, *inner] if not message.GetOptions().map_entry else []

    top = [message for module in MODULES for message in module.DESCRIPTOR.message_types_by_name.values()]
    found = [part for message in top for part in nested(message)]
    return [message for message in found if message.name not in OWN_MESSAGES]


def shared_name(message: Descriptor) -> str:
    return str(message.full_name).removeprefix("weft.")


_VARINTS = {
    FieldDescriptor.TYPE_ENUM,
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_UINT64,
}
_OTHERS = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_MESSAGE: "message",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_FIXED64: "fixed64",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_DOUBLE: "double",
}


def layout(message: Descriptor) -> dict[str, list[Any]]:
    return {
        field.name: [field.number, "varint" if field.type in _VARINTS else _OTHERS[field.type], field.is_repeated]
        for field in message.fields
        if field.number < OWN_FIELDS_FROM
    }


def fill(proto: Message, depth: int = 0) -> Message:
    """Give every field a value of its own, two levels of messages deep."""
    for field in proto.DESCRIPTOR.fields:
        if field.number >= OWN_FIELDS_FROM:
            continue
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if field.message_type is not None and not is_map:
            if depth < 2:
                inner = getattr(proto, field.name)
                fill(inner.add() if field.is_repeated else inner, depth + 1)
                if not field.is_repeated:
                    inner.SetInParent()
        elif is_map:
            fill_map(getattr(proto, field.name), field.message_type, depth)
        elif field.is_repeated:
            getattr(proto, field.name).extend([sample(field), sample(field)])
        else:
            setattr(proto, field.name, sample(field))
    return proto


def fill_map(target: Any, entry: Descriptor, depth: int) -> None:
    key = sample(entry.fields_by_name["key"])
    value = entry.fields_by_name["value"]
    if value.message_type is None:
        target[key] = sample(value)
    else:
        fill(target[key], depth + 1)


def sample(field: FieldDescriptor) -> Any:
    if field.type == FieldDescriptor.TYPE_ENUM:
        return field.enum_type.values[-1].number if len(field.enum_type.values) > 1 else 0
    if field.type == FieldDescriptor.TYPE_BOOL:
        return True
    if field.type == FieldDescriptor.TYPE_STRING:
        return f"{field.name} é"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return field.name.encode() + b"\0\xff"
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return field.number + 0.5
    return field.number


def new(message: Descriptor) -> Message:
    return message_factory.GetMessageClass(message)()


@pytest.mark.oracle
def test_every_message_has_the_fields_of_tensorflow() -> None:
    messages = all_messages()
    found = ask_tensorflow([{"name": shared_name(message)} for message in messages])
    for message, theirs in zip(messages, found, strict=True):
        assert layout(message) == theirs, message.full_name


@pytest.mark.oracle
def test_tensorflow_reads_what_weft_writes_and_the_other_way() -> None:
    messages = all_messages()
    ours = [fill(new(message)) for message in messages]
    data = [proto.SerializeToString(deterministic=True) for proto in ours]
    requests = [{"name": shared_name(message), "data": sent.hex()} for message, sent in zip(messages, data, strict=True)]
    for message, proto, (returned, unknown) in zip(messages, ours, ask_tensorflow(requests), strict=True):
        assert unknown == [], message.full_name
        again = new(message)
        again.ParseFromString(bytes.fromhex(returned))
        assert json_format.MessageToDict(again) == json_format.MessageToDict(proto), message.full_name


def test_a_server_def_embeds_the_messages_that_programs_use() -> None:
    server = tensorflow_server_pb2.ServerDef(job_name="ps", task_index=1, protocol="grpc")
    server.cluster.job.add(name="ps").tasks[1] = "host:2222"
    server.default_session_config.operation_timeout_in_ms = 7
    again = tensorflow_server_pb2.ServerDef.FromString(server.SerializeToString())
    assert again.cluster.job[0].tasks[1] == "host:2222"
    assert type(again.cluster).__module__ == "tensorboard.compat.proto.cluster_pb2"
    assert type(again.default_session_config).__module__ == "tensorboard.compat.proto.config_pb2"


def test_own_fields_of_shared_messages_are_numbered_apart() -> None:
    own = [field for message in all_messages() for field in message.fields if field.number >= OWN_FIELDS_FROM]
    assert [field.full_name for field in own] == ["weft.CreateSessionResponse.channel"]


def test_the_messages_have_a_package_of_their_own() -> None:
    pool = descriptor_pool.Default()
    for module in MODULES:
        assert module.DESCRIPTOR.package == "weft"
        assert pool.FindFileByName(module.DESCRIPTOR.name).name.startswith("weft/proto/")
