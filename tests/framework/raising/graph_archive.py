"""GraphArchive: writes graphs, and what TensorFlow computes with them, for the tests beside it.

The scripts that import it run where a TensorFlow is installed, Python 3.7 among them, and nothing of weft is.
"""

import json
import zipfile

import numpy as np


class GraphArchive:
    """Functions that each build a graph, and the archive of what came of them.

    Args:
        tf: TensorFlow, in its API of version 1.
    """

    def __init__(self, tf):
        self._tf = tf
        self._builds = []

    def graph(self, build):
        """Take a function that builds a graph and returns its fetches and the feeds of its runs."""
        self._builds.append(build)
        return build

    def scalar(self):
        """A placeholder of one number, `x`."""
        return self._tf.placeholder(self._tf.float32, [], name="x")

    def write(self, path):
        """Build and run each graph; write it and its values as two files named after its function."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for build in self._builds:
                with self._tf.Graph().as_default() as made, self._tf.Session() as session:
                    case = self._case(session, *build())
                    archive.writestr(build.__name__ + ".pb", made.as_graph_def().SerializeToString())
                    archive.writestr(build.__name__ + ".json", json.dumps(case))

    def _case(self, session, fetches, feeds):
        initializer = self._tf.global_variables_initializer()
        session.run(initializer)
        values = [[np.asarray(value).tolist() for value in session.run(fetches, feed)] for feed in feeds]
        return {"fetches": [t.name for t in fetches], "feeds": feeds, "values": values, "initializer": initializer.name}
