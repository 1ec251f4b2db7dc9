"""Models in the clothes of other libraries."""
