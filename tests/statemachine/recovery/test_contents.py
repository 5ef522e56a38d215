"""Random tables that share prefixes: after recovery no token counts that comes from an invalid block.

The oracle goes by what is in the blocks, token by token, and by nothing that recovery says but its answer.
"""

from dataclasses import dataclass

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport

STEPS = {1: "one", 2: "two"}


@dataclass
class Case:
    """Requests whose tables share prefixes, blocks that were loaded in vain, and what the map of tokens says."""

    groups: tuple
    requests: list
    invalid: set
    told: dict
    depth: int
    policy: str


@st.composite
def cases(draw, loading=(True, False)):
    sizes = draw(st.lists(st.sampled_from((1, 2, 4)), min_size=1, max_size=2))
    groups = tuple(Group(n) for n in sizes)
    depth = draw(st.sampled_from((1, 2)))
    ids = iter(range(10_000))
    common = [[next(ids) for _ in range(4)] for _ in groups]
    requests, told = [], {}
    for n in range(draw(st.integers(1, 4))):
        name = f"r{n}"
        waits = draw(st.sampled_from(loading))
        shared = draw(st.integers(0, 4 * min(sizes))) // max(sizes) * max(sizes)
        processed = draw(st.integers(max(1, shared), shared + 12))
        scheduled = [] if waits else [draw(st.integers(0, 5)) for _ in range(depth)]
        computed = processed + sum(scheduled)
        spare = draw(st.integers(0, 2))
        tables = []
        for group, blocks in zip(groups, common, strict=True):
            table = blocks[: shared // group.block_size]
            while len(table) * group.block_size < computed + spare:
                table.append(next(ids))
            tables.append(table)
        prompt = draw(st.integers(1, computed + 2))
        cached = draw(st.integers(0, min(processed, prompt)))
        requests.append(
            HeldRequest(
                name,
                tables,
                computed,
                prompt,
                draw(st.sampled_from(("loading", "received") if waits else ("running",) * 3 + ("promoted",))),
                scheduled=tuple(scheduled),
                num_cached_tokens=0 if waits else cached,
                num_external_tokens=draw(st.integers(0, min(processed, prompt) if waits else cached)),
            )
        )
        if scheduled:
            entry = draw(st.sampled_from((0, 0, 0, 1, None)))
            if entry is not None and scheduled[0] + entry:
                told[name] = scheduled[0] + entry
    held = sorted({b for q in requests for table in q.block_tables for b in table})
    invalid = draw(st.sets(st.sampled_from(held), max_size=4))
    if draw(st.booleans()):  # what is shared is of most interest
        invalid |= {blocks[draw(st.integers(0, 1))] for blocks in common} & set(held)
    policy = draw(st.sampled_from(("recompute", "fail")))
    return Case(groups, requests, invalid, told, depth, policy)


def recovered(case, **switches):
    values = SPECIFICATION.switch_values(
        changes={"load_failure_policy": case.policy, "pipeline": STEPS[case.depth], **switches}
    )
    recovery = LoadRecovery(groups=case.groups, switches=values)
    return recovery, recovery.take_report(LoadReport(case.invalid, (), case.told), case.requests)


def blocks_of(case, q):
    """Each block of a request with the positions of its tokens."""
    for group, table in zip(case.groups, q.block_tables, strict=True):
        for index, b in enumerate(table):
            yield b, index * group.block_size, (index + 1) * group.block_size


def first_invalid(case, q, below, claimed=()):
    """The position of the first invalid block that starts below, or None."""
    found = [start for b, start, _ in blocks_of(case, q) if b in case.invalid - set(claimed) and start < below]
    return min(found, default=None)


def processed(q):
    return q.num_computed_tokens - sum(q.scheduled)


def expected(case):
    """By brute force: what each request counts afterwards, None if it has failed."""
    claimed, counts = set(), {}
    for q in case.requests:
        base = processed(q)
        first = first_invalid(case, q, base)
        if first is None:
            continue
        if case.policy == "fail":
            counts[q.request_id] = None
        elif not q.scheduled:  # it waits for its load: what it loads it loads for itself
            counts[q.request_id] = first
        else:
            unclaimed = first_invalid(case, q, base, claimed)
            counts[q.request_id] = base if unclaimed is None else unclaimed
            claimed |= {b for b, start, _ in blocks_of(case, q) if b in case.invalid and start < base}
    return counts


def goes_back_as_far_as_it_must_and_no_further(case, recovery, answer):
    counts = expected(case)
    assert set(answer.rollbacks) == set(counts)
    for name, done in answer.rollbacks.items():
        event(done.action)
        assert done.ends == (counts[name] is None)
        if not done.ends:
            assert done.num_computed_tokens == counts[name] >= 0
            assert done.num_in_flight_tokens == done.placeholders == 0


def counts_nothing_that_nobody_computes_again(case, recovery, answer):
    by_name = {q.request_id: q for q in case.requests}
    counts = {q.request_id: processed(q) for q in case.requests}
    counts |= {n: done.num_computed_tokens for n, done in answer.rollbacks.items()}
    alive = [n for n in counts if not (n in answer.rollbacks and answer.rollbacks[n].ends)]
    for name in alive:
        q = by_name[name]
        for b, start, end in blocks_of(case, q):
            if b in case.invalid and start < counts[name]:
                # Counted although it is invalid: then another of its holders goes back to it, and this one waits.
                holders = [n for n in alive if any(b2 == b for b2, *_ in blocks_of(case, by_name[n]))]
                assert any(counts[n] <= start for n in holders)
                assert recovery.wrong_from[b] == start
                assert recovery.waits(now(q, answer.rollbacks[name]))
            if name in answer.rollbacks and q.scheduled and case.policy == "recompute":
                # It counts some of these on, if others compute the invalid ones again: it knows that they are wrong.
                assert b in recovery.wrong_from or end <= first_invalid(case, q, processed(q))


def now(q, done):
    """A request after its rollback."""
    return HeldRequest(q.request_id, q.block_tables, done.num_computed_tokens, q.num_prompt_tokens, done.status)


def wrong_tokens(case, q):
    """Positions of tokens of a request, those of unprocessed steps included, that are not what they should be.

    What was loaded in vain is wrong, and what a step under way computes is wrong if it attends to what is.
    """
    wrong = {p for b, start, end in blocks_of(case, q) if b in case.invalid for p in range(start, end)}
    wrong &= set(range(processed(q)))
    return wrong | {p for p in range(processed(q), q.num_computed_tokens) if wrong and min(wrong) < p}


def counts_nothing_wrong(case, recovery, answer):
    for q in case.requests:
        done = answer.rollbacks.get(q.request_id)
        if done is not None and done.ends:
            continue
        counted = processed(q) if done is None else done.num_computed_tokens
        for p in wrong_tokens(case, q):
            if p < counted:
                holding = [b for b, start, end in blocks_of(case, q) if start <= p < end and b in case.invalid]
                assert all(recovery.wrong_from[b] <= p for b in holding)


def cannot_be_found(case, recovery, answer):
    """No block with a wrong token in it; and none but invalid ones before the first of them that its request counted."""
    must, may = set(case.invalid), set(case.invalid)
    for q in case.requests:
        done = answer.rollbacks.get(q.request_id)
        if done is None:
            continue
        first = first_invalid(case, q, processed(q))
        may |= {b for b, _, end in blocks_of(case, q) if end > first}
        if q.scheduled:
            wrong = wrong_tokens(case, q)
            must |= {b for b, start, end in blocks_of(case, q) if wrong & set(range(max(first, start), end))}
    assert must <= answer.unhashed <= may


def is_not_delivered(case, recovery, answer):
    """What a step under way computes from a wrong token; and all else of whoever goes back, for it comes again."""
    for q in case.requests:
        done = answer.rollbacks.get(q.request_id)
        wrong, start = wrong_tokens(case, q), processed(q)
        for step, n in enumerate(q.scheduled):
            if wrong & set(range(start, start + n)):
                assert step in done.dropped
            start += n
        if done is not None:
            assert done.dropped == tuple(step for step, n in enumerate(q.scheduled) if n)


def makes_sense_as_a_report(case, recovery, answer):
    """0 <= external <= cached <= prompt, and neither grows."""
    for q in case.requests:
        done = answer.rollbacks.get(q.request_id)
        if done is not None and q.status == "running" and not done.ends:
            assert 0 <= done.num_external_tokens <= done.num_cached_tokens <= q.num_prompt_tokens
            assert done.num_cached_tokens == min(q.num_cached_tokens, done.num_computed_tokens)
        if done is not None and not done.ends:
            assert 0 <= done.num_external_tokens <= q.num_external_tokens


CHECKS = (
    goes_back_as_far_as_it_must_and_no_further,
    counts_nothing_that_nobody_computes_again,
    counts_nothing_wrong,
    cannot_be_found,
    is_not_delivered,
    makes_sense_as_a_report,
)


@settings(max_examples=800, deadline=None)
@given(cases())
def test_recovery_is_right_about_what_is_in_the_blocks(case):
    recovery, answer = recovered(case)

    for check in CHECKS:
        check(case, recovery, answer)


@settings(max_examples=250, deadline=None)
@given(cases(loading=(False,)))
def test_the_seeds_base_is_the_same_at_depth_one_and_too_high_at_depth_two(case):
    """Without faults in the map. At depth 2 it is so by the tokens of the step after."""
    case.told = None
    case.policy = "recompute"
    _, ours = recovered(case)
    _, seeds = recovered(case, recovery_base="computed_minus_scheduled")
    if case.depth == 1:
        assert ours == seeds
    for q in case.requests:
        if q.request_id in ours.rollbacks:
            assert ours.rollbacks[q.request_id].base == processed(q)
        if q.request_id in seeds.rollbacks:
            assert seeds.rollbacks[q.request_id].base == q.num_computed_tokens - q.scheduled[0]


@pytest.mark.parametrize("status", ["running", "loading", "received", "promoted"])
def test_one_formula_for_running_and_loading_requests(status):
    """A loading request has nothing in flight: what is subtracted is 0, and there is no other case."""
    recovery = LoadRecovery(groups=(Group(4),))
    scheduled = (3,) if status == "running" else ()
    q = HeldRequest("A", [[5, 6, 7]], 8 + sum(scheduled), 12, status, scheduled=scheduled)

    done = recovery.take_report(LoadReport({6, 7}), [q]).rollbacks["A"]

    assert (done.base, done.num_computed_tokens) == (8, 4)
