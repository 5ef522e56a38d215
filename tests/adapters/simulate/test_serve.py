"""Serving: conversations in order, what is too large, and runs that stand still."""

import pytest

from interlock.adapters.embedded import EmbeddedEngine, Scheduling, Sizes, Timing
from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.no_offload import NoOffload
from interlock.adapters.simulate.serve import STEPS_WITHOUT_PROGRESS_MAX, Server, Stuck

SIZES = Sizes(block_size=4, num_blocks=20)


def serve(arrivals, connector=None, **options):
    ended = []
    server = Server(arrivals, ended.append)
    engine = EmbeddedEngine(connector or NoOffload(), SIZES, None, ended=server.ended, **options)
    return server.run(engine), ended, engine


def asked(request, tokens=8, at_s=0.0, output=2, follows=None):
    return Arrival(request, at_s, (Piece(request, tokens),), output, follows)


def test_a_turn_repeats_what_was_said_and_comes_after_the_answer():
    _, (first, second), _ = serve([asked("a"), asked("b", tokens=3, at_s=5.0, follows="a")])

    assert second.tokens[: len(first.tokens)] == first.tokens
    assert second.num_prompt_tokens == len(first.tokens) + 3
    assert second.moments[0][1] == pytest.approx(first.moments[-1][1] + 5.0)


def test_waiting_counts_from_the_arrival_not_from_the_step_that_sees_it():
    timing = Timing(step_s=1.0)
    served, _, _ = serve([asked("a", output=1), asked("b", at_s=0.25, output=1)], timing=timing)

    assert served.first_token_s == [pytest.approx(1.0), pytest.approx(1.75)]


def test_time_in_which_nothing_happens_takes_no_steps():
    _, _, engine = serve([asked("a", at_s=1000.0, output=1)])

    assert engine.now_s == pytest.approx(1000.0, abs=0.1)
    assert engine.counts.steps < 10


def test_what_is_larger_than_the_gpu_is_refused_with_all_that_follows_it():
    arrivals = [asked("a"), asked("big", tokens=200), asked("c", follows="big"), asked("d", follows="c")]
    served, ended, _ = serve(arrivals)

    assert served.refused == 3
    assert [r.request_id for r in ended] == ["a"]


class NeverNow(NoOffload):
    """Says "ask again later" for ever."""

    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        return None, False


def test_a_run_that_stands_still_is_said_to():
    with pytest.raises(Stuck, match="1 requests wait for ever"):
        serve([asked("a")], NeverNow())
    assert STEPS_WITHOUT_PROGRESS_MAX > 1000


@pytest.mark.parametrize("depth", [1, 2])
def test_idle_time_is_counted_where_requests_wait_for_loads(depth):
    from interlock.adapters.embedded.scenario import own_machine
    from interlock.spec.kv import SPECIFICATION

    sizes = Sizes(block_size=4, num_blocks=4, num_chunks=20)
    long = [Arrival(r, at_s, (Piece(name, 16),), 1) for r, name, at_s in
            (("a", "x", 0.0), ("b", "y", 10.0), ("c", "x", 20.0))]  # fmt: skip
    server = Server(long)
    engine = EmbeddedEngine(
        own_machine(SPECIFICATION.switch_values(), sizes), sizes, None, ended=server.ended,
        timing=Timing(step_s=0.1, empty_step_s=0.0, load_s=0.5, store_s=0.001), scheduling=Scheduling(depth=depth),
    )  # fmt: skip
    server.run(engine)

    # Three blocks of x are loaded (the last token's block never is), half a second each, and nothing else runs.
    assert engine.counts.loaded_blocks == 3
    assert engine.counts.load_wait_s == pytest.approx(1.5, abs=0.01)
    assert engine.counts.idle_s == pytest.approx(1.5, abs=0.01)
