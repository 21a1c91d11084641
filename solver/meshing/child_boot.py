"""Process that supervises a mesher, started by path without the package around it.

It sends a greeting, passes its request on to `child_mesh.py` in a process of its own, and ends as that one ends. When
its standard input ends, its parent has ended, and the mesher is killed. There are two processes, since meshers hold
Python's lock for minutes, and no thread of theirs could watch.
"""

import json
import os
import signal
import subprocess
import sys
import threading

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


def end_with_the_parent(mesher: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of standard input, then kill the mesher, whatever it is doing, and end this process."""
    while os.read(0, 4096):
        pass
    mesher.kill()
    os._exit(75)


def end_as(code: int) -> None:
    """End this process with the mesher's exit code, or by the signal that ended the mesher."""
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code - (1 << 32) if code > 0x7FFFFFFF else code)


def main() -> None:
    """Send the greeting, pass the request on to the mesher's process and end as it ends."""
    os.write(1, MAGIC + sys.implementation.cache_tag.encode() + b"\n")
    size = read_exactly(8)
    header = read_exactly(int.from_bytes(size, "little"))
    parsed = json.loads(header)
    request = size + header + read_exactly(parsed["size"])

    mesher = subprocess.Popen(parsed["command"], stdin=subprocess.PIPE)
    threading.Thread(target=end_with_the_parent, args=(mesher,), daemon=True).start()
    assert mesher.stdin is not None
    try:
        mesher.stdin.write(request)
        mesher.stdin.flush()
    except OSError:
        pass  # it died at once: its exit code says how
    end_as(mesher.wait())


main()
