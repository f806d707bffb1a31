# SPDX-License-Identifier: MIT
"""Limbs that touch with one point instead of a sole."""
