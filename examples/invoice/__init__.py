"""From the received invoice to its payment: people in groups, a decision, timers, and a process that calls another.

- `invoice.bpmn`, `clarification.bpmn`   the processes, with their diagrams
- `approver.dmn`                         who approves an invoice, as a decision table
- `handlers`     what their service tasks do
- `scenarios/`   their tests: `manage.py bpm test examples/invoice/scenarios`
"""
