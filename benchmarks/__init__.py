"""Side-by-side measurements, one file a claim: `make bench`, or `make bench CLAIM="channel start"`."""
