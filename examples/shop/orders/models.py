"""What is sold and what was ordered. Where an order stands in its process is not copied here: the engine knows it."""

from decimal import Decimal

from django.db import models


class Product(models.Model):
    """Something on the shelf; there is never less than nothing of it."""

    name = models.CharField(max_length=100, unique=True)
    price = models.DecimalField(max_digits=10, decimal_places=2)
    stock = models.PositiveIntegerField()

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """What somebody bought. `instance` is the process instance that delivers it."""

    reference = models.CharField(max_length=40, unique=True)
    customer = models.CharField(max_length=100)
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField()
    instance = models.UUIDField(unique=True)
    placed_at = models.DateTimeField(auto_now_add=True)
    paid_at = models.DateTimeField(null=True)
    shipped_at = models.DateTimeField(null=True)
    taken_back_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-placed_at"]

    def __str__(self) -> str:
        return self.reference

    @property
    def amount(self) -> Decimal:
        """What it costs."""
        return self.quantity * self.product.price
