"""First and last steps of scripts behind a live window: an artist's steps from a timer, and pictures of the 3D View."""

import os
import subprocess
import traceback

import bpy
import conftest  # noqa: F401
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

import conjac

pictures = []  #: by `look`, (pixels, 3) each

conjac.register()
bpy.context.preferences.view.show_splash = False


def override():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region)


def look():
    """Store the pixels of the 3D View once everything else is drawn."""
    import gpu

    _, _, width, height = gpu.state.viewport_get()
    read = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 3, 0, "FLOAT")
    read.dimensions = width * height * 3
    pictures.append(np.array(read).reshape(-1, 3))


def with_and_without(switch):
    """Return the pixels of the 3D View, (n, 3), with an overlay of the window manager off and then on; a
    generator."""
    bpy.types.SpaceView3D.draw_handler_add(look, (), "WINDOW", "POST_PIXEL")
    found = []
    for on in (False, True):
        setattr(bpy.context.window_manager, switch, on)
        for area in bpy.context.window_manager.windows[0].screen.areas:
            area.tag_redraw()
        for _ in range(3):
            yield
        found.append(pictures[-1])
    return found


def positions_of(obj):
    """Return the vertices of an object at this frame, or the ends of its bones, in the world, (n, 3) [m]."""
    at = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(at.matrix_world)
    if obj.type == "ARMATURE":
        found = np.array([end for bone in at.pose.bones for end in (bone.head, bone.tail)])
    else:
        found = np.empty((len(at.data.vertices), 3), np.float32)
        at.data.vertices.foreach_get("co", found.reshape(-1))
    return found @ matrix[:3, :3].T + matrix[:3, 3]


def view_on_screen():
    """Return what the screen shows of the 3D View left of its sidebar, from the bottom up, (height, width, 3)."""
    window = bpy.context.window_manager.windows[0]
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    screen = np.frombuffer(raw, np.uint8).reshape(-1, window.width, 3)[::-1].astype(int)
    regions = {region.type: region for area in window.screen.areas if area.type == "VIEW_3D" for region in area.regions}
    view, sidebar = regions["WINDOW"], regions["UI"]
    right = sidebar.x if sidebar.width > 1 else view.x + view.width
    return screen[view.y:view.y + view.height, view.x:right]


def save_picture(picture, path):
    height, width, _ = picture.shape
    subprocess.run(["convert", "-size", f"{width}x{height}", "-depth", "8", "rgb:-", path], check=False,
                   input=picture.astype(np.uint8).tobytes())


def seen_where_it_is(obj):
    """Check that the screen shows an object where it is at this frame, and nowhere else; a generator. Pixels of the 3D
    View that change as the object is hidden must be near its vertices or bones."""
    with override():
        view, space = bpy.context.region, bpy.context.space_data
    window = bpy.context.window_manager.windows[0]
    # no tooltip of the sidebar is in the way
    subprocess.run(["xdotool", "mousemove", str(view.x + 40), str(window.height - view.y - 40)], check=False)
    active, selected = bpy.context.view_layer.objects.active, obj.select_get()
    # bones are an overlay, and fall away from their origin; text names the active object, a ground is hidden with it;
    # outlines of other objects go where the number of objects has them
    settings = ((space.overlay, "show_overlays", obj.type == "ARMATURE"), (space.overlay, "show_text", False),
                (space.shading, "show_object_outline", False),
                (space.overlay, "show_object_origins", False), (space.overlay, "show_relationship_lines", False),
                (bpy.context.window_manager, "conjac_show_ground", False),
                (bpy.context.preferences.system, "viewport_aa", "OFF"))
    before = [getattr(owner, name) for owner, name, _ in settings]
    for owner, name, value in settings:
        setattr(owner, name, value)
    for _ in range(8):  # 5.3 draws outlines a while after they are switched off
        yield
    found = []
    for hidden in (True, False):
        obj.hide_set(hidden)
        for _ in range(8):
            yield
        found.append(view_on_screen())
    for (owner, name, _), value in zip(settings, before):
        setattr(owner, name, value)
    obj.select_set(selected)
    bpy.context.view_layer.objects.active = active
    at = np.array([location_3d_to_region_2d(view, space.region_3d, Vector(position)) for position in positions_of(obj)])
    pixels = np.stack((abs(found[1] - found[0]).max(axis=2) > 8).nonzero()[::-1], axis=1)
    around = 16  # half the thickness of a rope or a bone, and of an outline [px]
    inside = ((pixels > at.min(axis=0) - around) & (pixels < at.max(axis=0) + around)).all(axis=1)
    if os.environ.get("CONJAC_SHOTS") and (len(pixels) <= 150 or inside.mean() <= 0.95):
        for name, picture in zip(("hidden", "shown"), found, strict=True):
            save_picture(picture[::-1], f"{os.environ['CONJAC_SHOTS']}/{name}.png")
    assert len(pixels) > 150, f"{obj.name} is not seen: {len(pixels)} pixels"
    assert inside.mean() > 0.95, f"{obj.name}: {inside.mean()} of {len(pixels)} pixels are where it is"


def close_dialog():
    subprocess.run(["xdotool", "key", "Escape"], check=False)


def run(steps, every):
    """Advance a generator after so many seconds each, and end Blender with it."""
    if bpy.app.version >= (5, 3):
        # it says in a dialog at its start that it draws by OpenGL, where there is no Vulkan
        bpy.app.timers.register(close_dialog, first_interval=1.0)

    def tick():
        try:
            next(steps)
        except StopIteration:
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            if os.environ.get("CONJAC_SHOTS"):
                subprocess.run(["import", "-window", "root", os.environ["CONJAC_SHOTS"] + "/failed.png"], check=False)
            os._exit(1)
        return every

    bpy.app.timers.register(tick, first_interval=2.0)
