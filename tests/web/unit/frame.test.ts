import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { decodeAnswer } from "../../../wasm/web/source/answer";
import { decodeFrame, QueryError } from "../../../wasm/web/source/frame";

const SEAM = "tests/golden/seam";

interface ColumnSpec {
  readonly name: string;
  readonly type: "f64" | "u32" | "u8";
  readonly values: readonly number[];
}

const ARRAYS = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };

/** A response in the protocol's format. */
function encode(head: object, columns: readonly ColumnSpec[] = []): Uint8Array {
  const parts = columns.map(({ type, values }) => new Uint8Array(ARRAYS[type].from(values).buffer));
  let offset = 0;
  const listed = columns.map(({ name, type, values }, i) => {
    const at = offset;
    offset += Math.ceil((parts[i]?.length ?? 0) / 8) * 8;
    return { name, type, offset: at, length: values.length };
  });
  const header = new TextEncoder().encode(JSON.stringify({ ...head, columns: listed }));
  const columnsAt = Math.ceil((4 + header.length) / 8) * 8;
  const bytes = new Uint8Array(columnsAt + offset);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  for (const [i, part] of parts.entries()) bytes.set(part, columnsAt + (listed[i]?.offset ?? 0));
  return bytes;
}

const COLUMNS: readonly ColumnSpec[] = [
  { name: "kind", type: "u8", values: [1, 2, 3] },
  { name: "start", type: "f64", values: [0.5, 1e15, -1] },
  { name: "id", type: "u32", values: [7, 0xffffffff, 0] },
];

test("columns are views into the response", () => {
  const bytes = encode({ ok: true, type: "tiles", data: { names: ["é"] } }, COLUMNS);
  const frame = decodeFrame(bytes);
  assert.deepEqual(frame.data, { names: ["é"] });
  for (const { name, values } of COLUMNS) assert.deepEqual([...(frame.columns.get(name) ?? [])], values);
  assert.ok([...frame.columns.values()].every((column) => column.buffer === bytes.buffer));
});

test("a response inside a larger buffer is read too", () => {
  const bytes = encode({ ok: true, type: "tiles", data: {} }, COLUMNS);
  const larger = new Uint8Array(bytes.length + 3);
  larger.set(bytes, 3);
  const frame = decodeFrame(larger.subarray(3));
  assert.deepEqual([...(frame.columns.get("id") ?? [])], [7, 0xffffffff, 0]);
});

test("an error answer throws the core's message", () => {
  const bytes = encode({ ok: false, error: "expected a known request type, found nonsense" });
  assert.throws(() => decodeFrame(bytes), new QueryError("expected a known request type, found nonsense"));
});

test("other bytes than a response are an error", () => {
  assert.throws(() => decodeFrame(new Uint8Array(2)), /expected a response of at least 4 bytes, found 2/);
  assert.throws(() => decodeFrame(Uint8Array.of(9, 0, 0, 0, 123)), /expected a header of 9 bytes, found 1/);
  assert.throws(
    () => decodeAnswer("tiles", encode({ ok: true, type: "event", data: {} })),
    /answer to tiles, found event/,
  );
  const noColumns = encode({ ok: true, type: "tiles", data: { names: [] } });
  assert.throws(() => decodeAnswer("tiles", noColumns), /expected a column lane of Uint32Array, found none/);
});

const golden = existsSync(SEAM) ? readdirSync(SEAM).filter((name) => name.endsWith(".response.bin")) : [];

test("the golden responses of the core", { skip: golden.length === 0 && `nothing in ${SEAM}` }, async (t) => {
  for (const name of golden) {
    const stem = join(SEAM, name.replace(/\.response\.bin$/, ""));
    await t.test(name, () => checkGolden(stem));
  }
});

interface GoldenHeader {
  readonly ok: boolean;
  readonly error?: string;
  readonly type?: string;
  readonly data?: unknown;
  readonly columns?: readonly { readonly name: string; readonly values: readonly number[] }[];
}

function checkGolden(stem: string): void {
  const bytes = new Uint8Array(readFileSync(`${stem}.response.bin`));
  const expected = JSON.parse(readFileSync(`${stem}.expected.json`, "utf8")) as GoldenHeader;
  if (!expected.ok) {
    assert.throws(() => decodeFrame(bytes), new QueryError(expected.error ?? ""));
    return;
  }
  const frame = decodeFrame(bytes);
  assert.equal(frame.type, expected.type);
  assert.deepEqual(frame.data, expected.data ?? {});
  const columns = (expected.columns ?? []).map(({ name, values }) => [name, values]);
  assert.deepEqual(
    [...frame.columns].map(([name, column]) => [name, [...column]]),
    columns,
  );
}
