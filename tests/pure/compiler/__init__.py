"""Tests of the compiler. `writing` builds small models; larger ones lie in `models/`."""
