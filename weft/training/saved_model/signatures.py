"""Signatures of a SavedModel: which tensors go in and come out for one way to ask the model."""

from __future__ import annotations

from collections.abc import Mapping

from tensorboard.compat.proto import meta_graph_pb2, types_pb2
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef, TensorInfo

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.training.saved_model import layout


def build_tensor_info(tensor: Tensor | SparseTensor) -> TensorInfo:
    """Describe a tensor or a sparse tensor of a graph: its name, dtype and shape.

    Args:
        tensor: the tensor; of a SparseTensor all three parts are named.

    Returns:
        A new TensorInfo.
    """
    dtype = tensor.dtype.base_dtype.as_datatype_enum
    if isinstance(tensor, SparseTensor):
        info = TensorInfo(dtype=dtype, tensor_shape=tensor.get_shape().as_proto())
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        return info
    return TensorInfo(name=tensor.name, dtype=dtype, tensor_shape=tensor.get_shape().as_proto())


def build_tensor_info_from_op(op: Operation) -> TensorInfo:
    """Describe an operation, as for a signature that names one to be run.

    Args:
        op: the operation.

    Returns:
        A new TensorInfo with the operation's name, of no dtype and of unknown rank, as TensorFlow writes it.
    """
    return TensorInfo(name=op.name, dtype=types_pb2.DT_INVALID, tensor_shape=TensorShape(None).as_proto())


def get_tensor_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph | None = None, import_scope: str | None = None
) -> Tensor | SparseTensor:
    """Find the tensor of a graph that a TensorInfo describes.

    Args:
        tensor_info: the description.
        graph: the graph to look in; the default graph when None.
        import_scope: the scope under which the described graph was imported, which goes before the names.

    Returns:
        The tensor, or a SparseTensor of three.

    Raises:
        KeyError: the graph has none of this name.
        ValueError: the TensorInfo describes neither a tensor nor a sparse one.
    """
    graph = graph or get_default_graph()

    def find(name: str) -> Tensor:
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            find(sparse.indices_tensor_name), find(sparse.values_tensor_name), find(sparse.dense_shape_tensor_name)
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:
    """Describe one way to ask a model: what goes in and comes out, by name, and the method that a server offers it as.

    Args:
        inputs, outputs: TensorInfos by the names that requests use; none when None.
        method_name: a method of tf.saved_model.signature_constants, such as PREDICT_METHOD_NAME.

    Returns:
        A new SignatureDef.
    """
    signature = SignatureDef(method_name=method_name or "")
    for given, target in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name, info in (given or {}).items():
            target[name].CopyFrom(info)
    return signature


def predict_signature_def(inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> SignatureDef:
    """The signature of a prediction.

    Args:
        inputs, outputs: tensors by the names that requests use, of any shapes and dtypes.

    Raises:
        ValueError: there are no inputs or no outputs.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_described(inputs), _described(outputs), layout.PREDICT_METHOD_NAME)


def _described(tensors: Mapping[str, Tensor]) -> dict[str, TensorInfo]:
    for name, tensor in tensors.items():
        if not hasattr(tensor, "dtype"):
            kind = type(tensor).__name__
            raise AttributeError(
                f"{kind!r} object has no attribute 'dtype': {name!r} of a signature must be a tensor, got {tensor!r}"
            )
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def regression_signature_def(examples: Tensor, predictions: Tensor) -> SignatureDef:
    """The signature of a regression: serialized Examples (strings) to predictions (float32).

    Args:
        examples: `[batch]` strings.
        predictions: `[batch]` or `[batch, 1]` float32.

    Raises:
        ValueError: one of them is missing or has another dtype.
    """
    if examples is None or predictions is None:
        raise ValueError(f"Regression {'examples' if examples is None else 'predictions'} cannot be None.")
    _check_dtype(examples, dtypes.string, "Regression input")
    _check_dtype(predictions, dtypes.float32, "Regression output")
    inputs = {layout.REGRESS_INPUTS: build_tensor_info(examples)}
    return build_signature_def(inputs, {layout.REGRESS_OUTPUTS: build_tensor_info(predictions)}, layout.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Tensor, classes: Tensor | None, scores: Tensor | None) -> SignatureDef:
    """The signature of a classification: serialized Examples (strings) to classes (strings), scores (float32) or both.

    Args:
        examples: `[batch]` strings.
        classes: `[batch, classes]` strings, or None.
        scores: `[batch, classes]` float32, or None.

    Raises:
        ValueError: there is neither, or one has another dtype.
    """
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    _check_dtype(examples, dtypes.string, "Classification input")
    outputs: dict[str, TensorInfo] = {}
    if classes is not None:
        _check_dtype(classes, dtypes.string, "Classification classes")
        outputs[layout.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        _check_dtype(scores, dtypes.float32, "Classification scores")
        outputs[layout.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    inputs = {layout.CLASSIFY_INPUTS: build_tensor_info(examples)}
    return build_signature_def(inputs, outputs, layout.CLASSIFY_METHOD_NAME)


def _check_dtype(tensor: Tensor, wanted: dtypes.DType, what: str) -> None:
    if tensor.dtype.base_dtype is not wanted:
        raise ValueError(f"{what} tensors must be of type {wanted.name}; {tensor.name!r} is {tensor.dtype.name}.")


def is_valid_signature(signature_def: SignatureDef | None) -> bool:
    """Whether a signature has what a server needs for its method.

    Args:
        signature_def: the SignatureDef; None is not valid.

    Returns:
        True for a prediction with inputs and outputs, and for a classification or regression with the names and dtypes that
        these have; False for another method.
    """
    if signature_def is None:
        return False
    inputs, outputs = signature_def.inputs, signature_def.outputs
    string, floats = dtypes.string.as_datatype_enum, dtypes.float32.as_datatype_enum
    match signature_def.method_name:
        case layout.CLASSIFY_METHOD_NAME:
            allowed = {layout.CLASSIFY_OUTPUT_CLASSES: string, layout.CLASSIFY_OUTPUT_SCORES: floats}
            return (
                set(inputs) == {layout.CLASSIFY_INPUTS}
                and inputs[layout.CLASSIFY_INPUTS].dtype == string
                and bool(outputs)
                and all(allowed.get(name) == info.dtype for name, info in outputs.items())
            )
        case layout.REGRESS_METHOD_NAME:
            return (
                set(inputs) == {layout.REGRESS_INPUTS}
                and inputs[layout.REGRESS_INPUTS].dtype == string
                and set(outputs) == {layout.REGRESS_OUTPUTS}
                and outputs[layout.REGRESS_OUTPUTS].dtype == floats
            )
        case layout.PREDICT_METHOD_NAME:
            return bool(inputs) and bool(outputs)
        case _:
            return False


def op_signature_def(op: Operation | Tensor, key: str) -> SignatureDef:
    """The signature that names an operation to be run, such as the one that makes a loaded model ready.

    Args:
        op: the operation, or a tensor that does the same when it is fetched.
        key: the output's name under which the signature holds it.
    """
    info = build_tensor_info(op) if isinstance(op, Tensor) else build_tensor_info_from_op(op)
    return build_signature_def(outputs={key: info})


def load_op_from_signature_def(signature_def: SignatureDef, key: str, import_scope: str | None = None) -> Operation | Tensor:
    """Find the operation of the default graph that a signature names under a key.

    Args:
        signature_def: the signature, as `op_signature_def` makes it.
        key: the key in its outputs.
        import_scope: the scope under which the graph was imported.

    Returns:
        The operation, or the tensor when the signature names one.

    Raises:
        NotFoundError: the signature or the graph has none.
    """
    name = signature_def.outputs[key].name
    found: Operation | Tensor = get_default_graph().as_graph_element(f"{import_scope}/{name}" if import_scope else name)
    return found


def check_signatures(signatures: Mapping[str, meta_graph_pb2.SignatureDef] | None) -> None:
    """Check what a model is about to be saved with.

    Raises:
        KeyError: a signature has a key that the format uses itself.
        AssertionError: a TensorInfo has no name or no dtype.
    """
    for key, signature in (signatures or {}).items():
        if key in (layout.INIT_OP_SIGNATURE_KEY, layout.TRAIN_OP_SIGNATURE_KEY):
            raise KeyError(f"SignatureDef map key {key!r} is reserved for the format itself. Please use a different key.")
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            if info.WhichOneof("encoding") is None:
                raise AssertionError(
                    f"All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name or "
                    f"coo_sparse) set, and be of a dtype: {info}"
                )
            if info.dtype == 0:
                raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}")
