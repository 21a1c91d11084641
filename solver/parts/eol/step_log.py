"""Counts and sentences of steps of sliding cloth."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...state import Vec


@dataclass
class StepLog:
    """Counts of all steps since the last report."""

    substeps: int = 0
    factored: int = 0
    one_by_one: int = 0
    rounds: int = 0  #: of what pushes
    sentences: list[str] = field(default_factory=list)
    _reported: set[str] = field(default_factory=set)

    def once(self, what: str, sentence: str) -> None:
        """Report an event of which it is enough to know that it happened, and where first."""
        if what not in self._reported:
            self._reported.add(what)
            self.sentences.append(sentence)


def place_of(x: Vec) -> str:
    """For messages."""
    return "(" + ", ".join(f"{c:.4g}" for c in x) + ") m"
