"""Two pages: what can be bought and what was ordered; and where one order stands."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from bpm.queries import instances
from orders.models import Order, Product
from orders.placing import SoldOut, place_order


class OrderForm(forms.Form):
    """Who wants how much of what."""

    customer = forms.CharField(max_length=100)
    product = forms.ModelChoiceField(Product.objects.order_by("name"), to_field_name="name")
    quantity = forms.IntegerField(min_value=1, max_value=1000, initial=1)


def orders(request: HttpRequest) -> HttpResponse:
    """The form and the orders; a POST places one."""
    form = OrderForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("order", place_order(**form.cleaned_data).reference)
        except SoldOut as sold_out:
            form.add_error("quantity", str(sold_out))
    placed = Order.objects.select_related("product")[:50]
    status = 400 if form.errors else 200
    return render(request, "orders/orders.html", {"form": form, "orders": placed}, status=status)


def order(request: HttpRequest, reference: str) -> HttpResponse:
    """One order, and where its process stands."""
    placed = get_object_or_404(Order.objects.select_related("product"), reference=reference)
    # None once the engine has removed an instance that ended long ago; its history stays.
    instance = instances.get_instance(placed.instance)
    return render(request, "orders/order.html", {"order": placed, "instance": instance})
