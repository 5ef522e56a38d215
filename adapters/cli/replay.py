"""`interlock replay`: judge a trace by the specification, whoever wrote it."""

from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options


def replay(
    context: typer.Context,
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace, JSON Lines.")],
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("replay", "ReplayDocument")] = False,
) -> int:
    """Judge a trace by the specification.

    Some behaviour must explain all of it; if none does, the longest prefix and what stopped it.
    """
    from interlock.adapters.cli.bindings.replay import ReplayBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session
    from interlock.adapters.cli.traces import require_trace

    require_trace(trace)
    session = Session(context.obj, json)
    return conduct(ReplayBinding(trace, session), session)
