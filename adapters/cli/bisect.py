"""`interlock bisect`: which releases of vLLM carry which finding."""

from typing import Annotated

import typer

from interlock.adapters.cli import options
from interlock.adapters.cli.gate import Profile, require_connector


def bisect(
    context: typer.Context,
    connector: options.Connector,
    versions: Annotated[
        str,
        typer.Option(
            metavar="A..B",
            help="Releases of vLLM, both ends included; an end left out is the oldest or newest that is known. "
            "Or a list, as 0.20.2,0.22.1.",
        ),
    ] = "..",
    connector_config: options.ConnectorConfig = None,
    profile: Annotated[Profile, typer.Option(help="Of each release; see interlock gate.")] = Profile.QUICK,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, the same for each.")] = 0,
    budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1, help="Of each release. Default: the profile's.")
    ] = None,
    properties: options.Properties = None,
    observer: options.Observer = None,
    boundary_only: options.BoundaryOnly = False,
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
    session = Session(context.obj, json, {"--connector-config": options.file_of(connector_config)})
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
