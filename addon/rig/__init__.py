# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs and hips of an armature: found, chosen and checked."""
