"""Add and remove cuts."""

import bpy
from mathutils import Matrix

from ..settings import present_frame
from .entries import AddEntry, RemoveEntry
from .setup import empty_beside, middle_of

#: turns of an Empty that bring its Z axis to the object's X, Y or Z
TURNS = (Matrix.Rotation(1.5707963267948966, 4, "Y"), Matrix.Rotation(-1.5707963267948966, 4, "X"), Matrix())


class CONJAC_OT_add_cut(AddEntry, bpy.types.Operator):
    """Cut the active soft body at the present frame, along the XY plane of a new Empty in its middle"""

    bl_idname = "conjac.add_cut"
    bl_label = "Add Cut"
    of_volumes = True

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        size = [obj.dimensions[axis] for axis in range(3)]
        empty = empty_beside(obj, "Cutter", "ARROWS", 0.75 * max(*sorted(size)[:2], 1.0e-3))
        # across the longest side, where a cut is most likely meant
        turn = obj.matrix_world.to_quaternion().to_matrix().to_4x4() @ TURNS[size.index(max(size))]
        empty.matrix_world = Matrix.Translation(middle_of(obj)) @ turn
        cut = obj.conjac.cuts.add()
        cut.frame, cut.object = present_frame(context.scene), empty
        return {"FINISHED"}


class CONJAC_OT_remove_cut(RemoveEntry, bpy.types.Operator):
    """Forget this cut; the object that cuts stays"""

    bl_idname = "conjac.remove_cut"
    bl_label = "Remove Cut"
    entries = "cuts"


classes = (CONJAC_OT_add_cut, CONJAC_OT_remove_cut)
