"""Small tables for the labelled suite of the row-set classifier: NULLs, rows that stand there twice, empty tables."""

from __future__ import annotations

import random

import duckdb

TABLES = {
    "orders": "order_id int, customer_id int, store_id int, status status, amount number, discount number, currency "
    "currency, ordered_at time, updated_at time, is_test flag",
    "orders_v2": "order_id int, customer_id int, store_id int, status status, amount number, discount number, currency "
    "currency, ordered_at time, updated_at time, is_test flag",
    "customers": "customer_id int, account_id int, email email, country country, segment segment, is_internal flag, "
    "created_at time, deleted_at time",
    "order_items": "order_id int, line_no int, product_id int, quantity int, price number",
    "products": "product_id int, name name, category category, price number, is_active flag",
    "payments": "payment_id int, order_id int, method method, amount number, state state, paid_at time",
    "events": "event_id int, user_id int, session_id int, event_name event, occurred_at time, revenue number, "
    "platform platform, account_id int",
    "web_events": "event_id int, user_id int, event_name event, occurred_at time",
    "app_events": "event_id int, user_id int, event_name event, occurred_at time",
    "accounts": "account_id int, plan plan, region region, owner_id int, is_internal flag",
    "subscriptions": "subscription_id int, account_id int, plan plan, mrr number, status life, started_at time, "
    "ended_at time",
    "stores": "store_id int, region region, name name",
    "fx_rates": "currency currency, rate number, valid_on time",
    "json_events": "event_id int, items items, device device, payload payload",
}
TIMES = ["2024-01-05", "2024-01-20", "2024-02-01", "2024-02-10", "2024-02-20"]
TIME = [f"timestamp '{day} 00:00:00'" for day in TIMES] + [
    f"cast(current_date - interval {days} day as timestamp)" for days in (1, 5, 20, 60)
]
WORDS = {
    "status": "placed shipped completed returned cancelled", "currency": "usd eur", "country": "us de fr",
    "segment": "smb enterprise", "email": "a@example.com b@example.com", "name": "one two",
    "category": "shoes hats bags", "method": "card cash", "state": "ok failed", "event": "view click signup purchase",
    "platform": "web ios", "plan": "free pro", "region": "emea amer", "life": "active churned trial",
}  # fmt: skip
VALUES = {name: [f"'{word}'" for word in words.split()] for name, words in WORDS.items()} | {
    "int": ["1", "2", "3", "4"], "number": ["0", "4", "10", "15", "20", "25", "60"], "flag": ["true", "false"],
    "time": TIME, "items": ["[1, 2]", "[]"], "device": ["{'os': 'ios'}", "{'os': 'web'}"],
    "payload": ["""'{"campaign": "x", "utm": {"campaign": "y"}}'"""],
}  # fmt: skip
TYPES = {"int": "int", "number": "double", "flag": "boolean", "time": "timestamp", "items": "int[]",
         "device": "struct(os varchar)", "payload": "json"}  # fmt: skip


def warehouse(seed: int) -> duckdb.DuckDBPyConnection:
    """A DuckDB in which each table has no row, few or several, with NULLs and rows that stand there twice."""
    chosen = random.Random(seed)  # noqa: S311 - data of a test
    connection = duckdb.connect()
    connection.execute("create schema raw")
    for table, columns in TABLES.items():
        fields = [column.split() for column in columns.split(", ")]
        types = ", ".join(f"{name} {TYPES.get(kind, 'varchar')}" for name, kind in fields)
        connection.execute(f"create table raw.{table} ({types})")
        size = 0 if seed == 0 else chosen.choice([0, 3, 8, 16])
        rows = []
        for _ in range(size):
            row = ", ".join("null" if chosen.random() < 0.2 else chosen.choice(VALUES[kind]) for _, kind in fields)
            rows += [f"({row})"] * chosen.choice([1, 1, 1, 2])
        if rows:
            connection.execute(f"insert into raw.{table} values {', '.join(rows)}")  # noqa: S608 - constants
    return connection
