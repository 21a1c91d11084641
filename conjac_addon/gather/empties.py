"""Empties that a list of the settings points at and that are followed over the frames."""

from __future__ import annotations

import bpy

from ...solver.errors import BadInput
from ..handles import is_empty
from .evaluation import Evaluation


def check_empty(evaluation: Evaluation, candidate: bpy.types.Object, what: str) -> None:
    """Raises BadInput unless it is an Empty that moves. what: its role for the evaluation's object, a word."""
    role = f'it is a {what} of "{evaluation.object.name}"'
    if not is_empty(None, candidate):
        raise BadInput(f"{role} and a {candidate.type.title()}", f"Choose an Empty, or remove the {what}",
                       candidate.name)
    evaluation.check_enabled(candidate, role)
