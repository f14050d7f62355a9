"""From the received invoice to its payment: people in groups, timers, and a process that calls another.

- `invoice.bpmn`, `clarification.bpmn`   the processes, with their diagrams
- `handlers`     what their service tasks do
- `scenarios/`   their tests: `manage.py bpm test examples/invoice/scenarios`
"""
