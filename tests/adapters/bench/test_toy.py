"""The toy model says the same in three languages: every engine finds the same states and transitions."""

import pytest

from interlock.adapters.bench.measure import Engine
from interlock.adapters.bench.murphi import murphi
from interlock.adapters.bench.ours import plain, vectorised
from interlock.adapters.bench.promela import MAX_BLOCKS, promela
from interlock.adapters.bench.rumur import Rumur
from interlock.adapters.bench.spin import Spin
from interlock.adapters.bench.toy import system
from interlock.proofs.explorer.layout import Layout
from interlock.proofs.explorer.search import explore

COUNTS = {(1, 1): (10, 18), (2, 2): (241, 1054), (3, 2): (1310, 8067), (3, 3): (11668, 88434)}
"""States and transitions by requests and blocks."""

COMPARED = [(2, 2), (3, 2), (3, 3)]


def counts(engine: Engine) -> tuple[int, int]:
    engine.compile()
    found = engine.run()
    assert found.complaint == ""
    return found.states, found.transitions


@pytest.mark.parametrize(("size", "wanted"), COUNTS.items(), ids=str)
def test_the_plain_explorer_finds_these(size, wanted):
    assert counts(plain(*size)) == wanted


def test_every_action_happens_and_every_invariant_holds():
    found = explore(system(2, 2))

    assert found.never_enabled == []
    assert set(found.verdicts.values()) == {"holds"}


@pytest.mark.parametrize(("size", "wanted"), [((4, 4), 48), ((5, 4), 58), ((4, 5), 58), ((3, 7), 62)], ids=str)
def test_a_state_fits_in_one_word_up_to_large_sizes(size, wanted):
    toy = system(*size)
    results = [toy.variable(slot.variable).result for slot in Layout(toy).slots]

    assert sum((toy.size(result) - 1).bit_length() for result in results) == wanted


@pytest.mark.parametrize("size", COMPARED, ids=str)
def test_the_vectorised_explorer_finds_the_same(size):
    assert counts(vectorised(*size)) == COUNTS[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", COMPARED, ids=str)
def test_spin_finds_the_same_and_one_transition_more(size, tmp_path, peers):
    assert Spin.more == (0, 1)
    assert counts(Spin(*size, tmp_path, table_bits=16)) == COUNTS[size]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", COMPARED, ids=str)
def test_rumur_finds_the_same(size, threads, tmp_path, peers):
    assert counts(Rumur("rumur", *size, tmp_path, threads=threads)) == COUNTS[size]


@pytest.mark.slow
def test_spin_judges_the_invariants(tmp_path, peers):
    """Without the mark in the guard, a second store of a shared block begins while the first reads it."""
    faulty = promela(2, 1).replace("& ~in_flight & ~stored", "")
    engine = Spin(2, 1, tmp_path, table_bits=16, model=faulty)
    engine.compile()

    assert engine.run().complaint == "an invariant fails"


@pytest.mark.slow
def test_rumur_judges_the_invariants(tmp_path, peers):
    faulty = murphi(2, 1).replace(" & ((in_flight | stored) & 1) = 0", "")
    engine = Rumur("rumur", 2, 1, tmp_path, model=faulty)
    engine.compile()

    assert engine.run().complaint == "an invariant fails"


def test_promela_refuses_more_blocks_than_a_byte_has_bits():
    with pytest.raises(ValueError, match="at most 8"):
        promela(1, MAX_BLOCKS + 1)
