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
    """The module that a trace's header names; that of KV transfers if there is none, whose reader then refuses it.

    Raises:
        TraceError: no header.
    """
    from interlock.statemachine.trace import TraceReader

    with TraceReader(trace) as reader:
        name = reader.header.spec
    return next((m for m in modules() if m.name == name), specification())
