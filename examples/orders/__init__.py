"""From the placed order to the shipped parcel: service tasks, gateways, a loop, a timer and an error that is caught.

- `order.bpmn`   the process, with its diagram
- `handlers`     what its service tasks do
- `scenarios/`   its tests: `manage.py bpm test examples/orders/scenarios`
"""
