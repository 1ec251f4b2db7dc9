"""What a call meant, where Python's own error says only what it was refused: a misspelt keyword, a missing argument.

The function is the one that the failing instruction of the program calls: Python keeps the place of each instruction in its
line. Protocol buffers are asked for their fields, objects of weft for their attributes.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Final, Protocol

from weft.platform.frames.failing_call import failing, failing_call, last_frame_of_program, named_in_weft, resolve, value_of
from weft.platform.frames.program_frames import is_of_weft
from weft.platform.hints.argument_hints import hint_for_arguments
from weft.platform.hints.habit_hints import hint_for_habit
from weft.platform.hints.old_python_hints import hint_for_old_python
from weft.platform.hints.run_hints import fetched_by, given_before
from weft.platform.hints.several_hints import is_tensor
from weft.platform.hints.spelling import did_you_mean
from weft.platform.hints.value_hints import hint_for_value

_SHOWN_FIELDS: Final = 12
_UNEXPECTED: Final = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_COUNT: Final = re.compile(
    r"([\w.]+)\(\) (?:missing (?:\d+|a) required|takes .*positional argument|too many positional|got multiple)"
)
# The arguments in `f() missing 2 required positional arguments: 'a' and 'b'`.
_MISSING: Final = re.compile(r"(?<=[:,d] )'(\w+)'(?=,| and|$)")
_UNREADABLE: Final = (
    "The bytes are no such message. A text form (.pbtxt) is read by google.protobuf.text_format.Parse, a SavedModel by "
    "tf.saved_model.loader.load, a meta graph (.meta) by tf.train.import_meta_graph; or the file is damaged."
)
# What makes a value of a message's field of another one.
_CONVERSIONS: Final = {
    "text": " text.encode() makes bytes of a text.",
    "array": " array.ravel() makes one list of the numbers of an array.",
    "number": " float(x) makes a number of a text.",
    "fraction": " array.astype(int) makes whole numbers of those of an array, int(x) of one.",
}
_NO_FIELD: Final = re.compile(r'Protocol message (\w+) has no "(\w+)" field')
_NO_BLOCK: Final = re.compile(r"'(?:\w+_)?(method|function|type)' object does not support the context manager protocol")
_NO_NAME: Final = re.compile(r"^cannot import name '(\w+)' from '([\w.]+)'(?! \(unknown| *\.| Did you mean)")
_NOT_CALLABLE: Final = re.compile(r"'\w+' object is not callable")
# Where the messages that programs fill in are, as far as they have been imported.
_MESSAGES: Final = "weft.proto."


class _Message(Protocol):
    """A message's description in the words of protobuf."""

    name: str
    fields: Sequence[_Field]


class _Field(Protocol):
    """A field's description in the words of protobuf."""

    name: str
    type: int
    label: int
    LABEL_REPEATED: int

    @property
    def message_type(self) -> _Message | None: ...


def hint_for(error: BaseException) -> str:
    """What a function, message or object of weft takes or has, for an error of Python's about it; empty for any other error."""
    text = str(error)
    return _hint_for_words(error, text) or hint_for_old_python(error, text) or hint_for_arguments(error, text)


def _hint_for_words(error: BaseException, text: str) -> str:
    if meant := hint_for_value(error, text) or hint_for_habit(error, text):
        return meant
    if found := _NO_FIELD.search(text):
        return _field_hint(error, *found.groups())
    if isinstance(error, AttributeError):
        return _attribute_hint(error) or _message_attribute_hint(error, text)
    if type(error).__name__ == "DecodeError":
        return _UNREADABLE
    if isinstance(error, KeyError):
        return _key_hint(error)
    if isinstance(error, ImportError):
        return _import_hint(text)
    if not isinstance(error, TypeError | ValueError):
        return ""
    if found := _NO_BLOCK.search(text):
        return _block_hint(error, found[1])
    if found := _UNEXPECTED.search(text):
        name, keyword = found.groups()
        function = _called(error, name) or _seen_by_caller(error, name) or _find(name)
        return "" if function is None else f"{_signature_text(error, name, function)}{did_you_mean(keyword, _taken(function))}"
    if found := _COUNT.search(text):
        missing = _MISSING.findall(text)
        function = _called(error, found[1]) or (_find(found[1], missing) if "." in found[1] else None)
        return "" if function is None else f"{_signature_text(error, found[1], function)}{_of_class(error)}"
    return _value_hint(error, text)


def _block_hint(error: BaseException, kind: str) -> str:
    """For `with strategy.scope:`."""
    frame, line = last_frame_of_program(error)
    text = "" if frame is None else linecache.getline(frame.f_code.co_filename, line).strip()
    try:
        statement = ast.parse(f"{text} pass").body[0]
    except SyntaxError:
        return ""
    name = ast.unparse(statement.items[0].context_expr) if isinstance(statement, ast.With) else ""
    return f"{name} is a {'class' if kind == 'type' else kind}: is its call lacking, {name}()?" if name else ""


def _of_class(error: BaseException) -> str:
    """What was meant by a method that is called of its class, so that the first argument is taken for the object."""
    call, frame = failing_call(error)
    if call is None or frame is None or not isinstance(call.func, ast.Attribute):
        return ""
    owner = resolve(call.func.value, frame)
    if not isinstance(owner, type) or not inspect.isfunction(inspect.getattr_static(owner, call.func.attr, None)):
        return ""
    name = ast.unparse(call.func.value)
    return f" {call.func.attr} is a method: make the object first, {name}(...).{call.func.attr}(...)."


def _signature_text(error: BaseException, name: str, function: Callable[..., object]) -> str:
    """`one_hot takes indices, depth, ...; needed: indices, depth.`, by the name that the program calls it by."""
    call, frame = failing_call(error)
    called = None if call is None or frame is None else resolve(call.func, frame)
    made = {getattr(called, "__init__", None), getattr(called, "__new__", None)} if isinstance(called, type) else {called}
    if call is not None and any(callable(each) and inspect.unwrap(each) is inspect.unwrap(function) for each in made):
        name = ast.unparse(call.func)
    shown = name.removesuffix(".__init__").removesuffix(".__new__").split(".")[-1]
    taken = _taken(function)
    if not taken:
        return f"{shown} takes no arguments."
    if len(taken) == 1 and taken[0].endswith("s"):
        return f"{shown} takes one argument, {taken[0]}: several go into one tuple."
    needed = [p.name for p in _parameters(function) if p.default is p.empty and p.name in taken]
    rest = f"; needed: {', '.join(needed)}" if 0 < len(needed) < len(taken) else ""
    return f"{shown} takes {', '.join(taken)}{rest}."


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _taken(function: Callable[..., object]) -> list[str]:
    return [
        p.name
        for p in _parameters(function)
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in ("self", "cls")
    ]


def _attribute_hint(error: AttributeError) -> str:
    if sys.version_info >= (3, 12):
        return ""  # the traceback itself has it
    text, owner, name = str(error), error.obj, error.name
    kind = owner if isinstance(owner, type) else type(owner)
    if (
        isinstance(owner, ModuleType)
        or name is None
        or "Did you mean" in text
        or ": the op for it is " in text
        or not is_of_weft(kind)
    ):
        return ""
    return did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")]).lstrip()


def _import_hint(text: str) -> str:
    """The name, or the module inside, that was meant by one that a module of weft's has not."""
    found = _NO_NAME.search(text)
    module = None if found is None else sys.modules.get(found[2])
    if found is None or module is None or not found[2].startswith("weft."):
        return ""
    inside = [each.name for each in pkgutil.iter_modules(getattr(module, "__path__", []))]
    return did_you_mean(found[1], [*inside, *(each for each in dir(module) if not each.startswith("_"))]).lstrip()


def _message_attribute_hint(error: AttributeError, text: str) -> str:
    """For an attribute of a protocol buffer, of which protobuf says the name alone."""
    found, frame = failing(error)
    while isinstance(found, ast.Attribute) and found.attr != text:
        found = found.value
    if frame is None or not isinstance(found, ast.Attribute):
        return ""
    owner = value_of(found.value, frame)
    descriptor = getattr(owner, "DESCRIPTOR", None)
    if descriptor is None:
        return ""
    constants = [value.name for enum in descriptor.enum_types for value in enum.values] if isinstance(owner, type) else []
    known = [*(field.name for field in descriptor.fields), *constants]
    meant = did_you_mean(text, known).lstrip()
    return f"{descriptor.name} has no {text!r}. {meant or 'It has ' + ', '.join(known[:_SHOWN_FIELDS]) + '.'}"


def _key_hint(error: KeyError) -> str:
    """The keys of a dict of tensors, such as the features that weft gives to a function of the program."""
    key = error.args[0] if error.args else None
    found, frame = failing(error)
    if not isinstance(key, str) or not isinstance(found, ast.Subscript) or frame is None:
        return ""
    owner = resolve(found.value, frame)
    if type(owner) is not dict or not all(isinstance(each, str) for each in owner):
        return ""
    is_ours = any(is_of_weft(type(value)) for value in owner.values()) or _is_of_run(error, found.value, frame)
    if not is_ours and not did_you_mean(key, owner):
        return ""
    keys = ", ".join(repr(each) for each, _ in zip(owner, range(_SHOWN_FIELDS), strict=False))
    return f"{ast.unparse(found.value)} has {keys}{', ...' if len(owner) > _SHOWN_FIELDS else ''}.{did_you_mean(key, owner)}"


def _is_of_run(error: KeyError, owner: ast.expr, frame: FrameType) -> bool:
    """Whether a dict has values that a run gave, of a program or for a hook, or is what a method of weft's returned."""
    if isinstance(owner, ast.Attribute):
        return is_of_weft(type(resolve(owner.value, frame)))
    given = given_before(owner.id, frame, last_frame_of_program(error)[1]) if isinstance(owner, ast.Name) else None
    if given is None:
        return False
    return bool(fetched_by(*given)) or (isinstance(given[0], ast.Call) and is_of_weft(resolve(given[0].func, frame)))


def _field_hint(error: BaseException, message: str, field: str) -> str:
    known = _message(error, message)
    if known is None:
        return ""
    fields = [each.name for each in known.fields]
    inner = next((each for each in known.fields if field in getattr(each.message_type, "fields_by_name", ())), None)
    meant = did_you_mean(field, fields).lstrip()
    if inner is not None and inner.message_type is not None:
        return f"{meant} {inner.name} has it: {message}({inner.name}={inner.message_type.name}({field}=...)).".lstrip()
    if not meant and len(fields) == 1 and known.fields[0].message_type is not None:
        return f"{message} has {fields[0]}: {message}({fields[0]}={{...}})."
    return meant if meant or len(fields) > _SHOWN_FIELDS else f"{message} has {', '.join(fields)}."


def _message(error: BaseException, name: str) -> _Message | None:
    """The message that the program has called, or one of that name."""
    call, frame = failing_call(error)
    called = None if call is None or frame is None else resolve(call.func, frame)
    described: _Message | None = getattr(called, "DESCRIPTOR", None)
    if isinstance(called, type) and described is not None and described.name == name:
        return described
    return next((found.DESCRIPTOR for each in _message_modules() if (found := getattr(each, name, None)) is not None), None)


def _message_modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith(_MESSAGES)]


def _value_hint(error: BaseException, text: str) -> str:
    """For a value that a protocol buffer, or a name that is no function, has refused."""
    call, frame = failing_call(error)
    if call is None or frame is None:
        return ""
    called = resolve(call.func, frame)
    descriptor = getattr(called, "DESCRIPTOR", None) if isinstance(called, type) else _added_message(call.func, frame)
    if descriptor is not None:
        fields = {each.name: each for each in descriptor.fields}
        given = [fields[k.arg] for k in call.keywords if k.arg in fields]
        shown = ", ".join(_field_text(each) for each in given or fields.values())
        return f"{descriptor.name} takes {shown}.{_CONVERSIONS.get(_refused_kind(text), '')}"
    if _NOT_CALLABLE.search(text) and isinstance(call.func, ast.Attribute) and isinstance(called, property):
        return f"{ast.unparse(call.func)} is a value, no method: leave out the parentheses."
    if _NOT_CALLABLE.search(text) and is_tensor(called):
        return f"{ast.unparse(call.func)} is a tensor, and none is called: has the name of a function been used again for it?"
    return ""


def _added_message(function: ast.expr, frame: FrameType) -> _Message | None:
    """What `message.field.add(...)` makes; None for any other call."""
    if not isinstance(function, ast.Attribute) or function.attr != "add" or not isinstance(function.value, ast.Attribute):
        return None
    owner = getattr(value_of(function.value.value, frame), "DESCRIPTOR", None)
    field = None if owner is None else owner.fields_by_name.get(function.value.attr)
    return None if field is None else field.message_type


def _refused_kind(text: str) -> str:
    """What protobuf has refused, in a word."""
    if "must be real number, not str" in text:
        return "number"
    return "text" if "str found" in text else "array" if "ndarray" in text else "fraction" if "as an integer" in text else ""


def _field_text(field: _Field) -> str:
    """`value, a list of int64`, of a field's description."""
    kind = field.message_type.name if field.message_type is not None else _KINDS[field.type]
    return f"{field.name}, a list of {kind}" if _is_list(field) else f"{field.name} of type {kind}"


def _is_list(field: _Field) -> bool:
    repeated: bool | None = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if repeated is None else repeated


# The types of fields by their numbers, in the words of .proto files.
_KINDS: Final = dict(
    enumerate(
        (
            *("?", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message"),
            *("bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"),
        )
    )
)


def _called(error: BaseException, name: str) -> Callable[..., object] | None:
    """The function of weft that the program's failing call names, if it is the one of the error."""
    call, frame = failing_call(error)
    found = None if call is None or frame is None else resolve(call.func, frame)
    if not callable(found) or not is_of_weft(found):
        return None
    names = {getattr(found, "__qualname__", ""), getattr(found, "__name__", "")}
    if code := getattr(inspect.unwrap(found), "__code__", None):
        names.add(code.co_qualname)  # a function may go by another name than the one that it was defined by
    if isinstance(found, type):
        names = {f"{each.__qualname__}.{maker}" for each in found.__mro__ for maker in ("__init__", "__new__")}
    return found if name in names else None


def _seen_by_caller(error: BaseException, name: str) -> Callable[..., object] | None:
    """The function of weft of this name that the frame has which called it: modules may have others so named."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    seen = (*trace.tb_frame.f_locals.values(), trace.tb_frame.f_globals.get(name))
    return next((each for each in seen if inspect.isfunction(each) and each.__name__ == name and is_of_weft(each)), None)


def _find(name: str, missing: Sequence[str] = ()) -> Callable[..., object] | None:
    """A function of that name in weft, for a call whose line is not to be had; one that cannot do without those arguments."""
    owner, _, method = name.rpartition(".")
    for found in named_in_weft(owner or method):
        function = getattr(found, method, None) if owner else found
        if inspect.isfunction(function) and is_of_weft(function):
            needed = [each.name for each in _parameters(function) if each.default is each.empty]
            if set(missing) <= set(needed):
                return function
    return None
