"""What a SavedModel holds, without loading it."""

from __future__ import annotations

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from weft.proto.saved_model_pb2 import SavedModel
from weft.training.saved_model.loader import parse_saved_model


def read_saved_model(saved_model_dir: str) -> SavedModel:
    """The SavedModel proto in a folder.

    Raises:
        OSError: there is none, or it cannot be parsed.
    """
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """The tags of each graph in a SavedModel, as a list of lists.

    Raises:
        OSError: there is none, or it cannot be parsed.
    """
    return [list(graph.meta_info_def.tags) for graph in parse_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> MetaGraphDef:
    """The graph of a SavedModel that has exactly these tags.

    Args:
        saved_model_dir: the folder.
        tag_set: the tags, separated by commas, in any order.

    Raises:
        OSError: there is no SavedModel, or it cannot be parsed.
        RuntimeError: it has no graph with these tags.
    """
    wanted = set(tag_set.split(","))
    graphs = parse_saved_model(saved_model_dir).meta_graphs
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    there = " and ".join(",".join(graph.meta_info_def.tags) for graph in graphs) or "no graphs"
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel {saved_model_dir}: it has {there}"
    )
