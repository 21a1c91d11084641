"""First and last steps of scripts behind a live window: an artist's steps from a timer, and looks at the 3D View."""

import os
import subprocess
import traceback

import bpy
import conftest  # noqa: F401
import numpy as np

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
    """Look at the 3D View once everything else is drawn."""
    import gpu

    _, _, width, height = gpu.state.viewport_get()
    read = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 3, 0, "FLOAT")
    read.dimensions = width * height * 3
    pictures.append(np.array(read).reshape(-1, 3))


def with_and_without(switch):
    """The 3D View's pixels, (n, 3), where an overlay of the window manager's is off and where it is on; a generator."""
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


def close_dialog():
    subprocess.run(["xdotool", "key", "Escape"], check=False)


def run(steps, every):
    """Go on with a generator after so many seconds each, and end Blender with it."""
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
            os._exit(1)
        return every

    bpy.app.timers.register(tick, first_interval=2.0)
