"""Read models for the cockpit and the API: paged by key, never by offset, and never more than a page."""
