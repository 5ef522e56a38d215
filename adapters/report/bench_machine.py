"""The report of `interlock bench machine`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.bench_machine import BenchMachineDocument
from interlock.adapters.report.console import conclusion, stack, table
from interlock.statemachine.plural import counted

SHORT = {"OffloadingConnector": "Offloading", "SimpleCPUOffloadConnector": "SimpleCPU"}


def render(document: BenchMachineDocument) -> RenderableType:
    """The machine, one line per figure, the conclusion."""
    here, work = document.machine, document.workload
    head = Text(
        f"vLLM {document.vllm}, {work.requests} requests of {work.prompt:,} tokens, {work.decode_steps} steps\n"
        f"{here.processor}, {here.cores} cores, load {here.load}"
    )
    names = [SHORT.get(c.name, c.name) for c in document.connectors]
    against = [f"to {SHORT.get(p, p)}" for p in document.build_meta_ratio]
    rows = table("CPU microseconds", *names, *against, numbers=frozenset((*names, *against)))
    for what, ratios in document.ratios.items():
        times = [f"{c.seconds[what] * 1e6:,.1f}" for c in document.connectors]
        rows.add_row(what, *times, *(f"{ratios[p]:.2f}" if p in ratios else "" for p in document.build_meta_ratio))
    rows.add_row("schedule(), decode", *(f"{c.schedule_seconds * 1e6:,.1f}" for c in document.connectors))
    rows.add_row("lookups when prompts come again", *(f"{c.lookups:,}" for c in document.connectors))
    rows.add_row("memory added, MiB (vLLM's included)", *(f"{c.grown_mib:,.0f}" for c in document.connectors))
    rows.add_row("blocks stored", *(f"{c.blocks_stored:,}" for c in document.connectors))
    rows.add_row("blocks loaded", *(f"{c.blocks_loaded:,}" for c in document.connectors))
    more = (_contexts(document, names), Text(), _changes(document, names), Text(), _groups(document, names))
    return stack(head, Text(), rows, Text(), *more, Text(), conclusion(document))


def _contexts(document: BenchMachineDocument, names: list[str]) -> RenderableType:
    """A decoding step's metadata by tokens of context, with the same requests that change."""
    rows = table("building metadata, decode, 16 requests", *names, numbers=frozenset(names))
    lengths = list(dict.fromkeys(tokens for c in document.connectors for tokens in c.at_context))
    for tokens in lengths:
        times = (c.at_context.get(tokens) for c in document.connectors)
        rows.add_row(f"{tokens:,} tokens", *("" if t is None else f"{t * 1e6:,.1f}" for t in times))
    if lengths:
        ratios = (c.context_ratio for c in document.connectors)
        rows.add_row("the longest over the shortest", *("" if r is None else f"{r:.2f}" for r in ratios))
    return rows


def _changes(document: BenchMachineDocument, names: list[str]) -> RenderableType:
    """A decoding step's metadata by how many of the same number of requests change in it."""
    rows = table("building metadata, decode, 128 requests", *names, numbers=frozenset(names))
    for changes in dict.fromkeys(number for c in document.connectors for number in c.by_changes):
        times = (c.by_changes.get(changes) for c in document.connectors)
        rows.add_row(f"{counted(changes, 'block')} filled", *("" if t is None else f"{t * 1e6:,.1f}" for t in times))
    slopes = [c.seconds_per_change for c in document.connectors]
    if any(s is not None for s in slopes):
        rows.add_row("for each further one", *("" if s is None else f"{s * 1e6:,.2f}" for s in slopes))
    return rows


def _groups(document: BenchMachineDocument, names: list[str]) -> RenderableType:
    """A model with several KV cache groups, by tokens of context."""
    rows = table("full and sliding-window group, 16 requests", *names, numbers=frozenset(names))
    lengths = list(dict.fromkeys(tokens for c in document.connectors for tokens in c.with_groups))
    for what in dict.fromkeys(what for c in document.connectors for of in c.with_groups.values() for what in of):
        for tokens in lengths:
            times = (c.with_groups.get(tokens, {}).get(what) for c in document.connectors)
            rows.add_row(f"{what}, {tokens:,} tokens", *("" if t is None else f"{t * 1e6:,.1f}" for t in times))
    if lengths:
        ratios = (c.groups_ratio for c in document.connectors)
        rows.add_row("decode, the longest over the shortest", *("" if r is None else f"{r:.2f}" for r in ratios))
        stored = (c.stored_with_groups.get(lengths[-1]) for c in document.connectors)
        rows.add_row("blocks stored while decoding", *("" if s is None else f"{s:,}" for s in stored))
    return rows
