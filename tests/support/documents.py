"""One full document of each verb, hand-made, with something in every field."""

from interlock.adapters.documents.base import Document
from interlock.adapters.documents.bisect import BisectDocument, Carried, Release
from interlock.adapters.documents.check import CheckDocument, Run, Violation
from interlock.adapters.documents.conformance import ConformanceDocument, Failure, SliceCoverage, Uncovered
from interlock.adapters.documents.explain import Change, Disabled, ExplainDocument
from interlock.adapters.documents.gate import Finding, GateDocument
from interlock.adapters.documents.prove import (
    CounterexampleToInduction,
    ProveDocument,
    ProvedProperty,
    Solvers,
)
from interlock.adapters.documents.replay import FalseConjunct, ReplayDocument, ReplayViolation
from interlock.adapters.documents.show import (
    Lifecycle,
    Row,
    ShowDocument,
    ShownAction,
    ShownPreset,
    ShownProperty,
    ShownSwitch,
)

DOUBLE_STORE = "no-block-stored-twice-in-flight"


def _common(verb: str) -> dict:
    return {
        "interlock": "0.1.0",
        "spec_digest": "0123456789abcdef",
        "command": f"interlock {verb}",
        "seconds": 1.25,
    }


def check() -> CheckDocument:
    actions = ["schedule(request0)", "schedule(request1)", "submit_store(job1, block0)"]
    run = Run(
        slice="dedup",
        scope={"block": 3, "job": 2},
        switches={"store_dedup": "per_step"},
        exhaustive=True,
        states=12345,
        transitions=54321,
        depth=17,
        seconds=0.5,
        properties={DOUBLE_STORE: "violated", "never-said": "vacuous", "computed-nonnegative": "holds"},
        violations=[
            Violation(
                property=DOUBLE_STORE, length=3, trace="t.jsonl", actions=actions, says="No block is stored twice."
            )
        ],
        never_enabled=["store_fails"],
        engine="vectorised",
    )
    return CheckDocument(
        **_common("check"),
        verdict="violated",
        reason="1 property fails",
        runs=[run],
        states=12345,
        transitions=54321,
        states_per_second=24690.0,
    )


def prove() -> ProveDocument:
    cti = CounterexampleToInduction(
        obligation="in-set-iff-open",
        action="submit_store(job1, block0)",
        before={"open(job0)": True, "size": 1},
        after={"open(job0)": True, "size": 2},
    )
    return ProveDocument(
        **_common("prove"),
        verdict="failed",
        reason="1 property fails",
        properties={
            DOUBLE_STORE: ProvedProperty(
                status="failed",
                any_size=True,
                lemmas=["in-set-iff-open"],
                solvers=Solvers(z3="failed"),
                cti=cti,
                trace="p.jsonl",
                actions=["schedule(request0)", "submit_store(job1, block0)"],
            )
        },
        obligations=12,
        proved=11,
        not_covered=["issued-jobs-complete"],
    )


def gate() -> GateDocument:
    finding = Finding(
        id="double-store-simple",
        property=DOUBLE_STORE,
        rule="R12",
        family="data",
        side="connector",
        summary="block 1 is stored again while job 0 reads it",
        steps=4,
        new=True,
        file="simple_cpu_offload.py",
        line=77,
        trace="g.jsonl",
        repro="interlock gate vllm:SimpleCPUOffloadConnector --vllm 0.20.2 --seed 0",
        scenario=["A arrives with prompt p + 1 token", "the engine steps"],
        told=["add_request(request=A)", "plan_store(block=1, chunk=1, job=s0/0)"],
    )
    return GateDocument(
        **_common("gate vllm:SimpleCPUOffloadConnector"),
        verdict="findings",
        reason="1 finding",
        connector="vllm:SimpleCPUOffloadConnector",
        vllm="0.20.2",
        seed=0,
        profile="quick",
        scenarios=10,
        steps=60,
        rules={"R12": 55},
        never_exercised=["R40"],
        not_expressible={"reset_cache": 2},
        findings=[finding],
    )


def replay() -> ReplayDocument:
    return ReplayDocument(
        **_common("replay t.jsonl"),
        verdict="violated",
        reason="no behaviour explains event 4",
        consumed=4,
        events=9,
        not_expressible={"encoder": 1},
        violations=[ReplayViolation(property=DOUBLE_STORE, event=3)],
        longest_prefix=4,
        candidates=[{"open(job0)": True}, {"open(job0)": False}],
        false_conjunct=FalseConjunct(action="submit_store", conjunct="block-not-in-flight"),
        not_judged={"asked-first": "claimed in slice ec_arrivals only: elsewhere who is preempted waits too"},
    )


def explain() -> ExplainDocument:
    return ExplainDocument(
        **_common("explain t.jsonl 3"),
        verdict="explained",
        reason="step 3 is submit_store(job1, block0)",
        step=3,
        enabled=["submit_store(job1, block0)"],
        disabled=[Disabled(action="finish(request0)", false_conjuncts=["no-open-job"])],
        changed=[Change(variable="open(job1)", before=False, after=True)],
    )


def show() -> ShowDocument:
    row = Row(
        source_state="planned",
        event="submit",
        guard="~open(j) | free(b)",
        target_state="store_in_flight",
        effects=["open(j) := true"],
        source="PR 41289",
    )
    return ShowDocument(
        **_common("show"),
        verdict="shown",
        reason="everything",
        lifecycles=[
            Lifecycle(
                module="kv-transfer", name="job", states=["planned", "store_in_flight"], initial="planned", rows=[row]
            )
        ],
        invariants=[
            ShownProperty(
                module="kv-transfer",
                id=DOUBLE_STORE,
                kind="invariant",
                aliases=["I12"],
                slices=["dedup"],
                formula="forall j: job. ~open(j)",
                doc="No two open stores read the same block.",
                source="PR 41289",
            )
        ],
        actions=[
            ShownAction(
                module="kv-transfer",
                name="submit_store",
                event="submit",
                parameters={"j": "job", "b": "block"},
                site="worker",
                observed=False,
                fault=True,
                fairness="weak",
                fairness_why="a queue is worked off",
                needs={"not-in-flight": "~in_flight(b)"},
                policy=["not-in-flight"],
                fires=["job(j)"],
                receives=[],
                changes=["in_flight(b) := true"],
                sends=["store_meta(w, j) for all w: worker"],
                source="PR 41289",
                doc="A store begins.",
            )
        ],
        presets=[ShownPreset(module="kv-transfer", name="seed", differs={"store_dedup": "per_step"}, doc="As made.")],
        switches=[
            ShownSwitch(
                module="kv-transfer",
                name="store_dedup",
                values=["per_step", "in_flight"],
                doc="Which blocks a scan skips.",
                presets={"seed": "in_flight"},
            )
        ],
    )


def bisect() -> BisectDocument:
    found = f"{DOUBLE_STORE}:plan_store"
    return BisectDocument(
        **_common("bisect vllm:SimpleCPUOffloadConnector"),
        verdict="findings",
        reason="1 of 2 releases carry a finding",
        connector="vllm:SimpleCPUOffloadConnector",
        seed=0,
        profile="quick",
        findings=[
            Carried(
                id=found,
                first="0.20.2",
                last="0.20.2",
                releases=["0.20.2"],
                property=DOUBLE_STORE,
                rule="R12",
                side="connector",
                summary="Block 3 is stored by job 1 and job 2.",
                repro="interlock gate vllm:SimpleCPUOffloadConnector --vllm 0.20.2 --seed 0",
            )
        ],
        releases=[
            Release(vllm="0.20.2", verdict="findings", reason=found, scenarios=300, seconds=31.9, found=[found]),
            Release(vllm="0.22.1", verdict="clean", reason="nothing", scenarios=300, seconds=16.3, found=[]),
        ],
    )


def conformance() -> ConformanceDocument:
    return ConformanceDocument(
        **_common("conformance"),
        verdict="violated",
        reason="forbidden:plan_store:not-in-flight; 765 of 1,049 edges covered",
        edges=1049,
        covered=765,
        failures=[
            Failure(
                id="forbidden:plan_store:not-in-flight",
                kind="forbidden",
                slice="tiny",
                event="plan_store",
                reason="no behaviour explains plan_store",
                told=[f"told({n})" for n in range(40)],
                trace="f.jsonl",
                traces=3,
            )
        ],
        connector="vllm:SimpleCPUOffloadConnector",
        vllm="0.20.2",
        slices=[
            SliceCoverage(
                slice="tiny",
                scope={"block": 1, "job": 1},
                preset="vllm-0.20.2/SimpleCPUOffloadConnector",
                states=673,
                views=396,
                edges=1049,
                expressible=821,
                covered=765,
                traces=104,
                events=4599,
                uncovered=[
                    Uncovered(event="hit", why="only after edges that are not taken", edges=280, example="hit(block0)"),
                    Uncovered(event="finish", why="", edges=4, example="finish(request0)"),
                ],
            )
        ],
    )


ALL: list[Document] = [check(), prove(), gate(), bisect(), conformance(), replay(), explain(), show()]
