"""A parameter that needs a switch names one of its own entry's, and labels differ."""

from solver import catalogue


def test_what_a_parameter_needs_is_a_switch_beside_it():
    needy = [(entry, param) for entry in catalogue.ENTRIES for param in entry.params if param.needs]
    assert {param.key for _, param in needy} >= {"liveliness_threshold", "liveliness_window"}
    for entry, param in needy:
        switches = [other.key for other in entry.params if isinstance(other.default, bool)]
        assert param.needs in switches, f"{entry.key}: {param.key}"


def test_labels_that_stand_below_each_other_differ_before_a_narrow_sidebar_cuts_them():
    for entry in catalogue.ENTRIES:
        seen = [param.label[:12] for param in entry.params]
        assert len(set(seen)) == len(seen), (entry.key, seen)
