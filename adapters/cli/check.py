"""`interlock check`: explore slices of the specification at a stated size."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.problems import UsageProblem


class Engine(StrEnum):
    """The explorers that there are."""

    AUTO = "auto"
    PLAIN = "plain"
    VECTORISED = "vectorised"


class Device(StrEnum):
    """Where the vectorised explorer runs."""

    CPU = "cpu"
    CUDA = "cuda"


def check(
    context: typer.Context,
    module: options.Module = None,
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", metavar="NAME", help="Only this slice; may be repeated. Default: the default slices."),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SORT=N,...",
            help="Sizes that replace the slice's own, as block=3,job=2; int_max=N: the largest of unbounded integers.",
        ),
    ] = None,
    preset: Annotated[str, typer.Option(metavar="NAME", help="Preset of the switches.")] = "interlock",
    sets: options.Sets = None,
    properties: options.Properties = None,
    engine: Annotated[Engine, typer.Option(help="Explorer to use; auto chooses by size and device.")] = Engine.AUTO,
    device: Annotated[Device, typer.Option(help="Where the vectorised explorer runs.")] = Device.CPU,
    memory: Annotated[
        float | None,
        typer.Option(
            metavar="GIB", min=0.001, help="Memory of the vectorised explorer's states; default: most of what is free."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the small slices, a second or two each: the inner loop.")
    ] = False,
    change: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:ACTION:NAME",
            help="Put a fault into the specification first, as drop-conjunct:plan_store:not-in-flight.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the shortest counterexample to FILE, others beside it."),
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("check", "CheckDocument")] = False,
) -> int:
    """Explore the states of slices of the specification's modules.

    Every reachable state at the scope's size, breadth-first, so counterexamples are shortest; of a
    leads-to property they are a path and a cycle, not always the shortest.

    A property that is named is judged in every slice that it names, also in those that are off by
    default because they are large.
    """
    from interlock.adapters.cli.bindings.check import CheckBinding, CheckRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session, require_place_for

    if quick and slices:
        raise UsageProblem("--quick and --slice both choose slices", "give one of them")
    session = Session(context.obj, json, {"--trace": trace})
    if trace is not None:
        require_place_for(trace, "--trace")
    request = CheckRequest(
        module=module,
        slices=slices or None,
        scope=options.sizes("--scope", scope, "block=3,job=2"),
        preset=preset,
        sets=options.pairs("--set", sets, "store_dedup=per_step"),
        properties=properties or None,
        engine=engine.value,
        device=device.value,
        memory=None if memory is None else int(memory * 2**30),
        quick=quick,
        change=change,
        trace=trace,
    )
    return conduct(CheckBinding(request, session), session)
