# SPDX-License-Identifier: GPL-3.0-or-later
"""What is under the feet: surfaces, their meshes and their motion."""
