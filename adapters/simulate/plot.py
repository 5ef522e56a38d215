"""The figures as a picture."""

from __future__ import annotations

import io
from typing import Any

from interlock.adapters.simulate.run import WITH, WITHOUT, SimulateResult

INSTALL = "pip install 'interlock[plot]'"


class NoPlotting(Exception):
    """matplotlib is not installed."""


def require_plotting() -> None:
    """Say so before anything is simulated.

    Raises:
        NoPlotting: it cannot be imported.
    """
    try:
        import matplotlib as _  # noqa: F401
    except ImportError as error:
        raise NoPlotting(str(error)) from error


def plot(result: SimulateResult) -> bytes:
    """A PNG of two panels: time to first token of all requests, and where the tokens of their prompts came from."""
    drawn = io.BytesIO()
    figure_of(result).savefig(drawn, format="png", dpi=120)
    return drawn.getvalue()


def figure_of(result: SimulateResult) -> Any:
    """The same as a figure of matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    times, tokens = figure.subplots(1, 2)
    for name, color, line in ((WITHOUT, "tab:gray", "-"), (WITH, "tab:blue", "--")):  # both are seen where they agree
        found = [1000 * s for s in sorted(result.first_token_s[name])]
        shares = [(i + 1) / len(found) for i in range(len(found))]
        times.step(found, shares, where="post", label=name, color=color, linestyle=line)
    times.set(xscale="log", xlabel="time to first token, ms", ylabel="share of requests", ylim=(0, 1))
    # As few labels as fit: else a range of a few times is labelled at every digit, one over the other.
    low, high = times.get_xlim()
    subs = (1, 2, 5) if high < 100 * low else (1,)
    times.xaxis.set_major_locator(MaxNLocator(5) if high < 10 * low else LogLocator(subs=subs))
    times.xaxis.set_minor_locator(NullLocator())
    times.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    times.grid(alpha=0.3)
    times.legend(loc="lower right")

    names = [WITHOUT, WITH]
    runs = [result.runs[n] for n in names]
    left = [0.0, 0.0]
    for label, color, values in (
        ("found on the GPU", "tab:green", [r.gpu_hit_tokens for r in runs]),
        ("found in the CPU tier", "tab:blue", [r.cpu_hit_tokens for r in runs]),
        ("computed", "tab:orange", [r.computed for r in runs]),
        ("computed again", "tab:red", [r.recomputed for r in runs]),
    ):
        in_thousands = [v / 1000 for v in values]
        tokens.barh(names, in_thousands, left=left, label=label, color=color)
        left = [a + b for a, b in zip(left, in_thousands, strict=True)]
    tokens.set(xlabel="thousands of tokens")
    tokens.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=4, fontsize="small")
    figure.suptitle(f"{result.asked.workload.name}: {result.asked.workload.doc}", fontsize="medium")
    return figure
