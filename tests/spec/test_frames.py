"""Frames are cheap to replay: what a step leaves alone is read only where the step has written.

That is so only if a frame reads no function with a domain (``statemachine/sparse/two_states.py``): such a frame is read
at every element that a log knows, in every step, and a log of a thousand events took 20 s.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.spec.kv.vocabulary import c, cpu_value, h, j, job_chunk, w
from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import forall
from interlock.spec.modules import MODULES, module
from interlock.spec.shared.frames import unchanged

OF_FEW = {"a-request-moves-its-own-cursor", "an-eviction-is-of-one-chunk"}
"""Read whole: they speak of the requests that scan a prompt, and of the places of one prompt."""


def frames(t: T.Term) -> Iterator[T.Forall]:
    """The parts of a formula that say of all, or of all others, that something stays as it is."""
    if isinstance(t, T.And):
        for part in t.args:
            yield from frames(part)
    if isinstance(t, T.Forall):
        said = t.body.right if isinstance(t.body, T.Implies) else t.body
        parts = said.args if isinstance(said, T.And) else (said,)
        if all(isinstance(p, T.Eq) and p.left == T.Primed(body=p.right) for p in parts):
            yield t


def read_whole(spec: Specification, formula: T.Term) -> bool:
    """Whether some frame in it reads a function that has a domain."""
    partial = {v.name for v in spec.variables if v.domain is not None}
    return any(T.symbols(f) & partial for f in frames(formula))


def test_no_frame_is_read_whole() -> None:
    said = [(m, p) for m in map(module, MODULES) for p in m.properties if isinstance(p, ActionProperty)]

    assert sum(1 for _, p in said for _ in frames(p.formula)) > 50
    assert {p.id for m, p in said if read_whole(m, p.formula)} == OF_FEW


def test_a_frame_about_the_chunk_of_a_job_would_be() -> None:
    assert read_whole(module("kv"), forall(w, c, h, c.ne(job_chunk(j)) >> unchanged(cpu_value(w, c, h))))
    assert not read_whole(module("kv"), forall(w, c, h, unchanged(cpu_value(w, c, h))))
