"""Open the real Blender UI from the `bpy` PyPI module (Linux x86_64), for screenshots and GUI tests.

The wheel is a full Blender (GHOST X11, editors, Python UI scripts) whose main_python_enter() stores
G.background = true before WM_init(). This loads the .so, replaces that one store with NOPs in memory
(no file is changed), imports bpy (opens a window on $DISPLAY) and can run WM_main().

    xvfb-run -a -s "-screen 0 1600x1000x24" env LIBGL_ALWAYS_SOFTWARE=1 python blender_window.py script.py
"""
import ctypes
import importlib.util
import mmap
import struct
import sys


def elf_symbols(path, names):
    """Return {mangled name: value} for names in .symtab of an ELF file (the wheels are not stripped)."""
    with open(path, "rb") as fh:
        m = mmap.mmap(fh.fileno(), 0, access=mmap.ACCESS_READ)
    shoff, = struct.unpack_from("<Q", m, 0x28)
    shentsize, shnum, _ = struct.unpack_from("<HHH", m, 0x3A)
    secs = [struct.unpack_from("<IIQQQQIIQQ", m, shoff + i * shentsize) for i in range(shnum)]
    out = {}
    for sec in secs:
        if sec[1] != 2:                                   # SHT_SYMTAB
            continue
        off, size, link = sec[4], sec[5], sec[6]
        stroff, strsize = secs[link][4], secs[link][5]
        strtab = m[stroff:stroff + strsize]
        want_off = {}
        for name in names:
            pos = -1
            needle = b"\0" + name.encode() + b"\0"
            while (pos := strtab.find(needle, pos + 1)) >= 0:
                want_off[pos + 1] = name
        for nm, _info, _other, _shndx, value, _size in struct.iter_unpack("<IBBHQQ", m[off:off + size]):
            if nm in want_off and value:
                out[want_off[nm]] = (value, _size)
    return out


NAMES = {
    "enter": ("_Z17main_python_enteriPPKc", "_ZN7blender17main_python_enterEiPPKc"),
    "G": ("G", "_ZN7blender1GE"),
    "ctx": ("_Z15BPY_context_getv", "_ZN7blender15BPY_context_getEv", "BPY_context_get"),
    "main": ("_Z7WM_mainP8bContext", "_ZN7blender7WM_mainEPNS_8bContextE"),
    "PyInit_bpy": ("PyInit_bpy",),
}


def import_bpy_with_gui():
    so = importlib.util.find_spec("bpy").origin
    syms = elf_symbols(so, [n for v in NAMES.values() for n in v])
    sym = {k: next(syms[n] for n in v if n in syms) for k, v in NAMES.items()}
    lib = ctypes.CDLL(so)                                 # static initializers only; PyInit_bpy not called yet
    base = ctypes.cast(lib.PyInit_bpy, ctypes.c_void_p).value - sym["PyInit_bpy"][0]
    start, size = sym["enter"]
    code = ctypes.string_at(base + start, size)
    stores = []                                           # (displacement into G, offset in code, length)
    for i in range(size - 7):
        if code[i] == 0xC6 and (code[i + 1] & 0xF8) == 0x80 and code[i + 6] == 1:      # movb $1, disp32(%reg)
            disp, = struct.unpack_from("<i", code, i + 2)
            stores.append((disp, i, 7))
        elif code[i] == 0xC6 and code[i + 1] == 0x05 and code[i + 6] == 1:             # movb $1, rel32(%rip)
            rel, = struct.unpack_from("<i", code, i + 2)
            stores.append((start + i + 7 + rel - sym["G"][0], i, 7))
    stores = sorted(s for s in stores if 0 < s[0] < 0x4000)
    assert len(stores) >= 2, stores  # background, factory_startup: background comes first in Global
    disp, at, n = stores[0]
    addr = base + start + at
    page = addr & ~0xFFF
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert libc.mprotect(page, 0x2000, 7) == 0, ctypes.get_errno()
    ctypes.memmove(addr, b"\x90" * n, n)
    libc.mprotect(page, 0x2000, 5)
    import bpy
    proto = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def wm_main():                                        # never returns: Blender's quit ends the process
        ctx = ctypes.CFUNCTYPE(ctypes.c_void_p)(base + sym["ctx"][0])()
        proto(base + sym["main"][0])(ctx)
    return bpy, wm_main


if __name__ == "__main__":
    bpy, wm_main = import_bpy_with_gui()
    print("bpy", bpy.app.version_string, "background", bpy.app.background, flush=True)
    if len(sys.argv) > 1:
        exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), {"__name__": "__main__"})
    wm_main()
