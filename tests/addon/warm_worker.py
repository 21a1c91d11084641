"""Bakes' processes that need not load the solver anew: three quarters of a small bake's time.

    python -I warm_worker.py serve SOCKET ROOT     loads the solver once and forks for whoever asks
    python -I -S warm_worker.py ask SOCKET BOOT    asks, and ends as the fork does

What is forked runs `worker_boot.py` as Blender runs it, with the pipes, folder and environment of the one who asked,
in a session of its own. It dies with the one who asked. Tests of the process itself start it as Blender does.
"""

import json
import os
import select
import signal
import socket
import sys
import threading

SIZE = 1 << 20  #: of a request at most: an environment


def load(root):
    """Import all that a bake of soft bodies or mechanisms needs, as far as this Python has it."""
    import contextlib
    import importlib

    sys.path.insert(0, root)
    for name in ("cli", "simulate", "build.world", "build.mechanisms", "build.loading", "frames.write"):
        importlib.import_module(f"solver.{name}")
    for name in ("solver.meshing.grid", "solver.build.tetrahedra", "solver.forces.rayleigh", "tests.loaded_solver"):
        importlib.import_module(name)
    from pathlib import Path

    from solver import catalogue, threads
    from solver.build.loading import load_kernels

    load_kernels([("material", "stable_neo_hookean")], "auto")
    chosen = [("method", "conjac"), ("method", "vanilla"), ("integrator", "semi_implicit"), ("integrator", "sdirk2"),
              ("stage_solver", "newton_d"), ("stage_solver", "quick"),
              *(("joint", key) for key in catalogue.family("joint"))]
    for family, key in chosen:
        with contextlib.suppress(ImportError):
            catalogue.find(family, key).load()
    # kernels of all else that a bake may have, which each would read from disk: contact, cloth, ropes
    solver = Path(root, "solver").resolve()
    for path in threads._kernel_sources(solver):
        with contextlib.suppress(ImportError):  # of a linear solver that is not installed
            importlib.import_module(".".join(("solver", *path.relative_to(solver).with_suffix("").parts)))
    # as it would have come: not with what was set while all this was loaded
    del sys.path[0]


def serve(path, root):
    environment = dict(os.environ)
    load(root)
    waking, wake = socket.socketpair()
    waking.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + ".new")
    listener.listen()
    os.rename(path + ".new", path)
    connections = {}  # process: who asked for it
    while True:
        ready, _, _ = select.select([listener, waking, 0], [], [])
        if 0 in ready:  # the tests have ended
            for child in connections:
                os.kill(child, signal.SIGKILL)
            return
        if waking in ready:
            waking.recv(4096)
        for child in list(connections):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                with connections.pop(child) as connection:
                    answer(connection, os.waitstatus_to_exitcode(status))
        if listener in ready:
            connection = listener.accept()[0]
            request, pipes, _, _ = socket.recv_fds(connection, SIZE, 3)
            caller = json.loads(request)
            differs = caller["environment"].items() ^ environment.items()
            if any(not key.startswith("PYTEST_") for key, _ in differs):
                answer(connection, None)  # what was loaded may have read it
                connection.close()
            elif child := os.fork():
                connections[child] = connection
            else:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for socket_of_parent in (listener, waking, wake, *connections.values()):
                    socket_of_parent.close()
                begin(connection, caller, pipes)
            for pipe in pipes:
                os.close(pipe)


def answer(connection, code):
    try:
        connection.sendall(json.dumps(code).encode())
    except OSError:
        pass  # who asked has gone


def begin(connection, caller, pipes):
    """Become the worker, in the forked process; never return."""
    import runpy

    os.setsid()
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    os.environ.clear()
    os.environ.update(caller["environment"])
    os.chdir(caller["folder"])

    def end_with_who_asked():
        try:
            connection.recv(1)
        finally:
            os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_who_asked, daemon=True).start()
    sys.argv = [caller["boot"]]
    runpy.run_path(caller["boot"], run_name="__main__")
    os._exit(0)


def ask(path, boot):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    caller = {"environment": dict(os.environ), "folder": os.getcwd(), "boot": boot}
    socket.send_fds(connection, [json.dumps(caller).encode()], [0, 1, 2])
    code = json.loads(connection.recv(64) or b"1")
    if code is None:
        os.execv(sys.executable, [sys.executable, "-I", boot])
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
