"""The master: sessions, the plans of their steps, and the steps."""
