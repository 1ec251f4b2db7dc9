"""A Sphinx extension: public names lead to their places in the reference, in text (`tf.train.Saver`) and in signatures."""

from __future__ import annotations

import re
from typing import Any, Final

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_NAME: Final = re.compile(r"tf(?:\.\w+)+")


class NameLinks(SphinxPostTransform):
    """Links the names that the reference has: those in code font that are not links or headings, and the types of parameters.

    Sphinx would look for a type that it does not find among the ends of all names, once for each parameter.
    """

    default_priority = 5  # before Sphinx resolves references

    def run(self, **kwargs: Any) -> None:
        """Change the document."""
        for literal in list(self.document.findall(nodes.literal)):
            if not isinstance(literal.parent, nodes.reference | nodes.title | addnodes.pending_xref):
                name = literal.astext().split("(")[0]
                literal.replace_self(self._linked(name, literal) if _NAME.fullmatch(name) else literal)
        for signature in list(self.document.findall(addnodes.desc_signature)):
            for reference in list(signature.findall(addnodes.pending_xref)):
                shown = nodes.inline("", "", *reference.children)
                reference.replace_self(self._linked(f"tf.{reference['reftarget']}", shown))

    def _linked(self, name: str, shown: nodes.Element) -> nodes.Element:
        """What is shown, as a link if the reference has the name."""
        found = self.env.domains.python_domain.objects.get(name)
        if found is None:
            return shown
        return make_refnode(self.app.builder, self.env.docname, found.docname, found.node_id, shown.deepcopy(), name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the transform."""
    app.add_post_transform(NameLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
