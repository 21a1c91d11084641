"""Check that the playback of a bake can be stored on its objects."""

from __future__ import annotations

import bpy

from ...solver.errors import BadInput
from .. import members, playback


def check_can_play(obj: bpy.types.Object) -> None:
    """Raises BadInput for an object that cannot store the playback of its bake."""
    if not obj.is_editable:
        raise BadInput("it is linked from another file, so nothing that plays a bake can be added to it",
                       "Make it local or add a library override", obj.name)
    for moved in playback.mechanism.moved_by(obj) if members.is_mechanism(obj) else ():
        if not moved.is_editable and moved.rigid_body is not None and moved.rigid_body.type == "ACTIVE":
            raise BadInput("it is linked from another file, so no keyframes of a bake can be added to it",
                           "Make it local or add a library override", moved.name)
