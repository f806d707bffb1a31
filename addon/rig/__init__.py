# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding, choosing and checking the limbs and the hips of an armature."""
