"""tf.contrib.tensorboard.plugins.projector: embeddings that TensorBoard shows. This module only re-exports."""

from __future__ import annotations

from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo as EmbeddingInfo
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig as ProjectorConfig
from tensorboard.plugins.projector.projector_config_pb2 import SpriteMetadata as SpriteMetadata

from weft.events.projector import visualize_embeddings as visualize_embeddings
