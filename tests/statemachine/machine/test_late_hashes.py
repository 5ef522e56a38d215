"""Blocks that get their hashes without a word to the connector, and are found.

With outputs, where steps are scheduled before those of the one before are there, as in vLLM's ``AsyncScheduler``; and of
a request whose load has ended, when it is next visited (``cache_blocks``, Q13), whether there is room to let it in or not.
"""

import pytest

from interlock.statemachine.errors import GuardViolation, SpecificationViolation
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.port import ScheduledRequest

H = 4
TWO = (FullAttention(H), SlidingWindow(H, 2 * H))


def per_group(groups, *blocks):
    """Tables, in which a second group has other blocks."""
    return list(blocks) if groups is None else [list(blocks), [b and 20 + b for b in blocks]]


def filled(driver, groups=None):
    """A has computed 8 tokens, the last of which came with an output after the step that computes it was scheduled."""
    d = driver(chunks=8, groups=groups)
    d.add("X", [], tokens=1)
    d.admit("X", per_group(groups, 9))
    a = d.add("A", ["h1"], tokens=6)
    d.admit("A", per_group(groups, 1, 2))
    jobs = d.build().store_jobs
    d.go_on("A", 6, 1)
    d.build()
    d.update(completed=[j.job for j in jobs])
    a.num_tokens = 7
    d.go_on("A", 7, 1)  # fills block 2
    d.build()
    d.update()
    a.num_tokens, a.block_hashes = 8, ["h1", "h2"]
    d.update()
    a.num_tokens = 9
    return d


def loaded(driver, groups=None, **options):
    """W has loaded two blocks, and there is no room for what it has still to compute."""
    d = driver(chunks=8, groups=groups, options=options)
    d.add("A", ["h1", "h2"])
    d.admit("A", per_group(groups, 11, 12, 13))
    jobs = d.build().store_jobs
    d.update(completed=[j.job for j in jobs])
    d.finish("A")
    d.step()
    d.add("W", ["h1", "h2"])
    d.load("W", per_group(groups, 1, 2), external_blocks=2)
    loads = d.build().load_jobs
    assert {j.block for j in loads} >= {1, 2}
    d.update(completed=[j.job for j in loads], received=["W"])
    d.step()
    return d


def finds(d, groups=None):
    """B has the prompt of A and its answer, and finds both blocks."""
    d.add("B", ["h1", "h2"])
    d.admit("B", per_group(groups, 1, 2, 3), local_blocks=2)
    return d.build()


@pytest.mark.parametrize("groups", [None, TWO])
@pytest.mark.parametrize("lost", ["finished", "preempted"])
def test_the_block_of_who_has_ended_or_was_preempted_is_found(driver, groups, lost):
    d = filled(driver, groups)
    if lost == "finished":
        d.finish("A")
    else:
        d.build(preempted=["A"])
        d.update()

    stores = finds(d, groups).store_jobs

    sources = [2] if groups is None else [2, 22]
    assert [(j.request, j.block) for j in stores] == [("B", block) for block in sources]
    assert {d.machine.ledger.function("block_state")[b] for b in (1, 2)} == {"used"}


def test_the_block_of_who_goes_on_and_gets_no_tokens_is_that_ones(driver):
    d = filled(driver)

    stores = finds(d).store_jobs

    assert {("A", 2), ("B", 2)} <= set(d.machine.ledger.relation("holds"))
    assert [j.block for j in stores] == [2]


def test_who_gets_no_tokens_stores_nothing_before_it_gets_some(driver):
    d = filled(driver)
    d.go_on("X", 1, 1)
    assert d.build().store_jobs == ()
    d.update()
    d.go_on("A", 8, 1, blocks=[3])

    assert [j.block for j in d.build().store_jobs] == [2]


def test_a_token_that_is_not_computed_names_no_block(driver):
    """Of who goes on all tokens are computed but the last."""
    d = filled(driver)
    d.requests["A"].num_tokens = 8
    d.go_on("X", 1, 1)
    d.build()

    assert 2 not in d.machine.ledger.relation("hashed")


def test_who_is_visited_and_gets_no_tokens_gives_up_what_an_output_has_settled(driver):
    """Its window has passed a block with tokens of which the last step that it was in could not know."""
    groups = FullAttention(H), SlidingWindow(H, H)
    d = filled(driver, groups)  # A has computed 8 tokens: of block 2, none was settled when that step was scheduled
    d.add("B", ["g1"])
    d.admit("B", [[11, 12], [21, 32]])

    assert ("B", 21) in {(j.request, j.block) for j in d.build().store_jobs}
    assert d.machine._tracked["A"].tables[1].blocks == [0, 22]


def test_a_block_that_only_a_draft_has_passed_is_not_given_twice(driver):
    d = filled(driver, (FullAttention(H), SlidingWindow(H, H)))
    d.requests["A"].num_tokens = 7  # the output is still to come
    d.add("B", ["g1"])
    d.admit("B", [[11, 12], [21, 32]])

    with pytest.raises(SpecificationViolation, match="block 21 is used: allocate is illegal"):
        d.build()


def test_with_outputs_in_time_no_hit_is_looked_at_twice(driver):
    d = driver(chunks=8)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.build()

    assert not d.machine._running._names_late


@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize("groups", [None, TWO])
@pytest.mark.parametrize("aborted", [True, False])
def test_what_a_request_has_loaded_that_was_never_let_in_is_found(driver, groups, aborted, checking):
    d = loaded(driver, groups, checking=checking)
    if aborted:
        d.finish("W")

    finds(d, groups)

    holders = {request for request, block in d.machine.ledger.relation("holds") if block in (1, 2)}
    assert holders == ({"B"} if aborted else {"B", "W"})
    assert {1, 2} <= set(d.machine.ledger.relation("hashed"))


@pytest.mark.parametrize("groups", [None, TWO])
def test_who_loaded_what_others_have_found_goes_on_with_it(driver, groups):
    d = loaded(driver, groups)
    finds(d, groups)
    d.update()
    d.admit("W", per_group(groups, 1, 2, 4), local_blocks=2, tokens=1)
    d.build()
    d.update()
    for name in ("B", "W"):
        d.finish(name)
    d.step()

    assert not d.machine.ledger.relation("holds")
    assert not d.machine.has_pending_work()


@pytest.mark.parametrize("loses", ["is looked up anew", "has no load"])
def test_what_nobody_can_have_named_is_no_hit(driver, loses):
    """A load that failed as a whole leaves no names, and who computes gives them as it is let in."""
    d = driver(chunks=8)
    if loses == "has no load":
        d.add("W", ["h1", "h2"])
        d.admit("W", [1, 2], tokens=3)
        d.build()
        d.update()
        d.finish("W")
    else:
        job = d.store_one("A", "h1", block=11).job
        d.update(completed=[job])
        d.add("W", ["h1", "h2"])
        d.load("W", [1], external_blocks=1)
        (load,) = d.build().load_jobs
        d.update(failed=[load.job], received=["W"])
        d.match("W")
        d.build()
        d.update()

    d.add("B", ["h1", "h2"])
    d.admit("B", [1, 2, 3], local_blocks=1)
    with pytest.raises(GuardViolation, match="hashed is false"):
        d.build()


NARROW = (FullAttention(H), SlidingWindow(H, 2))


def drafting(driver, **options):
    """A's steps compute three drafts each: they count, with those under way, until an output rejects some."""
    d = driver(chunks=8, groups=NARROW, options=options)
    a = d.add("A", ["h1"], tokens=6)
    d.admit("A", [[1, 2], [21, 22]])
    jobs = d.build().store_jobs
    d.update(completed=[j.job for j in jobs])
    draft(d, 6, [[3], [23]])
    a.num_tokens = 7
    return d


def draft(d, computed, blocks):
    """A goes on with what counts as computed, its last known token and three drafts."""
    d.tables["A"] = [[*table, *more] for table, more in zip(d.tables["A"], blocks, strict=True)]
    d._scheduled.append(ScheduledRequest("A", computed, 4, blocks))
    d.build()
    d.update()


@pytest.mark.parametrize("checking", [True, False])
def test_what_only_drafts_have_passed_is_still_in_the_window(driver, checking):
    """All drafts are rejected, and the block that had been given up too early is found."""
    d = drafting(driver, checking=checking)
    draft(d, 10, [[4], [24]])
    assert ("A", 22) in d.machine.ledger.relation("holds")
    a = d.requests["A"]
    a.num_tokens, a.block_hashes = 8, ["h1", "h2"]
    draft(d, 7, [[], []])
    d.finish("A")

    d.add("B", ["h1", "h2"])
    d.admit("B", [[1, 2, 5], [0, 22, 25]], local_blocks=2)
    d.build()

    assert ("B", 22) in d.machine.ledger.relation("holds")


def test_what_gets_its_hash_as_the_window_passes_it_is_found(driver):
    """An output brings enough tokens for both at once, before any step could say that the block is full."""
    d = drafting(driver)
    a = d.requests["A"]
    a.num_tokens, a.block_hashes = 11, ["h1", "h2"]
    draft(d, 10, [[4], [24]])
    assert ("A", 22) not in d.machine.ledger.relation("holds")
    d.finish("A")

    d.add("B", ["h1", "h2"])
    d.admit("B", [[1, 2, 5], [0, 22, 25]], local_blocks=2)
    d.build()

    assert {("B", 2), ("B", 22)} <= set(d.machine.ledger.relation("holds"))
