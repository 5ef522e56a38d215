"""Which preset of the specification a connector of a release is compared with."""

from __future__ import annotations

import re

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import UnknownName


def require_described(connector: str) -> None:
    """Refuse a connector that no preset describes.

    Raises:
        UnknownName: there is none.
    """
    if not _presets(connector):
        described = sorted({p.name.partition("/")[2] for p in SPECIFICATION.presets if "/" in p.name})
        raise UnknownName("connector (no preset describes it)", connector, described)


def preset_of(connector: str, release: str) -> str:
    """The preset of the newest release that is no newer than this one; of an older one, the oldest.

    Raises:
        UnknownName: there is none for the connector.
    """
    require_described(connector)
    known = sorted(_presets(connector), key=_version)
    return next((p for p in reversed(known) if _version(p) <= _version(release)), known[0])


def _presets(connector: str) -> list[str]:
    return [p.name for p in SPECIFICATION.presets if p.name.endswith(f"/{connector}")]


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", name.partition("/")[0])[:3])
