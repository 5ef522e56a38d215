"""Public failures of the family EFFECT: stored once, and what is stored can be served."""

from __future__ import annotations

from interlock.spec.failures.failure import Failure

EFFECT = (
    Failure(
        id="B-015",
        family="EFFECT",
        reference="vllm-project/vllm #53062",
        outcome="latency, wasted work",
        model="yes",
        evidence="A",
        tags=("tier", "pd"),
        title="A key whose primary write is in flight is dropped for ever by the request-level cascade",
        scenario=(
            "A's store of key k is in flight; B (whose peer demands k) prepares k: 'already present', so no "
            "store, and cascade skips it as 'not ready'; cursor moves past; k is never offered for B; peer waits "
            "out its timeout"
        ),
        invariant="A key demanded by a request is offered exactly once, now or when it becomes ready",
        lacks=(
            "A write to the second tier is of a key, not of a request: the model has no cursor over tiers for each"
            " request, and no peer that asks for a key in the name of one."
        ),
    ),
    Failure(
        id="B-031",
        family="EFFECT",
        reference="vllm-project/vllm #53951",
        outcome="wasted work (never served)",
        model="yes",
        evidence="B",
        tags=("hybrid", "specdec"),
        title="Writer keeps `tail` window blocks, reader needs `tail+1`",
        scenario=(
            "Draft-model window group: store keeps the last t blocks of each segment; lookup needs t+1 "
            "consecutive; every lookup of the request returns 0"
        ),
        invariant="Coverage(store) includes coverage(lookup)",
    ),
    Failure(
        id="B-032",
        family="EFFECT",
        reference="vllm-project/vllm #46971",
        outcome="wasted work",
        model="yes",
        evidence="A",
        tags=("specdec",),
        title="Two loops compute the store bound differently, the cursor skips a chunk",
        scenario=(
            "Draft group: key loop excludes the trailing block, job loop does not; cursor advances past a chunk "
            "that was never stored; later hits stop there"
        ),
        invariant="Cursor advances exactly over what was submitted",
    ),
    Failure(
        id="B-033",
        family="EFFECT",
        reference="vllm-project/vllm #52735",
        outcome="wasted work",
        model="yes",
        evidence="A",
        tags=("hybrid", "specdec"),
        title="All groups are taken for draft groups, so every hit becomes 0",
        scenario=(
            "Drafter shares the target group; no group is annotated; fallback marks all groups; recurrent group's"
            " window of 1 minus 1 = 0"
        ),
        invariant="If stored and not evicted, an identical prompt hits",
    ),
    Failure(
        id="B-041",
        family="EFFECT",
        reference="vllm-project/vllm #52022",
        outcome="wasted work",
        model="yes",
        evidence="B",
        tags=("policy",),
        title="Reuse counter only counts keys before the first miss",
        scenario="Threshold 2; lookup stops at the first miss, later blocks never get counted, never stored",
        invariant="Each store candidate is observed once per request",
    ),
    Failure(
        id="B-046",
        family="EFFECT",
        reference="vllm-project/vllm #41289",
        outcome="wasted work",
        model="yes",
        evidence="A",
        tags=("prefix-share",),
        title="Same GPU block is stored again while its first store is in flight",
        scenario=(
            "Step n: A stores block 5; before completion (step n+1) B hits block 5 in the GPU prefix cache; store"
            " builder sees no hash registered yet and stores 5 again"
        ),
        invariant="At most one in-flight store per block/key",
    ),
    Failure(
        id="B-143",
        family="EFFECT",
        reference="sgl-project/sglang #39444",
        outcome="wasted work",
        model="yes",
        evidence="B",
        tags=("pressure", "tier"),
        title="First-seen prefix is evicted before its backup is complete",
        scenario=(
            "write-through policy; prefix evicted from GPU and host before all pages reach storage; replay "
            "restores a part only"
        ),
        invariant="Write-through: eviction waits for backup",
    ),
    Failure(
        id="B-174",
        family="EFFECT",
        reference="taco-project/FlexKV #161",
        outcome="wasted work (never stored)",
        model="yes",
        evidence="A",
        tags=("finish",),
        title="After a synchronous load no store is ever created for that request",
        scenario=(
            "Sync load completes; the task is removed from one table but not from the request->task table; later "
            "finish sees 'task exists' and creates no store"
        ),
        invariant="A finished job leaves every table",
    ),
    Failure(
        id="B-179",
        family="EFFECT",
        reference="ROCm/ATOM #2146 (review 1)",
        outcome="wasted work, corruption risk",
        model="yes",
        evidence="B",
        tags=("chunked", "finish"),
        title="Store completions are kept back until the request finishes",
        scenario=(
            "Chunked prompt: store of chunk 1 completes, report is withheld; scheduler still sees it in flight "
            "and skips chunks 2..n; after finish the tracker survives and may store from reassigned blocks"
        ),
        invariant="A completion is forwarded in the step in which it happens",
    ),
    Failure(
        id="B-186",
        family="EFFECT",
        reference="LMCache/LMCache #4847 (see #4434)",
        outcome="wasted work (tier never filled)",
        model="yes",
        evidence="A",
        tags=("finish", "pressure"),
        title="Buffered stores hold no blocks, so by the time they are drained nothing is left to store",
        scenario=(
            "Finish releases blocks at once; store is buffered until 100 finished requests are pending; blocks "
            "are reused meanwhile; re-validation drops all of them: 330 drained requests, 0 stored, 0 hits in 45 "
            "M tokens"
        ),
        invariant="Under steady load a store that was accepted is done or refused at once, not lost every time",
    ),
)
