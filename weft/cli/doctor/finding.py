"""Findings: what the doctor looked at, how it is, and what helps where it is not well."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Health(enum.Enum):
    """How something is. A warning may be meant so; a problem keeps programs from running."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, what was found, and the remedy where it is not well."""

    subject: str
    found: str
    health: Health = Health.OK
    remedy: str = ""

    def __str__(self) -> str:
        first = f"{self.health.value:8} {self.subject}: {' '.join(self.found.split())}"
        return f"{first}\n{'':9}-> {self.remedy}" if self.remedy else first


def warning(subject: str, found: str, remedy: str) -> Finding:
    """A finding that may be meant so."""
    return Finding(subject, found, Health.WARNING, remedy)


def problem(subject: str, found: str, remedy: str) -> Finding:
    """A finding that keeps programs from running."""
    return Finding(subject, found, Health.PROBLEM, remedy)
