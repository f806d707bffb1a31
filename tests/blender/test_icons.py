# SPDX-License-Identifier: GPL-3.0-or-later
"""The icons of heel and ball in the list of contacts; how they look there is for `make gui`."""

from __future__ import annotations

import numpy as np
import pytest

from demo import session

LINE, FILL = (0.8, 0.8, 0.8, 1.0), (0.0, 0.5, 1.0, 1.0)


@pytest.fixture
def icons(addon):
    return addon("ui.icons")


def blue_in(icons, part):
    """Where an icon shows the colour of the state alone."""
    return np.abs(icons.pixels(part, LINE, FILL) - FILL).max(axis=-1) < 1e-6


def test_the_ball_is_filled_in_front_and_the_heel_behind(icons):
    ball, heel = (np.argwhere(blue_in(icons, part))[:, 0] for part in ("ball", "heel"))
    assert len(ball) > 60 and len(heel) > 20
    assert ball.min() > heel.max()


def test_both_have_one_outline_and_nothing_outside_of_it(icons):
    ball, heel = (icons.pixels(part, LINE, FILL) for part in ("ball", "heel"))
    same = ~(blue_in(icons, "ball") | blue_in(icons, "heel"))
    corners = ball[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (corners == 0.0).all()
    line = (np.abs(ball - LINE).max(axis=-1) < 1e-6) & same
    assert line.sum() > 60 and (np.abs(heel - LINE).max(axis=-1) < 1e-6)[line].all()


def test_icons_are_drawn_once_and_go_with_the_add_on(icons):
    import addon_utils

    numbers = [icons.icon_of(part, "enforced") for part in ("heel", "ball", "heel")]
    kept = icons._icons
    assert len(kept) == 2 and numbers[0] == numbers[2]
    assert tuple(next(iter(kept.values())).icon_size) == (icons.SIZE, icons.SIZE)
    addon_utils.disable(session.ADDON)
    assert not kept
