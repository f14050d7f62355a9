"""A parcel service whose processes are spread over several databases."""
