"""Servers of one process, which reach each other without a transport."""
