"""Bodies placed exactly against something, or by a hair apart or overlapping, bake, and nothing jumps at the start."""

import bpy
import numpy as np
import pytest

from benchmarks.drawn import chosen, positions, subdivided

HAIR = 0.002  #: of the size: so far apart, or into each other


def box(name, size, location, cuts=0):
    """Add a box of three sizes around a position [m]."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=location)
    made = bpy.context.object
    made.name, made.scale = name, size
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    subdivided(cuts)
    return made


def soft(obj):
    chosen(obj)
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    return obj


def still(obj):
    chosen(obj)
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}


def slab(gap):
    """Add a slab of 60 × 60 × 20 cm on a floor."""
    size = 0.6
    still(box("Floor", (2, 2, 1), (0, 0, -0.5)))
    return [soft(box("Slab", (size, size, 0.2), (0, 0, 0.1 + gap * size), 5))], size


def stack(gap):
    """Add three cubes on each other on a floor."""
    size = 0.2
    still(box("Floor", (2, 2, 1), (0, 0, -0.5)))
    return [soft(box(f"Cube{k}", (size,) * 3, (0, 0, size * (0.5 + k + (k + 1) * gap)), 3)) for k in range(3)], size


def shelf(gap, books=10):
    """Add ten books of 3 × 20 × 30 cm beside each other on a board, between two ends."""
    size, thick = 0.3, 0.03
    off = thick + gap * size
    still(box("Board", (1.0, 0.4, 0.1), (0, 0, -0.05 - gap * size)))
    for side in (-1, 1):
        still(box("End", (0.1, 0.4, 0.5), (side * (0.5 * (books - 1) * off + thick / 2 + 0.05 + gap * size), 0, 0.26)))
    return [soft(box(f"Book{k}", (thick, 0.2, size), ((k - 0.5 * (books - 1)) * off, 0, size / 2), 2))
            for k in range(books)], size


def hole(gap):
    """Add a ball in a hole of its own shape in a block, from which a third of it protrudes."""
    radius, low = 0.1, -0.037
    block = box("Block", (0.4, 0.4, 0.3), (0, 0, -0.15))
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius * (1 + 2 * gap), location=(0.011, 0.007, low))
    cutter = bpy.context.object
    made = block.modifiers.new("Hole", "BOOLEAN")
    made.object, made.operation, made.solver = cutter, "DIFFERENCE", "EXACT"
    chosen(block)
    bpy.ops.object.modifier_apply(modifier="Hole")
    bpy.data.objects.remove(cutter)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.quads_convert_to_tris()
    bpy.ops.mesh.dissolve_degenerate(threshold=1e-5)
    bpy.ops.object.mode_set(mode="OBJECT")
    still(block)
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius, location=(0.011, 0.007, low))
    return [soft(bpy.context.object)], 2 * radius


@pytest.mark.parametrize("arrange, gap", [(slab, 0.0), *(
    pytest.param(arrange, gap, marks=pytest.mark.long) for arrange in (slab, stack, hole, shelf)
    for gap in (HAIR, 0.0, -HAIR) if (arrange, gap) != (slab, 0.0))])
def test_it_bakes_and_nothing_jumps(addon, tmp_path, arrange, gap):
    """There is no gravity, which would deform resting bodies: two frames later nothing has moved visibly."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps, scene.gravity = 1, 3, 24, (0.0, 0.0, 0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bodies, size = arrange(gap)
    rest = [positions(body, 1) for body in bodies]
    from conjac.conjac_addon.bake import foreground

    notes = []
    assert foreground.bake_object(bodies[0], True, notes.append) == 0, notes[-3:]
    for body, stood in zip(bodies, rest):
        assert np.abs(positions(body, 1) - stood).max() < 1.5 * HAIR * size, "it is drawn where it was put"
        for frame in (2, 3):
            moved = np.abs(positions(body, frame) - stood).max() / size
            assert moved < 2 * HAIR, f"{body.name} at frame {frame} by {moved:.4f} of the size"
