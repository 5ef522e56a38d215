"""`interlock conformance`: does an implementation take the edges that the specification has, and no others?"""

from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.own import OWN_MACHINE


def conformance(
    context: typer.Context,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            metavar="NAME",
            help="A slice of module kv; may be repeated. Default: tiny, store, partial_failure, reset, load_ack.",
        ),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="SORT=SIZE,…", help="Sizes instead of the slices' own, as job=2.")
    ] = None,
    connector: Annotated[
        str,
        typer.Option(metavar="CONNECTOR", help="interlock (our own machine, at its port) or vllm:NAME."),
    ] = OWN_MACHINE,
    vllm: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION", help="vLLM release to fetch. Default: the installed, else the newest known one."
        ),
    ] = None,
    sets: options.Sets = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Time for all slices; what is open by then is exit 3.")
    ] = 300.0,
    trace_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every trace, and that of each failure, into DIR.")
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("conformance", "ConformanceDocument")] = False,
) -> int:
    """Play traces that cover every edge of a slice on an implementation.

    What an observer knows of the state after some events is a set of states: hidden steps lie in between. Such a
    set with an event that is possible in it is an edge, up to the names of its elements. Each trace is a path along
    edges that are not covered yet: arrivals, admissions, steps, reports, resets are commands to the implementation;
    what it decides (which block to store, what to flush) is observed and compared.

    Where it decides otherwise and the specification allows that, the trace ends there, the edge that was hoped for is
    not taken, and no later trace relies on it. What is not covered is listed with the reason.

    --set changes our own machine, not the specification that it is compared with: a difference has to be found.

    A failure's trace (--trace-dir) is judged by interlock replay, and made a test by interlock replay --pytest.

    Exit codes: 0 every edge is covered or has a reason not to be; 1 the implementation does what the specification
    forbids, or raises where the engine may do what it did; 2 usage; 3 some edge is neither, or a trace could not be
    judged.
    """
    from interlock.adapters.cli.bindings.conformance import ConformanceBinding, ConformanceRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    own = connector == OWN_MACHINE
    if sets and not own:
        raise UsageProblem("--set changes our own machine", f"give it with --connector interlock, not {connector}")
    if own and vllm is not None:
        raise UsageProblem("our own machine is played at its port, without vLLM", "leave out --vllm")
    if not own and not (connector.startswith("vllm:") and connector.removeprefix("vllm:").isidentifier()):
        raise UsageProblem(
            f"{connector!r} cannot be played", "give interlock, or vllm:NAME as vllm:OffloadingConnector"
        )
    if trace_dir is not None:
        options.make_folder("--trace-dir", trace_dir)
    session = Session(context.obj, json)
    request = ConformanceRequest(
        slices=slices or None,
        scope=options.sizes("--scope", scope, "job=2"),
        connector=connector,
        vllm=vllm,
        sets=options.pairs("--set", sets, "store_dedup=per_step"),
        budget=budget,
        trace_dir=trace_dir,
    )
    return conduct(ConformanceBinding(request, session), session)
