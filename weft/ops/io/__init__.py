"""Files and records: readers, parsers, checkpoints."""
