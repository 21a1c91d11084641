"""The real Blender with an empty file and ConJac registered, new for each test."""

import pytest

bpy = pytest.importorskip("bpy")


@pytest.fixture()
def addon():
    """The extension's package; the .blend is empty."""
    import conjac

    bpy.ops.wm.read_factory_settings(use_empty=True)
    conjac.register()
    yield conjac
    conjac.unregister()


@pytest.fixture()
def soft_cube(addon):
    """A cube of 2 Blender units called "Cube" that is a soft body, baked from frame 1 to 4, nothing painted."""
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.conjac.enabled = True
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    return cube
