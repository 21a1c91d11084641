"""Program of the mesher's own process, started by path from `child_boot.py` without the package around it.

The response is MAGIC, its size and an .npz on the real standard output; whatever a mesher prints there goes to standard
error.
"""

import io
import json
import os
import signal
import sys

MAGIC = b"\x00conjac-mesher\x00"


def read_exactly(size: int) -> bytes:
    """Return `size` bytes of standard input, past Python's buffers; end the process where the input ends before."""
    parts = []
    while size > 0:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            os._exit(75)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def die_with_the_parent() -> None:
    """Let Linux kill this process as soon as the process that supervises it ends, even by force."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main() -> None:
    """Read a request, mesh its surface and write nodes and tetrahedra to the real standard output; end the process."""
    if sys.platform == "linux":
        die_with_the_parent()
    response = os.dup(1)
    os.dup2(2, 1)

    header = json.loads(read_exactly(int.from_bytes(read_exactly(8), "little")))
    sys.path[:0] = header["sys_path"]
    import importlib

    import numpy as np

    with np.load(io.BytesIO(read_exactly(header["size"])), allow_pickle=False) as arrays:
        vertices, triangles = arrays["vertices"], arrays["triangles"]
    mesher = getattr(importlib.import_module(header["module"]), header["name"])()
    nodes, tets = mesher.mesh(vertices, triangles, header["settings"])
    packed = io.BytesIO()
    np.savez(packed, nodes=np.asarray(nodes, dtype=np.float64), tets=np.asarray(tets, dtype=np.int64))
    data = packed.getvalue()
    data = MAGIC + len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(response, data[:1 << 20]):]
    # native libraries may hang or crash when they are unloaded: the response is out, so leave at once
    os._exit(0)


main()
