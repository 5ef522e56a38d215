"""A predicate that is wrong wherever it is said is noticed, be it in guards or in properties too."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from support.broken_words import WHOLE, breaks_of, given_its_cases, specification, terms_of
from support.noticed import Judge
from support.words import DECIDES_NOTHING, ROOT, Name

from interlock.proofs.check import run_check
from interlock.spec.delivery.vocabulary import overdue, registration_state, registration_states
from interlock.spec.groups.vocabulary import precedes
from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.spec.modules import COMPOSED, MODULES, module
from interlock.spec.shared.sorts import position, request

_r, _p = request.var("r9"), position.var("p9")


def _name(of: str, word: str) -> Name:
    file, _, own = f"{ROOT}.{of}.{word}".rpartition(".")
    return file, own


def _forgets(part: str) -> Callable[[T.Term], T.Term]:
    return lambda t: breaks_of(t).get(part, t)


def _the(sort: str, t: T.Term) -> T.Var:
    (found,) = {v for v in T.free_vars(t) if v.sort == sort}
    return found


def _swapped(t: T.Term) -> T.Term:
    one, other = sorted(T.free_vars(t), key=lambda v: v.name)
    return T.transform(t, lambda n: {one: other, other: one}.get(n) if isinstance(n, T.Var) else None)


def _of_all_there(t: T.Term) -> T.Term:
    """A lease is to be reclaimed when all at the worker have run out."""
    w = _the("worker", t)
    return t & T.forall(_r, registration_state(w, _r).eq(registration_states["registered"]) >> overdue(w, _r))


HIDDEN = {
    "the engine rests while stores are under way": (
        "admission.predicates.has_work", _forgets("without-1"), "admission_quick",
        "admission-a-step-is-made-for-a-store-alone",
    ),
    "no report is heard while a step executes": (
        "kv.common.LISTENING", _forgets("without-2"), "tiny", "a-report-is-heard-while-a-step-executes",
    ),
    "no report is heard between two steps": (
        "kv.common.LISTENING", _forgets("without-1"), "tiny", "a-report-is-heard-after-the-output",
    ),
    "a scan waits for a chunk that is being written": (
        "kv.predicates.no_room", _forgets("never"), "store", "a-scan-finds-no-room",
    ),
    "a load has not ended as long as a store reads its block": (
        "kv.predicates.is_filled_by_load", _forgets("without-2"), "reset_load",
        "a-load-ends-before-the-store-of-what-was-there",
    ),
    "the last word on a hand-over waits for another connector's send": (
        "delivery.predicates.last_word", _forgets("without-3"), "lease_and_send",
        "delivery-the-hand-over-ends-before-the-last-send",
    ),
    "a lease that has run out is kept as long as another has not": (
        "delivery.hand_over.expired", _of_all_there, "two_leases", "every-expired-lease-is-reclaimed",
    ),
    "the narrower window is taken for the wider one": (
        "lookup.predicates.wider", _swapped, "lookup_three_groups", "wider-groups-are-asked-first",
    ),
    "jobs are flushed as in a last step, though a request that has loaded waits to go on": (
        "kv.predicates.tracked_and_unfinished", _forgets("without-4"), "loaded_waits", "flush-has-a-reason",
    ),
    "no hit ends with the first chunk of a prompt": (
        "groups.predicates.may_end", lambda t: t & T.exists(_p, precedes(_p, _the("position", t))), "hybrid_lookup",
        "stored-prompt-is-hit",
    ),
}  # fmt: skip
"""What words hid that were said of properties too, all of which agreed that it was so; or that no property spoke of."""


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_word_hid_is_noticed(name: str) -> None:
    word, change, slice_, property_ = HIDDEN[name]
    changed = specification(_name(*word.split(".", 1)), change)

    (run,) = run_check(spec=changed, slices=[slice_], properties=[property_]).runs
    assert run.properties == {property_: "violated"}


SHARED = [(m, w) for m in MODULES if m not in COMPOSED for w in sorted(DECIDES_NOTHING[m])]
UNNOTICED: dict[str, str] = {}
"""Breaks that no property notices, by ``MODULE.WORD: BREAK``, and why none needs to."""


@pytest.mark.slow
@pytest.mark.parametrize(("of", "word"), SHARED, ids=lambda v: v)
def test_a_shared_word_that_is_wrong_is_noticed(of: str, word: str) -> None:
    unnoticed = {f"{of}.{word}: {b}" for b in _breaks(of, word) if _noticed(of, word, b) is None}

    assert unnoticed == {b for b in UNNOTICED if b.startswith(f"{of}.{word}: ")}


def _breaks(of: str, word: str) -> list[str]:
    """What can be wrong with a word; the parts of one that is given its cases are not its own."""
    name = _name(of, word)
    found = dict.fromkeys(b for t in terms_of(name) for b in breaks_of(t))
    return [b for b in found if b in WHOLE or not given_its_cases(name)]


def _noticed(of: str, word: str, what: str) -> str | None:
    try:
        changed = specification(_name(of, word), lambda t: breaks_of(t).get(what, t))
    except SpecificationError as refusal:
        return str(refusal)
    return _judge(of).noticed(changed)


@cache
def _judge(name: str) -> Judge:
    return Judge(module(name))
