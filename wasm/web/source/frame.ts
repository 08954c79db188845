/** Decodes the bytes of a response. Columns are views into them, not copies. */
export type Column = Float64Array | Uint32Array | Uint8Array;

export interface Frame {
  readonly type: string;
  readonly data: unknown;
  readonly columns: ReadonlyMap<string, Column>;
}

/** An error answer of the core, in its words. */
export class QueryError extends Error {
  override readonly name = "QueryError";
}

interface ColumnHeader {
  readonly name: string;
  readonly type: string;
  readonly offset: number;
  readonly length: number;
}

type Header =
  | { ok: false; error: string }
  | { ok: true; type: string; data?: unknown; columns?: readonly ColumnHeader[] };

const ALIGNMENT = 8;

export function decodeFrame(bytes: Uint8Array): Frame {
  const { header, columnsAt } = readHeader(aligned(bytes));
  if (!header.ok) throw new QueryError(header.error);
  const columns = new Map<string, Column>();
  for (const column of header.columns ?? []) {
    columns.set(column.name, viewOf(aligned(bytes), columnsAt, column));
  }
  return { type: header.type, data: header.data ?? {}, columns };
}

// A view of f64 must start at a multiple of 8 in its buffer; a slice of a message may not.
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % ALIGNMENT === 0 ? bytes : bytes.slice();
}

function readHeader(bytes: Uint8Array): { header: Header; columnsAt: number } {
  if (bytes.length < 4) {
    throw new QueryError(`expected a response of at least 4 bytes, found ${bytes.length}`);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const end = 4 + length;
  if (end > bytes.length) {
    throw new QueryError(`expected a header of ${length} bytes, found ${bytes.length - 4}`);
  }
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))) as Header;
  return { header, columnsAt: Math.ceil(end / ALIGNMENT) * ALIGNMENT };
}

function viewOf(bytes: Uint8Array, columnsAt: number, column: ColumnHeader): Column {
  const at = bytes.byteOffset + columnsAt + column.offset;
  const { buffer } = bytes;
  switch (column.type) {
    case "f64":
      return new Float64Array(buffer, at, column.length);
    case "u32":
      return new Uint32Array(buffer, at, column.length);
    case "u8":
      return new Uint8Array(buffer, at, column.length);
    default:
      throw new QueryError(`expected a column of f64, u32 or u8, found ${column.type}`);
  }
}
