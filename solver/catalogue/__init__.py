"""Catalogue of materials, integrators, joints and all else that has variants: one entry each, with key, class, label
and parameters. Standard library only.

The schema of scene.json, Blender's menus and properties, the manual's tables and the property tests all read this
package, so a new material, joint or integrator is one new file and one entry here. No code branches on a key.

Saved files store an entry's number: a new entry takes the next number of its family, wherever it is in the menu, and
the number of a removed entry is not reused. In menus that offer *None*, number 0 is none.
"""

from __future__ import annotations

from .capabilities import CAPABILITIES
from .cloth import ENTRIES as _CLOTH
from .cloth import NUMBERS as CLOTH_NUMBERS
from .cloth import SHARP, SHARP_COARSER, SHARP_NUMBERS, SHARP_OPTIONS, STRETCH_LIMIT
from .drafts import ENTRIES as _DRAFTS
from .entry import Entry, Param, load_path
from .holds import BEGINS, BREAKS, HARD, PIN_STIFFNESS
from .holds import ENTRIES as _HOLDS
from .mechanisms import ENTRIES as _MECHANISMS
from .mechanisms import MOTIONS, SLIDE, SPIN
from .ropes import ENTRIES as _ROPES
from .ropes import MOST_STRETCH
from .ropes import NUMBERS as ROPE_NUMBERS
from .soft_bodies import ACTIVATION, DENSITY, POISSON_RATIO, WOBBLE_HALF_LIFE, YOUNGS_MODULUS
from .soft_bodies import ENTRIES as _SOFT_BODIES
from .stepping import BETA, MODES
from .stepping import ENTRIES as _STEPPING

__all__ = ["ACTIVATION", "BEGINS", "BETA", "BREAKS", "CAPABILITIES", "CLOTH_NUMBERS", "DENSITY", "ENTRIES", "HARD",
           "MODES", "MOST_STRETCH", "MOTIONS", "PIN_STIFFNESS", "POISSON_RATIO", "ROPE_NUMBERS", "SCENE_VERSION",
           "SHARP", "SHARP_COARSER", "SHARP_NUMBERS", "SHARP_OPTIONS", "SLIDE", "SPIN", "STRETCH_LIMIT",
           "WOBBLE_HALF_LIFE", "YOUNGS_MODULUS", "Entry", "Param", "able", "default", "family", "find", "load_path",
           "maps", "menu", "name_integrators"]

SCENE_VERSION = 1  #: of scene.json, the one number that the add-on and the solver must agree on

ENTRIES: tuple[Entry, ...] = (*_STEPPING, *_DRAFTS, *_SOFT_BODIES, *_HOLDS, *_CLOTH, *_ROPES, *_MECHANISMS)


#: of which entries, and these by family and key: families are asked for a hundred times where Blender starts
_indexed: tuple[tuple[Entry, ...], dict[str, dict[str, Entry]]] = ((), {})


def family(name: str) -> dict[str, Entry]:
    """Return every entry of one family by its key, in menu order; an empty dictionary for an unknown family."""
    global _indexed
    if _indexed[0] is not ENTRIES:
        by_family: dict[str, dict[str, Entry]] = {}
        for entry in ENTRIES:
            by_family.setdefault(entry.family, {})[entry.key] = entry
        _indexed = ENTRIES, by_family
    return dict(_indexed[1].get(name, ()))


def menu(name: str) -> dict[str, Entry]:
    """Return the entries of a family that an artist may choose from, by their keys."""
    return {key: entry for key, entry in family(name).items() if not entry.hidden}


def able(family_name: str, capability: str, hidden: bool = False) -> list[Entry]:
    """Return the entries of a family that have a capability, in menu order. hidden: whether to include entries that are
    in no menu. Raises KeyError for an unknown capability."""
    return [entry for entry in family(family_name).values() if entry.able(capability) and (hidden or not entry.hidden)]


def maps() -> dict[str, Entry]:
    """Return every map that can be painted, by its key: the entries of family "map", then one for each parameter with
    `field` that none of those blends.

    So a parameter with `field` needs no entry of its own.
    """
    by_key = family("map")
    blended = {param.key for entry in by_key.values() for param in entry.params}
    for param in (DENSITY, *(param for entry in ENTRIES for param in entry.params)):
        if param.field and param.key not in blended | by_key.keys():
            by_key[param.key] = Entry("map", param.key, "gather.maps:Blend", param.label,
                                      f"Blends {param.label} between two values", (param,))
    return by_key


def default(name: str, key: str, parameter: str) -> float | int | bool | None:
    """Return the default of a parameter of an entry; None where there is no such entry or parameter."""
    entry = family(name).get(key)
    params = entry.params if entry is not None else ()
    return next((param.default for param in params if param.key == parameter), None)


def name_integrators(method: Entry) -> str:
    """Return the labels of the integrators that step a method, with "or" before the last; "" where all integrators do.
    """
    labels = [find("integrator", key).label for key in method.steps]
    return " or ".join([", ".join(labels[:-1]), labels[-1]] if labels[1:] else labels)


def find(name: str, key: str) -> Entry:
    """Return the entry of family `name` with this key. Raises NoSuchThing that lists the keys of the family."""
    known = family(name)
    if key not in known:
        from ..errors import NoSuchThing  # not loaded when Blender starts

        raise NoSuchThing(f'there is no {name.replace("_", " ")} "{key}"', f"Use one of {', '.join(known)}")
    return known[key]
