"""Names of tables as the OpenLineage naming specification writes them, folded by each adapter's own rules.

Source: https://openlineage.io/docs/spec/naming (a dataset is a namespace and a name).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from foundation.errors import BadInput

if TYPE_CHECKING:
    from catalog.sources.manifest_types import Node

_LOWER_ALWAYS = frozenset({
    "duckdb", "redshift", "databricks", "spark", "athena", "glue", "trino", "presto", "starburst", "hive", "impala",
    "sqlite", "sqlserver", "synapse",
})  # fmt: skip
"""Adapters that compare names without case even where they are quoted (SQL Server: with its default collation)."""
_LOWER_UNQUOTED = frozenset({
    "postgres", "greenplum", "materialize", "risingwave", "alloydb", "cockroachdb", "crate", "cassandra",
})  # fmt: skip
_UPPER_UNQUOTED = frozenset({"snowflake", "oracle", "exasol", "teradata", "db2"})
_QUOTES = {'"': '"', "`": "`", "[": "]"}
_NOT_QUOTED_BY_DEFAULT = frozenset({"snowflake", "oracle"})

_DIALECTS = {
    "duckdb": "duckdb", "postgres": "postgres", "greenplum": "postgres", "alloydb": "postgres", "redshift": "redshift",
    "snowflake": "snowflake", "bigquery": "bigquery", "databricks": "databricks", "spark": "spark", "glue": "spark",
    "trino": "trino", "starburst": "trino", "presto": "presto", "athena": "athena", "clickhouse": "clickhouse",
    "sqlserver": "tsql", "synapse": "tsql", "fabric": "fabric", "mysql": "mysql", "sqlite": "sqlite",
    "oracle": "oracle", "materialize": "materialize", "risingwave": "risingwave", "teradata": "teradata",
    "exasol": "exasol", "dremio": "dremio", "starrocks": "starrocks", "doris": "doris",
}  # fmt: skip


_SCHEMES: Final = {
    "postgresql": "postgres", "mssql": "sqlserver", "awsathena": "athena", "oraclethin": "oracle", "mariadb": "mysql",
    "fabric-warehouse": "fabric",
}  # fmt: skip
"""Schemes of namespaces whose adapter goes by another word."""
_SPELLED: Final = {"postgresql": "postgres", "sqlserver": "mssql", "athena": "awsathena"}
"""Schemes that the specification spells in another way."""
_PORTS: Final = {
    "postgres": 5432, "redshift": 5439, "mysql": 3306, "mssql": 1433, "oracle": 1521, "trino": 8080, "clickhouse": 8123,
    "hive": 10000, "cassandra": 9042, "db2": 50000, "teradata": 1025, "dremio": 9047,
}  # fmt: skip
_HOSTED: Final = frozenset({*_PORTS, "snowflake", "databricks", "awsathena", "fabric-warehouse"})
"""Schemes after which a host name stands, which is compared without case."""
_LONGEST: Final = {"namespace": 300, "name": 500}


class DatasetName(NamedTuple):
    """A dataset's identity: the namespace of its connection and its name inside it."""

    namespace: str
    name: str


def printable(text: str) -> str:
    """`text` with a mark for each character that cannot be printed: control characters, marks without width, marks that
    turn the direction of writing. For messages; a name that differs from it is refused."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def canonical(namespace: str, name: str) -> DatasetName:
    """One spelling of a dataset that a producer names: unquoted parts as the adapter compares them, quoted ones kept.

    Names in namespaces of no known adapter (files, topics) stay as written. BadInput for what no table here can hold.
    Whether an alias or an exact name is meant, the rows decide: see `catalog.identity.identities`.

    >>> canonical("postgresql://DB.example.com:5432/", 'shop.Public."Orders"')
    DatasetName(namespace='postgres://db.example.com:5432', name='shop.public.Orders')
    """
    space = canonical_namespace(namespace)
    _require("name", name)
    return DatasetName(space, fold_name(name, adapter_of(space)))


def canonical_namespace(namespace: str) -> str:
    """The namespace without password and closing slash, its scheme as the specification spells it, its host in lower
    case. BadInput for an empty or unusable one."""
    _require("namespace", namespace)
    scheme, mark, rest = namespace.strip().partition("://")
    scheme = scheme if not mark else _SPELLED.get(scheme.lower(), scheme.lower())
    rest = rest.rstrip("/") if rest.strip("/") else rest
    if scheme in _HOSTED:
        host, slash, path = rest.rpartition("@")[2].partition("/")
        rest = host.lower() + slash + path
    return scheme + mark + rest


def spellings(namespace: str) -> list[str]:
    """The ways to write `namespace` that mean the same server, its canonical form first: with and without the port
    that its kind listens on by default, under each word for its kind."""
    first = canonical_namespace(namespace)
    scheme, mark, rest = first.partition("://")
    hosts, port = [rest], f":{_PORTS.get(scheme, '')}"
    if mark and scheme in _PORTS:
        hosts.append(rest.removesuffix(port) if rest.endswith(port) else rest if ":" in rest else rest + port)
    schemes = [scheme, *(word for word, spelled in _SPELLED.items() if spelled == scheme)]
    return list(dict.fromkeys(word + mark + host for word in schemes for host in hosts))


def adapter_of(namespace: str) -> str:
    """The dbt adapter whose rules the names of `namespace` follow; "" where none is known."""
    if namespace.lower().startswith("arn:aws:glue:"):
        return "glue"
    scheme = namespace.partition("://")[0].lower()
    word = _SCHEMES.get(scheme, scheme)
    return word if word in _DIALECTS or word in _LOWER_ALWAYS | _LOWER_UNQUOTED | _UPPER_UNQUOTED else ""


def fold_name(name: str, adapter: str) -> str:
    """A dotted name with every part as `adapter` compares it; names for no adapter stay as written."""
    if not adapter:
        return name
    folded = ".".join(fold(part, adapter, quoted=quoted) for part, quoted in parts_of(name))
    _require("name", folded)  # a letter's other case may be two letters, and quotes may hold nothing
    return folded


def of_relation(parts: Iterable[str | None], adapter: str, namespace: str) -> DatasetName:
    """The identity of a table whose exact (database, schema, name) the warehouse itself told."""
    return DatasetName(namespace, ".".join(fold(part, adapter, quoted=True) for part in parts if part))


def dataset_name(node: Node, adapter: str, namespace: str) -> DatasetName:
    """The identity of `node`: `database.schema.identifier` for a table, the unique id for what has no table.

    Parts that the manifest does not give are left out, as adapters without databases do.
    """
    if not node.has_relation:
        return DatasetName(namespace, node.unique_id)
    parts = zip((node.database, node.schema, node.identifier), node.quoted, strict=True)
    return DatasetName(namespace, ".".join(fold(part, adapter, quoted=quoted) for part, quoted in parts if part))


def fold(name: str, adapter: str, *, quoted: bool) -> str:
    """`name` as the warehouse compares it; adapters that are not known keep it as written."""
    if adapter in _LOWER_ALWAYS:
        return name.lower()
    if quoted:
        return name
    if adapter in _LOWER_UNQUOTED:
        return name.lower()
    return name.upper() if adapter in _UPPER_UNQUOTED else name


def was_quoted(relation_name: str | None, adapter: str, quoting: Mapping[str, Any]) -> tuple[bool, bool, bool]:
    """Whether (database, schema, identifier) stand in quotes: as the relation's own text shows, else as configured."""
    keys = ("database", "schema", "identifier")
    if relation_name:
        marks = [quoted for _, quoted in parts_of(relation_name)]
        if 1 <= len(marks) <= len(keys):
            padded = [False] * (len(keys) - len(marks)) + marks
            return padded[0], padded[1], padded[2]
    default = adapter not in _NOT_QUOTED_BY_DEFAULT
    database, schema, identifier = (default if quoting.get(key) is None else bool(quoting[key]) for key in keys)
    return database, schema, identifier


def dialect_of(adapter: str) -> str:
    """The sqlglot dialect of a dbt adapter; "" (a generic one) where there is none."""
    return _DIALECTS.get(adapter.lower(), "")


def parts_of(name: str) -> list[tuple[str, bool]]:
    """The dotted parts of a name and whether each stood in quotes, which are taken off; quotes part no dots.

    >>> parts_of('shop."a.b".Orders')
    [('shop', False), ('a.b', True), ('Orders', False)]
    """
    found: list[tuple[str, bool]] = []
    rest = name
    while True:
        part, quoted, rest = _first_part(rest)
        found.append((part, quoted))
        if not rest:
            return found
        rest = rest[1:]


def _first_part(text: str) -> tuple[str, bool, str]:
    """The first part, whether it is quoted, and what follows it (from its dot on). An unclosed quote is no quote."""
    closing = _QUOTES.get(text[:1], "")
    place = 1
    while closing and (end := text.find(closing, place)) >= 0:
        if text[end + 1 : end + 2] != closing:
            if text[end + 1 : end + 2] in ("", ".") and end > 1:
                return text[1:end].replace(closing * 2, closing), True, text[end + 1 :]
            break
        place = end + 2
    part, dot, rest = text.partition(".")
    return part, False, dot + rest


def _require(what: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"The {what} of a dataset is empty or no text.")
    if len(text) > _LONGEST[what]:
        raise BadInput(f"The {what} of a dataset has more than {_LONGEST[what]} characters.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadInput(f"The {what} of a dataset holds a null character or half a character.")
