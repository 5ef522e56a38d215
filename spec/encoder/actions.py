"""All actions of the module, in the order in which they are shown."""

from __future__ import annotations

from interlock.spec.encoder.items import ITEMS
from interlock.spec.encoder.visits import VISITS

ACTIONS = (*VISITS, *ITEMS)
