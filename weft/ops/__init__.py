"""The operations, one package per family; each op is declared once: kernel, shape rule and gradient together."""
