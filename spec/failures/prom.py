"""Public failures of the family PROM: a promise stays valid."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

PROM = (
    Failure(
        id="B-005",
        family="PROM",
        reference="vllm-project/vllm #50454",
        outcome="crash",
        model="partly",
        evidence="C",
        tags=("hybrid", "specdec", "pressure"),
        title="Same assertion as #43884 again after its fix, with per-position Mamba caching and MTP",
        scenario=(
            "Hybrid model with several groups, external hit and eviction pressure; local computed-token count "
            "exceeds committed blocks of a group"
        ),
        invariant="Tokens counted as locally computed are backed by committed blocks in every group",
        lacks=(
            "The cause is not known, and the models have neither a drafter's group nor states of a Mamba group at"
            " every position."
        ),
    ),
    Failure(
        id="B-029",
        family="PROM",
        reference="vllm-project/vllm #56701",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("hybrid", "specdec"),
        title="Load covers one more chunk than lookup checked",
        scenario=(
            "Window 32, block 16, 3 extra tokens kept for MTP, external hit 64: lookup checks chunks 2-3, "
            "allocation restores 1-3; chunk 1 was never stored or is still being written"
        ),
        invariant="Coverage(store) includes coverage(lookup) includes coverage(load)",
    ),
    Failure(
        id="B-030",
        family="PROM",
        reference="vllm-project/vllm #54914",
        outcome="crash",
        model="partly",
        evidence="C",
        tags=("hybrid", "pressure", "specdec"),
        title="Engine dies after hours, once the CPU tier is full and evicting",
        scenario=(
            "Long run; CPU tier starts evicting; an admitted external hit no longer has all its blocks when the "
            "load is prepared"
        ),
        invariant="An admitted hit stays loadable until its load starts",
    ),
    Failure(
        id="B-045",
        family="PROM",
        reference="vllm-project/vllm #39702",
        outcome="crash",
        model="yes",
        evidence="A",
        tags=("pressure",),
        title="Hit found at lookup is evicted before allocation",
        scenario=(
            "Lookup finds N tokens in CPU LRU without pinning; allocation for the same or another request evicts "
            "them; second lookup after allocation finds 0"
        ),
        invariant="A positive lookup pins its blocks until consumed or cancelled",
    ),
    Failure(
        id="B-108",
        family="PROM",
        reference="vllm-project/vllm #51222",
        outcome="crash",
        model="partly",
        evidence="A",
        tags=("ec",),
        title="Item already held by the connector kills the encoder instance",
        scenario=(
            "Scheduler skips encoding since the connector has the item; runner still gathers it from the local "
            "cache, misses, engine dies"
        ),
        invariant="Skip-encode implies the worker does not need, or loads, the entry",
    ),
)
