import { type Column, decodeFrame, type Frame, QueryError } from "./frame";
import type { Answer, Hits, Marks, RequestType, Tiles } from "./protocol";

/** Decodes the answer to a request of `type`. Throws `QueryError` for an error or another type. */
export function decodeAnswer<T extends RequestType>(type: T, bytes: Uint8Array): Answer<T> {
  const frame = decodeFrame(bytes);
  if (frame.type !== type) throw new QueryError(`expected an answer to ${type}, found ${frame.type}`);
  return shaped(type, frame) as Answer<T>;
}

function shaped(type: RequestType, frame: Frame): unknown {
  if (type === "tiles") return tilesOf(frame);
  if (type === "search") return hitsOf(frame);
  if (type === "marks") return marksOf(frame);
  // These answers have columns beside their data, under the same names.
  if (type === "path" || type === "counter" || type === "flame")
    return { ...(frame.data as object), ...Object.fromEntries(frame.columns) };
  return frame.data;
}

function tilesOf(frame: Frame): Tiles {
  const { names, labels, owners } = frame.data as Pick<Tiles, "names" | "labels"> & { owners?: readonly string[] };
  return {
    names,
    labels,
    owners: owners ?? null,
    owner: owners ? u32(frame, "owner") : null,
    lane: u32(frame, "lane"),
    start: f64(frame, "start"),
    dur: f64(frame, "dur"),
    kind: column(frame, "kind", Uint8Array),
    id: u32(frame, "id"),
    count: u32(frame, "count"),
    name: u32(frame, "name"),
  };
}

function hitsOf(frame: Frame): Hits {
  const { count, num_hidden, first, name } = frame.data as Pick<Hits, "count" | "num_hidden" | "first" | "name">;
  return { count, num_hidden, first, name, ...marksOf(frame) };
}

function marksOf(frame: Frame): Marks {
  return {
    id: u32(frame, "id"),
    track: u32(frame, "track"),
    lane: u32(frame, "lane"),
    start: f64(frame, "start"),
    dur: f64(frame, "dur"),
  };
}

const u32 = (frame: Frame, name: string) => column(frame, name, Uint32Array);
const f64 = (frame: Frame, name: string) => column(frame, name, Float64Array);

function column<C extends Column>(frame: Frame, name: string, type: abstract new () => C): C {
  const found = frame.columns.get(name);
  if (found instanceof type) return found;
  throw new QueryError(`expected a column ${name} of ${type.name}, found ${found?.constructor.name ?? "none"}`);
}
