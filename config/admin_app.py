"""Django's admin as an app, with our site. In a module of its own, since it is read before there are models."""

from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AdminConfig(DjangoAdminConfig):
    default_site = "config.site.StaffSite"
