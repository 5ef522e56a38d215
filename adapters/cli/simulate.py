"""`interlock simulate`: what offloading would do for some traffic, on virtual time."""

from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options


def simulate(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="shared-prompts, chat, documents, multimodal, or a file: Mooncake's JSON Lines, Azure's CSV.",
        ),
    ] = "shared-prompts",
    requests: Annotated[
        int | None, typer.Option(min=1, help="So many. Default: the workload's, or the whole file.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="Arrivals per second, on average. Default: the workload's, or the file's times."
        ),
    ] = None,
    gpu_blocks: Annotated[int, typer.Option(min=1, help="GPU blocks, of 16 tokens each.")] = 4096,
    cpu_blocks: Annotated[int, typer.Option(min=1, help="Blocks of the CPU tier; 16384 are 32 GiB here.")] = 16384,
    seed: Annotated[int, typer.Option(min=0, help="Of arrivals and lengths.")] = 0,
    depth: Annotated[
        int, typer.Option(min=1, max=2, help="2: the next step is scheduled while one runs (asynchronous).")
    ] = 1,
    load_failures: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of blocks that fail to be loaded, from 0 to 1; they are computed."),
    ] = 0.0,
    prompt_only: Annotated[
        bool, typer.Option("--prompt-only", help="Store no block that holds a token of an answer.")
    ] = False,
    blocks_per_request: Annotated[
        int | None, typer.Option(min=1, help="Store only the first so many blocks of a request. Default: all.")
    ] = None,
    store_threshold: Annotated[
        int, typer.Option(min=1, help="Store a prefix once so many requests have come to it.")
    ] = 1,
    preset: Annotated[str, typer.Option(metavar="NAME", help="Preset of the specification.")] = "interlock",
    sets: options.Sets = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Compare all that is read with what it should be; slow.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a plot, as PNG. Needs matplotlib.")] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the specification's trace, for interlock replay.")
    ] = None,
    perfetto: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a timeline for https://ui.perfetto.dev.")
    ] = None,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("simulate", "SimulateDocument")] = False,
) -> int:
    """Simulate traffic with and without offload, side by side.

    Our machine runs, as in production; the GPU and the link are modelled, with speeds measured on
    an H100. All times are virtual. For example, a tier too small for its documents:

    interlock simulate --workload documents --cpu-blocks 8192 --perfetto timeline.json
    """
    from interlock.adapters.cli.bindings.simulate import SimulateBinding, SimulateRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session, require_place_for

    files = {"--plot": plot, "--trace": trace, "--perfetto": perfetto}
    for option, file in files.items():
        if file is not None:
            require_place_for(file, option)
    request = SimulateRequest(
        workload=workload,
        requests=requests,
        rate=rate,
        gpu_blocks=gpu_blocks,
        cpu_blocks=cpu_blocks,
        seed=seed,
        depth=depth,
        load_failures=load_failures,
        prompt_only=prompt_only,
        blocks_per_request=blocks_per_request,
        store_threshold=store_threshold,
        preset=preset,
        sets=options.pairs("--set", sets, "finish_store=no"),
        oracle=oracle,
        plot=plot,
        trace=trace,
        perfetto=perfetto,
    )
    session = Session(context.obj, json, {**files, **request.reads()})
    return conduct(SimulateBinding(request, session), session)
