"""Orders of the shop: what is sold, who bought it, and how an order gets to its end.

- `models`       products and orders
- `placing`      an order and its process start in one transaction
- `handlers`     what the process asks of the shop
- `processes/`   the process itself; `scenarios/` its tests: `manage.py bpm test orders/scenarios`
"""
