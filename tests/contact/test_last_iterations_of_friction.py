"""The price of the iterations on friction's final loads, with which a stage of Quick ends."""

from benchmarks.scenes.touching import balls_in_a_box
from solver.nonlinear.bounded_search import BoundedSearch

H, STEPS, STAGES = 1 / 96, 4, 2  #: [s]; of SDIRK2


def test_ten_balls_in_a_box_take_about_five_a_stage(tmp_path, monkeypatch):
    """Each is a solve and a few evaluations: with a hundred balls they are nearly half of a step."""
    searches, search = [], BoundedSearch.search_without_jumps

    def counted(self, *arguments):
        searches.append(self)
        return search(self, *arguments)

    monkeypatch.setattr(BoundedSearch, "search_without_jumps", counted)
    part = balls_in_a_box(tmp_path / "job", 10, 4, H)
    state, before = part.initial_state(), part.factored
    for _ in range(STEPS):
        state = part.step(state, H)
    assert 0 < len(searches) <= 6 * STAGES * STEPS
    assert part.factored - before <= 5 * STEPS
