"""The cockpit: what operators and auditors see. It owns no rules.

Read-only tables of everything (admin), pages that explain one instance (pages), the operator's verbs (actions, a
module each) and diagrams with live tokens. Whatever changes something calls a verb of bpm.engine.
"""
