# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground of a scene: its surfaces, their meshes and their motion."""
