"""What runs in the mesher's process. Started by path, without the package around it.

The bytes on the real standard output are the answer alone; whatever a mesher prints there goes to standard error.
The process ends when its standard input does, so that it never outlives the one who asked.
"""

import io
import json
import os
import sys
import threading

MAGIC = b"\x00conjac-mesher\x00"


def read_exactly(size: int) -> bytes:
    """`size` bytes of standard input, past Python's buffers."""
    parts = []
    while size > 0:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            os._exit(75)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def end_with_the_parent() -> None:
    """Wait for the end of standard input, then end the process, whatever the mesher is doing."""
    while os.read(0, 4096):
        pass
    os._exit(75)


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)
    os.write(answer, MAGIC + sys.implementation.cache_tag.encode() + b"\n")

    header = json.loads(read_exactly(int.from_bytes(read_exactly(8), "little")))
    sys.path[:0] = header["sys_path"]
    import importlib

    import numpy as np

    with np.load(io.BytesIO(read_exactly(header["size"])), allow_pickle=False) as arrays:
        vertices, triangles = arrays["vertices"], arrays["triangles"]
    threading.Thread(target=end_with_the_parent, daemon=True).start()

    mesher = getattr(importlib.import_module(header["module"]), header["name"])()
    nodes, tets = mesher.mesh(vertices, triangles, header["settings"])
    packed = io.BytesIO()
    np.savez(packed, nodes=np.asarray(nodes, dtype=np.float64), tets=np.asarray(tets, dtype=np.int64))
    data = packed.getvalue()
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(answer, data[:1 << 20]):]
    # native libraries may hang or crash when they are unloaded: the answer is out, so leave at once
    os._exit(0)


main()
