"""The ops that control flow is made of; what runs functions, or lives in loops, is tested with the functions that build it."""

from __future__ import annotations

from weft.testing.op_checks import Case

CASES: list[Case] = []

_RUNS_FUNCTIONS = "runs functions and has no kernel; see test_cond and test_while_loop"
_IN_LOOPS = "holds a TensorArray's elements; see test_tensor_array"
_GRADIENTS = "serves gradients of TensorArrays; the differential programs of the language have it"

_OF_TENSORFLOWS_LOOPS = "takes or makes a list or an optional behind a variant; the graphs of tests/framework/raising have it"

WITHOUT_CASE = {
    "ControlTrigger": "does nothing; the graphs of tests/framework/raising have it",
    "StatelessIf": _RUNS_FUNCTIONS,
    "StatelessWhile": _RUNS_FUNCTIONS,
    "RecordedValue": "takes one iteration's value out of a stack; see test_while_loop",
    "RecordedValueGrad": "is the gradient of RecordedValue; see test_while_loop",
    "BranchValue": "hands on what a branch computed; see test_cond",
    "NoValue": "stands for a value that only the other branch has; see test_cond",
    "DynamicSliceGrad": "is the gradient of a slice that moves in a loop; see test_while_loop",
    "TensorBuffer": _IN_LOOPS,
    "BufferUnstack": _IN_LOOPS,
    "BufferStack": _IN_LOOPS,
    "BufferWrite": _IN_LOOPS,
    "GrowingBufferWrite": _IN_LOOPS,
    "BufferRead": _IN_LOOPS,
    "BufferScatter": _IN_LOOPS,
    "BufferGather": _IN_LOOPS,
    "BufferConcat": _IN_LOOPS,
    "BufferSplit": _IN_LOOPS,
    "BufferZeros": _GRADIENTS,
    "BufferReadGrad": _GRADIENTS,
    "BufferAddElement": _GRADIENTS,
    "BufferConcatGrad": _GRADIENTS,
    "BufferGatherGrad": _GRADIENTS,
    "BufferSplitGrad": _GRADIENTS,
    "GrowingBufferScatter": _GRADIENTS,
    **dict.fromkeys(
        (
            "EmptyTensorList",
            "OptionalFromValue",
            "OptionalGetValue",
            "OptionalHasValue",
            "OptionalNone",
            "TensorListConcatLists",
            "TensorListConcatV2",
            "TensorListElementShape",
            "TensorListFromTensor",
            "TensorListGather",
            "TensorListGetItem",
            "TensorListLength",
            "TensorListPopBack",
            "TensorListPushBack",
            "TensorListReserve",
            "TensorListResize",
            "TensorListScatter",
            "TensorListScatterIntoExistingList",
            "TensorListScatterV2",
            "TensorListSetItem",
            "TensorListSplit",
            "TensorListStack",
        ),
        _OF_TENSORFLOWS_LOOPS,
    ),
}

_BUFFERS = "TensorFlow keeps a TensorArray behind a resource; here its elements are a tensor"

OWN_OPS = {
    "RecordingWhile": "a While that also returns what its gradient needs; TensorFlow uses TensorLists",
    "RecordedValue": "reads what a RecordingWhile returned",
    "RecordedValueGrad": "the gradient of RecordedValue",
    "BranchValue": "hands on what a branch computed",
    "NoValue": "TensorFlow uses optional values for it",
    "DynamicSliceGrad": "TensorFlow pads, by paddings that would have to be known when compiling",
    "TensorBuffer": _BUFFERS,
    "BufferUnstack": _BUFFERS,
    "BufferStack": _BUFFERS,
    "BufferWrite": _BUFFERS,
    "GrowingBufferWrite": _BUFFERS,
    "BufferRead": _BUFFERS,
    "BufferScatter": _BUFFERS,
    "BufferGather": _BUFFERS,
    "BufferConcat": _BUFFERS,
    "BufferGatherGrad": _BUFFERS,
    "BufferConcatGrad": _BUFFERS,
    "BufferSplit": _BUFFERS,
    "BufferSplitGrad": _BUFFERS,
    "BufferZeros": _BUFFERS,
    "BufferReadGrad": _BUFFERS,
    "BufferAddElement": _BUFFERS,
    "GrowingBufferScatter": _BUFFERS,
}
