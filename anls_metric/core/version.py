"""The version of the package, which every signature names."""

__version__ = "2.0.0"
