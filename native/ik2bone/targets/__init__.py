# SPDX-License-Identifier: MIT
"""Where each foot goes on every frame."""
