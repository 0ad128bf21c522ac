"""A not_null test is put into a properties file, and nothing else in it changes."""

from __future__ import annotations

import pytest
import yaml

from approvals.fixes.properties import add_not_null

PLAIN = """version: 2

models:
  - name: orders
    columns:
      - name: id
        data_tests:
          - unique
      - name: flag  # a comment
        description: >
          Whether it
          counts.

      - name: note
  - name: lines
    columns: [{name: flag}]
"""


def test_the_test_stands_at_the_end_of_its_column() -> None:
    edited = add_not_null(PLAIN, "orders", "flag")
    assert edited is not None
    added = "          counts.\n        data_tests:\n          - not_null\n\n      - name: note\n"
    assert edited == PLAIN.replace("          counts.\n\n      - name: note\n", added)


def test_the_last_column_of_a_file_without_a_final_newline() -> None:
    text = "models:\n- name: m\n  columns:\n  - name: c"
    assert add_not_null(text, "m", "c") == text + "\n    data_tests:\n      - not_null\n"


def test_the_files_own_word_and_line_ends_are_kept() -> None:
    text = "models:\r\n  - name: m\r\n    columns:\r\n      - name: a\r\n        tests: [unique]\r\n      - name: b\r\n"
    assert add_not_null(text, "m", "b") == text + "        tests:\r\n          - not_null\r\n"


@pytest.mark.parametrize(
    ("text", "model", "column"),
    [
        (PLAIN, "orders", "id"),  # has tests already
        (PLAIN, "orders", "absent"),
        (PLAIN, "absent", "flag"),
        (PLAIN, "lines", "flag"),  # written in one line
        ("models: [", "m", "c"),
        ("- a\n", "m", "c"),
        ("models: text\n", "m", "c"),
        ("models:\n  - name: m\n    columns:\n      c: 1\n", "m", "c"),
        ("models:\n  - name: m\n    columns:\n      - name: c\n      - name: c\n", "m", "c"),
        ("", "m", "c"),
    ],
)
def test_where_the_place_is_not_clear_nothing_is_written(text: str, model: str, column: str) -> None:
    assert add_not_null(text, model, column) is None


def test_the_result_says_the_same_and_the_test() -> None:
    edited = add_not_null(PLAIN, "orders", "flag")
    assert edited is not None
    before, after = yaml.safe_load(PLAIN), yaml.safe_load(edited)
    column = after["models"][0]["columns"][1]
    assert column.pop("data_tests") == ["not_null"]
    assert before == after
