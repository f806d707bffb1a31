# SPDX-License-Identifier: MIT
"""How knees bend: about their hinge, without snapping, no farther than knees fold."""
