import os

from .base import *

DEBUG = False
SECRET_KEY = os.environ["SHOP_SECRET_KEY"]
ALLOWED_HOSTS = ["shop.example.org"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "USER": "shop", "PASSWORD": "example-only"}}
SECURE_SSL_REDIRECT = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
