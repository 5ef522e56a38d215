"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.language.rows import row_witnesses
from interlock.spec.mirror.actions import ACTIONS
from interlock.spec.mirror.lifecycles import LIFECYCLES

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="mirror_table",
    elsewhere={
        "match_out_of_range": "mirror_match",
        "refuse_answer": "mirror_match",
        "plan_save": "mirror_saves",
        "plan_shared_save": "mirror_saves",
        "row-save-planned-build-connector-meta": "mirror_saves",
        "row-save-planned-preempt": "mirror_saves",
        "save_done": "mirror_saves",
    },
)
