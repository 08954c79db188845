/**
 * A notebook evaluates this module for every output, so it is small. It shows a picture, loads the
 * viewer once per page, and hands over to it.
 */
import type { AnyModel, Initialize, Render } from "@anywidget/types";
import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import type { Where } from "../source/open";
import type { Align } from "../source/protocol";
import { messageOf } from "../source/source";
import type { OpenFlame } from "../timeline/flame";
import type { Note } from "../timeline/notes";
import type { Channel, Incoming } from "./channel";
import { viewerOf } from "./load";
import { Mailbox } from "./mailbox";
import { Placeholder } from "./placeholder";
import { hideSaved } from "./saved";
import type { WantedTheme } from "./theme";
import type { Notebook, Viewer } from "./viewer";

/** State that is synced and saved with the notebook. The traces travel as messages instead. */
interface State {
  _height: number;
  _theme: WantedTheme;
  _key: string;
  _traces: string;
  _code: string;
  _where: Where;
  _parts: readonly { name: string; rank: number | null }[];
  _align: Align | null;
  _frames: boolean;
  _note: string;
  _picture: string;
  _selection: number | null;
  _range: [number, number] | null;
  _shown: [number, number] | null;
  _notes: readonly Note[];
  _flame: OpenFlame | null;
}

type Model = AnyModel<State>;
const PATIENCE_MS = 5000;

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

function follow<K extends "_height" | "_theme">(
  model: Model,
  name: K,
  use: (value: State[K]) => void,
  cleanup: Cleanup,
) {
  const update = () => use(model.get(name));
  model.on(`change:${name}`, update);
  cleanup.add(() => model.off(`change:${name}`, update));
  update();
}

function tellPython<K extends "_selection" | "_range" | "_notes" | "_frames">(
  model: Model,
  name: K,
  value: State[K],
): void {
  model.set(name, value);
  model.save_changes();
}

function notebookOf(model: Model, mailbox: Mailbox, theme: Cell<WantedTheme>): Notebook {
  return {
    mailbox,
    theme,
    key: model.get("_key"),
    traces: model.get("_traces"),
    code: model.get("_code"),
    where: model.get("_where"),
    parts: model.get("_parts").map(({ name, rank }) => ({ name, rank: rank ?? null })),
    setup: { align: model.get("_align") ?? undefined, frames: model.get("_frames") },
    note: model.get("_note"),
    flame: model.get("_flame") ?? null,
    get chosen() {
      return {
        // Pyodide sends Python's None as undefined.
        selection: model.get("_selection") ?? null,
        range: model.get("_range") ?? null,
        shown: model.get("_shown") ?? null,
        notes: model.get("_notes"),
      };
    },
    onSelect: (id) => tellPython(model, "_selection", id),
    onRange: (range) => tellPython(model, "_range", range),
    onNotes: (notes) => tellPython(model, "_notes", notes),
    onSetup: ({ align, frames }) => {
      model.set("_align", align ?? null);
      tellPython(model, "_frames", frames ?? true);
    },
  };
}

/** Lets Python move the timeline. */
function followPython(channel: Channel, viewer: Viewer): () => void {
  return channel.listen((message) => {
    if (message.type === "goto") viewer.go(message.id);
    if (message.type === "show") viewer.show(message.start, message.end);
    if (message.type === "notes") viewer.restoreNotes(message.notes);
    if (message.type === "say") viewer.say(message.message);
  });
}

// A model outlives its views, which share its answers.
const mailboxes = new Map<string, Mailbox>();

const initialize: Initialize<State> = ({ model }) => {
  const key = model.get("_key");
  const mailbox = new Mailbox(channelOf(model), PATIENCE_MS);
  mailboxes.set(key, mailbox);
  return () => {
    mailbox.close();
    if (mailboxes.get(key) === mailbox) mailboxes.delete(key);
  };
};

/** The model's mailbox, or one for this view where the host does not call `initialize`. */
function mailboxOf(model: Model, cleanup: Cleanup): Mailbox {
  const known = mailboxes.get(model.get("_key"));
  if (known !== undefined) return known;
  const mailbox = new Mailbox(channelOf(model), PATIENCE_MS);
  cleanup.add(() => mailbox.close());
  return mailbox;
}

const render: Render<State> = ({ model, el }) => {
  const cleanup = new Cleanup();
  const around = document.createElement("div");
  el.append(around);
  cleanup.add(() => around.remove());
  cleanup.add(hideSaved(model.get("_key")));
  const theme = new Cell(model.get("_theme"));
  follow(model, "_theme", (wanted) => theme.set(wanted), cleanup);
  follow(model, "_height", (height) => around.style.setProperty("height", `${height}px`), cleanup);
  const placeholder = new Placeholder(around, model.get("_picture"));
  const channel = channelOf(model);
  const mailbox = mailboxOf(model, cleanup);
  const wait = () => placeholder.wait(mailbox.isSilent.value);
  const unwatch = mailbox.isSilent.subscribe(wait);
  wait(); // a view that is drawn later than others
  cleanup.add(unwatch);
  let isOpen = true;
  cleanup.add(() => {
    isOpen = false;
  });
  const start = async () => {
    const { open } = await viewerOf(model.get("_code"), mailbox);
    if (!isOpen) return;
    const viewer = await open(around, notebookOf(model, mailbox, theme));
    if (!isOpen) return viewer.close();
    cleanup.add(() => viewer.close());
    cleanup.add(followPython(channel, viewer));
  };
  start().catch((error: unknown) => {
    unwatch();
    if (isOpen) placeholder.fail(messageOf(error));
  });
  return () => cleanup.run();
};

export default { initialize, render };
