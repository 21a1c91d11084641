"""The real Blender with an empty file and ConJac registered, new for each test; and a worker that starts without
delay."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def warm_worker(tmp_path_factory):
    """Return the command of a worker that has the solver loaded; the process that it forks from starts with the first
    worker. Where it does not load in 20 s, as it takes minutes where kernels have changed, the command is that of
    Blender (`test_warm_worker.py` checks that it does load)."""
    socket_path, started = tmp_path_factory.mktemp("warm") / "socket", []
    script = str(Path(__file__).with_name("warm_worker.py"))
    boot = str(ROOT / "conjac_addon" / "bake" / "worker_boot.py")

    def command():
        if not started:
            started.append(subprocess.Popen([sys.executable, "-I", script, "serve", str(socket_path), str(ROOT)],
                                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
            soon = time.monotonic() + 20.0
            while not socket_path.exists() and time.monotonic() < soon:
                time.sleep(0.02)
        return (sys.executable, "-I", *(("-S", script, "ask", str(socket_path)) if socket_path.exists() else ()), boot)

    yield command
    for process in started:
        process.stdin.close()
        process.wait()


@pytest.fixture(autouse=True)
def _starts_at_once(request, monkeypatch, warm_worker):
    """Use the warm worker unless the test is about the worker's process."""
    if sys.platform != "win32" and not request.node.get_closest_marker("own_worker"):
        from conjac.conjac_addon.bake import worker

        monkeypatch.setattr(worker, "command", warm_worker)


@pytest.fixture(autouse=True)
def _reads_what_newer_ones_save(request):
    if request.node.get_closest_marker("examples") and bpy.app.version < (4, 5, 0):
        pytest.skip("Blender 4.5 has saved it, and 4.2.0 crashes where it opens it")


@pytest.fixture(scope="session", autouse=True)
def _factory_preferences():
    """No test changes preferences, so an empty file is enough for each: Blender's own add-ons take five times as
    long."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.fixture()
def addon():
    """Return the extension's package; the .blend is empty."""
    import conjac

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conjac.register()
    yield conjac
    conjac.unregister()


@pytest.fixture()
def soft_cube(addon):
    """Return a cube of 2 Blender units called "Cube" that is a soft body, baked from frame 1 to 4, nothing painted, in
    coarse cells, which take a second less than the default mesher."""
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.conjac.enabled = True
    cube.conjac.mesher, cube.conjac.edge_length = "grid", 0.5
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    return cube
