"""The shapes of the API: what goes in (`given`) and what comes out (`told`)."""
