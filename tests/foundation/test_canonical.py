from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from foundation.canonical import canonical_bytes, digest, sha256_hex, timestamp
from foundation.errors import BadInput


def test_keys_are_sorted_by_utf16_as_rfc_8785_says() -> None:
    # section 3.2.3 of the RFC: a surrogate pair sorts before U+FB33
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    order = ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]
    text = canonical_bytes(value).decode()
    places = [text.index('"\\r"' if key == "\r" else f'"{key}"') for key in order]
    assert places == sorted(places)


def test_the_same_value_has_the_same_digest_whatever_its_order() -> None:
    assert digest({"a": [1, "x", None, True], "b": {}}) == digest({"b": {}, "a": (1, "x", None, True)})
    assert digest({}) == sha256_hex(b"{}")


@pytest.mark.parametrize(
    "value", [1.0, float("nan"), 2**53, {"a": [0.5]}, {1: "a"}, {"a": {2}}, b"x", "\ud800", datetime.now(UTC)]
)
def test_what_has_no_one_form_is_refused(value: object) -> None:
    with pytest.raises(BadInput):
        canonical_bytes(value)


def test_endless_nesting_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(BadInput):
        canonical_bytes(value)


def test_a_timestamp_has_six_digits_and_z() -> None:
    moment = datetime(2026, 3, 1, 2, 30, tzinfo=timezone(timedelta(hours=2)))
    assert timestamp(moment) == "2026-03-01T00:30:00.000000Z"
    with pytest.raises(BadInput):
        timestamp(datetime(2026, 3, 1))
