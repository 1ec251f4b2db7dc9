"""The operations, one module per family; each op is declared once: kernel, shape rule and gradient together."""
