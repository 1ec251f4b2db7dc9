"""Predictors: functions of NumPy arrays by name that run a signature of a SavedModel in a session of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef

from weft.client.session import Session
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.platform.logs import tf_logging
from weft.training.saved_model.loader import graph_with_tags, load, parse_saved_model

DEFAULT_KEY = "serving_default"


class Runs(Protocol):
    """What runs a graph: a session of any kind."""

    def run(self, fetches: Nest, feed_dict: Nest = None) -> Nest:
        """The values of `fetches`."""


class Predictor:
    """A function of arrays by name, whose result is a dict of arrays by name; it holds a session.

    Args:
        graph: the graph.
        session: runs it.
        input_names, output_names: names of its tensors by the names to use for them.
    """

    def __init__(self, graph: Graph, session: Runs, input_names: Mapping[str, str], output_names: Mapping[str, str]) -> None:
        self.graph, self.session = graph, session
        self.feed_tensors = self._tensors(input_names)
        self.fetch_tensors = self._tensors(output_names)

    def _tensors(self, names: Mapping[str, str]) -> dict[str, Tensor]:
        return {key: self.graph.get_tensor_by_name(name) for key, name in names.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self.feed_tensors} and fetch_tensors {self.fetch_tensors}"

    def __call__(self, input_dict: Mapping[str, object]) -> Nest:
        """The outputs for these inputs, arrays by name both; what is None or left out keeps its default.

        Raises:
            ValueError: there is no input of a name.
        """
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self.feed_tensors)}")
        feeds = {self.feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        return self.session.run(self.fetch_tensors, feeds)


class SavedModelPredictor(Predictor):
    """The predictor of a SavedModel.

    Args:
        export_dir: the SavedModel's folder.
        signature_def_key: the signature; "serving_default" when None.
        signature_def: a signature to use in place of one of the SavedModel's.
        input_names, output_names: names of tensors by the names to use for them, in place of a signature.
        tags: the tags of the graph, with commas between them; "serve" when None.
        graph: the graph to load into; a new one when None.
        config: of the session.

    Raises:
        ValueError: there is more than one of key, signature and names, or no such signature.
        OSError: there is no SavedModel.
        RuntimeError: no graph has these tags.
    """

    def __init__(
        self,
        export_dir: str,
        signature_def_key: str | None = None,
        signature_def: SignatureDef | None = None,
        input_names: Mapping[str, str] | None = None,
        output_names: Mapping[str, str] | None = None,
        tags: str | None = None,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
    ) -> None:
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both be unspecified.")
        if sum(each is not None for each in (signature_def_key, signature_def, input_names)) > 1:
            raise ValueError(
                "You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names)."
            )
        wanted = [tag.strip() for tag in (tags or "serve").split(",")]
        if input_names is None or output_names is None:
            # Before there is a session, which a mistake would leave open.
            meta_graph = graph_with_tags(parse_saved_model(export_dir), set(wanted), export_dir)
            signature = signature_def or _signature(meta_graph, signature_def_key or DEFAULT_KEY)
            input_names, output_names = signature_names(signature)
        graph = graph or Graph()
        with graph.as_default():
            session = Session(config=config)
            load(session, wanted, export_dir)
        super().__init__(graph, session, input_names, output_names)


def signature_names(signature: SignatureDef) -> tuple[dict[str, str], dict[str, str]]:
    """The names of the tensors of a signature's inputs and outputs, by the signature's names for them."""
    inputs, outputs = ({name: info.name for name, info in infos.items()} for infos in (signature.inputs, signature.outputs))
    return inputs, outputs


def _signature(meta_graph: MetaGraphDef, key: str) -> SignatureDef:
    # Estimators of older TensorFlows saved their signatures by such names.
    older = f"default_input_alternative:{key}"
    if key in meta_graph.signature_def:
        return meta_graph.signature_def[key]
    if older not in meta_graph.signature_def:
        raise ValueError(f'Got signature_def_key "{key}". Available signatures are {sorted(meta_graph.signature_def)}.')
    tf_logging.warning('Could not find signature def "%s". Using "%s" instead', key, older)
    return meta_graph.signature_def[older]


def from_saved_model(
    export_dir: str,
    signature_def_key: str | None = None,
    signature_def: SignatureDef | None = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> SavedModelPredictor:
    """A function of feeds by name that runs a SavedModel in a graph and a session of its own.

    Args:
        export_dir: the folder of the SavedModel.
        signature_def_key: which signature; "serving_default" when None.
        signature_def: a SignatureDef to use in place of one of the model's.
        input_names, output_names: names of tensors by the keys that calls use, in place of a signature; both or none.
        tags: the tags of the graph, with commas between; "serve" when None.
        graph: the graph to load into; a new one when None.
        config: the ConfigProto of the session.

    Raises:
        ValueError: more than one of the ways to say which tensors is used, or the model has no such signature.
    """
    return SavedModelPredictor(export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config)
