"""Which sorts depend on which, and a shortest way round."""

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.stratify import cycle, stratification


def test_functions_and_alternations_are_edges() -> None:
    edges = stratification(SPECIFICATION, SPECIFICATION.switch_values())

    assert {"block", "chunk"} <= edges["job"]  # job_block, job_chunk
    assert "job" in edges["block"]  # a block in the dedup set has some open store


def test_the_shortest_cycle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a", "b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"a"}}) == ["a", "a"]
    assert cycle({"a": {"b"}, "b": set()}) == []
