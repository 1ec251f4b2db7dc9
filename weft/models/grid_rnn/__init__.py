"""Grids of recurrent cells: a network along each of several dimensions."""
