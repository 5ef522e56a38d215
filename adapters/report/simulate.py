"""The report of `interlock simulate`."""

from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.simulate import SimulateDocument, SimulatedRun
from interlock.adapters.report.console import conclusion, stack, table
from interlock.statemachine.plural import counted

ROWS: tuple[tuple[str, Callable[[SimulatedRun], str]], ...] = (
    ("requests", lambda r: f"{r.requests:,}"),
    ("prompt tokens", lambda r: f"{r.prompt_tokens:,}"),
    ("  found on the GPU", lambda r: f"{r.gpu_hit_rate:.1%}"),
    ("  found in the CPU tier", lambda r: f"{r.cpu_hit_rate:.1%}"),
    ("  computed", lambda r: f"{r.computed:,}"),
    ("computed again", lambda r: f"{r.recomputed:,}"),
    ("preemptions", lambda r: f"{r.preemptions:,}"),
    ("time to first token, p50", lambda r: _seconds(r.first_token_s["p50"])),
    ("time to first token, p90", lambda r: _seconds(r.first_token_s["p90"])),
    ("time to first token, p99", lambda r: _seconds(r.first_token_s["p99"])),
    ("moved to the GPU", lambda r: _bytes(r.bytes_to_gpu)),
    ("moved from the GPU", lambda r: _bytes(r.bytes_from_gpu)),
    ("waits for loads", lambda r: f"{r.loads:,}"),
    ("  each, on average", lambda r: _seconds(r.load_wait_s / r.loads if r.loads else 0.0)),
    ("  GPU idle meanwhile", lambda r: _seconds(r.idle_s)),
    ("steps held up by flushes", lambda r: _seconds(r.flush_s)),
    ("steps", lambda r: f"{r.steps:,}"),
    ("total time", lambda r: _seconds(r.total_s)),
)

ITEM_ROWS: tuple[tuple[str, Callable[[SimulatedRun], str]], ...] = (
    ("images needed by steps", lambda r: f"{r.items_found + r.items_encoded + r.items_loaded:,}"),
    ("  in the encoder cache", lambda r: f"{r.items_found:,}"),
    ("  encoded in the step", lambda r: f"{r.items_encoded:,}"),
    ("  loaded from the pool", lambda r: f"{r.items_loaded:,}"),
    ("images fetched into the pool", lambda r: f"{r.items_fetched:,}"),
    ("waits for images", lambda r: f"{r.item_waits:,}"),
    ("  each, on average", lambda r: _seconds(r.item_wait_s / r.item_waits if r.item_waits else 0.0)),
)
"""Shown where a step needed an image."""

SELDOM: tuple[tuple[str, Callable[[SimulatedRun], int]], ...] = (
    ("requests too large for the GPU", lambda r: r.refused),
    ("loads that failed", lambda r: r.failed_loads),
    ("copies never heard of again", lambda r: r.open_jobs),
)
"""Shown where they are not zero."""


USUAL = "interlock"
"""The preset of which nothing is said."""


def render(document: SimulateDocument) -> RenderableType:
    """What was served by what, the figures side by side, where files went, the conclusion."""
    work, engine = document.workload, document.engine
    times = "at its own times" if work.rate is None else f"{work.rate:g} requests/s, seed {work.seed}"
    head = Text(
        f"{work.name}: {work.doc}; {times}\n"
        f"modelled: {engine.model}; {engine.gpu_blocks:,} GPU and {engine.cpu_blocks:,} CPU blocks of "
        f"{engine.block_size} tokens ({engine.block_bytes / 2**20:g} MiB), depth {engine.depth}\n"
        f"  a step {_seconds(engine.step_s)} and {engine.prefill_tokens_s:,.0f} tokens/s; copies "
        f"{engine.to_gpu_bytes_s / 1e9:g} GB/s to the GPU, {engine.from_gpu_bytes_s / 1e9:g} from it"
    )
    if (encoder := engine.encoder) is not None:
        head.append(
            f"\n  images {encoder.encode_tokens_s:,.0f} tokens/s, {encoder.slots:,} in the encoder cache; with offload "
            f"by an encoder elsewhere,\n  {encoder.fetch_bytes_s / 1e9:g} GB/s from it, {encoder.cells:,} in the pool"
        )
    limits = ["prompts only"] if engine.prompt_only else []
    if engine.blocks_per_request is not None:
        limits.append(f"the first {counted(engine.blocks_per_request, 'block')} of a request")
    if engine.store_threshold > 1:
        limits.append(f"what {engine.store_threshold:,} requests have come to")
    if limits:
        head.append(f"\nstored: {', '.join(limits)}")
    under = [f"preset {engine.preset}"] if engine.preset != USUAL else []
    under += [f"{switch}={value}" for switch, value in engine.switches.items()]
    if under:
        head.append(f"\nour machine under {', '.join(under)}")
    names = list(document.runs)
    rows = table("virtual time", *names, numbers=frozenset(names))
    for title, shown in ROWS:
        rows.add_row(title, *(shown(r) for r in document.runs.values()))
    if any(r.items_found + r.items_encoded + r.items_loaded for r in document.runs.values()):
        for title, shown in ITEM_ROWS:
            rows.add_row(title, *(shown(r) for r in document.runs.values()))
    for title, number in SELDOM:
        if any(number(r) for r in document.runs.values()):
            rows.add_row(title, *(f"{number(r):,}" for r in document.runs.values()))
    speeds = [f"{r.simulated_tokens_per_s:,.0f}" for r in document.runs.values()]
    speed = Text(f"simulated {' and '.join(speeds)} tokens per second of processor time") if speeds else None
    files = [f"{what}: {path}" for what in ("plot", "trace", "perfetto") if (path := getattr(document, what))]
    return stack(
        head, Text(), rows, Text(), speed, Text("\n".join(files)) if files else None, conclusion(document)
    )  # fmt: skip


def _seconds(seconds: float) -> str:
    return f"{seconds:,.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms" if seconds else "0"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count}"
