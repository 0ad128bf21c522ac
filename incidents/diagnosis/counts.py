"""Evidence from the numbers themselves: whether what was recorded for a build and what was measured agree."""

from __future__ import annotations

from collections.abc import Iterator

from incidents.diagnosis.case import ROW_COUNT, Case, Found, Proven, texts
from incidents.models import Value


def look(case: Case) -> Iterator[Found | Proven]:
    """Tell where the row count that was recorded for a build is not the one that Spellbook measured for it."""
    for build in (case.good, case.bad):
        rows = Value.objects.filter(
            metric__asset=case.incident.asset, metric__name=ROW_COUNT, build=build, withdrawn_at__isnull=True
        )
        values = {value.obtained: value for value in rows} if build is not None else {}
        if len(values) < 2 or build is None:
            continue
        recorded, measured = values["recorded"], values["measured"]
        if abs(recorded.number - measured.number) > case.tolerance(case.incident.asset, int(measured.number)):
            statement = (
                f"For the build {build.key} {int(recorded.number):,} rows were recorded and {int(measured.number):,} "
                "measured; the measured count is used."
            )
            result = texts(recorded=int(recorded.number), measured=int(measured.number))
            yield Found("counts", statement, measured.query, result, "neutral", 70, measured.at)
