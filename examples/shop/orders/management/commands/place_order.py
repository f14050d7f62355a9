"""manage.py place_order CUSTOMER PRODUCT QUANTITY: what the page does, from the terminal."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from orders.models import Product
from orders.placing import SoldOut, place_order


class Command(BaseCommand):
    """Place an order and print its reference."""

    help = "Place an order; prints its reference."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """CUSTOMER PRODUCT QUANTITY."""
        parser.add_argument("customer")
        parser.add_argument("product", help="name of the product")
        parser.add_argument("quantity", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        """Place it."""
        try:
            product = Product.objects.get(name=options["product"])
            order = place_order(options["customer"], product, options["quantity"])
        except Product.DoesNotExist:
            raise CommandError(f"the shop does not sell {options['product']}") from None
        except SoldOut as sold_out:
            raise CommandError(str(sold_out)) from None
        self.stdout.write(order.reference)
