"""Orders as a Django app; its `handlers` are found because it is installed."""

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    """An ordinary app with models of its own."""

    name = "orders"
    default_auto_field = "django.db.models.BigAutoField"
