# SPDX-License-Identifier: MIT
"""Limbs that touch surfaces with one point instead of a sole."""
