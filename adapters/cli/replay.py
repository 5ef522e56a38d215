"""`interlock replay`: judge a trace by the specification, whoever wrote it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem


class Target(StrEnum):
    """What a trace can be converted to."""

    ITF = "itf"
    PERFETTO = "perfetto"


def replay(
    context: typer.Context,
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace, JSON Lines.")],
    convert: Annotated[
        Target | None,
        typer.Option(help="Also write it for TLA+ and Quint (itf) or for ui.perfetto.dev (perfetto)."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where --convert writes. Default: beside TRACE, as TRACE.itf.json."),
    ] = None,
    pytest: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a test that holds the trace to the verdict that it has now."),
    ] = None,
    bound: options.Search = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="Stop searching after this. Default: as long as it takes."),
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("replay", "ReplayDocument")] = False,
) -> int:
    """Judge a trace by the specification.

    Some behaviour must explain all of it; if none does, the longest prefix and what stopped it.

    Hidden steps are searched for; where a trace names them, as an explorer's does, it is judged by
    those that it names. A search that meets its bound, or is not over within --budget, is inconclusive, and
    says where it was given up.

    Judged is what check claims of the trace's module under its switches, in its slice if it names one;
    what is claimed in other slices only is listed.
    """
    from interlock.adapters.cli.bindings.replay import ReplayBinding
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session, require_place_for
    from interlock.adapters.cli.traces import require_trace

    require_trace(trace)
    if to is not None and convert is None:
        raise UsageProblem("--to says where, but not what", "give --convert itf or --convert perfetto")
    if convert is not None:
        to = to or trace.with_name(f"{trace.name.removesuffix('.jsonl')}.{convert.value}.json")
        require_place_for(to, "--to")
    if pytest is not None:
        require_place_for(pytest, "--pytest")
        if not (pytest.name.startswith("test_") and pytest.suffix == ".py"):
            raise UsageProblem(f"--pytest {pytest}: pytest does not collect that name", "name it test_….py")
    session = Session(context.obj, json, {"TRACE": trace, "--to": to, "--pytest": pytest})
    bounds = options.sizes("--bound", bound, "depth=16,tries=100000")
    how = None if convert is None else convert.value
    return conduct(ReplayBinding(trace, how, to, pytest, bounds, budget, session), session)
