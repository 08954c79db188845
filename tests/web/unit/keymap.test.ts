import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../../wasm/web/timeline/input/commands";
import { BINDINGS, bindingOf, isOurs, isPlain, type KeyPress } from "../../../wasm/web/timeline/input/keymap";

const press = (key: string, modifiers: Partial<KeyPress> = {}): KeyPress => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...modifiers,
});

test("keys are the same as in other viewers", () => {
  const expected = {
    w: "zoomIn",
    s: "zoomOut",
    a: "panLeft",
    d: "panRight",
    f: "focus",
    ".": "next",
    ",": "previous",
    "]": "followForward",
    "[": "followBack",
    "/": "search",
    m: "measure",
    r: "markSelection",
    q: "toggleDetails",
    Delete: "removeNote",
    Enter: "nextHit",
    "?": "help",
    Escape: "clear",
  };
  for (const [key, command] of Object.entries(expected)) assert.equal(bindingOf(press(key))?.command, command);
});

test("Shift and Caps Lock", () => {
  assert.equal(bindingOf(press("Enter", { shiftKey: true }))?.command, "previousHit");
  assert.equal(bindingOf(press("M", { shiftKey: true }))?.command, "keepMark");
  assert.equal(bindingOf(press("M"))?.command, "measure", "caps lock");
  assert.equal(bindingOf(press("W", { shiftKey: true }))?.command, "zoomIn");
  assert.equal(bindingOf(press("?", { shiftKey: true }))?.command, "help");
});

test("keys of the browser and the host reach them", () => {
  assert.equal(bindingOf(press("s", { ctrlKey: true })), null);
  assert.equal(bindingOf(press("f", { metaKey: true })), null);
  assert.equal(bindingOf(press("j")), null);
  for (const key of ["Tab", "F5"]) assert.equal(isPlain(press(key)), false);
  assert.equal(isPlain(press("s", { ctrlKey: true })), false);
  assert.equal(isPlain(press("d")), true);
});

test("the timeline's keys with Ctrl or Cmd do not reach the host", () => {
  for (const modifier of [{ ctrlKey: true }, { metaKey: true }]) {
    assert.equal(bindingOf(press("p", modifier))?.command, "filterTracks");
    assert.equal(bindingOf(press("P", { ...modifier, shiftKey: true }))?.command, "commands");
    assert.equal(bindingOf(press("a", modifier))?.command, "markAll");
    assert.equal(bindingOf(press("]", modifier))?.command, "chooseForward");
    assert.equal(bindingOf(press("[", modifier))?.command, "chooseBack");
    assert.equal(isOurs(press("p", modifier)), true);
    assert.equal(isOurs(press("s", modifier)), false);
  }
});

test("every binding has a command, a text and keys of its own", () => {
  const keys = BINDINGS.flatMap((binding) => binding.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(new Set(BINDINGS.map((binding) => binding.command)), new Set(Object.keys(COMMANDS)));
  assert.ok(BINDINGS.every((binding) => binding.text.length > 0));
});
