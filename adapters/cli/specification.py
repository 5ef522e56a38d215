"""The one place where the command line gets the specification from."""

from pathlib import Path

from interlock.spec.language.specification import Specification


def specification() -> Specification:
    """The built module of KV transfers, which is what connectors are judged by."""
    from interlock.spec.kv import SPECIFICATION

    return SPECIFICATION


def modules() -> tuple[Specification, ...]:
    """All modules, built."""
    from interlock.spec import modules as declared

    return declared.modules()


def named(name: str) -> Specification:
    """A module by its name or that of its package.

    Raises:
        UnknownName: there is none of that name.
    """
    from interlock.spec import modules as declared

    return declared.named(name)


def digest() -> str:
    """The digest of all modules together."""
    from interlock.spec import modules as declared

    return declared.digest()


def module_of(trace: Path) -> Specification:
    """The module that a trace's header names.

    Raises:
        TraceError: no header, or no module of that name.
    """
    from interlock.statemachine.names import did_you_mean
    from interlock.statemachine.trace import TraceError, TraceReader

    with TraceReader(trace) as reader:
        name = reader.header.spec
    known = {m.name: m for m in modules()}
    if name not in known:
        raise TraceError(str(trace), f"is a trace of {name!r}, which is no module", did_you_mean(name, known))
    return known[name]
