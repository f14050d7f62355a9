"""The cockpit: what operators and auditors see. It owns no rules.

Read-only tables of everything (admin), pages that explain one instance (pages), the operator's verbs (actions, a
module each) and diagrams with live tokens. Pages ask `bpm.queries` and `bpm.audit`; whatever changes something calls a
verb of `bpm.engine`, with the person as actor and the reason that was stated.

It is an admin site of its own (`site`), in django-unfold's look (`look`): a project mounts it with
`path("cockpit/", cockpit.site.site.urls)` beside its own admin. Templates, styles, scripts and translations lie in
this package, so that the wheel ships them. A page is a function that returns what to show (`pages.shown`); the live
parts of a page are fragments that htmx asks for again.
"""
