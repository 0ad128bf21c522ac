"""A small dbt project in a git repository, and a branch whose filter loses the rows in which a flag is NULL."""

from __future__ import annotations

from pathlib import Path

from tests.spellbook.package_repo import committed, did

FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n",
    "profiles.yml": (
        "shop: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:', schema: main, threads: 1}}}\n"
    ),
    ".gitignore": "target/\ntarget-base/\nlogs/\n.user.yml\n",
    "models/sources.yml": "sources:\n- {name: app, schema: app, tables: [{name: accounts}, {name: events}]}\n",
    "models/stg_accounts.sql": "select id, is_internal from {{ source('app', 'accounts') }}\n",
    "models/stg_events.sql": "select id, account_id, happened_at from {{ source('app', 'events') }}\n",
    "models/fct_account_events.sql": (
        "select\n    e.id,\n    e.account_id,\n    e.happened_at\nfrom {{ ref('stg_events') }} as e\n"
        "join {{ ref('stg_accounts') }} as a on a.id = e.account_id\n"
    ),
    "models/other.sql": "select 1 as id\n",
    "spellbook.yml": (
        "people:\n- {email: sam@example.com, name: Sam}\n- {email: ada@example.com, name: Ada}\n"
        "domains:\n- {name: Growth, approver: ada@example.com, fallback: sam@example.com}\n"
        "assets:\n- {asset: main.fct_account_events, domain: growth, owner: ada@example.com}\n"
        "consumers:\n- asset: Account mirror\n  tool: copier\n  mode: mirror\n"
        "  delete_rule: What is gone in the table is deleted in the tool.\n"
        "  reads: main.fct_account_events\n  schedule: {cron: '0 * * * *', zone: UTC}\n"
        "  operator: sam@example.com\n  consequence: Events of customers vanish.\n"
    ),
}
CHANGED = "models/fct_account_events.sql"
FILTER = "where not a.is_internal\n"


def project(folder: Path) -> Path:
    """The project with two commits on `main` and the branch `change` off the first, which is checked out."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    committed(folder)
    did(["git", "checkout", "-q", "-b", "change"], folder)
    with (folder / CHANGED).open("a") as file:
        file.write(FILTER)
    did(["git", "commit", "-qam", "only customers"], folder)
    did(["git", "checkout", "-q", "main"], folder)
    (folder / "models/other.sql").write_text("select 2 as id\n")
    did(["git", "commit", "-qam", "what main did meanwhile"], folder)
    did(["git", "checkout", "-q", "change"], folder)
    return folder
