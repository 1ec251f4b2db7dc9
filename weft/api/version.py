"""tf.version: versions of the API and of graphs."""

from __future__ import annotations

from weft.framework.graphs.graph import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from weft.framework.version import COMPILER_VERSION as COMPILER_VERSION
from weft.framework.version import GIT_VERSION as GIT_VERSION
from weft.framework.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.framework.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from weft.framework.version import VERSION as VERSION
from weft.framework.version import WEFT_VERSION as WEFT_VERSION
