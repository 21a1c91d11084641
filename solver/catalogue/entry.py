"""What an entry of the catalogue says. Standard library only."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, dataclass_transform

_ROOT = (__package__ or "").rpartition(".")[0]  #: `solver`, whatever it is called where it runs


@dataclass_transform(frozen_default=True)
class Record:
    """Has the fields that a class annotates, as a frozen dataclass: of one, Python would compile code whenever Blender
    starts. Raises TypeError for a field that is missing, or is none.
    """

    _fields: ClassVar[tuple[str, ...]]
    _needed: ClassVar[frozenset[str]]  #: those without a default

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._needed = frozenset(cls._fields) - vars(cls).keys()

    def __init__(self, *values: Any, **named: Any) -> None:
        own = vars(self)
        own.update(zip(self._fields, values, strict=False))
        if len(values) > len(self._fields) or not own.keys().isdisjoint(named):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}, each once")
        own.update(named)
        if not self._needed <= own.keys() or not own.keys() <= set(self._fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}, and needs "
                            f"{', '.join(sorted(self._needed))}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is not to be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({told})"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._fields)


class Param(Record):
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


class Entry(Record):
    """One choice in a family."""

    family: str
    key: str
    path: str  #: "module.path:Name" inside `solver` (or `conjac_addon` for exports and maps)
    label: str
    sentence: str
    params: tuple[Param, ...] = ()  #: of a map: the parameters it blends; see `maps` for the others
    adaptive: bool = False  #: of an integrator: it tells its error, so that a tolerance can choose its steps
    follows: str = ""  #: of a method: what follows what instead of moving on its own, a clause; "" where nothing does
    drafts: bool = False  #: of a method: each body is by itself, and no step of nodes knows it
    #: of a method that drafts: what it can have besides a volume, pins and the ground; see `job.validate_drafts`
    drafted: tuple[str, ...] = ()
    unfollowed: str = ""  #: of an integrator: why it steps no nodes that follow others, a clause; "" where it does
    weighs: bool = False  #: of an integrator: the method's Damping (β) means something to it
    iterates: bool = False  #: of an integrator: it solves its stages to a tolerance
    bounded: bool = False  #: of an integrator: its stages end where nothing has gone through anything
    constrains: bool = False  #: of a contact law: stages keep gaps open for it in place of forces, and nothing rubs
    unrubbed: str = ""  #: of an integrator: why it knows no friction of the ground, a clause; "" where it does
    unfleshed: str = ""  #: of friction inside joints: why it does not go with flesh on bones, a clause
    for_large: bool = False  #: of a linear solver: what `auto` takes for meshes that are too large to factor
    hidden: bool = False  #: for scripts and measurements alone: in no menu
    reads: tuple[str, ...] = ()  #: of a cut or a shape: the fields of scene.json that it stands in
    rates: tuple[str, ...] = ()  #: of a joint: "angle" or "length" of each of its rates, in their order
    motions: tuple[str, ...] = ()  #: of a joint: what each rate does to the child in the joint's frame, see MOTIONS
    unclothed: str = ""  #: of a damping law: why it damps no cloth, a clause; "" where it does
    unremeshed: str = ""  #: of bending: why it does not go with a mesh that is made anew, a clause; "" where it does
    unjointed: str = ""  #: of an integrator: why it moves no jointed rigid bodies, a clause; "" where it does
    number: int | None = None  #: in its family for ever, for files that keep the choice; None for maps of fields

    def load(self, package: str | None = None) -> Any:
        """The class or function behind this entry, imported now. `package` is the root its path starts from."""
        module, _, name = self.path.partition(":")
        return getattr(importlib.import_module(f"{package or _ROOT}.{module}"), name)
