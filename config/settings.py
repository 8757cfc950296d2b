"""Settings. Everything that differs between machines comes from the environment; with none of it set, Quire runs
embedded: SQLite, a broker of files, loopback only. A setting that makes no sense stops the start and says why.
"""

import os
import re
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

# NumPy's linear algebra reads this when it is loaded. Spread over all cores, the small sums of a report take twice the
# processor and no less time; a server has several workers instead.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Where the embedded set-up keeps its database, messages and key. Nothing else is written outside the database.
VAR = Path(env.str("QUIRE_VAR", default="") or BASE_DIR / "var")


def switch(name: str, *, default: bool) -> bool:
    """A setting that is on or off; left empty, as if it were not there. `env.bool` takes any word but a few for off."""
    word = env.str(name, default="").strip().casefold()
    if word and word not in ("true", "yes", "on", "1", "false", "no", "off", "0"):
        raise ImproperlyConfigured(f"{name} must be true or false, not “{word}”.")
    return word in ("true", "yes", "on", "1") if word else default


DEBUG = switch("DEBUG", default=False)
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=LOOPBACK)
IS_EMBEDDED = set(ALLOWED_HOSTS) <= set(LOOPBACK)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])


MAKE_A_KEY = "make one with `openssl rand -hex 50`"


def secret_key() -> str:
    """The key from the environment; embedded, one that is made once and kept beside the database."""
    if key := str(env.str("SECRET_KEY", default="")):
        if not IS_EMBEDDED and len(key) < 50:
            raise ImproperlyConfigured(f"SECRET_KEY has fewer than 50 characters; {MAKE_A_KEY}.")
        if not IS_EMBEDDED and len(set(key)) < 10:
            raise ImproperlyConfigured(f"SECRET_KEY repeats a few characters and can be guessed; {MAKE_A_KEY}.")
        return key
    if not IS_EMBEDDED:
        raise ImproperlyConfigured(f"ALLOWED_HOSTS names a public host, so SECRET_KEY must be set; {MAKE_A_KEY}.")
    file = VAR / "secret_key"
    VAR.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x") as new:
            file.chmod(0o600)
            new.write(secrets.token_urlsafe(60))
    except FileExistsError:
        pass
    return file.read_text().strip()


SECRET_KEY = secret_key()
if not IS_EMBEDDED and DEBUG:
    raise ImproperlyConfigured("DEBUG shows internals to every visitor; it cannot be on with a public ALLOWED_HOSTS.")
if "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS=* accepts any host name; name the hosts that serve Quire.")


UNREADABLE_URL = (
    "DATABASE_URL cannot be read. It begins with sqlite:/// or looks like postgres://user@host:5432/name; write the "
    "password into PGPASSWORD, where it may hold any character, or here with / ? # @ : as %2F %3F %23 %40 %3A."
)


def database() -> dict[str, Any]:
    """SQLite tuned for many writers, or PostgreSQL with a pool. The same code and tests run on both."""
    url = env.str("DATABASE_URL", default="")
    if not url and not IS_EMBEDDED:
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS names a public host, so DATABASE_URL must be set: postgres://user@host:5432/name, or "
            "sqlite:////a/path/that/is/backed/up."
        )
    url = url or f"sqlite:///{VAR / 'quire.sqlite3'}"
    try:
        if "://" not in url or "#" in url:  # of which only a warning, or nothing at all, would be said
            raise ValueError
        config: dict[str, Any] = dict(environ.Env.db_url_config(url))
    except (ValueError, KeyError, ImproperlyConfigured):
        raise ImproperlyConfigured(UNREADABLE_URL) from None
    if config["ENGINE"] == "django.db.backends.sqlite3":
        if config["NAME"] != ":memory:":
            Path(config["NAME"]).resolve().parent.mkdir(parents=True, exist_ok=True)
        pragmas = (
            # FULL: what a page calls saved is on the disk, and a power cut takes nothing of it back.
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=20000; PRAGMA foreign_keys=ON; "
            # What is replaced is deleted first, and the triggers that refuse a deletion are asked.
            "PRAGMA recursive_triggers=ON;"
        )
        return config | {
            "CONN_MAX_AGE": None,
            # Tests use threads; a database in memory locks whole tables between them.
            "TEST": {"NAME": str(VAR / "test.sqlite3")},
            # A transaction that begins by reading asks for the right to write only later, and is refused if another has
            # written meanwhile: waiting does not help it. IMMEDIATE asks at the beginning, and waits its turn. So it
            # does what row locks do elsewhere, of which SQLite has none.
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas},
        }
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgres://")
    # With / or ? in its password an address can still be read, as one of another database.
    if not config["NAME"] or set(config["NAME"]) & set("@/:"):
        raise ImproperlyConfigured(UNREADABLE_URL)
    # Connections are checked when they are taken from the pool: after a restart of the database all there are dead.
    return config | {"ENGINE": "config.postgresql", "OPTIONS": {"pool": {"min_size": 1, "max_size": 16}}}


DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "studies",
    "annotation",
    "judges",
    "judges.laboratory",
    "reports",
    "config",
    "config.admin_app.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "django_celery_beat",
    "axes",
    "django.forms",  # TemplatesSetting finds the forms' own templates through it
]
MIDDLEWARE = [
    "config.logs.RequestIdMiddleware",
    # Styles and scripts too, since the middleware that serves them stands below. Django pads what it compresses and
    # masks its tokens, so that lengths give nothing away.
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.headers.PolicyMiddleware",
    "config.headers.MethodMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "studies.middleware.FinalityMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
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
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

LANGUAGE_CODE = "en"
# Each language by its own name; docs/languages.md says how one is added.
LANGUAGES = [
    ("en", "English"),
    ("pt-br", "Português (Brasil), tradução não revista"),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise warns of a folder that is not there
STATICFILES_DIRS = [BASE_DIR / "static"]
# By hash and for good once collectstatic has run (the image and `make demo` run it); until then from the folders
# themselves, so that there is no step to forget.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.StaticStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"  # after signing in without a next page, or with one on another site
LOGOUT_REDIRECT_URL = "admin:login"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# Five wrong passwords, and that name waits a quarter of an hour at that address. Both together: by name alone anybody
# could lock out somebody else, by address alone a proxy's whole office would be.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "config.sign_in.SignInHandler"  # … and of either alone
AXES_RESET_ON_SUCCESS = True
# Knocking on does not make the wait longer: a stranger could otherwise keep somebody out for good.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_TEMPLATE = "admin/locked_out.html"
AXES_CLIENT_IP_CALLABLE = "config.headers.client_address"
# When staff came and went is kept nowhere; `manage.py axes_reset_username NAME` opens a locked name.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = not IS_EMBEDDED
# Browsers remember it for as long, whatever is said later: a server can begin with an hour, or go without (0).
try:
    HSTS_SECONDS = int(env.str("HSTS_SECONDS", default="") or 60 * 60 * 24 * 365)
    if HSTS_SECONDS < 0:
        raise ValueError
except ValueError:
    raise ImproperlyConfigured("HSTS_SECONDS must be a whole number of seconds; 0 for not at all.") from None
SECURE_HSTS_SECONDS = 0 if IS_EMBEDDED else HSTS_SECONDS
HSTS_PRELOAD = switch("HSTS_PRELOAD", default=True)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HSTS_PRELOAD and SECURE_HSTS_SECONDS > 0
BEHIND_PROXY = switch("BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Whose form has lost its token gets back what they wrote.
CSRF_FAILURE_VIEW = "annotation.views.rater.guards.refuse_without_token"
# Invitation links are secrets: they must not travel to other sites in a Referer header. Not "no-referrer", under which
# browsers send `Origin: null` with every form, and Django's CSRF check refuses that.
SECURE_REFERRER_POLICY = "same-origin"
# Nor may they stand in a log: Django writes the address of every request that was refused. Errors of the server are
# written to standard error, one line each; what visitors do wrong is not.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "without_links": {"()": "config.logs.LinkFilter"},
        "ours": {"()": "config.logs.VisitorMistakeFilter"},
    },
    "formatters": {"one_line": {"()": "config.logs.JsonLineFormatter"}},
    "handlers": {
        "standard_error": {
            "class": "logging.StreamHandler",
            "formatter": "one_line",
            "filters": ["ours", "without_links"],
            "level": "WARNING",
        }
    },
    "root": {"handlers": ["standard_error"], "level": "WARNING"},
    "loggers": {
        # Django's own handlers, which it gives here by default, write in its debug mode only, or mail everything.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
    }
    | {
        name: {"filters": ["without_links"]}
        for name in ("django.request", "django.server", "django.security.csrf", "django.security.DisallowedHost")
    },
}
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # The first is asked how to come in: 401 and “WWW-Authenticate: Bearer”, which a programme understands.
        "reports.api.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    # Of each account, counted by each process of the server for itself.
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "600/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Quire",
    "DESCRIPTION": "Reads studies, answers, reports and packages. Blind and sealed as the pages are.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAdminUser"],
}

# Reports are computed by a worker, and pages say how far it is. Tests, and whoever runs no worker, can have them
# computed by the request that asks.
REPORTS_AT_ONCE = switch("QUIRE_REPORTS_AT_ONCE", default=False)


def mail() -> dict[str, Any]:
    """Django's settings of mail from one address, smtp://user:password@host:587/?tls=1; without one it is printed."""
    url = env.str("EMAIL_URL", default="")
    if not url and not IS_EMBEDDED:
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS names a public host, so EMAIL_URL must be set: smtp://user:password@host:587/?tls=1, or "
            "dummymail:// where no mail is to be sent. Otherwise mail would be printed into a log, with working links."
        )
    url = url or "consolemail://"
    try:
        config = dict(environ.Env.email_url_config(url))
    except (KeyError, ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured(
            "EMAIL_URL cannot be read. It looks like smtp://user:password@host:587/?tls=1; in the password "
            "/ ? # @ : are written %2F %3F %23 %40 %3A."
        ) from None
    options = config.pop("OPTIONS", {})
    if options.pop("TLS", 0):
        config["EMAIL_USE_TLS"] = True
    if options:
        raise ImproperlyConfigured("EMAIL_URL takes no option but tls=1.")
    return config


vars().update(mail())
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="") or "quire@localhost"

# Judges may call these private addresses ("host:port"), and no others.
ALLOWED_PRIVATE_ENDPOINTS: list[str] = env.list("QUIRE_ALLOWED_PRIVATE_ENDPOINTS", default=[])


def redis_url() -> str:
    """The address of Redis, "" for the broker of files. An unreadable one would be noticed by the first task only."""
    url = str(env.str("REDIS_URL", default=""))
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("redis", "rediss") and bool(parts.hostname) and parts.port != 0
        if url and not (is_one and re.fullmatch(r"/?[0-9]*", parts.path) and not parts.fragment):
            raise ValueError
    except ValueError:
        raise ImproperlyConfigured(
            "REDIS_URL cannot be read. It looks like redis://user:password@host:6379/0; in the password / ? # @ : are "
            "written %2F %3F %23 %40 %3A."
        ) from None
    return url


REDIS_URL = redis_url()
BROKER_FOLDER = VAR / "broker"


def broker_options() -> dict[str, Any]:
    """Options of the transport: Redis, or files in a folder, which is made here. `config.broker` deletes a message
    before it is acknowledged, so no work that matters lives in a message: it is a row first, and a beat task sweeps up
    what was lost."""
    if REDIS_URL:
        return {"visibility_timeout": 600}
    BROKER_FOLDER.mkdir(parents=True, exist_ok=True)
    folders = {
        "data_folder_in": BROKER_FOLDER,
        "data_folder_out": BROKER_FOLDER,
        "control_folder": BROKER_FOLDER / "control",
    }
    return {name: str(folder) for name, folder in folders.items()} | {"polling_interval": 0.1}


CELERY_BROKER_URL = REDIS_URL or "files://"
CELERY_BROKER_TRANSPORT_OPTIONS = broker_options()
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker waits for Redis as long as it is away, not a hundred times only, and also while it answers with an error, as
# one does that may not write. Celery's own worker ends of either.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_TIMEZONE = TIME_ZONE
# Judges wait for minutes, and have workers of their own, so that reports do not wait for them.
CELERY_TASK_ROUTES = {f"judges.tasks.{name}": {"queue": "judges"} for name in ("work", "batch", "measure")}
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep runs": {"task": "judges.tasks.sweep", "schedule": 10.0, "options": {"expires": 10}},
    "sweep mails": {"task": "annotation.tasks.sweep_mails", "schedule": 60.0, "options": {"expires": 60}},
    "sweep places": {"task": "annotation.tasks.sweep_places", "schedule": 60.0, "options": {"expires": 60}},
    "sweep jobs": {"task": "studies.tasks.sweep_jobs", "schedule": 60.0, "options": {"expires": 60}},
    # Which reports are due when stands in a table (reports.schedules); this looks there.
    "nightly reports": {"task": "reports.tasks.scheduled", "schedule": 600.0, "options": {"expires": 600}},
    "nightly cleaning": {"task": "config.tasks.clean", "schedule": crontab(hour=3, minute=30)},
}
