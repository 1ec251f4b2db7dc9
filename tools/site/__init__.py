"""The documentation site: `python -m tools.site` gathers the pages, writes the API reference, and lets Sphinx build both."""
