# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture: figures of a clip at several instants, seen from the side, before planting above and after it below."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from demo.figure import paint
from demo.misses import Miss
from demo.session import silence, tell
from demo.solids import torus
from demo.terrain import Cut, Terrain, cut_terrain
from demo.track import FINE, MARGIN, Instant, Track

Array = NDArray[np.float64]

# Lengths in legs.
ELEVATION = np.radians(9.0)
FRONT, DEPTH, SIDE, CRUST = 0.14, 2.2, 0.75, 0.22
GAP, WALLS_APART = 0.12, 0.001
RING, RING_THICKNESS = 0.11, 0.013
TEXT_LINE, TEXT_SPACE = 0.0155, 0.04  # Shares of the picture's width.
ROW_WIDTH, ROW_HEIGHTS = 1600, (380, 820)
SURFACE, SECTION, INK = (0.36, 0.42, 0.27, 1), (0.23, 0.16, 0.11, 1), (0.02, 0.02, 0.02, 1)
PROP = (0.10, 0.04, 0.02, 1)
PLANKS = (0.46, 0.36, 0.24, 1), (0.36, 0.27, 0.17, 1)
UNDER, OVER = (0.8, 0.0, 0.02, 1), (0.75, 0.0, 0.75, 1)
SKY = (0.80, 0.86, 0.92, 1)


@dataclass(frozen=True)
class Shot:
    """The figure at one instant, as an object that is moved along the heading, the scene's frame, and its misses."""

    figure: object
    instant: Instant
    frame: int
    misses: tuple[Miss, ...]


@dataclass(frozen=True)
class Row:
    """One half of the picture: two lines of text, the shots, and the meaning of rings under and over the surface."""

    caption: tuple[str, str]
    shots: tuple[Shot, ...]
    legend: tuple[str, str] = ("ring: sole under the ground", "ring: standing sole over it")


@dataclass(frozen=True)
class Stage:
    """The `grounds`, drawn in one colour, the `props`, drawn in their own, and the camera's `elevation` (radians).

    If something `moves`, every figure has its own piece of the stage.
    """

    grounds: tuple
    props: tuple = ()
    elevation: float = ELEVATION
    moves: bool = False


@dataclass(frozen=True)
class Frame:
    """The view of the orthographic camera: centre, directions, size in scene units, and height in pixels."""

    centre: Array
    right: Array
    up: Array
    width: float
    height: float
    pixels: int


def take(bpy, body, instant: Instant, track: Track, misses: list[Miss]) -> Shot:
    """Copy the body in the pose that the scene shows now."""
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    mesh.transform(evaluated.matrix_world)
    figure = bpy.data.objects.new("instant", mesh)
    bpy.context.scene.collection.objects.link(figure)
    figure.location = instant.shift * _axes(track)[0]
    return Shot(figure, instant, bpy.context.scene.frame_current, tuple(misses))


def draw(bpy, rows: list[Row], stage: Stage, track: Track, path: Path, samples: int) -> None:
    """Render the rows, one above the other, into one PNG. All other objects of the scene are hidden from the render.

    The added camera, light and sky stay in the scene.
    """
    shown = {shot.figure for row in rows for shot in row.shots}
    for thing in bpy.data.objects:
        thing.hide_render = thing not in shown
    box = _box(rows, track)
    terrain, lowest = _lay_terrain(bpy, rows[0].shots, stage, track, box)
    frame = _fit(box, lowest, track, stage.elevation)
    _add_camera(bpy, frame)
    _light(bpy, frame)
    _set_render(bpy, frame, samples)
    tiles = []
    for number, row in enumerate(rows, 1):
        tell(f"draws picture {number} of {len(rows)} with {samples} samples a pixel")
        tiles.append(_render_row(bpy, row, rows, frame, track.leg, path.with_name(f"{path.stem}.part.png")))
    _save(bpy, np.concatenate(tiles[::-1]), path)
    for mesh in terrain:
        bpy.data.meshes.remove(mesh)


def _axes(track: Track) -> tuple[Array, Array]:
    """The unit vectors along the heading, which is to the right in the picture, and level into the picture."""
    along = np.array([np.cos(track.heading), np.sin(track.heading), 0.0])
    return along, np.array([-along[1], along[0], 0.0])


def _points(figure) -> Array:
    mesh = figure.data
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3) + np.array(figure.location)


def _box(rows: list[Row], track: Track) -> Array:
    """The least and greatest coordinates (2, 3) of all figures: along the heading, into the picture, and up."""
    along, inward = _axes(track)
    points = np.concatenate([_points(shot.figure) for row in rows for shot in row.shots])
    seen = points @ np.stack([along, inward, [0, 0, 1]]).T
    return np.stack([seen.min(axis=0), seen.max(axis=0)])


def _lay_terrain(bpy, shots: tuple[Shot, ...], stage: Stage, track: Track, box: Array) -> tuple[list, float]:
    """Add one piece of the stage for all figures or, if figures are moved, a piece per figure as it is on its frame.

    Return the meshes, and the least height of the front edges in view.
    """
    (along, inward), lowest, meshes = _axes(track), np.inf, []
    moved = any(shot.instant.shift for shot in shots)
    for shot in shots if moved else shots[:1]:
        bpy.context.scene.frame_set(shot.frame)
        for number, ground in enumerate((*stage.grounds, *stage.props)):
            piece = cut_terrain(bpy, ground, _cut(shot.instant, moved, track, box))
            _colour(bpy, piece, ground in stage.props)
            for thing in (piece.surface, piece.section):
                thing.location = shot.instant.shift * along
                meshes.append(thing.data)
            # Sections of several grounds would flicker if they lay in one plane.
            piece.section.location += Vector(number * WALLS_APART * track.leg * inward)
            place = piece.front @ along + shot.instant.shift - box[:, 0].mean()
            seen = np.abs(place) < np.ptp(box[:, 0]) / 2 + SIDE * track.leg
            lowest = piece.front[seen, 2].min(initial=lowest)
    return meshes, lowest


def _cut(instant: Instant, moved: bool, track: Track, box: Array) -> Cut:
    """The piece of the ground to show: for one figure if figures are moved, else for all figures.

    There are gaps between the pieces of moved figures, because differences in height would look like steps.
    """
    (along, inward), leg = _axes(track), track.leg
    middle, reach = track.centre @ along[:2] + instant.place, (track.slot - GAP * leg) / 2
    start, end = (middle - reach, middle + reach) if moved else (box[0, 0] - MARGIN * leg, box[1, 0] + MARGIN * leg)
    origin, depth = (box[0, 1] - FRONT * leg) * inward, DEPTH * leg + np.ptp(box[:, 1])
    return Cut(origin, along, inward, start - instant.shift, end - instant.shift, depth, 3 * leg)


def _colour(bpy, piece: Terrain, is_prop: bool) -> None:
    piece.section.data.materials.append(paint(bpy, f"ground {SECTION}", SECTION))
    if not is_prop:
        piece.surface.data.materials.clear()
        piece.surface.data.materials.append(paint(bpy, f"ground {SURFACE}", SURFACE))


def _fit(box: Array, lowest: float, track: Track, elevation: float) -> Frame:
    """The frame that holds all figures, a strip of the cut ground, and two lines of text above."""
    along, inward = _axes(track)
    up = np.array([0.0, 0.0, np.cos(elevation)]) + np.sin(elevation) * inward
    inwards, heights = np.sin(elevation) * box[:, 1], np.cos(elevation) * np.array([lowest, *box[:, 2]])
    bottom, top = inwards[0] + heights[:2].min() - CRUST * track.leg, inwards[1] + heights[2]
    width = np.ptp(box[:, 0]) + 2 * SIDE * track.leg
    pixels = int(np.clip(ROW_WIDTH * ((top - bottom) / width + TEXT_SPACE), *ROW_HEIGHTS))
    width = max(width, (top - bottom) / (pixels / ROW_WIDTH - TEXT_SPACE))
    height = width * pixels / ROW_WIDTH
    # Height beyond the needed one is added at the top, as sky.
    place = box[:, 0].mean() * along + (bottom + height / 2) * up
    return Frame(place, along, up, float(width), float(height), pixels)


def _matrix(frame: Frame, right: float, up: float, near: float) -> Array:
    """The world matrix of an object that faces the camera, with its place from the centre in widths of the frame."""
    facing = np.cross(frame.right, frame.up)
    matrix = np.eye(4)
    matrix[:3, :3] = np.stack([frame.right, frame.up, facing], axis=1)
    matrix[:3, 3] = frame.centre + frame.width * (right * frame.right + up * frame.up + near * facing)
    return matrix


def _add_camera(bpy, frame: Frame) -> None:
    camera = bpy.data.objects.new("side", bpy.data.cameras.new("side"))
    camera.data.type, camera.data.sensor_fit, camera.data.ortho_scale = "ORTHO", "HORIZONTAL", frame.width
    camera.data.clip_end = 10 * frame.width
    camera.matrix_world = Matrix(_matrix(frame, 0, 0, 4))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


def _light(bpy, frame: Frame) -> None:
    """Add a sun above the camera and to the left of it, and a sky."""
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle = 2.6, 0.1
    way = Vector(np.cross(frame.right, frame.up) * 0.8 - 0.5 * frame.right + [0, 0, 1.2])
    sun.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("sky")
    if not world.use_nodes:
        world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = SKY
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.75
    bpy.context.scene.world = world


def _set_render(bpy, frame: Frame, samples: int) -> None:
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = samples, samples >= FINE, 2
    scene.render.resolution_x, scene.render.resolution_y = ROW_WIDTH, frame.pixels
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "Standard"


def _render_row(bpy, row: Row, rows: list[Row], frame: Frame, leg: float, path: Path) -> Array:
    """Render a row. Return its pixels (height, width, 4), from the bottom up as in Blender."""
    for other in rows:
        for shot in other.shots:
            shot.figure.hide_render = other is not row
    marks = [_mark(bpy, miss, shot.instant.shift, frame, leg) for shot in row.shots for miss in shot.misses]
    marks += [_write(bpy, text, 0.49 * side, line, frame, ink) for text, side, line, ink in _texts(row)]
    bpy.context.scene.render.filepath = str(path)
    with silence():
        bpy.ops.render.render(write_still=True)
    for mark in marks:
        bpy.data.objects.remove(mark)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    path.unlink()
    return pixels.reshape(frame.pixels, ROW_WIDTH, 4)


def _texts(row: Row) -> list[tuple[str, int, int, tuple]]:
    """The texts of a row, each with its side (-1 left, 1 right), line number and colour."""
    legend = zip(row.legend, (UNDER, OVER), strict=True)
    texts = [(text, -1, line, INK) for line, text in enumerate(row.caption)]
    return texts + [(text, 1, line, ink) for line, (text, ink) in enumerate(legend) if text]


def _write(bpy, text: str, right: float, line: int, frame: Frame, ink):
    curve = bpy.data.curves.new("text", "FONT")
    curve.body, curve.align_x, curve.size = text, "LEFT" if right < 0 else "RIGHT", TEXT_LINE * frame.width
    curve.materials.append(paint(bpy, f"ink {ink}", ink, glow=True))
    top = frame.height / frame.width / 2
    return _show(bpy, curve, Matrix(_matrix(frame, right, top - TEXT_LINE * (1.15 + 1.2 * line), 3)))


def _mark(bpy, miss: Miss, shift: float, frame: Frame, leg: float):
    """Add a ring round the foot, near to the camera so that nothing hides it."""
    facing = np.cross(frame.right, frame.up)
    centre = miss.place + shift * frame.right + 2 * frame.width * facing
    ring = torus(centre, frame.right, frame.up, RING * leg, RING_THICKNESS * leg)
    mesh = bpy.data.meshes.new("miss")
    mesh.from_pydata(ring.points, [], ring.faces)
    ink = UNDER if miss.height < 0 else OVER
    mesh.materials.append(paint(bpy, f"ink {ink}", ink, glow=True))
    return _show(bpy, mesh, Matrix())


def _show(bpy, data, matrix: Matrix):
    thing = bpy.data.objects.new("mark", data)
    thing.matrix_world = matrix
    thing.visible_shadow = thing.visible_diffuse = False
    bpy.context.scene.collection.objects.link(thing)
    return thing


def _save(bpy, pixels: Array, path: Path) -> None:
    image = bpy.data.images.new("picture", pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(pixels.ravel())
    image.file_format, image.filepath_raw = "PNG", str(path)
    image.save()
    bpy.data.images.remove(image)
