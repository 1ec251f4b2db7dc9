"""Linear operators: matrices told by their structure, and what can be computed of them without all their entries."""
