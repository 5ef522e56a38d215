"""Measures connectors under one real scheduler in one run: both native ones and our machine, hook by hook.

Requests prefill, decode, end, come again and are asked about twice; then a few decode at lengths of context between 4k
and 128k tokens, where as many of them change in each step; then many decode, of which more and more change in a step;
then a few prefill and decode with a model that has several KV cache groups.

Rounds, and not all runs of one connector after the other, so that what else happens on the machine meets all of
them. Each connector has a process of its own, because what one leaves behind slows the next. Speeds say nothing
where connectors do not store and load the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any, Literal

from interlock.adapters.bench.machine import Machine, machine
from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.hook_times import Workload
from interlock.adapters.vllm.launch import Child
from interlock.adapters.vllm.releases import fetch
from interlock.spec.kv import SPECIFICATION

Verdict = Literal["agree", "disagree", "inconclusive"]

OURS = "Interlock"
CONNECTORS = {
    "OffloadingConnector": "vllm:OffloadingConnector",
    "SimpleCPUOffloadConnector": "vllm:SimpleCPUOffloadConnector",
    OURS: "interlock.adapters.vllm.shim:InterlockShim",
}
PEERS = tuple(name for name in CONNECTORS if name != OURS)

CONFIG = {CONNECTORS[OURS]: {"checking": False}}
"""As in production: guards are not checked a second time."""

HOOKS = {
    "lookup, nothing found": ("prefill", ("get_num_new_matched_tokens",), "per_call"),
    "build metadata, prefill": ("prefill", ("build_connector_meta",), "per_step"),
    "build metadata, decode": ("decode", ("build_connector_meta",), "per_step"),
    "reports, decode": ("decode", ("update_connector_output",), "per_step"),
    "finish": ("end", ("request_finished", "request_finished_all_groups"), "per_call"),
    "build metadata, all have ended": ("end", ("build_connector_meta",), "per_step"),
    "lookup, whole prompt found": ("again", ("get_num_new_matched_tokens",), "per_call"),
    "lookup, asked again": ("asked again", ("get_num_new_matched_tokens",), "per_call"),
    "allocated": ("again", ("update_state_after_alloc",), "per_call"),
    "build metadata and loads": ("again", ("build_connector_meta",), "total"),
}
"""What is shown: the phase, the hooks (one of them, whichever the connector has), and per what."""

CONTEXTS = (4096, 16_384, 65_536, 131_072)
"""Tokens of context at which a decoding step is timed, with the same requests that change."""
CONTEXT_WORKLOAD = Workload(requests=16, decode_steps=128, only_decode=True)
"""One of sixteen requests fills a block in each step, and one gets a block."""

CHANGES = {1: 128, 8: 16, 32: 4, 128: 1}
"""How many of :data:`CHANGES_WORKLOAD`'s requests fill a block in a step, and get one: with which block size."""
CHANGES_WORKLOAD = Workload(requests=128, prompt=256, decode_steps=128, only_decode=True)

GROUPS = (("full", 16, 0), ("window", 16, 1024))
"""KV cache groups of a model, as hybrid_models.py has them: layers that see all, and layers that see 1,024 tokens."""
GROUPS_CONTEXTS = (4096, 16_384, 32_768)
"""Tokens of context at which such a model is served, on :data:`CONTEXT_WORKLOAD`."""
GROUPS_HOOKS = ("build metadata, decode", "reports, decode", "build metadata, prefill", "lookup, nothing found")
"""Those of :data:`HOOKS` that are shown of it."""

WARM_UP = Workload(requests=2, prompt=64, decode_steps=16, only_decode=True)
"""Served first and not counted: what is imported and compiled once is no memory of a block."""

ROUNDS = 3
MEASURE_SECONDS = 900.0
SPARE_BLOCKS = 64
"""GPU blocks and chunks beyond what the requests fill: nobody is preempted, nothing is evicted."""
BLOCK_SIZE = 16
BATCHED_TOKENS = 8192


@dataclass(slots=True)
class Connector:
    """All runs of one connector; seconds of processor time."""

    name: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    at_context: dict[int, float] = field(default_factory=dict)
    """Seconds of building a decoding step's metadata, by tokens of context (:data:`CONTEXT_WORKLOAD`)."""
    by_changes: dict[int, float] = field(default_factory=dict)
    """The same, by how many of 128 requests fill a block in each step (:data:`CHANGES`)."""
    with_groups: dict[int, dict[str, float]] = field(default_factory=dict)
    """Seconds by figure of :data:`GROUPS_HOOKS` with the model of :data:`GROUPS`, by tokens of context."""
    stored_with_groups: dict[int, int] = field(default_factory=dict)
    """Blocks that it stored meanwhile, from the first decoding step to the last."""

    @property
    def seconds(self) -> dict[str, float]:
        """By figure of :data:`HOOKS`, medians over the runs."""
        taken = {what: [_of(run, *where) for run in self.runs] for what, where in HOOKS.items()}
        return {what: round(median(values), 9) for what, values in taken.items()}

    @property
    def context_ratio(self) -> float | None:
        """Of a decoding step at the longest context to one at the shortest; 1 where cost does not grow with it."""
        if len(self.at_context) < len(CONTEXTS) or not self.at_context[CONTEXTS[0]]:
            return None
        return round(self.at_context[CONTEXTS[-1]] / self.at_context[CONTEXTS[0]], 3)

    @property
    def groups_ratio(self) -> float | None:
        """As :attr:`context_ratio`, with several KV cache groups."""
        if len(self.with_groups) < len(GROUPS_CONTEXTS):
            return None
        ends = (self.with_groups[tokens] for tokens in (GROUPS_CONTEXTS[0], GROUPS_CONTEXTS[-1]))
        shortest, longest = (of["build metadata, decode"] for of in ends)
        return round(longest / shortest, 3) if shortest else None

    @property
    def seconds_per_change(self) -> float | None:
        """What each further request that fills a block adds to a step: the slope between the fewest and the most."""
        if len(self.by_changes) < len(CHANGES):
            return None
        fewest, most = min(CHANGES), max(CHANGES)
        return round((self.by_changes[most] - self.by_changes[fewest]) / (most - fewest), 9)

    @property
    def schedule_seconds(self) -> float:
        """Of a whole `schedule()` while decoding."""
        return round(median(float(run["phases"]["decode"]["schedule_per_step"]) for run in self.runs), 9)

    @property
    def lookups(self) -> int:
        """How often it was asked in the second round of prompts."""
        return max(int(run["phases"]["again"]["hooks"]["get_num_new_matched_tokens"]["calls"]) for run in self.runs)

    @property
    def grown_mib(self) -> float:
        """Memory that serving has added by the end of decoding, vLLM's included; of the first run after a warm-up."""
        return round(float(self.runs[0]["grown_mib"]), 1)

    @property
    def blocks_stored(self) -> int:
        return int(self.runs[0]["blocks_stored"])

    @property
    def blocks_loaded(self) -> int:
        return int(self.runs[0]["blocks_loaded"])


def _of(run: dict[str, Any], phase: str, hooks: tuple[str, ...], per: str) -> float:
    called = run["phases"][phase]["hooks"]
    return sum((called[hook][per] for hook in hooks if hook in called), 0.0)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a measurement is, and what is known so far."""

    description: str
    so_far: BenchMachineResult
    completed: int | None = None
    total: int | None = None


@dataclass(slots=True)
class BenchMachineResult:
    """The measurements, and what they come to."""

    vllm: str
    workload: Workload
    connectors: list[Connector] = field(default_factory=list)
    machine: Machine = field(default_factory=machine)
    spec_digest: str = SPECIFICATION.digest

    @property
    def ratios(self) -> dict[str, dict[str, float]]:
        """By figure and peer: our time over the peer's, where both take any."""
        known = {c.name: c.seconds for c in self.connectors}
        if OURS not in known:
            return {}
        peers = [p for p in PEERS if p in known]
        return {
            what: {p: round(known[OURS][what] / known[p][what], 3) for p in peers if known[p][what] > 0}
            for what in HOOKS
        }

    @property
    def build_meta_ratio(self) -> dict[str, float]:
        """Of building metadata while decoding."""
        return self.ratios.get("build metadata, decode", {})

    @property
    def verdict(self) -> Verdict:
        return self._judged()[0]

    @property
    def reason(self) -> str:
        return self._judged()[1]

    def _judged(self) -> tuple[Verdict, str]:
        if len(self.connectors) < len(CONNECTORS):
            return "inconclusive", f"{len(self.connectors)} of {len(CONNECTORS)} connectors were measured"
        if any(c.context_ratio is None for c in self.connectors):
            return "inconclusive", "not every length of context was measured"
        if any(c.seconds_per_change is None for c in self.connectors):
            return "inconclusive", "not every number of requests that change was measured"
        if any(c.groups_ratio is None for c in self.connectors):
            return "inconclusive", "several KV cache groups were not measured at every length of context"
        stored = {c.name: c.blocks_stored for c in self.connectors}
        loaded = {c.name: c.blocks_loaded for c in self.connectors}
        if len(set(stored.values())) > 1:
            return "disagree", f"they do not store the same: {_listed(stored)} blocks"
        # Whether a whole prompt's last block is loaded, and its last token computed again, is a choice.
        if max(loaded.values()) - min(loaded.values()) > self.workload.requests:
            return "disagree", f"they do not load the same: {_listed(loaded)} blocks"
        told = ", ".join(f"{ratio:.2f} times {peer}" for peer, ratio in self.build_meta_ratio.items())
        return "agree", f"all store {stored[OURS]:,} blocks; building metadata takes us {told}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def run_bench_machine(
    *,
    workload: Workload | None = None,
    version: str = "0.32.0",
    rounds: int = ROUNDS,
    progress: Callable[[Progress], None] | None = None,
) -> BenchMachineResult:
    """Measure all connectors of :data:`CONNECTORS` on one release of vLLM.

    Raises:
        VllmReleaseError: no such release, or it cannot be fetched.
        ChildError: the release does not run here, or refuses a connector.
    """
    wanted = workload or Workload()
    result = BenchMachineResult(version, wanted)
    total = len(CONNECTORS) * (1 + rounds + len(CONTEXTS) + len(CHANGES) + len(GROUPS_CONTEXTS))

    def report(description: str, completed: int) -> None:
        if progress is not None:
            progress(Progress(description, result, completed, total))

    report(f"fetches vLLM {version}", 0)
    overlay, python = fetch(version), ensure_requirements()
    with contextlib.ExitStack() as stack:
        children = {}
        for number, name in enumerate(CONNECTORS):
            report(f"starts vLLM {version} for {name}", number)
            children[name] = stack.enter_context(Child(overlay, python))
            _measure(children[name], CONNECTORS[name], WARM_UP)
        measured = {name: Connector(name) for name in CONNECTORS}
        for round_ in range(rounds):
            for number, name in enumerate(CONNECTORS):
                report(f"round {round_ + 1} of {rounds}: {name}", len(CONNECTORS) * (round_ + 1) + number)
                measured[name].runs.append(_measure(children[name], CONNECTORS[name], wanted))
                if not round_:
                    result.connectors.append(measured[name])
        done = len(CONNECTORS) * (rounds + 1)
        for tokens in CONTEXTS:
            for name, connector in CONNECTORS.items():
                report(f"decoding at {tokens:,} tokens of context: {name}", done)
                run = _measure(children[name], connector, replace(CONTEXT_WORKLOAD, prompt=tokens))
                measured[name].at_context[tokens] = round(_of(run, *HOOKS["build metadata, decode"]), 9)
                done += 1
        for changes, block_size in CHANGES.items():
            for name, connector in CONNECTORS.items():
                report(f"decoding, {changes} of {CHANGES_WORKLOAD.requests} requests fill a block: {name}", done)
                run = _measure(children[name], connector, CHANGES_WORKLOAD, block_size)
                measured[name].by_changes[changes] = round(_of(run, *HOOKS["build metadata, decode"]), 9)
                done += 1
        for tokens in GROUPS_CONTEXTS:
            for name, connector in CONNECTORS.items():
                report(f"several KV cache groups at {tokens:,} tokens of context: {name}", done)
                run = _measure(children[name], connector, replace(CONTEXT_WORKLOAD, prompt=tokens), groups=GROUPS)
                taken = {what: round(_of(run, *HOOKS[what]), 9) for what in GROUPS_HOOKS}
                measured[name].with_groups[tokens] = taken
                measured[name].stored_with_groups[tokens] = int(run["phases"]["decode"]["blocks_stored"])
                done += 1
    report("is done", total)
    return result


def _measure(
    child: Child,
    connector: str,
    workload: Workload,
    block_size: int = BLOCK_SIZE,
    groups: Sequence[Sequence[Any]] = (),
) -> dict[str, Any]:
    blocks = workload.blocks(block_size) * max(len(groups), 1) + SPARE_BLOCKS
    longest = workload.prompt + block_size + workload.decode_steps
    # Whoever is prefilled first decodes while others are; where prompts are long, that is to be but a few steps.
    batched = max(BATCHED_TOKENS, 2 * workload.prompt if workload.only_decode else workload.requests)
    return child.measure(
        connector,
        asdict(workload),
        config=CONFIG.get(connector, {}),
        sizes={
            "gpu_blocks": blocks,
            "cpu_chunks": blocks,
            "block_size": block_size,
            "max_num_seqs": workload.requests,
            "max_num_batched_tokens": batched,
            "max_model_len": longest + BATCHED_TOKENS // workload.requests + block_size,
        },
        seconds=MEASURE_SECONDS,
        groups=groups,
    )
