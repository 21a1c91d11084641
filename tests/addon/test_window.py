"""The panels in a real window: every section drawn by Blender itself, without a word of complaint."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WINDOW = ROOT.parent / "shared" / "tools" / "blender_window.py"  # opens the window of the bpy wheel

SCRIPT = """
import os, sys
sys.path.insert(0, {tests!r})
import conftest, bpy, conjac
from conjac.conjac_addon.ui import panels
drawn = set()

def watched(draw, name):
    def method(self, context):
        draw(self, context)
        drawn.add(name)
    return method

for panel in panels.classes:
    panel.bl_options = set()  # all sections open
    panel.draw = watched(panel.draw, panel.__name__)
conjac.register()
bpy.context.preferences.view.show_splash = False
ticks = 0

def tick():
    global ticks
    ticks += 1
    window = bpy.context.window_manager.windows[0]
    view = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    sidebar = next(region for region in view.regions if region.type == "UI")
    properties = next(area for area in window.screen.areas if area.type == "PROPERTIES")
    if ticks == 1:
        cube = bpy.data.objects["Cube"]
        cube.conjac.enabled = True
        cube.vertex_groups.new(name="Pin")
        view.spaces.active.show_region_ui = True
        properties.spaces.active.context = "PHYSICS"
    elif ticks == 4:
        sidebar.active_panel_category = "ConJac"
        sidebar.tag_redraw()
    elif ticks > 8 and len(drawn) == len(panels.classes):
        print("all drawn", len(drawn), flush=True)
        os._exit(0)
    elif ticks > 80:
        print("missing", sorted({{p.__name__ for p in panels.classes}} - drawn), flush=True)
        os._exit(1)
    return 0.1

bpy.app.timers.register(tick, first_interval=0.2)
"""


@pytest.mark.long
def test_all_sections_draw_in_a_window(tmp_path):
    if not WINDOW.exists() or platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        pytest.skip("the tool that opens a window for the bpy wheel is not here")
    if shutil.which("xvfb-run") is None:
        pytest.skip("xvfb-run is not installed")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=str(ROOT / "tests")))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime), "LIBGL_ALWAYS_SOFTWARE": "1",
                                "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    # a tall screen, so that every section is on it
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x2400x24 +extension GLX"]
    command = [*screen, sys.executable, str(WINDOW), str(script)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    said = run.stdout + run.stderr
    assert "all drawn 16" in said, said
    for complaint in ("Traceback", "rna_uiItem", "unknown operator", "not found"):
        assert complaint not in said, said
