# SPDX-License-Identifier: GPL-3.0-or-later
"""Run inside a Blender with a window: edit contacts as users do, and keep pictures for the documentation.

Expects the clip `walk.bvh` in the folder named after "--", and leaves `result.json` and pictures there.
"""

import json
import math
import sys
import webbrowser
from pathlib import Path

import addon_utils
import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Euler, Vector

sys.path.append(str(Path(__file__).parent))
from steps import (
    FOLDER,
    TICK,
    Steps,
    button,
    click,
    key,
    picture,
    play,
    point,
    press,
    result,
    show_panel,
    view,
    wait_for,
)

ADDON = "bl_ext.user_default.ik2bone"
CHILDREN = ("options", "report", "contacts")
# The height of the panels in pixels with each of these panels alone, and names of pictures that are not the panel's.
HEIGHTS, PICTURES = {"options": 568, "report": 540, "contacts": 568}, {"options": "panel"}
# The drag of a bar in frames and of a footprint in pixels, and the number of mouse moves in either.
FRAMES, PIXELS, MOVES = 14, (-30, 25), 8
# The rotation, location and distance of the view that shows the walk from the side.
SEEN, AT, FAR = Euler((math.radians(62), 0.0, math.radians(75))).to_quaternion(), Vector((0.0, -1.3, 0.5)), 4.2


def everything() -> Steps:
    """All steps of the user."""
    open_from_the_start(*CHILDREN)
    yield from look()
    set_up()
    yield 1.0
    yield from show_panel()
    yield from click(*button())
    yield from wait_for("the button plants", lambda: "ik2bone" in action())
    yield 1.0
    yield from sidebar()
    yield from manual()
    yield from search()
    bpy.context.window_manager.windows[0].workspace = bpy.data.workspaces["Animation"]
    yield 1.0
    with bpy.context.temp_override(area=min(views(), key=lambda area: area.width)):
        bpy.ops.screen.area_close()
    yield 1.0
    yield from look()
    view()[1].spaces.active.show_region_ui = False
    yield from show_bars()
    yield from drag_a_bar()
    yield from move_a_footprint()
    yield from off_and_on()
    yield from as_a_layer()
    yield from rigify()


def open_from_the_start(*names: str) -> None:
    """Open panels by default, before they are drawn for the first time."""
    for name in names:
        kind = getattr(bpy.types, f"IK2BONE_PT_{name}")
        hidden = kind.bl_options - {"DEFAULT_CLOSED"} if hasattr(kind, "bl_options") else set()
        bpy.utils.unregister_class(kind)
        kind.bl_options = hidden
        bpy.utils.register_class(kind)


def look() -> Steps:
    """Show the walk obliquely from above in all 3D views, without distracting overlays and toolbars."""
    for area in views():
        space, overlay = area.spaces.active, area.spaces.active.overlay
        region = space.region_3d
        region.view_perspective, region.view_rotation = "PERSP", SEEN
        region.view_location, region.view_distance = AT, FAR
        overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_cursor = False
        overlay.show_relationship_lines = overlay.show_outline_selected = overlay.show_text = False
        overlay.show_object_origins = False
        space.show_region_tool_header = space.show_region_toolbar = space.show_gizmo_navigate = False
    yield 1.0


def views() -> list[bpy.types.Area]:
    return [area for area in view()[0].screen.areas if area.type == "VIEW_3D"]


def sidebar() -> Steps:
    """Take pictures of the panels, one open child at a time, and click on a contact in the list."""
    kinds = {name: getattr(bpy.types, f"IK2BONE_PT_{name}") for name in CHILDREN}
    for name, height in HEIGHTS.items():
        for child, kind in kinds.items():
            if kind.is_registered:
                bpy.utils.unregister_class(kind)
            if child == name:
                bpy.utils.register_class(kind)
        yield 1.0
        yield from show_panel()
        region = view()[2]["UI"]
        if name == "contacts":
            yield from click(region.x + 50, region.y + region.height - 275)
            yield 1.0
            result["frame after a click on a contact"] = bpy.context.scene.frame_current
            for way in range(5):
                yield from point(region.x + 40 + 4 * way, region.y + region.height - 287)
            yield 3.0
            picture("tooltip", (region.x - 200, region.y + region.height - height, region.width + 200, height))
        yield from point(region.x - 200, region.y + 60)
        yield 1.0
        picture(PICTURES.get(name, name), (region.x, region.y + region.height - height, region.width, height))
        yield 0.5
    for kind in kinds.values():
        if not kind.is_registered:
            bpy.utils.register_class(kind)


def manual() -> Steps:
    """Ask for the manual of the button Plant Feet. The address goes to the result instead of a browser."""
    opened = result["Online Manual opens"] = []
    webbrowser.open = opened.append
    yield from show_panel()
    yield from point(*button())
    yield from key("F1", *button())


def search() -> Steps:
    """Search for `plantfeet` with F3, and run the first operator found."""
    planted, x, y = action()["ik2bone"], view()[1].x + 300, view()[1].y + 300
    bpy.ops.ik2bone.restore()
    yield from point(x, y)
    yield from key("F3", x, y)
    for letter in "plantfeet":
        view()[0].event_simulate(letter.upper(), "PRESS", unicode=letter, x=x, y=y)
        yield TICK
        view()[0].event_simulate(letter.upper(), "RELEASE", x=x, y=y)
        yield TICK
    yield 1.0
    picture("search")
    yield from key("RET", x, y)
    yield from wait_for("the operator that was searched for plants", lambda: action().get("ik2bone") == planted)


def set_up() -> None:
    """Set up the walk over a ground with waves."""
    for name in ("Cube", "Light", "Camera"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bpy.ops.import_anim.bvh(
        filepath=str(FOLDER / "walk.bvh"), global_scale=0.01, update_scene_fps=True, update_scene_duration=True
    )
    armature = bpy.context.object
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=160, y_subdivisions=160, size=12.0)
    for vertex in bpy.context.object.data.vertices:
        x, y, _ = vertex.co
        vertex.co.z = 0.12 * math.sin(2.1 * x) + 0.1 * math.cos(1.7 * y)
    bpy.context.object.name = "Ground"
    bpy.ops.object.shade_smooth()
    bpy.context.object.select_set(False)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    bpy.ops.ed.undo_push(message="Set Up")


def show_bars() -> Steps:
    """Show the bars in the Dope Sheet, and the footprints in the 3D view."""
    area, region = dope_sheet()
    area.spaces.active.show_region_ui = False
    bpy.context.scene.frame_end = int(action().frame_range[1])
    contacts().overlay = contacts().bars = True
    yield 2.0
    picture("footprints", box_of(view()[1]))
    yield from key("HOME", x=region.x + 200, y=region.y + 100)


def drag_a_bar() -> Steps:
    """Drag the end of a bar with Live on, wait until the feet are planted again, undo and redo the drag."""
    number = next(n for n, row in enumerate(rows()) if row["part"] == "ball" and row["start"] > 20)
    before = rows()[number]
    contacts().active = number
    yield 1.0
    x, y = end_of_bar(number)
    yield from point(x, y)
    yield from press(x, y, "PRESS")
    there = end_of_bar(number, FRAMES)[0]
    for move in range(1, MOVES + 1):
        yield from point(x + move * (there - x) // MOVES, y)
    yield 0.5
    picture("dope_sheet", workbench())
    result["stored while dragging"] = rows()[number] != before
    contacts().live = True
    planted = action()["ik2bone"]
    yield from press(there, y, "RELEASE")
    yield from wait_for("the feet are planted again", lambda: reports_differ(planted))
    yield 1.5
    picture("dragged_bar")
    after = next(row for row in rows() if row["bone"] == before["bone"] and row["start"] == before["start"])
    result["dragged"] = [[before["end"], before["state"]], [after["end"], after["state"]]]
    contacts().live = False
    yield from undo_and_redo("drag", lambda: sorted(row["end"] for row in rows() if row["bone"] == before["bone"]), 2)


def move_a_footprint() -> Steps:
    """Drag the handle of the selected footprint, and plant again."""
    number = next(n for n, row in enumerate(rows()) if row["part"] == "ball" and row["start"] > 20)
    contacts().active, contacts().live = number, False
    area, regions = view()[1:]
    area.spaces.active.region_3d.view_distance = 0.6 * FAR
    yield 1.0
    picture("edit_before", box_of(area))
    region = regions["WINDOW"]
    anchor = Vector(rows()[number]["anchor"])
    x, y = location_3d_to_region_2d(region, area.spaces.active.region_3d, anchor) + Vector((region.x, region.y))
    yield from point(x, y)
    yield from press(x, y, "PRESS")
    for move in range(1, MOVES + 1):
        yield from point(x + move * PIXELS[0] // MOVES, y + move * PIXELS[1] // MOVES)
    picture("edit_dragging", box_of(area))
    yield from press(x + PIXELS[0], y + PIXELS[1], "RELEASE")
    yield 1.0
    moved = rows()[number]
    result["moved by"] = (Vector(moved["anchor"]) - anchor).length
    result["stored off the footprint by"] = (Vector(moved["place"]) - Vector(moved["anchor"])).length
    yield from undo_and_redo("move", lambda: [row.get("place") for row in rows()], 1)
    planted = action()["ik2bone"]
    yield from show_panel()
    yield from click(*button())
    yield from wait_for("the feet are planted again", lambda: reports_differ(planted))
    again = min(rows(), key=lambda row: (Vector(row["anchor"]) - Vector(moved["place"])).length)
    result["planted off its place by"] = (Vector(again["anchor"]) - Vector(moved["place"])).length
    yield 1.0
    view()[1].spaces.active.show_region_ui = False
    yield 1.0
    picture("edit_after", box_of(view()[1]))
    yield from show_panel()


def off_and_on() -> Steps:
    """Switch the add-on off and on."""
    addon_utils.disable(ADDON)
    yield 1.0
    addon_utils.enable(ADDON)
    yield 1.0
    result["drawn again"] = sys.modules[f"{ADDON}.ui.overlay"]._batches.cache_info().currsize
    picture("drawn_again")


def as_a_layer() -> Steps:
    """Plant into a layer, and store the strips' blend types."""
    bpy.context.scene.ik2bone.output = "NLA_LAYER"
    yield from click(*button())
    armature = bpy.data.objects["walk"]
    yield from wait_for("a layer is there", lambda: len(armature.animation_data.nla_tracks) > 0)
    yield from wait_for("the run has ended", lambda: not view()[0].modal_operators)
    yield 1.0
    result["strips"] = [strip.blend_type for track in armature.animation_data.nla_tracks for strip in track.strips]
    picture("layer")


def rigify() -> Steps:
    """Plant a Rigify character by the targets of its inverse kinematics."""
    import control_rig

    bpy.context.scene.ik2bone.contacts = "AUTO"
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(bpy.data.objects["walk"])
    rig = control_rig.make_rigify_walker(bpy)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.ik2bone.output = "NEW_ACTION"
    yield 1.0
    source = rig.animation_data.action
    yield from click(*button())
    yield from wait_for("the character is planted", lambda: "ik2bone" in rig.animation_data.action)
    yield from wait_for("the run has ended", lambda: not view()[0].modal_operators)
    keys = [control_rig_keys(of) for of in (source, rig.animation_data.action)]
    result["Rigify, targets keyed"] = len(keys[0]) > 0 and keys[0].keys() == keys[1].keys() and keys[0] != keys[1]
    yield 1.0
    picture("rigify")


def control_rig_keys(of: bpy.types.Action) -> dict:
    """The keys of the IK targets of a Rigify character's feet."""
    has_slots = bpy.app.version >= (4, 4)
    every = of.layers[0].strips[0].channelbag(of.slots[0]).fcurves if has_slots else of.fcurves
    curves = [curve for curve in every if '"foot_ik.' in curve.data_path]
    return {(curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points] for curve in curves}


def undo_and_redo(name: str, value, steps: int) -> Steps:
    """Undo a change of `value()` in a number of `steps`, redo it, and store whether the value came back."""
    x, y = view()[1].x + 100, view()[1].y + 100
    after = value()
    for _ in range(steps):
        yield from key("Z", x, y, ctrl=True)
    undone = value()
    for _ in range(steps):
        yield from key("Z", x, y, ctrl=True, shift=True)
    result[f"{name} undone and done again"] = undone != after and value() == after


def reports_differ(text: str) -> bool:
    return json.loads(action()["ik2bone"])["report"] != json.loads(text)["report"]


def dope_sheet() -> tuple[bpy.types.Area, bpy.types.Region]:
    area = next(area for area in view()[0].screen.areas if area.type == "DOPESHEET_EDITOR")
    return area, next(region for region in area.regions if region.type == "WINDOW")


def end_of_bar(number: int, later: int = 0) -> tuple[int, int]:
    """The point in the window where the mouse grabs the end of a bar, or would if it were `later` by so many frames."""
    bars, (_, region) = sys.modules[f"{ADDON}.ui.bars"], dope_sheet()
    scale = bars.scale_of(bpy.context)
    shown = bars.bars(rows(), lambda frame: region.view2d.view_to_region(frame + later, 0, clip=False)[0], scale)[
        number
    ]
    return region.x + int(shown.right) - 2, region.y + int(shown.low + shown.high) // 2


def box_of(area: bpy.types.Area) -> tuple[int, int, int, int]:
    return area.x, area.y, area.width, area.height


def workbench() -> tuple[int, int, int, int]:
    """The box of the 3D view and the Dope Sheet under it."""
    above, below = view()[1], dope_sheet()[0]
    left = min(above.x, below.x)
    return left, below.y, max(above.x + above.width, below.x + below.width) - left, above.y + above.height - below.y


def action() -> bpy.types.Action:
    return bpy.data.objects["walk"].animation_data.action


def contacts():
    return bpy.context.scene.ik2bone_contacts


def rows() -> list[dict]:
    return json.loads(action()["ik2bone"])["contacts"]


play(everything())
