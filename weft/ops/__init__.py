"""The operations, one package per family; each op is declared once: kernel, shape rule and gradient together."""

from weft.framework.registry.op_registry import load_when_missing

for _family in (
    "data_flow.barrier", "data_flow.staging", "foreign", "forest.growth_nodes", "forest.tree_nodes", "image.projection",
    "nn.beam_search", "process.memory", "signal.audio_files", "signal.speech_features", "sparse.least_squares",
    "trees.ensemble_nodes", "trees.quantile_nodes",
):  # fmt: skip
    load_when_missing(f"weft.ops.{_family}")
