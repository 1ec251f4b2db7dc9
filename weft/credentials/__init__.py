"""Credentials of a cluster: the token or the certificates by which its tasks and clients know each other."""
