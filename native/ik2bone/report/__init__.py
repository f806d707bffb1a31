# SPDX-License-Identifier: MIT
"""How well a clip stands, before and after: figures, text and plot."""

from .measures import contact_spans, figures, knee_angle
from .text import ROWS, foot_names, summary, table, text

__all__ = ["ROWS", "contact_spans", "figures", "foot_names", "knee_angle", "summary", "table", "text"]
