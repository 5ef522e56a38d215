"""`interlock bisect`: which releases of vLLM carry which finding."""

from os.path import isfile
from pathlib import Path
from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.gate import Profile, require_connector
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.own import OWN_MACHINE


def bisect(
    context: typer.Context,
    connector: Annotated[
        str,
        typer.Argument(metavar="CONNECTOR", help="vllm:NAME, package.module:Class, or interlock (our own machine)."),
    ],
    versions: Annotated[
        str,
        typer.Option(
            metavar="A..B",
            help="Releases of vLLM, both ends included; an end left out is the oldest or newest that is known. "
            "Or a list, as 0.20.2,0.22.1.",
        ),
    ] = "..",
    connector_config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|JSON", help="kv_connector_extra_config, with a small tier. Known names have a default."
        ),
    ] = None,
    profile: Annotated[Profile, typer.Option(help="Of each release; see interlock gate.")] = Profile.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, the same for each.")] = 0,
    budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1, help="Of each release. Default: the profile's.")
    ] = None,
    properties: options.Properties = None,
    observer: Annotated[
        str | None, typer.Option(metavar="package:Class", help="Decodes the connector's metadata into jobs.")
    ] = None,
    boundary_only: Annotated[
        bool, typer.Option("--boundary-only", help="Judge only what no observer is needed for.")
    ] = False,
    json: options.JsonFile = None,
    json_schema: Annotated[bool, options.json_schema("bisect", "BisectDocument")] = False,
) -> int:
    """Run the gate on each of several releases of vLLM: where did a fault come in, and where is it mended?

    A release that is not here is fetched (up to 130 MB) and kept (up to 50 MB). One that does not run the connector
    is inconclusive, and the others are tried all the same. Each takes as long as interlock gate does.

    Exit codes: 0 nothing was found in any; 1 something was; 2 usage; 3 of some release nothing is known.
    """
    from interlock.adapters.cli.bindings.bisect import BisectBinding, BisectRequest
    from interlock.adapters.cli.conduct import conduct
    from interlock.adapters.cli.session import Session

    require_connector(connector)
    if connector == OWN_MACHINE and (connector_config is not None or observer is not None):
        raise UsageProblem("our own machine takes no --connector-config and no --observer", "leave them out")
    given = connector_config if connector_config is not None and isfile(connector_config) else None
    session = Session(context.obj, json, {"--connector-config": None if given is None else Path(given)})
    request = BisectRequest(
        connector=connector,
        versions=versions,
        connector_config=connector_config,
        profile=profile.value,
        seed=seed,
        budget=budget,
        properties=properties or None,
        observer=observer,
        boundary_only=boundary_only,
    )
    return conduct(BisectBinding(request, session), session)
