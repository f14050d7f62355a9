"""The shop's own admin, beside the cockpit."""

from django.contrib import admin

from orders.models import Order, Product


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    """What is on the shelf."""

    list_display = ("name", "price", "stock")


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    """What was ordered."""

    list_display = ("reference", "customer", "product", "quantity", "placed_at", "shipped_at")
    readonly_fields = ("reference", "instance")
