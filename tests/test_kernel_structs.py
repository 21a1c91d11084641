"""Structs of kernels: named tuples in the signatures of kernels."""

from typing import NamedTuple

import numpy as np
import pytest

from solver import kernel_cache, kernel_structs
from solver.kernel_structs import struct
from solver.threads import inline, kernel


@struct("f8[::1], f8")
class ScaledForTest(NamedTuple):
    """Values and a factor."""

    values: np.ndarray  #: (n,)
    factor: float


@struct("ScaledForTest, i4[::1]")
class ChosenForTest(NamedTuple):
    """Some of scaled values."""

    scaled: ScaledForTest
    chosen: np.ndarray  #: (k,)


@inline
def unpacked(numbers, chosen):
    return ChosenForTest(ScaledForTest(numbers[1:], numbers[0]), chosen)


@kernel("f8(ChosenForTest)", from_python=False)
def total(at):
    out = 0.0
    for k in at.chosen:
        out += at.scaled.factor * at.scaled.values[k]
    return out


@kernel("f8(f8[::1], i4[::1])")
def total_of(numbers, chosen):
    return total(unpacked(numbers, chosen))


@kernel("f8(ScaledForTest)")
def sum_of(at):
    return at.factor * at.values.sum()


def test_kernels_pass_structs_on_and_python_may_pass_one():
    numbers = np.array([2.0, 1.0, 10.0, 100.0])
    assert total_of(numbers, np.array([0, 2], np.int32)) == 202.0
    assert sum_of(ScaledForTest(numbers[1:].copy(), 3.0)) == 333.0


def test_structs_need_no_reference_counts():
    assert not total.targetoptions["_nrt"] and not total_of.targetoptions["_nrt"]


def test_structs_of_parts_of_arrays_are_refused_where_references_are_counted():
    """Parts would be freed with the kernel, and the array with them."""
    def makes_an_array_too(numbers, chosen):
        return total(unpacked(np.add(numbers, 1.0), chosen))

    with pytest.raises(TypeError, match="makes arrays and calls unpacked"):
        kernel("f8(f8[::1], i4[::1])")(makes_an_array_too)


def test_a_struct_with_its_fields_in_another_order_is_compiled_again(monkeypatch):
    """Both fields are arrays of one type, so numba alone would take the machine code of the old order."""
    keys = []
    for cls in (NamedTuple("Swapped", [("a", int), ("b", int)]), NamedTuple("Swapped", [("b", int), ("a", int)])):
        monkeypatch.setitem(kernel_structs._declared, "Swapped", (cls, "f8[::1], f8[::1]"))

        def first(at):
            return at.a[0]

        text = kernel_structs.layouts("f8(Swapped)")
        keys.append((kernel_cache.key_of(first, {}, text), kernel_cache._content(cls)))
    assert len(set(keys)) == 2 and keys[0][0] != keys[1][0] and keys[0][1] != keys[1][1]


def test_the_layout_of_a_struct_includes_those_of_its_fields(monkeypatch):
    class Swapped(NamedTuple):
        factor: float
        values: np.ndarray

    before = kernel_structs.layouts("f8(ChosenForTest)")
    monkeypatch.setitem(kernel_structs._declared, "ScaledForTest", (Swapped, "f8, f8[::1]"))
    assert kernel_structs.layouts("f8(ChosenForTest)") != before
    assert kernel_structs.layouts("f8(ScaledForTestToo)") == []


def test_a_name_stands_for_one_struct():
    with pytest.raises(ValueError, match="two structs ScaledForTest"):
        struct("f8")(ScaledForTest)
