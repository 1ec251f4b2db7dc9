"""Variables as nodes: what holds them, reads them and updates them, by reference and by handle."""
