"""The one place where the command line gets the specification from."""

from interlock.spec.language.specification import Specification


def specification() -> Specification:
    """The built specification of KV transfers."""
    from interlock.spec.kv import SPECIFICATION

    return SPECIFICATION
