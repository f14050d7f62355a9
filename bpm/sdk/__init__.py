"""The worker library: fetch, lock, extend, complete or fail external tasks over HTTP.

It stands alone: standard library only, nothing of the rest of this package, so that a worker can be shipped with just
this folder.
"""
