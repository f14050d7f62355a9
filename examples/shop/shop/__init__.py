"""A shop: a Django project of its own that uses Tokentrail as an installed package."""
