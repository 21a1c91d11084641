"""What an entry of the catalogue says. Standard library only."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

_ROOT = (__package__ or "").rpartition(".")[0]  #: `solver`, whatever it is called where it runs


@dataclass(frozen=True)
class Param:
    """One number or switch that a user sets. SI units."""

    key: str
    label: str  #: Title Case
    sentence: str  #: tooltip, no full stop
    default: float | int | bool
    unit: str = ""  #: "m", "s", "Pa", "kg/m³", "N/m", or "" for a plain number
    low: float | None = None  #: hard limits, inclusive
    high: float | None = None
    soft_low: float | None = None  #: what a slider shows
    soft_high: float | None = None
    needs: str = ""  #: key of the switch without which it means nothing
    field: bool = False  #: may be painted: the scene takes {low, high, weights} as well as a number


@dataclass(frozen=True)
class Entry:
    """One choice in a family."""

    family: str
    key: str
    path: str  #: "module.path:Name" inside `solver` (or `conjac_addon` for exports and maps)
    label: str
    sentence: str
    params: tuple[Param, ...] = ()  #: of a map: the parameters it blends; see `maps` for the others
    adaptive: bool = False  #: of an integrator: it tells its error, so that a tolerance can choose its steps
    follows: str = ""  #: of a method: what follows what instead of moving on its own, a clause; "" where nothing does
    unfollowed: str = ""  #: of an integrator: why it steps no nodes that follow others, a clause; "" where it does
    iterates: bool = False  #: of an integrator: it solves its stages to a tolerance
    bounded: bool = False  #: of an integrator: its stages end where nothing has gone through anything
    unrubbed: str = ""  #: of an integrator: why it knows no friction of the ground, a clause; "" where it does
    unfleshed: str = ""  #: of friction inside joints: why it does not go with flesh on bones, a clause
    for_large: bool = False  #: of a linear solver: what `auto` takes for meshes that are too large to factor
    hidden: bool = False  #: for scripts and measurements alone: in no menu
    reads: tuple[str, ...] = ()  #: of a cut or a shape: the fields of scene.json that it stands in
    rates: tuple[str, ...] = ()  #: of a joint: "angle" or "length" of each of its rates, in their order
    unclothed: str = ""  #: of a damping law: why it damps no cloth, a clause; "" where it does
    unremeshed: str = ""  #: of bending: why it does not go with a mesh that is made anew, a clause; "" where it does
    unjointed: str = ""  #: of an integrator: why it moves no jointed rigid bodies, a clause; "" where it does
    number: int | None = None  #: in its family for ever, for files that keep the choice; None for maps of fields

    def load(self, package: str | None = None) -> Any:
        """The class or function behind this entry, imported now. `package` is the root its path starts from."""
        module, _, name = self.path.partition(":")
        return getattr(importlib.import_module(f"{package or _ROOT}.{module}"), name)
