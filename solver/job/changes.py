"""Differences between the settings of two bakes, by the names that an artist reads in the panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from .. import catalogue
from . import field_rules, schema
from .hashes import BODY_READERS, MECHANISM_READERS, SCENE_READERS, Flat, longest_prefix, reader
from .schema_mechanisms import Mechanism
from .schema_values import AMONG_BODIES


@dataclass(frozen=True)
class Rules:
    """Rules for comparing and naming the settings of the scene, of a body or of a mechanism, by their paths."""

    stages: Mapping[str, str]  #: stages that read the settings
    names: Mapping[str, str]  #: names of settings that are not catalogue parameters; others are named by their paths
    among_bodies: frozenset[str]  #: fields that exist only where there are several bodies


def _rules(struct: type[Struct], stages: Mapping[str, str], **computed: str) -> Rules:
    return Rules(stages, field_rules.names(struct) | computed, field_rules.with_rule(struct, AMONG_BODIES))


OF_SCENE = _rules(schema.Scene, SCENE_READERS, **{
    "friction.kind": field_rules.names(schema.Scene)["ground.friction.kind"]})  # a setting of the scene itself
OF_BODY = _rules(schema.Body, BODY_READERS, **{"surface.place": "place", "surface.scale": "scale"})
OF_MECHANISM = _rules(Mechanism, MECHANISM_READERS)


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the plain names of the settings that differ between two bakes, without duplicates.

    old, new: results of `Settings.plain`. Left out are settings that no stage reads, and differences that follow from
    others: settings among several bodies where bodies come or go, and motion of an object with a new start position.
    """
    more = any(len(old.get(family, ())) != len(new.get(family, ())) for family in ("bodies", "mechanisms"))
    changes = _differences(old["scene"], new["scene"], OF_SCENE, "", more)
    for family, item, rules in (("bodies", "body", OF_BODY), ("mechanisms", "mechanism", OF_MECHANISM)):
        # caches of versions without mechanisms lack this key
        was, now = old.get(family, {}), new.get(family, {})
        called = {flat["uuid"]: name for name, flat in now.items() if flat.get("uuid")}
        if set(was) != set(now):  # a renamed item is identified by its UUID
            was = {(name if name in now else called.get(flat.get("uuid"), name)): flat for name, flat in was.items()}
        if len(was) == len(now) and not set(was) & set(now):  # renamed: other differences matter more
            renamed = [difference for name, old_one in zip(now, was.values())
                       for difference in _differences(old_one, now[name], rules, f' of "{name}"', more)]
            if renamed:
                changes += renamed
                continue
        for name in now:
            if name in was:
                changes += _differences(was[name], now[name], rules, f' of "{name}"', more)
            else:
                changes.append(f'{item} "{name}" (new)')
        changes += [f'{item} "{name}" (gone)' for name in was if name not in now]
    if not changes and list(old["bodies"]) != list(new["bodies"]):
        changes.append("order of the bodies")
    return list(dict.fromkeys(changes))


def _differences(old: Flat, new: Flat, rules: Rules, suffix: str, more: bool) -> list[str]:
    """Return plain names of the settings that differ, each with `suffix` behind it. more: whether bodies come or go."""
    names, both = [*new, *(name for name in old if name not in new)], {**old, **new}
    # older caches lack newer parameters, which had their defaults
    names = [name for name in names
             if old.get(name, _default(name, both)) != new.get(name) and reader(name, rules.stages)]
    # parameters of only one of two kinds differ because the kind does
    others = {name.removesuffix("kind") for name in names if name.endswith(".kind")}
    names = [name for name in names if name.endswith(".kind") or (name in old and name in new)
             or name[: name.rfind(".") + 1] not in others]
    if more:
        names = [name for name in names if name.partition(".")[0] not in rules.among_bodies
                 or (name != "touches" and name in old and name in new)]
    if "surface.place" in names:
        names = [name for name in names if name != "surface.to_object"]
    return [plain_name(name, both, rules.names) + suffix for name in names]


def _default(name: str, flat: Flat) -> Any:
    """Return the default of a parameter of the chosen entry, None for all other settings."""
    family, _, key = name.rpartition(".")
    return catalogue.default(family, flat.get(f"{family}.kind", ""), key)


def plain_name(name: str, flat: Flat, names: Mapping[str, str]) -> str:
    """Return the artist's name of a setting: the catalogue's label, else that of its field, else its path."""
    head, _, key = name.partition(".")
    if head == "painted":
        key = key.partition(".")[0]
        return f"paint of {key.replace('_', ' ')}"
    if f"{head}.kind" in flat and key != "kind":
        for param in catalogue.find(head, flat[f"{head}.kind"]).params:
            if param.key == key:
                return param.label
    try:
        return names[longest_prefix(name, names)]
    except KeyError:
        return name
