"""The report of `interlock bench check`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.bench_check import BenchCheckDocument
from interlock.adapters.report.console import conclusion, stack, table

NUMBERS = frozenset({"states", "transitions", "runs", "seconds", "CPU s", "compile s", "states/s"})


def render(document: BenchCheckDocument) -> RenderableType:
    """The machine, one line per engine, the ratio, the conclusion."""
    here = document.machine
    head = Text(
        f"toy model of KV transfers, {document.requests} requests x {document.blocks} blocks; "
        f"{here.processor}, {here.cores} cores, load {here.load}"
    )
    rows = table(
        "engine",
        "states",
        "transitions",
        "runs",
        "seconds",
        "CPU s",
        "states/s",
        "compile s",
        "version",
        numbers=NUMBERS,
    )
    for m in document.engines:
        rows.add_row(
            m.engine,
            f"{m.states:,}",
            f"{m.transitions:,}",
            str(len(m.all_seconds)),
            f"{m.seconds:.2f}",
            f"{m.cpu_seconds:.2f}",
            f"{document.states_per_second[m.engine]:,.0f}",
            f"{m.compile_seconds:.2f}",
            m.version,
        )
    ratio = None
    if document.ratio is not None:
        per_cpu = "" if document.ratio_cpu is None else f"; {document.ratio_cpu:.2f} times per second of processor time"
        ratio = Text(f"vectorised: {document.ratio:.2f} times {document.ratio_to}{per_cpu}")
    return stack(head, Text(), rows, Text(), ratio, conclusion(document))
