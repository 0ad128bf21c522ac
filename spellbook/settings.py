"""All settings of the installation, read from the environment once (`env.example` lists every name).

A bad value raises `ImproperlyConfigured` with one sentence that names the variable and never shows a secret. A secret
may stand in the variable itself or in a file named by `<NAME>_FILE`.
"""

from __future__ import annotations

import os
import secrets as randomness
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from kombu import Exchange, Queue

from spellbook.beat import schedule

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str = "") -> str:
    """The variable's text without surrounding blanks; an empty variable counts as unset."""
    return os.environ.get(name, "").strip() or default


def env_secret(name: str, default: str = "") -> str:
    """The secret in `name`, or the content of the file that `<name>_FILE` points at; both at once is refused."""
    path = env(f"{name}_FILE")
    if not path:
        return env(name, default)
    if env(name):
        raise ImproperlyConfigured(f"Set either {name} or {name}_FILE, not both.")
    try:
        return Path(path).read_text(encoding="utf-8").strip() or default
    except (OSError, UnicodeDecodeError):
        raise ImproperlyConfigured(f"{name}_FILE names a file that cannot be read.") from None


def env_int(name: str, default: int, *, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    text = env(name, str(default))
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}, not {text!r}.")
    return int(text)


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One word of `choices`."""
    text = env(name, default)
    if text not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {text!r}.")
    return text


def env_list(name: str, default: str = "") -> list[str]:
    """The parts of a comma-separated list; blanks and empty parts are dropped."""
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_path(name: str, default: Path) -> Path:
    """An absolute path; a relative one starts at the project folder."""
    return (BASE_DIR / env(name, str(default))).expanduser().resolve()


def env_url(name: str, default: str) -> str:
    """An http or https address without a trailing slash."""
    text = env(name, default).rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ImproperlyConfigured(f"{name} must be an address such as https://spellbook.example, not {text!r}.")
    return text


SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=ON;PRAGMA recursive_triggers=ON;"
    ),
}
POSTGRES_URL = "postgresql://user:password@host:5432/name, or postgresql://user:@/name?host=/folder/of/the/socket"


def database(url: str) -> dict[str, Any]:
    """Django's form of `sqlite:///path` or `postgresql://…` (a libpq URI, UNIX sockets included)."""
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        return _sqlite(url)
    if scheme in ("postgres", "postgresql"):
        return _postgres(url)
    raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgresql://.")


def _sqlite(url: str) -> dict[str, Any]:
    prefix, _, path = url.partition("sqlite:///")
    if prefix or not path:
        raise ImproperlyConfigured(
            "DATABASE_URL for SQLite must be sqlite:///relative/path or sqlite:////absolute/path."
        )
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str((BASE_DIR / unquote(path)).resolve()),
        "OPTIONS": dict(SQLITE_OPTIONS),
    }


def _postgres(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    try:
        port = query.pop("port", "") or str(parts.port or "")
    except ValueError:
        port = "?"
    name = unquote(parts.path.lstrip("/"))
    if not name or "/" in name or (port and not port.isdigit()):
        raise ImproperlyConfigured(f"DATABASE_URL for PostgreSQL must look like {POSTGRES_URL}.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": port,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 10, **query},
    }


def private_folder(path: Path) -> None:
    """Make `path` and the parents it lacks, all with mode 0700."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path, content: str) -> str:
    """What `path` holds; when it is missing it is made with `content`, mode 0600, in a folder of mode 0700.

    When several processes are first at once, the content of one of them counts for all.
    """
    if not path.exists():
        private_folder(path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent)  # mkstemp gives 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(name, path)
        except FileExistsError:
            pass  # another process was first; its content counts
        finally:
            os.unlink(name)
    return path.read_text(encoding="utf-8").strip()


def _secret_key() -> str:
    key = env_secret("SPELLBOOK_SECRET_KEY")
    if key:
        if len(key) < 32:
            raise ImproperlyConfigured("SPELLBOOK_SECRET_KEY must have at least 32 characters.")
        return key
    if SPELLBOOK_ENVIRONMENT != "demo":
        raise ImproperlyConfigured("Set SPELLBOOK_SECRET_KEY or SPELLBOOK_SECRET_KEY_FILE: only a demo makes its own.")
    try:
        return private_file(DEMO_KEYS_DIR / "secret.key", randomness.token_urlsafe(48))
    except OSError as error:
        raise ImproperlyConfigured(
            f"The demo's secret key cannot be kept in {DEMO_KEYS_DIR}: {error.strerror}."
        ) from None


# --- the installation -------------------------------------------------------------------------------------------------

SPELLBOOK_ENVIRONMENT = env_choice("SPELLBOOK_ENVIRONMENT", "demo", ("demo", "production"))
PORT = env_int("PORT", 8000, low=1, high=65535)
SPELLBOOK_BIND = env("SPELLBOOK_BIND", "localhost")
SPELLBOOK_BASE_URL = env_url("SPELLBOOK_BASE_URL", f"http://localhost:{PORT}")
SPELLBOOK_ORIGIN = env("SPELLBOOK_ORIGIN", "spellbook.localhost/demo" if SPELLBOOK_ENVIRONMENT == "demo" else "")
if not SPELLBOOK_ORIGIN:
    raise ImproperlyConfigured(
        "Set SPELLBOOK_ORIGIN, the name of this installation's ledger, such as data.example.org/ledger."
    )
SPELLBOOK_CUSTOMER_ID = env("SPELLBOOK_CUSTOMER_ID", "")

SPELLBOOK_DATA_DIR = env_path("SPELLBOOK_DATA_DIR", BASE_DIR / "var")
ARTIFACTS_DIR = SPELLBOOK_DATA_DIR / "artifacts"
RUNS_DIR = SPELLBOOK_DATA_DIR / "runs"
BROKER_DIR = SPELLBOOK_DATA_DIR / "broker"
RUN_DIR = SPELLBOOK_DATA_DIR / "run"
LOG_DIR = SPELLBOOK_DATA_DIR / "log"
DEMO_KEYS_DIR = SPELLBOOK_DATA_DIR / "keys"
SPELLBOOK_SECRETS_DIR = env_path("SPELLBOOK_SECRETS_DIR", SPELLBOOK_DATA_DIR / "secrets")
# Only the worker for `wake` is given this variable; everywhere else there is no path to a signing key.
SPELLBOOK_KEYS_DIR = env_path("SPELLBOOK_KEYS_DIR", Path()) if env("SPELLBOOK_KEYS_DIR") else None

SPELLBOOK_OUTBOUND_ALLOW = env_list("SPELLBOOK_OUTBOUND_ALLOW")
SPELLBOOK_MCP_TOKEN = env_secret("SPELLBOOK_MCP_TOKEN")
SPELLBOOK_DBT = str(env_path("SPELLBOOK_DBT", BASE_DIR / ".envs" / "dbt" / "bin" / "dbt"))
SPELLBOOK_INTROSPECT_MINUTES = env_int("SPELLBOOK_INTROSPECT_MINUTES", 60, low=0, high=10080)
SPELLBOOK_READY_LIMIT = env_int("SPELLBOOK_READY_LIMIT", 120, low=5, high=86400)
FAILPOINTS = env_list("SPELLBOOK_FAILPOINTS")
if FAILPOINTS and SPELLBOOK_ENVIRONMENT != "demo":
    raise ImproperlyConfigured("SPELLBOOK_FAILPOINTS makes processes die on purpose and is refused outside a demo.")

# --- Django -----------------------------------------------------------------------------------------------------------

SECRET_KEY = _secret_key()
DEBUG = False
ALLOWED_HOSTS = env_list("SPELLBOOK_HOSTS", urlsplit(SPELLBOOK_BASE_URL).hostname or "localhost")
if SPELLBOOK_ENVIRONMENT == "demo":
    ALLOWED_HOSTS += ["localhost", "127.0.0.1", "[::1]"]
ROOT_URLCONF = "spellbook.urls"
ASGI_APPLICATION = "spellbook.asgi.application"
AUTH_USER_MODEL = "foundation.Person"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in"
APPEND_SLASH = False

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "template_partials",
    "django_htmx",
    "foundation",
    "catalog",
    "incidents",
    "approvals",
    "spellbook",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "spellbook.middleware.ContentSecurityPolicy",
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "spellbook.middleware.MachineErrors",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": database(env_secret("DATABASE_URL", f"sqlite:///{SPELLBOOK_DATA_DIR / 'spellbook.sqlite3'}"))}
DATABASES["default"]["ATOMIC_REQUESTS"] = False

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# --- what the browser is told -----------------------------------------------------------------------------------------

_HTTPS = SPELLBOOK_BASE_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [SPELLBOOK_BASE_URL]
SESSION_COOKIE_NAME = "__Host-session" if _HTTPS else "session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "spellbook.pages.errors.csrf_failed"
CSRF_COOKIE_NAME = "__Host-csrf" if _HTTPS else "csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = _HTTPS
SECURE_HSTS_SECONDS = 31536000 if _HTTPS else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # files are served from where they stand: no collecting step, nothing to forget
WHITENOISE_MAX_AGE = 300

# --- workers (spellbook/celery.py reads every CELERY_ name) -----------------------------------------------------------

CELERY_BROKER_URL = env_secret("SPELLBOOK_BROKER_URL", "filesystem://")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {
        "data_folder_in": str(
            BROKER_DIR / "queue"
        ),  # in and out are the same folder: each process writes what others read
        "data_folder_out": str(BROKER_DIR / "queue"),
        "processed_folder": str(BROKER_DIR / "done"),
        "control_folder": str(BROKER_DIR / "control"),
        "store_processed": False,
        "polling_interval": 0.1,
    }
    if CELERY_BROKER_URL.startswith("filesystem:")
    else {}
)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
QUEUES = ("wake", "send", "work", "long")
# Each with an exchange and a key of its own: by default all four would share one key and get each other's messages.
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
CELERY_TASK_ROUTES = {f"{name}.*": {"queue": name} for name in QUEUES}
CELERY_TASK_DEFAULT_QUEUE = "work"
CELERY_BEAT_SCHEDULE = schedule()
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TIMEZONE = "UTC"

# --- logs: one line per event on stderr; `manage.py up` keeps and rotates them ----------------------------------------

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {
        "handlers": ["stderr"],
        "level": env_choice("SPELLBOOK_LOG", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "httpx": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},  # tells of every request
        "kombu.connection": {"level": "ERROR"},  # warns that the filesystem broker has no host name
    },
}
