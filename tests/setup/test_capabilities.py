"""The catalogue's table of capabilities: each word is one of its family and used, and a lack has its reason."""

from pathlib import Path

import pytest

from solver import catalogue

#: capabilities that only entries from outside have, with the test that adds one
FROM_OUTSIDE = {"touches bodies": "tests/room/test_room_touching_part.py"}


@pytest.mark.parametrize("entry", [known for known in catalogue.ENTRIES if known.can or known.lacks],
                         ids=lambda entry: f"{entry.family}-{entry.key}")
def test_an_entry_says_what_it_can_in_words_of_its_family(entry):
    for word in entry.can:
        assert catalogue.CAPABILITIES[word].family == entry.family
        assert not catalogue.CAPABILITIES[word].is_usual, "a usual capability needs no word"
        assert entry.able(word) and not entry.why_not(word)
    for word, why in entry.lacks:
        assert catalogue.CAPABILITIES[word].family == entry.family
        assert catalogue.CAPABILITIES[word].is_usual, "what is not usual is lacked without a word"
        assert not entry.able(word) and entry.why_not(word) == why
        # the reason ends a sentence, and more of it may follow
        assert why and not why.endswith(".") and why[0].islower()
    assert len(set(entry.can)) == len(entry.can) and len(dict(entry.lacks)) == len(entry.lacks)


@pytest.mark.parametrize("word", catalogue.CAPABILITIES)
def test_each_capability_distinguishes_entries_of_a_family(word):
    family = catalogue.CAPABILITIES[word].family
    able = catalogue.able(family, word, hidden=True)
    assert len(able) < len(catalogue.family(family))
    if word in FROM_OUTSIDE:
        assert not able and f'"{word}"' in Path(FROM_OUTSIDE[word]).read_text(encoding="utf-8")
    else:
        assert able
    assert all(entry.able(word) for entry in able)
    assert [entry.key for entry in catalogue.able(family, word)] == [entry.key for entry in able if not entry.hidden]


def test_a_word_that_is_none_is_refused():
    with pytest.raises(KeyError):
        catalogue.find("integrator", "bdf2").able("flight")


def test_the_manual_lists_every_lack_of_a_choice(request):
    page = (request.config.rootpath / "docs" / "settings.md").read_text(encoding="utf-8")
    lacks = [(entry, why) for entry in catalogue.ENTRIES if not entry.hidden for _, why in entry.lacks]
    assert lacks
    for entry, why in lacks:
        assert any(entry.label in line.split(" | ")[0] for line in page.splitlines() if line.endswith(f"| {why} |"))
