"""Replacement of `std::random_device` in C++ libraries by a constant, so that all runs have the same result.

fTetWild shuffles the triangles that it inserts by such a random number, and pytetwild has no setting for it, so that
the tetrahedra of one surface differed from run to run. A library calls the function by way of a table of addresses;
here another address is written into that table. Only for processes that do nothing but mesh.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator

SEED = 42
DRAW = b"_ZNSt13random_device9_M_getvalEv"  #: std::random_device::operator() of GNU's C++ library
STRTAB, SYMTAB, RELA, RELASZ, PLTRELSZ, JMPREL = 5, 6, 7, 8, 2, 23  #: tags of an ELF file's dynamic section
SYMBOL_SIZE, RELOCATION_SIZE = 24, 24
READ_AND_WRITE = 3

_draw = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p)(lambda device: SEED)


class _Loaded(ctypes.Structure):
    """The beginning of the loader's `struct link_map`."""

    _fields_ = [("base", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dynamic", ctypes.c_size_t)]


def fix_random_device(library: str) -> bool:
    """Replace each random number that a loaded library draws from `std::random_device` by SEED, until the process ends.
    Return whether that succeeded.

    library: its path. False where the library does not call the function through a known table, as on systems other
    than Linux.
    """
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    slots = list(_slots(_Loaded.from_address(ctypes.CDLL(library)._handle), DRAW))
    libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
    for slot in slots:
        start = slot // page * page
        if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(page), READ_AND_WRITE) != 0:
            return False
        ctypes.c_size_t.from_address(slot).value = ctypes.cast(_draw, ctypes.c_void_p).value or 0
    return bool(slots)


def _slots(loaded: _Loaded, function: bytes) -> Iterator[int]:
    """Yield the addresses at which this library stores the address of a function of another one."""
    tags, at = {}, loaded.dynamic
    while tag := ctypes.c_size_t.from_address(at).value:
        tags[tag] = ctypes.c_size_t.from_address(at + 8).value
        at += 16

    def address(tag: int) -> int:
        # GNU's loader has added the base already, others leave it to the reader
        return tags[tag] if tags[tag] >= loaded.base else tags[tag] + loaded.base

    for table, size in ((JMPREL, PLTRELSZ), (RELA, RELASZ)):
        if table not in tags:
            continue
        for entry in range(address(table), address(table) + tags[size], RELOCATION_SIZE):
            offset, symbol = (ctypes.c_uint64.from_address(entry + i).value for i in (0, 8))
            name = ctypes.c_uint32.from_address(address(SYMTAB) + (symbol >> 32) * SYMBOL_SIZE).value
            if symbol >> 32 and ctypes.string_at(address(STRTAB) + name) == function:
                yield loaded.base + offset
