"""The listings of `weft saved-model show`, in the form in which `saved_model_cli` prints them: scripts parse it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef, TensorInfo
from tensorboard.compat.proto.types_pb2 import DataType

from weft.training.saved_model.loader import graph_with_tags, parse_saved_model


def show_tag_sets(folder: str) -> None:
    """Print the tags of each graph."""
    found = sorted(_tags_of(graph) for graph in parse_saved_model(folder).meta_graphs)
    print("The given SavedModel contains the following tag-sets:")
    for tags in found:
        print(", ".join(tags))


def show_signature_keys(folder: str, tag_set: str) -> None:
    """Print the keys of one graph's signatures."""
    found = sorted(find_graph(folder, tag_set).signature_def)
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in found:
        print(f'SignatureDef key: "{key}"')


def show_signature(folder: str, tag_set: str, key: str) -> None:
    """Print the inputs and outputs of one signature."""
    print("\n".join(_signature_lines(find_signature(find_graph(folder, tag_set), key))))


def show_all(folder: str) -> None:
    """Print all signatures of all graphs."""
    for graph in sorted(parse_saved_model(folder).meta_graphs, key=_tags_of):
        print(f"\nMetaGraphDef with tag-set: '{', '.join(_tags_of(graph))}' contains the following SignatureDefs:")
        for key in sorted(graph.signature_def):
            print(f"\nsignature_def['{key}']:")
            print("\n".join(f"  {line}" for line in _signature_lines(graph.signature_def[key])))


def find_graph(folder: str, tag_set: str) -> MetaGraphDef:
    """The graph of a model with the tags, which commas separate.

    Raises:
        OSError: there is no model.
        RuntimeError: none of its graphs has these tags.
    """
    return graph_with_tags(parse_saved_model(folder), set(tag_set.split(",")), folder)


def find_signature(graph: MetaGraphDef, key: str) -> SignatureDef:
    """A signature by its key.

    Raises:
        ValueError: there is none.
    """
    if key not in graph.signature_def:
        raise ValueError(f"the model has no signature {key!r}; it has {sorted(graph.signature_def) or 'none'}")
    return graph.signature_def[key]


def _tags_of(graph: MetaGraphDef) -> list[str]:
    return sorted(graph.meta_info_def.tags)


def _signature_lines(signature: SignatureDef) -> Iterable[str]:
    yield "The given SavedModel SignatureDef contains the following input(s):"
    yield from _tensor_lines("inputs", signature.inputs)
    yield "The given SavedModel SignatureDef contains the following output(s):"
    yield from _tensor_lines("outputs", signature.outputs)
    yield f"Method name is: {signature.method_name}"


def _tensor_lines(kind: str, tensors: Mapping[str, TensorInfo]) -> Iterable[str]:
    for name in sorted(tensors):
        info = tensors[name]
        yield f"  {kind}['{name}'] tensor_info:"
        yield f"      dtype: {DataType.Name(info.dtype)}"
        yield f"      shape: {_shape_text(info)}"
        yield f"      name: {info.name or info.coo_sparse.values_tensor_name}"


def _shape_text(info: TensorInfo) -> str:
    if info.tensor_shape.unknown_rank:
        return "unknown_rank"
    return f"({', '.join(str(dim.size) for dim in info.tensor_shape.dim)})"
