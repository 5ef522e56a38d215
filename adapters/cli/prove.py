"""`interlock prove`: prove properties for any number of requests, blocks, jobs and workers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options


class Solver(StrEnum):
    """Whom to ask."""

    Z3 = "z3"
    CVC5 = "cvc5"
    BOTH = "both"


def prove(
    context: typer.Context,
    module: options.Module = None,
    properties: options.Properties = None,
    sets: options.Sets = None,
    solver: Annotated[Solver, typer.Option(help="Solver to ask; a disagreement is inconclusive.")] = Solver.BOTH,
    trace_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the trace of each reachable counterexample into DIR.")
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("prove", "ProveDocument")] = False,
) -> int:
    """Prove properties by induction, for any size.

    A failed proof shows two states of a step that breaks it and, if there is one, a trace.
    """
    from interlock.adapters.cli.bindings.prove import ProveBinding, ProveRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    if trace_dir is not None:
        options.make_folder("--trace-dir", trace_dir)
    session = Session(context.obj, json)
    request = ProveRequest(
        module=module,
        properties=properties or None,
        sets=options.pairs("--set", sets, "store_dedup=per_step"),
        solver=solver.value,
        trace_dir=trace_dir,
    )
    return conduct(ProveBinding(request, session), session)
