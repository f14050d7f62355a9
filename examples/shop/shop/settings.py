"""Settings of the shop: an ordinary Django project, and what Tokentrail adds to it."""

import os
from pathlib import Path

import dj_database_url

import cockpit.look

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = os.environ.get("DEBUG", "1") == "1"
SECRET_KEY = os.environ.get("SECRET_KEY", "only for trying it out")
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "shop.urls"
WSGI_APPLICATION = "shop.wsgi.application"

INSTALLED_APPS = [
    # Tokentrail: the engine, its cockpit, and what they stand on
    "bpm",
    "cockpit",
    "unfold",
    "unfold.contrib.filters",
    "ninja",
    "pgtrigger",
    # Django
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    # your own
    "orders",
]

# PostgreSQL 15 or newer: the same database as your own tables, so that one transaction holds both. Connections are
# kept: a new one for each request would cost the server many times what a step of a process does.
DATABASES = {
    "default": dj_database_url.parse(os.environ["DATABASE_URL"], conn_max_age=600, conn_health_checks=True),
}

# The Celery app that carries wake-ups; what must happen stands in the database.
BPM_CELERY_APP = "shop.celery.app"
CELERY_BROKER_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
CELERY_DB_REUSE_MAX = 1_000

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
