"""Bijectors: invertible functions that carry a distribution over to another one."""
