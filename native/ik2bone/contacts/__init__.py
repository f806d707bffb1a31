# SPDX-License-Identifier: MIT
"""When heels and balls stand: detection, and the contacts that users store and edit."""
