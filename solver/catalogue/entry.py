"""Entries of the catalogue and their parameters. Standard library only."""

from __future__ import annotations

import importlib
from typing import Any

from .capabilities import CAPABILITIES
from .record import Record

_ROOT = (__package__ or "").rpartition(".")[0]  #: `solver`, whatever it is called where it runs


class Param(Record):
    """One number or switch that a user sets, in SI units."""

    key: str
    label: str  #: Title Case
    sentence: str  #: tooltip, no full stop
    default: float | int | bool
    unit: str = ""  #: "m", "s", "Pa", "kg/m³", "N/m", or "" for a plain number
    low: float | None = None  #: hard limits, inclusive
    high: float | None = None
    soft_low: float | None = None  #: what a slider shows
    soft_high: float | None = None
    needs: str = ""  #: key of the switch without which it has no effect
    field: bool = False  #: may be painted: the scene takes {low, high, weights} as well as a number


class Entry(Record):
    """One choice of a family."""

    family: str
    key: str
    path: str  #: "module.path:Name" inside `solver` (or `conjac_addon` for exports and maps)
    label: str
    sentence: str
    params: tuple[Param, ...] = ()  #: of a map: the parameters it blends; see `maps` for the others
    can: tuple[str, ...] = ()  #: words of CAPABILITIES that are not usual in its family
    lacks: tuple[tuple[str, str], ...] = ()  #: usual capabilities that it lacks, each with a clause that explains why
    follows: str = ""  #: of a method: what follows what instead of moving on its own, a clause; "" where nothing does
    steps: tuple[str, ...] = ()  #: of a method: keys of the integrators that step it; none where all do
    leaves_out: str = ""  #: of a method: what it does not simulate, a clause; "" where it simulates all
    hidden: bool = False  #: for scripts and measurements alone: in no menu
    reads: tuple[str, ...] = ()  #: of a cut, a shape or a constraint: the fields of scene.json that it reads
    rates: tuple[str, ...] = ()  #: of a joint: "angle" or "length" of each of its rates, in their order
    motions: tuple[str, ...] = ()  #: of a joint: what each rate does to the child in the joint's frame, see MOTIONS
    number: int | None = None  #: in its family for ever, for files that keep the choice; None for maps of fields

    def able(self, capability: str) -> bool:
        """Return whether the entry has a capability of its family. Raises KeyError for an unknown capability."""
        return not self.why_not(capability) if CAPABILITIES[capability].is_usual else capability in self.can

    def why_not(self, capability: str) -> str:
        """Return the clause that explains why the entry lacks a usual capability; "" where it has the capability."""
        return dict(self.lacks).get(capability, "")

    def load(self, package: str | None = None) -> Any:
        """Return the class or function of the entry, imported now. package: root from which its path starts; None: the
        solver."""
        return load_path(self.path, package)


def load_path(path: str, package: str | None = None) -> Any:
    """Return a class or function, imported now. path: "module.path:Name". package: root from which the path starts;
    None: the solver."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(f"{package or _ROOT}.{module}"), name)
