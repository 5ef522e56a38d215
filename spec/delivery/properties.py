"""All properties, in the order in which they are shown."""

from __future__ import annotations

from interlock.spec.delivery.others import OTHERS
from interlock.spec.delivery.properties_composite import COMPOSITE_PROPERTIES
from interlock.spec.delivery.properties_hand_over import HAND_OVER_PROPERTIES
from interlock.spec.delivery.properties_release import RELEASE_PROPERTIES
from interlock.spec.delivery.witnesses import RELEASE_WITNESSES
from interlock.spec.language.properties import Property

PROPERTIES: tuple[Property, ...] = (
    *RELEASE_PROPERTIES,
    *RELEASE_WITNESSES,
    *HAND_OVER_PROPERTIES,
    *COMPOSITE_PROPERTIES,
    *OTHERS,
)
