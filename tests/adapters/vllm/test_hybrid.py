"""The scheduler of vLLM 0.32.0 with hybrid models: full attention beside sliding windows and Mamba, and our machine."""

from collections import Counter

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

MODELS = {
    "a window": [["full", 16, 0], ["window", 16, 40]],
    "two windows and larger blocks": [["full", 32, 0], ["window", 16, 40], ["window", 16, 17]],
    "Mamba": [["full", 16, 0], ["mamba", 16, 0]],
    "Mamba and larger blocks": [["full", 32, 0], ["mamba", 16, 0]],
    "a window and Mamba": [["full", 16, 0], ["window", 16, 33], ["mamba", 16, 0]],
}


def played(seeds, *, broken="", models=tuple(MODELS)):
    """What was seen, and what was wrong, by model."""
    cases = [
        {"groups": MODELS[m], "gpu_blocks": 40, "chunks": 30, "batch": 128, "seeds": list(range(seeds)), "steps": 60}
        for m in models
    ]
    results = run("hybrid", "0.32.0", {"broken": broken, "cases": cases})
    return {
        model: (sum((Counter(r["seen"]) for r in rows), Counter()), [r["wrong"] for r in rows if r["wrong"]])
        for model, rows in zip(models, results, strict=True)
    }


def test_hits_are_those_of_brute_force_and_every_reader_sees_what_it_came_for():
    results = played(25)

    assert {model: wrong for model, (_, wrong) in results.items() if wrong} == {}
    seen = sum((seen for seen, _ in results.values()), Counter())
    assert min(seen[what] for what in ("stores", "loads", "flushes", "slid", "hits", "later", "null")) > 30
    assert seen["freed_source"] > 30, "blocks slide out while a store reads them"
    assert all(seen["hits"] for seen, _ in results.values())


@pytest.mark.parametrize(
    ("broken", "model", "says"),
    [
        ("unfenced", "a window", "fenced-are-flushed"),
        ("narrow", "two windows and larger blocks", "is right|reads garbage"),
        ("stays", "a window and Mamba", "allocate is illegal"),
    ],
)
def test_what_is_broken_is_seen(broken, model, says):
    [(_, wrong)] = played(15, broken=broken, models=(model,)).values()

    assert wrong
    assert any(alternative in line for line in wrong for alternative in says.split("|")), wrong[0]
