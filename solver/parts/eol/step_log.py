"""Counts and messages of steps of sliding cloth."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...state import Vec


@dataclass
class StepLog:
    """Counts and messages of all steps since the last report."""

    substeps: int = 0
    factored: int = 0
    one_by_one: int = 0
    barrier_iterations: int = 0  #: of barrier contact
    sentences: list[str] = field(default_factory=list)
    _reported: set[str] = field(default_factory=set)

    def once(self, what: str, sentence: str) -> None:
        """Add a message unless there was one of this kind. what: the kind."""
        if what not in self._reported:
            self._reported.add(what)
            self.sentences.append(sentence)


def format_position(x: Vec) -> str:
    """Return a position (3,) [m] as text for messages."""
    return "(" + ", ".join(f"{c:.4g}" for c in x) + ") m"
