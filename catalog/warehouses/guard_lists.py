"""What a query may contain, as data: node classes, functions per dialect, name endings that mean files.

Function names are sqlglot's canonical ones (its `sql_name()`); a function that sqlglot does not know
goes by its written name in capitals. Not listed is refused."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

NODES: Final[frozenset[type[exp.Expression]]] = frozenset({
    exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.With, exp.CTE, exp.Values, exp.Tuple,
    exp.From, exp.Join, exp.Table, exp.TableAlias, exp.TableSample, exp.Pivot, exp.Alias, exp.Column, exp.Identifier,
    exp.Star, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Offset,
    exp.Distinct, exp.GroupingSets, exp.Rollup, exp.Cube, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup,
    exp.IgnoreNulls, exp.RespectNulls, exp.Literal, exp.RawString, exp.Boolean, exp.Null, exp.Paren, exp.Interval,
    exp.Var, exp.DataType, exp.DataTypeParam, exp.Collate, exp.And, exp.Or, exp.Xor, exp.Not, exp.Neg, exp.Case, exp.If,
    exp.Exists, exp.Any, exp.All, exp.In, exp.Between, exp.Is, exp.Like, exp.ILike, exp.Escape, exp.SimilarTo,
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Sub, exp.Mul,
    exp.Div, exp.IntDiv, exp.Mod, exp.DPipe, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Cast, exp.TryCast,
    exp.AtTimeZone, exp.Array, exp.Bracket, exp.Slice, exp.JSONExtract, exp.JSONExtractScalar, exp.JSONPath,
    exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript, exp.RegexpLike, exp.RegexpILike,
})  # fmt: skip

TABLE_ARGS: Final = frozenset({"this", "db", "catalog", "alias", "joins", "pivots", "sample"})
"""What may stand at a relation; time travel, ordinality, `rows from`, `only` and file options may not."""

COMMON: Final = frozenset({
    "ANY_VALUE", "APPROX_DISTINCT", "APPROX_QUANTILE", "ARG_MAX", "ARG_MIN", "AVG", "CORR", "COUNT", "COUNT_IF",
    "COVAR_POP", "COVAR_SAMP", "GROUP_CONCAT", "ARRAY_AGG", "LOGICAL_AND", "LOGICAL_OR", "MAX", "MEDIAN", "MIN",
    "MODE", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUM",
    "VARIANCE", "VARIANCE_POP", "SKEWNESS", "KURTOSIS", "GROUPING", "CUME_DIST", "DENSE_RANK", "FIRST_VALUE", "LAG",
    "LAST_VALUE", "LEAD", "NTH_VALUE", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER", "ABS", "CEIL", "EXP", "FLOOR",
    "GREATEST", "LEAST", "LN", "LOG", "POWER", "ROUND", "SIGN", "SQRT", "IS_NAN", "IS_INF", "TRUNC", "COALESCE",
    "NULLIF", "ASCII", "CONCAT", "CONCAT_WS", "CONTAINS", "ENDS_WITH", "INITCAP", "LEFT", "LENGTH", "LOWER", "MD5",
    "REGEXP_EXTRACT", "REGEXP_REPLACE", "REPLACE", "REVERSE", "RIGHT", "SPLIT_PART", "STARTS_WITH", "STR_POSITION",
    "SUBSTRING", "TRANSLATE", "TRIM", "UPPER", "SHA", "SHA2", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
    "DATE", "DATEDIFF", "DATE_ADD", "DATE_SUB", "DATE_TRUNC", "DAY", "DAY_OF_MONTH", "DAY_OF_WEEK", "DAYOFWEEK_ISO",
    "DAY_OF_YEAR", "EXTRACT", "HOUR", "LAST_DAY", "MINUTE", "MONTH", "QUARTER", "SECOND", "STR_TO_DATE",
    "STR_TO_TIME", "TIME_TO_STR", "TIME_TO_UNIX", "TIMESTAMP_TRUNC", "TO_CHAR", "TS_OR_DS_TO_DATE", "UNIX_TO_TIME",
    "WEEK", "WEEK_OF_YEAR", "YEAR", "ARRAY_CONTAINS", "ARRAY_SIZE",
})  # fmt: skip

DUCKDB: Final = frozenset({
    "EPOCH_MS", "EPOCH_US", "HASH", "ISFINITE", "LIST_DISTINCT", "LIST_SORT", "MAD", "NOW", "PRODUCT", "TODAY",
    "STRLEN", "ENTROPY",
})  # fmt: skip
POSTGRES: Final = frozenset({
    "AGE", "BTRIM", "CLOCK_TIMESTAMP", "ISFINITE", "NUM_NONNULLS", "NUM_NULLS", "TIMEOFDAY", "WIDTH_BUCKET",
})  # fmt: skip

FUNCTIONS: Final[dict[str, frozenset[str]]] = {
    "duckdb": COMMON | DUCKDB,
    "postgres": COMMON | POSTGRES,
}

FILE_ENDINGS: Final = (
    ".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl", ".ndjson", ".geojson", ".xlsx", ".arrow", ".feather",
    ".avro", ".orc", ".db", ".duckdb", ".sqlite", ".gz", ".zst", ".bz2", ".zip",
)  # fmt: skip
FILE_MARKS: Final = ("/", "\\", "://", "*", "?", "[")

SYSTEM_SCHEMAS: Final = frozenset({"information_schema", "pg_catalog", "pg_toast", "sys", "system"})
SYSTEM_PREFIXES: Final = ("pg_", "duckdb_", "sqlite_", "pragma_")
