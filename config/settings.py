"""Settings of the ready-made site. Everything that differs between places comes from the environment.

| variable | means | default |
|---|---|---|
| DATABASE_URL | PostgreSQL 15 or newer | the server of script/up |
| REDIS_URL | broker of wake-ups, may be lost | the server of script/up |
| SECRET_KEY | Django's | made once, in .local |
| ALLOWED_HOSTS | host names, with commas | this machine only |
| CSRF_TRUSTED_ORIGINS | origins behind a proxy, with commas | none |
| BEHIND_TLS | 1: cookies only over TLS, the proxy's X-Forwarded-Proto is believed | 0 |
| EXPORT_TO | folder or URL of exports, which web and workers reach | with the local servers: in .local |
| ARCHIVE_TO | folder or URL to which the schedule moves months that the retentions let go | none: nothing is moved |
| EXTRA_APPS | your apps with handlers, with commas | none |
| EXAMPLES | 0: without the example apps | 1 |
| DEBUG | 1: Django's debug pages | 0 |
| LOG_LEVEL, TOKENTRAIL_LOG | level; json or console | INFO; json unless on a terminal |
| STATIC_ROOT | folder of collectstatic, for a web server in front | none: the site serves its files itself |
| DATABASE_POOL_SIZE | connections that a web process keeps | 0: none kept |

Importing this module connects to nothing and needs no environment.
"""

from __future__ import annotations

import os
from typing import Any

import dj_database_url
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _

import cockpit.look
from config.local import ROOT, default_services, local_folder, secret_key
from config.logs import configure_structlog, logging_config


def _listed(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in os.environ.get(name, default).split(",") if item.strip()]


def _switched(name: str, default: str = "0") -> bool:
    return os.environ.get(name, default).lower() in {"1", "true", "yes", "on"}


_SERVICES = default_services()

# --- the site

DEBUG = _switched("DEBUG")
SECRET_KEY = os.environ.get("SECRET_KEY") or secret_key()
ALLOWED_HOSTS = _listed("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _listed("CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
WSGI_APPLICATION = "config.wsgi.application"

EXAMPLES = ["examples.orders", "examples.invoice"] if _switched("EXAMPLES", "1") else []

INSTALLED_APPS = [
    "bpm",
    "cockpit",
    "unfold",
    "unfold.contrib.filters",
    "ninja",
    "pgtrigger",
    "django_extensions",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    *dict.fromkeys([*EXAMPLES, *_listed("EXTRA_APPS")]),
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "bpm.api.charsets.charsets",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
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

# --- the database

_POOL_SIZE = int(os.environ.get("DATABASE_POOL_SIZE", "0"))


def _database(url: str) -> dict[str, Any]:
    database: dict[str, Any] = dict(dj_database_url.parse(url))
    options = database.setdefault("OPTIONS", {})
    # Nothing waits for a lock for ever, and a client that hangs in a transaction does not hold its locks for ever.
    options.setdefault("options", "-c lock_timeout=10s -c idle_in_transaction_session_timeout=60s -c timezone=UTC")
    options.setdefault("application_name", "tokentrail")
    if _POOL_SIZE:
        options["pool"] = {"min_size": 1, "max_size": _POOL_SIZE}
    else:
        database["CONN_MAX_AGE"] = 600
        database["CONN_HEALTH_CHECKS"] = True
    return database


DATABASES = {"default": _database(os.environ.get("DATABASE_URL") or _SERVICES["database"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Where workers write exports and the cockpit reads them.
BPM_EXPORT_TO = os.environ.get("EXPORT_TO") or (
    None if os.environ.get("DATABASE_URL") else str(local_folder() / "exports")
)

# Where the schedule moves history that the retentions let go.
BPM_ARCHIVE_TO = os.environ.get("ARCHIVE_TO")

# `manage.py bpm test --engine`: where no database is named, a server is started for the command alone.
BPM_SCENARIO_SERVER = None if os.environ.get("DATABASE_URL") else "config.throwaway.server"

# --- language and time

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]

# --- static files, served by the site itself

LOCALE_PATHS = [ROOT / "config" / "locale"]
STATIC_URL = "static/"
STATIC_ROOT = os.environ.get("STATIC_ROOT")
# The viewer needs no bundler: its built files are served as npm laid them.
_BPMN_JS = ROOT / "node_modules" / "bpmn-js" / "dist"
STATICFILES_DIRS: list[str | tuple[str, str]] = [str(ROOT / "static")]
if _BPMN_JS.is_dir():
    STATICFILES_DIRS.append(("vendor/bpmn-js", str(_BPMN_JS)))
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- safety

_BEHIND_TLS = _switched("BEHIND_TLS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _BEHIND_TLS else None
SECURE_HSTS_SECONDS = 31_536_000 if _BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# The admin's look (django-unfold) uses Alpine.js, which evaluates expressions, and inline styles.
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.UNSAFE_EVAL],
    "style-src": [CSP.SELF, CSP.UNSAFE_INLINE],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF, "data:"],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}

# The API refuses larger bodies itself, in its own words (bpm.api.exact).
DATA_UPLOAD_MAX_MEMORY_SIZE = 26 * 1024 * 1024

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "cockpit:login"

# --- Celery: carries wake-ups; what must happen is in the database

BPM_CELERY_APP = "config.celery.app"
CELERY_BROKER_URL = os.environ.get("REDIS_URL") or _SERVICES["redis"]
# A dead broker is noticed at once: the sweeps find what was not announced.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 2,
    "retry_on_timeout": False,
    "max_retries": 0,
    "visibility_timeout": 3600,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# Tasks that a worker does on one connection; without it Celery opens a new one for each.
CELERY_DB_REUSE_MAX = 1_000
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(local_folder() / "beat-schedule")

# --- logs and the cockpit's look

LOGGING = logging_config(os.environ.get("LOG_LEVEL", "INFO"))
configure_structlog()

UNFOLD = cockpit.look.UNFOLD
