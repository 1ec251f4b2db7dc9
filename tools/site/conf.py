"""Sphinx's settings for the site."""

from __future__ import annotations

import importlib.metadata
import os

project = "weft"
author = "The weft authors"
copyright = "The weft authors"
version = release = importlib.metadata.version("weft")

extensions = ["myst_nb", "sphinx.ext.githubpages", "tools.site.name_links"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["docs/contents.md", "examples/**"]

html_theme = "furo"
html_title = f"weft {version}"
html_copy_source = False
highlight_language = "python"
# A parameter stands on a line of its own where all do not fit on one.
python_maximum_signature_line_length = 100
# Each page begins with a table of its names; in the contents of all pages they would be thousands.
toc_object_entries = False

nb_execution_mode = "off" if os.environ.get("SITE_STORED_OUTPUTS") else "force"
nb_execution_timeout = 200
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # log lines
nb_merge_streams = True
# As `make notebooks` has it: tracebacks name the cell.
os.environ["IPYKERNEL_CELL_NAME"] = "<cell>"
