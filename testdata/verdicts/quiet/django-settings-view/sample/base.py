"""Settings of a small example site."""
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = "django-insecure-example-only-do-not-use"
DEBUG = True
ALLOWED_HOSTS = []
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "shop"]
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE_DIR / "db.sqlite3"}}
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
