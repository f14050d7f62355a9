"""The ready-made site: settings, addresses, processes, and the servers for local development.

Not part of the wheel: a project that uses Tokentrail brings its own settings. Importing the settings connects to
nothing, so that commands of the pure core (manage.py bpm test) run without server or environment.

settings, urls, celery, asgi, wsgi and logs are the site. local, postgres, valkey, processes, warden and up run all of
it on a developer's machine: script/up.
"""
