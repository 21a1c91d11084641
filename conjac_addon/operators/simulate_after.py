"""Operator that chooses the simulation's position in the stack of modifiers, before the first bake or after it."""

import bpy

from ..playback import modifier, simulate_after
from .light import Behaviour
from .poll import active_soft_body, unless

AUTOMATIC = "AUTOMATIC"

#: Blender does not keep the words of a menu that is made when it opens
_items: list[tuple[str, str, str]] = []


def label(obj: bpy.types.Object) -> str:
    """Return the name of the modifier that the simulation comes after, "Mesh" where it comes first."""
    others = _others(obj)
    after = modifier.place(obj)
    return others[after - 1].name if after else "Mesh"


def _others(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Return all modifiers except the one that plays the bake."""
    return [candidate for candidate in obj.modifiers if not modifier.is_signed(candidate)]


def choices(context: bpy.types.Context) -> list[tuple[str, str, str]]:
    """Return the items of the menu, according to the active object."""
    obj = context.object if context is not None else None
    _items[:] = [
        (AUTOMATIC, "Automatic", "After what deforms the mesh, before what makes more geometry of it, such as "
         "Subdivision; after a Mirror or Solidify without which there is no body"),
        (simulate_after.MESH, "Mesh", "Simulate the mesh itself; all modifiers are applied to the result")]
    if obj is not None:
        _items.extend((candidate.name, candidate.name,
                       f"Simulate what {candidate.name} makes; what follows it is applied to the result")
                      for candidate in _others(obj))
    return _items


class CONJAC_OT_simulate_after(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        from ..bake.operators import is_baking

        return unless(cls, active_soft_body(cls, context), is_baking, "Cancel the running bake first") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        if self.after == AUTOMATIC:
            obj.conjac.simulate_after = simulate_after.AUTOMATIC
        else:
            simulate_after.choose(obj, None if self.after == simulate_after.MESH else obj.modifiers[self.after])
        modifier.follow_choice(obj)
        return {"FINISHED"}
