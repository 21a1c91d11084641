"""Inputs of a step: a repeated try gets those that its judgement returns, each part the force on itself."""

from dataclasses import replace

import numpy as np
from made_up import Pendulum

from solver.errors import StepFailed
from solver.world.interface import StepInputs
from solver.world.subsystems import Subsystems, rescuing, stepping


class Listed(Pendulum):
    """Accepts a step only once drives lead by two tries, and lists the inputs of each."""

    def __init__(self, tries):
        super().__init__(0.3)
        self.tries, self.seen = tries, []

    def attempt(self, state, h, inputs):
        self.seen.append(inputs)
        return super().attempt(state, h, inputs)

    def judge(self, before, after, h, inputs):
        leads = np.zeros((0, 1)) if inputs.drive_leads is None else inputs.drive_leads
        if len(leads) == self.tries:
            return after, None
        return before, replace(inputs, drive_leads=np.concatenate([leads, [[1.0 + len(leads)]]]))

    def rescue(self, state, h, failure, inputs=None):
        self.seen.append(inputs)
        return state


def test_a_repeated_try_starts_where_the_first_did_with_the_inputs_of_its_judgement():
    part, force = Listed(2), {0: np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])}
    after = part.step(part.initial_state(), 0.01, StepInputs(force))
    once = Pendulum(0.3)
    assert after.q.tobytes() == once.step(once.initial_state(), 0.01).q.tobytes()
    assert [inputs.drive_lead for inputs in part.seen] == [None, [1.0], [2.0]]
    assert all(inputs.external_forces is force for inputs in part.seen)


def test_each_part_of_a_world_has_its_own_external_force_in_steps_and_rescues():
    parts, force = [Listed(0), Listed(0), Listed(0)], np.ones((2, 3))
    states = [part.initial_state() for part in parts]
    world = Subsystems(parts, [])
    world.advance(states, stepping(0.01), {2}, {1: force})
    failure = StepFailed("lost")
    failure.part = 1
    world.advance(states, rescuing(0.01, failure), {2}, {1: force})
    assert [len(part.seen) for part in parts] == [2, 2, 0]
    assert all(inputs.external_forces == {} for inputs in parts[0].seen)
    assert all(inputs.external_forces[0] is force for inputs in parts[1].seen)
