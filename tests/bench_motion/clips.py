# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips and the grounds of the table: every walk, run, dance and jump of the data folder."""

from __future__ import annotations

from dataclasses import dataclass

# The height of the hills that `demo.grounds` makes. Hills of other heights are these, scaled.
MADE_HILLS = 0.12


@dataclass(frozen=True)
class Entry:
    """A clip: its file, the action if the file has several, and its gait.

    `must` says that it must be good on every ground, and `reason` why it is not good.
    """

    path: str
    action: str | None = None
    gait: str = "walk"
    must: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of the clip in the table."""
        stem = self.path.rpartition("/")[2].rpartition(".")[0]
        return f"{stem}:{self.action}" if self.action else stem


@dataclass(frozen=True)
class Place:
    """A ground: its kind and, for hills, the seed and the height in leg lengths."""

    kind: str
    seed: int = 0
    height: float = MADE_HILLS

    @property
    def name(self) -> str:
        """The name of the ground in the table."""
        return f"{self.kind}-{self.height}-{self.seed}" if self.kind == "hills" else self.kind


IN_PLACE = (
    "in place, with feet carried back as on a treadmill: ground that rises and falls under them bends and straightens"
    " knees within a few frames, and soles that the clip has under its own floor stay there on it"
)
IN_THE_AIR = (
    "among what the judge takes for standing are three frames in which a foot hangs in the air, slow and near its usual"
    " height"
)
INVENTED_TOES = (
    "the judge's toes of the forelegs, whose feet have no bone below them, are tails that the importer makes up: half a"
    " leg from where the soles are"
)

CLIPS = (
    Entry("bvh/cmu_ic_002_01_walk.bvh", must=True),
    Entry("bvh/cmu_131_01_startwalkstop.bvh", must=True),
    Entry("bvh/ad_zombie_walk.bvh", must=True),
    Entry("bvh/ad_jesse_dance.bvh", gait="dance", must=True),
    Entry("bvh/cmu_01_01_hops_turn.bvh", gait="jump", must=True),
    Entry("fbx/cmu_07_01_walk.fbx", must=True),
    Entry("fbx/ozz_pab_walk.fbx", must=True),
    Entry("bvh/cmu_131_01_startwalkstop_metres.bvh"),
    Entry("bvh/cmu_ic_005_02_dance.bvh", gait="dance"),
    Entry("bvh/cmu_ic_003_02_uneven.bvh", gait="uneven walk"),
    Entry("bvh/cmu_03_02_uneven.bvh", gait="uneven walk"),
    Entry("bvh/cmu_ic_002_03_run.bvh", gait="run"),
    Entry("bvh/ad_cmu_jumping_jacks.bvh", gait="jump"),
    Entry("fbx/cmu_09_11_run.fbx", gait="run"),
    Entry("gltf/CesiumMan_ozz.gltf", reason=IN_PLACE),
    Entry("gltf/Fox.glb", "Walk", reason=INVENTED_TOES),
    Entry("gltf/Fox.glb", "Run", "run", reason=INVENTED_TOES),
    *(Entry("gltf/KayKit_Knight.glb", f"Walking_{which}", reason=IN_PLACE) for which in ("A", "B", "C", "Backwards")),
    *(
        Entry("gltf/KayKit_Knight.glb", f"Running_{which}", "run")
        for which in ("A", "B", "Strafe_Left", "Strafe_Right")
    ),
    Entry("gltf/KayKit_Knight.glb", "Jump_Full_Long", "jump", reason=IN_THE_AIR),
    Entry("gltf/KayKit_Knight.glb", "Jump_Full_Short", "jump"),
    *(Entry("gltf/KayKit_Knight.glb", f"Jump_{which}", "jump") for which in ("Start", "Land")),
    Entry("gltf/KayKit_Knight.glb", "Idle"),
    Entry("gltf/mannequiny.glb", "run", "run", reason=IN_PLACE),
    Entry("gltf/mannequiny.glb", "dash", "run"),
    Entry("gltf/mannequiny.glb", "air_jump", "jump"),
    Entry("gltf/mannequiny.glb", "air_land", "jump"),
    Entry("gltf/mannequiny.glb", "idle"),
    Entry("gltf/RobotExpressive_raylib.glb", "Robot_Walking"),
)

GROUNDS = (
    *(Place("hills", seed, height) for height in (MADE_HILLS, 0.2) for seed in (0, 1, 2)),
    Place("steps"),
    Place("slope"),
    Place("flat"),
)
