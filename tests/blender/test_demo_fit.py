# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of the demo's walk are those that its script fits to measured walks."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def fit_gait(bpy):
    from demo import fit_gait

    return fit_gait


def test_the_table_is_what_the_script_fits_to_the_measured_walks(fit_gait, data):
    from demo import gait

    people = fit_gait.measure(data)
    fitted = fit_gait.fit(people)
    # The table has one digit after the point.
    assert np.abs(fitted.real - np.array([gait.THIGH, gait.KNEE, gait.FOOT]).real).max() < 0.051
    assert np.abs(fitted.imag - np.array([gait.THIGH, gait.KNEE, gait.FOOT]).imag).max() < 0.051
    assert np.mean([each.stance for each in people]) == pytest.approx(gait.TOE_OFF, abs=0.005)


def test_a_fit_finds_the_curves_that_samples_were_taken_from(fit_gait):
    random = np.random.default_rng(0)
    terms = random.normal(size=(3, 1 + fit_gait.HARMONICS)) + 1j * random.normal(size=(3, 1 + fit_gait.HARMONICS))
    terms[:, 0] = terms[:, 0].real
    people = []
    for count in (40, 200):
        phase = random.uniform(0, 1, count)
        waves = np.exp(2j * np.pi * np.outer(np.arange(1 + fit_gait.HARMONICS), phase))
        people.append(fit_gait.Strides(phase, (terms @ waves).real, 1.0, 0.6))
    assert np.allclose(fit_gait.fit(people), terms)
    # Of two people who are apart by a constant the fit is the middle, whoever has more samples.
    people[0].degrees[:] += 2.0
    assert fit_gait.fit(people)[:, 0].real == pytest.approx(terms[:, 0].real + 1.0, abs=0.1)
