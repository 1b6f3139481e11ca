#!/usr/bin/env python3
"""terraform-plan-view: reads what `terraform show -json plan` prints. It needs neither Terraform nor credentials.

Plans are kept in ~/.local/share/terraform-plan-view (or $TERRAFORM_PLANS), which is made at the first start
with one small plan to try things out.
"""
from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
PLANS = Path(os.environ.get("TERRAFORM_PLANS") or DATA / "terraform-plan-view")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
MOST = 4_000_000
ACTIONS = ["create", "update", "replace", "delete", "read", "no-op"]

EXAMPLE = {
    "format_version": "1.2",
    "terraform_version": "1.9.5",
    "resource_changes": [
        {"address": "aws_s3_bucket.logs", "type": "aws_s3_bucket", "change": {
            "actions": ["create"], "before": None, "after": {"bucket": "acme-logs", "force_destroy": False},
            "before_sensitive": False, "after_sensitive": {}}},
        {"address": "aws_db_instance.main", "type": "aws_db_instance", "change": {
            "actions": ["delete", "create"],
            "before": {"engine": "postgres", "storage_encrypted": False, "password": "first-example"},
            "after": {"engine": "postgres", "storage_encrypted": True, "password": "second-example"},
            "before_sensitive": {"password": True}, "after_sensitive": {"password": True},
            "replace_paths": [["storage_encrypted"]]}},
        {"address": "aws_instance.web[0]", "type": "aws_instance", "change": {
            "actions": ["update"], "before": {"instance_type": "t3.small"}, "after": {"instance_type": "t3.medium"},
            "before_sensitive": {}, "after_sensitive": {}}},
    ],
}


@dataclass
class Change:
    address: str
    kind: str
    action: str
    before: object
    after: object
    replaced_by: list = field(default_factory=list)

    @classmethod
    def read(cls, entry: dict) -> "Change":
        change = entry.get("change") or {}
        actions = change.get("actions") or ["no-op"]
        action = "replace" if set(actions) == {"create", "delete"} else str(actions[0])
        paths = [".".join(map(str, path)) for path in change.get("replace_paths") or [] if isinstance(path, list)]
        return cls(str(entry.get("address", "?")), str(entry.get("type", "?")), action,
                   mask(change.get("before"), change.get("before_sensitive")),
                   mask(change.get("after"), change.get("after_sensitive")), paths)


def mask(value, sensitive):
    """Replaces what the plan marks as sensitive; the mark is a tree of the same shape."""
    if sensitive is True:
        return "(sensitive)"
    if isinstance(value, dict) and isinstance(sensitive, dict):
        return {key: mask(inner, sensitive.get(key)) for key, inner in value.items()}
    if isinstance(value, list) and isinstance(sensitive, list):
        return [mask(inner, sensitive[i] if i < len(sensitive) else None) for i, inner in enumerate(value)]
    return value


def place(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise ValueError("a plan's name has letters, digits, dots, dashes and underscores")
    return PLANS / (name + ".json")


def write(path: Path, text: str) -> None:
    """Writes a temporary file in the same folder and renames it."""
    data = text.encode("utf-8")
    handle, temporary = tempfile.mkstemp(dir=PLANS, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def parse(text: str) -> list[Change]:
    plan = json.loads(text)
    if not isinstance(plan, dict) or not isinstance(plan.get("resource_changes", []), list) or "format_version" not in plan:
        raise ValueError("this is not what `terraform show -json PLAN` prints")
    return [Change.read(entry) for entry in plan.get("resource_changes", []) if isinstance(entry, dict)]


def load(name: str) -> list[Change]:
    path = place(name)
    if path.is_symlink() or not path.is_file():
        raise ValueError("there is no plan %r; list_plans shows what is there" % name)
    return parse(path.read_text("utf-8"))


PLAN = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$", "description": "Name of a saved plan", "examples": ["example"]}
READ = {"annotations": {"readOnlyHint": True, "openWorldHint": False}}
server = Server("terraform-plan-view", "0.4.1", "Works on plans saved with save_plan in %s, which is made at the first start with an example; contacts no cloud." % PLANS)


@server.tool("list_plans", "Lists the names and sizes of the saved plans.", **READ)
def list_plans():
    return [{"name": path.stem, "bytes": path.stat().st_size} for path in sorted(PLANS.glob("*.json")) if not path.is_symlink()]


@server.tool("save_plan", "Saves the JSON of a plan as a file in the folder of plans of this server (~/.local/share/terraform-plan-view). Replaces a plan of the same name only with replace.",
             {"name": PLAN, "json": {"type": "string", "description": "What `terraform show -json PLAN` prints", "examples": ["{\"format_version\": \"1.2\", \"resource_changes\": []}"]}},
             {"replace": {"type": "boolean"}}, annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def save_plan(name, json, replace=False):
    if len(json) > MOST:
        raise ValueError("at most %d characters" % MOST)
    changes, path = parse(json), place(name)
    if path.exists() and not replace:
        raise ValueError("there is a plan %r already; set replace to write over it" % name)
    write(path, json)
    return "Saved %s with %d resource changes." % (name, len(changes))


@server.tool("summarize_plan", "Counts the changes of a plan by action and by resource type, and names the resources that would be destroyed or replaced.", {"plan": PLAN}, **READ)
def summarize_plan(plan):
    changes = load(plan)
    actions, kinds = {}, {}
    for change in changes:
        actions[change.action] = actions.get(change.action, 0) + 1
        kinds[change.kind] = kinds.get(change.kind, 0) + 1
    return {"actions": actions, "types": kinds, "destroyed": [c.address for c in changes if c.action in ("delete", "replace")]}


@server.tool("list_changes", "Lists the resource changes of a plan, all or those with one action.", {"plan": PLAN}, {"action": {"type": "string", "enum": ACTIONS}}, **READ)
def list_changes(plan, action=None):
    if action is not None and action not in ACTIONS:
        raise ValueError("action is one of " + ", ".join(ACTIONS))
    return [{"address": c.address, "action": c.action, "because of": c.replaced_by} for c in load(plan) if action in (None, c.action)]


@server.tool("show_change", "Shows the attributes that change in one resource, before and after. Values that the plan marks as sensitive are masked.",
             {"plan": PLAN, "address": {"type": "string", "description": "Address of the resource", "examples": ["aws_db_instance.main"]}}, **READ)
def show_change(plan, address):
    for change in load(plan):
        if change.address == address:
            before = change.before if isinstance(change.before, dict) else {}
            after = change.after if isinstance(change.after, dict) else {}
            keys = [key for key in sorted(set(before) | set(after)) if before.get(key) != after.get(key)]
            return {"action": change.action, "changes": {key: {"before": before.get(key), "after": after.get(key)} for key in keys}}
    raise ValueError("the plan does not change %r" % address)


@server.tool("delete_plan", "Deletes a saved plan from the folder of plans. This cannot be undone.", {"plan": PLAN}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def delete_plan(plan):
    load(plan)
    place(plan).unlink()
    return "Deleted %s." % plan


if not PLANS.exists():
    PLANS.mkdir(parents=True, mode=0o700)
    write(PLANS / "example.json", json.dumps(EXAMPLE, indent=1))
server.run()
