"""Input functions made of arrays and data frames."""
