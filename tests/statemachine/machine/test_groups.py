"""Several KV cache groups: what is found, loaded, stored and given up, against trying every length and the content."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.grouped_engine import GroupedEngine

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadMachine
from interlock.statemachine.offload.choice import EVERYTHING, StoreLimits

H = 4
"""Tokens to one hash."""


def engine(*groups, blocks=24, chunks=12, limits=EVERYTHING, **switches):
    machine = KVOffloadMachine(
        block_size=H,
        groups=groups,
        num_chunks=chunks,
        num_workers=1,
        switches=SPECIFICATION.switch_values(changes=switches),
        limits=limits,
    )
    return GroupedEngine(list(groups), H, blocks, machine)


sizes = st.sampled_from((H, H, 2 * H))
kinds = st.one_of(
    st.builds(FullAttention, sizes),
    st.builds(SlidingWindow, sizes, st.integers(1, 5 * H)),
    st.builds(ChunkedLocal, sizes, st.integers(1, 5 * H)),
    st.builds(Mamba, sizes),
)


PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
"""Without Phase.explain, which traces every line."""


@settings(max_examples=300, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(
    groups=st.lists(kinds, min_size=1, max_size=3),
    blocks=st.integers(12, 40),
    chunks=st.integers(1, 24),
    switches=st.sampled_from(({}, {}, {"source_hold": "pin"}, {"match_busy": "proceed"}, {"finish_store": "no"})),
    limits=st.sampled_from((EVERYTHING, EVERYTHING, StoreLimits(prompt_only=True), StoreLimits(sightings=2))),
    data=st.data(),
)
def test_whatever_happens_each_reader_sees_what_it_came_for(groups, blocks, chunks, switches, limits, data):
    switches = switches | ({"store_choice": "some_blocks"} if limits.decline_some else {})
    e = engine(*groups, blocks=blocks, chunks=chunks, limits=limits, **switches)
    e.proceeds = switches.get("match_busy") == "proceed"
    names = iter("ABCDEFGHIJKLMNOP")
    for _ in range(data.draw(st.integers(5, 40))):
        alive = sorted(n for n, r in e.requests.items() if r.state != "held")
        running = [n for n, r in e.requests.items() if r.state == "running"]
        match data.draw(st.sampled_from(("add", "add", "step", "step", "step", "step", "abort"))):
            case "add":
                prompt = data.draw(st.sampled_from(("p", "pq", "pqrs", "pqrst", "pqrxyz", "pqrstuvw")))
                name = next(names, None)
                if name is not None:
                    e.add(name, prompt, data.draw(st.integers(0, H)), data.draw(st.integers(0, 12)))
            case "abort" if alive:
                e.finish(e.requests[data.draw(st.sampled_from(alive))])
                e.update()
            case _:
                preempt = data.draw(st.lists(st.sampled_from(running), max_size=1)) if running else ()
                e.step(data.draw(st.sampled_from((1, 3, 8, 8, 40))), preempt)
                jobs = sorted(e.copies)
                for job in data.draw(st.lists(st.sampled_from(jobs), unique=True)) if jobs else ():
                    e.copy(job)
                report = data.draw(st.lists(st.sampled_from(jobs), unique=True)) if jobs else ()
                failed = [j for j in report if e.copies[j].store and data.draw(st.integers(0, 9)) == 0]
                e.update(report, failed)
