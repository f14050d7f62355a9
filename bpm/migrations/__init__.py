"""The schema's history. Partitioned tables and server functions are SQL; everything else is Django's own."""
