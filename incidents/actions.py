"""The actions of this floor, each registered once with the sentence that timelines and receipts show.

No sentence holds a person's name: whoever acted, or was asked, stands in the row and can be erased there.
"""

from __future__ import annotations

from foundation.audit import register

VALUE_RECORDED = register("value.recorded", "Value recorded", "{metric} of {asset} is {number} ({obtained}): {verdict}")
VALUE_WITHDRAWN = register("value.withdrawn", "Value withdrawn", "{metric} of {asset} withdrawn: {reason}")
CHECK_FINISHED = register("check.finished", "Check finished", "{kind} on {asset}: {status}{reason}")
WATCH_SET = register("watch.set", "Watched", "{metric} of {asset} is measured after each build")
INCIDENT_OPENED = register("incident.opened", "Incident opened", "{finding}")
INCIDENT_JOINED = register("incident.joined", "Finding joined", "{finding}")
INCIDENT_REACHED = register(
    "incident.reached",
    "Blast radius drawn",
    "{total} downstream, {consumers} readers, next read {next_read}; {severity}: {reason}",
)
INCIDENT_TOLD = register("incident.told", "Alert", "{where}")
INCIDENT_ACKNOWLEDGED = register("incident.acknowledged", "Acknowledged", "acknowledged {incident}")
INCIDENT_DIAGNOSED = register("incident.diagnosed", "Diagnosed", "{statement}")
INCIDENT_CLOSED = register("incident.closed", "Closed", "closed as {resolution}: {reason}")
HOLD_ASKED = register("hold.asked", "Hold asked", "{whom} was asked to hold {consumer} before {needed_by}")
HOLD_ANSWERED = register("hold.answered", "Hold answered", "{consumer}: {state}{answer}")
HOLD_TOO_LATE = register("hold.too_late", "Hold not answered in time", "nobody held {consumer} before {needed_by}")
DAMAGE_DONE = register("damage.done", "Damage done", "{consumer} read the wrong table: {rows}")
DAMAGE_REPAIRED = register("damage.repaired", "Damage repaired", "{consumer} read the right table again: {rows}")
DAMAGE_AVERTED = register("damage.averted", "Damage averted", "{consumer} reads only after the table was right again")
READER_CONFIRMED = register(
    "reader.confirmed",
    "Reader compared",
    "{consumer} shows {reader} for {metric}, the source value is {source}: {verdict}",
)
DAMAGE_PENDING = register("damage.pending", "Damage pending again", "{consumer} is to read a table that is wrong again")
