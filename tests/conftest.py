"""What every test shares."""

from hypothesis import settings

# A deadline per example measures the machine, not the code; a failure prints what reproduces it.
settings.register_profile("jeton", deadline=None, print_blob=True)
settings.load_profile("jeton")
