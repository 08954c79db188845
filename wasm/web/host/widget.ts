import wasmBase64 from "kinetoscope:wasm";
import type { AnyModel, Render } from "@anywidget/types";
import { fromBase64, gunzip } from "../base/bytes";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { hashOf } from "../base/hash";
import { compile, WasmSource } from "../source/session";
import { messageOf } from "../source/source";
import { type MountedTimeline, mountTimeline } from "../timeline/mount";
import { type Channel, type Incoming, receiveSnapshot } from "./channel";
import { showNotice } from "./notice";
import { openShadow } from "./shadow";
import { suppressShortcuts } from "./shortcuts";
import { type WantedTheme, watchTheme } from "./theme";

/** What is synced, and saved with the notebook: two small values. The trace itself travels as messages. */
interface State {
  _height: number;
  _theme: WantedTheme;
}

type Model = AnyModel<State>;

const PATIENCE_MS = 5000;

// Several outputs may show one model: its trace is asked for once.
const snapshots = new WeakMap<Model, Promise<Uint8Array<ArrayBuffer>>>();

function channelOf(model: Model): Channel {
  return {
    send: (message) => model.send(message),
    listen: (receive) => {
      const listener = (message: Incoming, buffers: DataView[]) => receive(message, buffers);
      model.on("msg:custom", listener);
      return () => model.off("msg:custom", listener);
    },
  };
}

function snapshotOf(model: Model, late: () => void): Promise<Uint8Array<ArrayBuffer>> {
  const known = snapshots.get(model);
  if (known !== undefined) return known;
  const snapshot = receiveSnapshot(channelOf(model), PATIENCE_MS, late);
  snapshots.set(model, snapshot);
  snapshot.catch(() => snapshots.delete(model));
  return snapshot;
}

function followHeight(model: Model, el: HTMLElement, cleanup: Cleanup): void {
  const apply = () => {
    el.style.height = `${model.get("_height")}px`;
  };
  model.on("change:_height", apply);
  cleanup.add(() => model.off("change:_height", apply));
  apply();
}

function wantedTheme(model: Model, cleanup: Cleanup): Cell<WantedTheme> {
  const wanted = new Cell(model.get("_theme"));
  const update = () => wanted.set(model.get("_theme"));
  model.on("change:_theme", update);
  cleanup.add(() => model.off("change:_theme", update));
  return wanted;
}

/** Lets Python move the timeline. */
function followPython(channel: Channel, mounted: MountedTimeline): () => void {
  return channel.listen((message) => {
    if (message.type === "goto") mounted.go(message.id);
    if (message.type === "show") mounted.show(message.start, message.end);
  });
}

const render: Render<State> = ({ model, el }) => {
  const cleanup = new Cleanup();
  const around = document.createElement("div");
  el.append(around);
  cleanup.add(() => around.remove());
  followHeight(model, around, cleanup);
  const theme = watchTheme(wantedTheme(model, cleanup), cleanup);
  suppressShortcuts(around, cleanup);
  const root = openShadow(around);
  root.setAttribute("data-theme", theme.value);
  showNotice(root, "status", "Loading the trace …");
  let isOpen = true;
  cleanup.add(() => {
    isOpen = false;
  });
  const late = () =>
    showNotice(
      root,
      "status",
      "Waiting for the trace …",
      "Nothing came from Python yet. Is the kernel running? Run the cell again if not.",
    );
  const start = async () => {
    const wasm = compile(`${hashOf(wasmBase64)}-${wasmBase64.length}`, () => gunzip(fromBase64(wasmBase64)));
    const [module, snapshot] = await Promise.all([wasm, snapshotOf(model, late)]);
    if (!isOpen) return;
    const source = new WasmSource(module, snapshot);
    const channel = channelOf(model);
    root.replaceChildren();
    const mounted = mountTimeline(root, source, source.query("overview", {}), {
      theme,
      onSelect: (id) => channel.send({ type: "select", id }),
      onRange: (range) => channel.send({ type: "range", start: range?.start ?? null, end: range?.end ?? null }),
    });
    cleanup.add(() => mounted.close());
    cleanup.add(followPython(channel, mounted));
  };
  start().catch((error: unknown) => showNotice(root, "alert", "The timeline cannot be shown.", messageOf(error)));
  return () => cleanup.run();
};

export default { render };
