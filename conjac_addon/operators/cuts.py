"""Add and remove cuts."""

import bpy
from mathutils import Matrix

from .. import by_button
from ..timeline import present_frame, present_subframe
from .entries import AddEntry, RemoveEntry
from .light import Behaviour
from .setup import empty_beside, middle_of

#: turns of an Empty that bring its Z axis to the object's X, Y or Z
TURNS = (Matrix.Rotation(1.5707963267948966, 4, "Y"), Matrix.Rotation(-1.5707963267948966, 4, "X"), Matrix())


class CONJAC_OT_add_cut(AddEntry, Behaviour):
    of_volumes = True

    @by_button.noting("Add Cut")
    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = [obj.dimensions[axis] for axis in range(3)]
        empty = empty_beside(obj, "Cutter", "ARROWS", 0.75 * max(*sorted(size)[:2], 1.0e-3))
        # across the longest side, where a cut is most likely meant
        turn = obj.matrix_world.to_quaternion().to_matrix().to_4x4() @ TURNS[size.index(max(size))]
        empty.matrix_world = Matrix.Translation(middle_of(obj)) @ turn
        if obj.conjac.contact.by_mesh:
            # a cut changes the mesh, which new bodies touch by
            obj.conjac.contact.by_mesh = False
            self.report({"INFO"}, "Collide by Mesh is off: a cut changes the mesh")
        cut = obj.conjac.cuts.add()
        cut.frame, cut.subframe, cut.object = present_frame(context.scene), present_subframe(context.scene), empty
        return {"FINISHED"}


class CONJAC_OT_remove_cut(RemoveEntry, Behaviour):
    entries = "cuts"
