"""Drawings of workflows as Mermaid, SVG or text, with or without a run's state."""

from jeton.engine.views.draw.mermaid import as_mermaid
from jeton.engine.views.draw.picture import Arrow, Box, Counts, Picture, picture_of
from jeton.engine.views.draw.svg import as_svg
from jeton.engine.views.draw.text import as_text

__all__ = ["Arrow", "Box", "Counts", "Picture", "as_mermaid", "as_svg", "as_text", "picture_of"]
