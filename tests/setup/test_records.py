"""Entries of the catalogue behave like frozen dataclasses, without code that each start of Blender would compile."""

import pickle

import pytest

from solver.catalogue import Entry, Param, find


def test_a_record_has_its_values_and_defaults_and_is_not_changed():
    param = Param("mass", "Mass", "How heavy it is", 2.0, unit="kg")
    assert (param.key, param.default, param.unit, param.low, param.field) == ("mass", 2.0, "kg", None, False)
    with pytest.raises(AttributeError, match="Param is not to be changed"):
        param.default = 3.0
    assert repr(param) == "Param(key='mass', label='Mass', sentence='How heavy it is', default=2.0, unit='kg')"


def test_records_with_the_same_values_are_equal_wherever_these_were_given():
    first = Param("mass", "Mass", "How heavy it is", 2.0)
    second = Param(key="mass", label="Mass", sentence="How heavy it is", default=2.0, unit="")
    assert first == second and hash(first) == hash(second) and pickle.loads(pickle.dumps(first)) == second
    assert first != Param("mass", "Mass", "How heavy it is", 3.0)
    assert first != ("mass", "Mass", "How heavy it is", 2.0) and find("mesher", "grid") != find("mesher", "tetwild")


@pytest.mark.parametrize("values, named", [
    (("mass", "Mass"), {}),  # some are missing
    (("mass", "Mass", "How heavy it is", 2.0), {"colour": "red"}),
    (("mass", "Mass", "How heavy it is", 2.0), {"key": "mass"}),  # twice
    (tuple(range(12)), {}),
])
def test_a_field_that_is_missing_given_twice_or_none_is_refused(values, named):
    with pytest.raises(TypeError, match="Param has the fields key, label"):
        Param(*values, **named)


def test_each_kind_of_record_knows_its_own_fields():
    assert Entry._fields[:3] == ("family", "key", "path") and Entry._fields[-1] == "number"
    assert Entry._needed == {"family", "key", "path", "label", "sentence"}
