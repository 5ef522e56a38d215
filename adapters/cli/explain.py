"""`interlock explain`: one step of a trace, conjunct by conjunct."""

from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options


def explain(
    context: typer.Context,
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace, JSON Lines.")],
    step: Annotated[int, typer.Argument(metavar="STEP", min=0, help="Index of the event, from 0.")],
    bound: options.Search = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("explain", "ExplainDocument")] = False,
) -> int:
    """Explain one step of a trace, conjunct by conjunct.

    What could happen before it, why the rest could not, and what it changed. Exit code 1: no behaviour
    of the specification explains it, or an event before it, which is then named.
    """
    from interlock.adapters.cli.bindings.explain import ExplainBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session
    from interlock.adapters.cli.traces import require_trace

    require_trace(trace)
    session = Session(context.obj, json, {"TRACE": trace})
    bounds = options.sizes("--bound", bound, "depth=16,tries=100000")
    return conduct(ExplainBinding(trace, step, bounds, session), session)
