# SPDX-License-Identifier: MIT
"""Contact detection: the frames on which the heel or ball of a foot stands on the ground."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Mask
from ..checks import array, as_array, boolean, number
from ..clip import frame_rate
from ..curves import column_runs, quantile
from ..rotations import length_of
from .events import held_while_still, refined
from .footing import HEIGHT, grounded
from .paths import ENTER_SPEED, LEAVE_SPEED, REST, SAME_PLACE, Feet, finer, observe
from .stance import LEAST_CONTACT, Stance, part_stances
from .treadmill import NEAR, floor_velocities

# A runner's foot slides as it strikes the ground: for a figure faster than this (leg lengths a second) both speed
# limits grow in proportion to the figure's speed.
FAST = 2.1
# A part that gets farther than this (leg lengths) while it is slow makes a step in slow motion, as in tai chi. There
# the speed limits are halved, up to `HALVINGS` times. In 20 recorded and animated clips standing feet get up to 0.09
# leg off their middle places, and one in a clip's first contact 0.17.
FAR, HALVINGS = 0.25, 3
# A part that is below the halved limits for less than this share of that time makes no step: it slides as it stands. In
# gaits made by formula sliding feet are below them for 0.22 of the time at most, feet in slow motion for 0.32 at least.
RESTS = 0.25


@dataclass(frozen=True)
class Limits:
    """The limits of `find_contacts`: the speeds `enter` and `leave` (leg lengths a second) and the `height` (leg
    lengths) below which parts stand, and the `least` duration (s) of a contact.
    """

    enter: float = ENTER_SPEED
    leave: float = LEAVE_SPEED
    height: float = HEIGHT
    least: float = LEAST_CONTACT


def find_contacts(
    heel: Array,
    ball: Array,
    *,
    fps: float,
    leg: float,
    up: tuple[float, float, float] | Array = (0.0, 0.0, 1.0),
    enter: float = ENTER_SPEED,
    leave: float = LEAVE_SPEED,
    height: float = HEIGHT,
    least: float = LEAST_CONTACT,
    exact: bool = True,
) -> Mask:
    """Frames in which heel and ball stand: bool (frames, legs, 2), heel first.

    `heel` and `ball` are paths (frames, legs, 3) of joints or markers in any length unit, `leg` is the length of the
    leg in that unit, `fps` samples a second, `up` the direction against gravity. No absolute speed or length enters, so
    scale and unit do not matter. The ground is found from the paths. It may lie at any height, be uneven, or carry the
    feet of a clip in place back like a treadmill. All feet may slide over it evenly, as they do where legs were scaled
    and the path of the hips was not.

    A part is slow from the moment its speed falls below `enter` for as long as it stays below `leave` (leg lengths a
    second), while it is less than `height` leg lengths above its lowest place of that time. Both speeds are higher for
    runners, and lower for parts that would get far by steps, as in slow motion. A slow foot stands if it is as low as
    any foot nearby in time, or if it carries the figure alone. Gaps and contacts shorter than `least` seconds are
    dropped. With `exact` each contact then begins at its heel strike and ends at its toe-off, as force plates would
    show them, to the frame. Without `exact` a part stands while it is slow, which suits foot locking; if a foot rests
    on one part, the other part stands only where it is nearly still.
    """
    rate, length = frame_rate(fps), _positive("leg", leg)
    upward = array("up", up, (3,))
    if not upward.any():
        raise ValueError(f"up: expected three numbers that are not all zero, got {up}")
    upward = upward / np.linalg.norm(upward)
    limits = _limits(enter, leave, height, least)
    boolean("exact", exact)
    heel, ball = (as_array(name, path, "shape (frames, legs, 3)") for name, path in (("heel", heel), ("ball", ball)))
    if heel.ndim == 3 and heel.shape[2] == 3 and not heel.size and heel.shape == ball.shape:
        return np.zeros((*heel.shape[:2], 2), bool)
    heel = array("heel", heel, ("frames", "legs", 3))
    ball = array("ball", ball, heel.shape)
    return detect(heel, ball, fps=rate, leg=length, up=upward, limits=limits, exact=exact)[0]


def _limits(enter: float, leave: float, height: float, least: float) -> Limits:
    """The limits from the arguments of `find_contacts`, checked."""
    speeds = _positive("enter", enter), _positive("leave", leave)
    limits = Limits(*speeds, _positive("height", height), number("least", least))
    if limits.leave < limits.enter:
        raise ValueError(f"leave: expected no less than enter, which is {enter}, got {leave}")
    if limits.least < 0.0:
        raise ValueError(f"least: expected seconds, 0 or more, got {least}")
    return limits


def _positive(name: str, value: float) -> float:
    if number(name, value, "a positive number") <= 0:
        raise ValueError(f"{name}: expected a positive number, got {value}")
    return float(value)


def detect(
    heel: Array, ball: Array, *, fps: float, leg: float, up: Array, limits: Limits | None = None, exact: bool = False
) -> tuple[Mask, bool]:
    """The contacts (F, L, 2) of `find_contacts`, and whether a moving floor carries the feet back. Without `exact` the
    contacts suit foot locking.
    """
    seen = observe(np.stack([heel, ball], axis=2) / leg, fps, up)
    floor, carried = floor_velocities(seen)
    feet, limits = seen.over(floor), _adapted(limits or Limits(), seen.travel - floor, floor)
    fine = feet if exact else finer(feet)
    slow = _lasting(fine, _slow(fine, limits), limits)
    if exact:
        return refined(feet, slow), carried
    return held_while_still(feet, _on_frames(fine, _settled(fine, slow), limits)), carried


def hysteresis(slow: Mask, still: Mask) -> Mask:
    """The runs of slow frames (F, ...) that hold at least one still frame, column by column."""
    return _since(slow, still) | _since(slow[::-1], still[::-1])[::-1]


def _since(mask: Mask, event: Mask) -> Mask:
    """The frames of each run of True in a mask (F, ...) from its first frame on that is one of an `event` (F, ...)."""
    numbers, begins = np.arange(len(mask)).reshape(-1, *[1] * (mask.ndim - 1)), _begins(mask)
    # Counted double, so that an event on the first frame of a run counts as later than its beginning.
    last = np.maximum.accumulate(np.where(mask & event, 2 * numbers + 1, np.where(begins, 2 * numbers, 0)))
    return mask & (last % 2 == 1)


def _begins(mask: Mask) -> Mask:
    """Where runs of True begin in a mask (F, ...)."""
    begins = mask.copy()
    begins[1:] &= ~mask[:-1]
    return begins


def _adapted(limits: Limits, gait: Array, floor: Array) -> Limits:
    """The limits with speeds for a figure that moves at velocities `gait` (F, 3) over a floor that moves at `floor`
    (F, 3).
    """
    faster = max(1.0, float(quantile(length_of(gait), 0.5)) / FAST)
    # The feet of a clip in place seldom move exactly at the speed of the floor. Without this allowance the KayKit walks
    # and the fox lose up to a third of their contacts.
    slack = NEAR * float(length_of(floor).mean())
    return Limits(faster * limits.enter + slack, faster * limits.leave + slack, limits.height, limits.least)


def _slow(feet: Feet, limits: Limits) -> Mask:
    """Frames (F, L, 2) on which parts are slow and not off the ground, by lower limits for parts that step in slow
    motion.
    """
    slow = _slower(feet, limits)
    for _ in range(HALVINGS):
        legs, parts = np.arange(slow.shape[1])[:, None], np.arange(2)
        first = np.maximum.accumulate(np.where(_begins(slow), np.arange(feet.frames)[:, None, None], 0))
        gone = slow & (length_of(feet.paths - feet.paths[first, legs, parts]) > FAR)
        if not gone.any():
            break
        far = [run for run in part_stances(slow) if gone[run.cells].any()]
        limits = replace(limits, enter=0.5 * limits.enter, leave=0.5 * limits.leave)
        slower = _slower(feet, limits)
        for run in far:
            if slower[run.cells].mean() > RESTS:
                slow[run.cells] &= slower[run.cells]
    return slow


def _slower(feet: Feet, limits: Limits) -> Mask:
    """Frames (F, L, 2) on which parts are slow by these limits, and neither the part nor its foot is off the ground."""
    slow, still = feet.speeds < limits.leave, feet.speeds < limits.enter
    either = hysteresis(slow[..., 0] | slow[..., 1], still[..., 0] | still[..., 1])
    heights, low = np.where(slow, feet.heights, np.inf), np.zeros_like(slow)
    for spell in grounded(feet, [Stance(*run) for run in column_runs(either)], limits.height):
        own = heights[spell.rows]
        low[spell.rows] = own < own.min(axis=0) + limits.height
    return hysteresis(slow & low, still)


def _lasting(feet: Feet, slow: Mask, limits: Limits) -> Mask:
    """The slow frames (F, L, 2), with short gaps closed where the part comes back to its place, and short runs dropped.
    Gaps and runs at the ends of the clip stay.
    """
    lasting, least = slow.copy(), limits.least * feet.fps - 1e-6
    for gap in part_stances(~slow):
        if gap.start > 0 and gap.end < feet.frames and gap.end - gap.start < least:
            path = feet.paths[:, gap.leg, gap.part]
            lasting[gap.cells] = length_of(path[gap.end] - path[gap.start - 1]) < SAME_PLACE
    for run in part_stances(lasting):
        # `_frames` counts at least all but one of the run's frames.
        cut = run.start == 0 or run.end == feet.frames or run.end - run.start > least + 1.0
        if not cut and _frames(feet.speeds[:, run.leg, run.part], run.start, run.end, limits.leave) < least:
            lasting[run.cells] = False
    return lasting


def _frames(speeds: Array, start: int, end: int, leave: float) -> float:
    """How many frames, and parts of them, a run [start, end) within the clip lasts: until speeds (F,) pass `leave`."""
    # At 24 frames a second a count of whole frames would take 0.05 s for 0.08.
    count = end - start - 1.0
    for inside, beyond in ((speeds[start], speeds[start - 1]), (speeds[end - 1], speeds[end])):
        count += 1.0 if leave > beyond else max((leave - inside) / max(beyond - inside, 1e-300), 0.0)
    return float(count)


def _settled(feet: Feet, slow: Mask) -> Mask:
    """The slow frames (F, L, 2), without those of a ball that still comes down about a standing heel, and of a heel
    that already rises about a standing ball: to hold both parts then would turn the foot aside by a degree.
    """
    heels, balls = slow[..., 0], slow[..., 1]
    balls = _since(balls, ~heels | (feet.speeds[..., 1] <= ENTER_SPEED))
    heels = _since(heels[::-1], (~balls | (feet.speeds[..., 0] <= REST))[::-1])[::-1]
    return _without_cut(feet, slow, np.stack([heels, balls], axis=-1))


def _without_cut(feet: Feet, slow: Mask, settled: Mask) -> Mask:
    """The settled frames (F, L, 2), of which a short contact that an end of the clip cuts is dropped if the other part
    stands all the while.

    The heel of a foot that strikes as the clip ends stands before its toes come down: of two parts at different heights
    the higher one is dropped, even if the lower one is only slow.
    """
    least = min(LEAST_CONTACT * feet.fps, feet.frames)
    # The joint of a ball may lie 0.1 leg over the sole, so that heights also count from where each part is lowest.
    for run in part_stances(settled):
        ends = slow[: run.end, run.leg, run.part], slow[run.start :, run.leg, run.part]
        if run.end - run.start < least and any(end.all() for end in ends):
            cells = run.cells, run._replace(part=1 - run.part).cells
            over = min(((each[cells[0]] - each[cells[1]]).mean() for each in (feet.heights, feet.above)), key=abs)
            stands = (slow if over > SAME_PLACE else settled)[cells[1]].all()
            settled[run.cells] = over < -SAME_PLACE or not stands
    return settled


def _on_frames(fine: Feet, stands: Mask, limits: Limits) -> Mask:
    """Contacts (F, L, 2) on the given frames, from contacts `stands` on finer ones. A part also stands on the first
    given frame after it began to leave, if it was hardly off its anchor half a frame before.
    """
    found = stands[:: fine.every].copy()
    if fine.every > 1:
        near = stands[1::2] & (fine.speeds[1::2] < 0.5 * (limits.enter + limits.leave))
        found[2:] |= near[1:] & found[1:-1] & ~(found[2:, :, :1] | found[2:, :, 1:])
    return found
