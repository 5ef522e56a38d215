"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.admission.actions import ACTIONS
from interlock.spec.admission.lifecycles import LIFECYCLES
from interlock.spec.language.rows import row_witnesses

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="pressure_quick",
    elsewhere={
        "flush_reported": "admission_quick",
        "expire_lookup": "admission_quick",
        "row-admission-held-for-load-finished-recving": "admission_quick",
        "row-admission-loaded-abort": "admission_quick",
        "row-admission-loading-abort": "admission_quick",
        "row-admission-running-abort-to-finished": "admission_quick",
        "row-admission-running-abort-to-held-for-store": "admission_quick",
        "row-admission-waiting-abort": "admission_quick",
        "row-prefix-entry-expired-store-reported": "admission_quick",
        "store_for_another": "admission_quick",
        "row-admission-preempted-abort": "pressure_mixed",
    },
)
