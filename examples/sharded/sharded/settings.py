"""Settings of the parcel service: an ordinary Django project, but for its databases.

A program either works for one shard (SHARD=shard0: web server, Celery worker, beat, commands of Tokentrail), which is
then its default database; or for all of them (no SHARD: the application's own code). The default database of that one
is empty, so that what forgets to choose a shard fails at once.
"""

import os
from pathlib import Path

import dj_database_url

import cockpit.look

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = os.environ.get("DEBUG", "1") == "1"
SECRET_KEY = os.environ.get("SECRET_KEY", "only for trying it out")
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "sharded.urls"
WSGI_APPLICATION = "sharded.wsgi.application"

INSTALLED_APPS = [
    "bpm",
    "cockpit",
    "unfold",
    "unfold.contrib.filters",
    "ninja",
    "pgtrigger",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "parcels",
]

# The addresses of all shards, in an order that never changes; how many there are never changes either (README).
SHARDS = {f"shard{place}": url for place, url in enumerate(os.environ["DATABASE_URLS"].split())}
SHARD = os.environ.get("SHARD")

KEPT = {"conn_max_age": 600, "conn_health_checks": True}
DATABASES = {name: dj_database_url.parse(url, **KEPT) for name, url in SHARDS.items()}
DATABASES["default"] = DATABASES[SHARD] if SHARD else DATABASES["shard0"] | {"NAME": "postgres"}

# Wake-ups of one shard are nothing to the workers of another. A program of all shards wakes nobody: the schedule of
# each shard finds the work.
BPM_CELERY_APP = "sharded.celery.app" if SHARD else None
CELERY_BROKER_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
CELERY_DB_REUSE_MAX = 1_000
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": f"{SHARD}."}

UNFOLD = cockpit.look.UNFOLD

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

STATIC_URL = "static/"
USE_TZ = True
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
