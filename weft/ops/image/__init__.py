"""Images: files' contents to pixels and back, and what is done to pixels."""
