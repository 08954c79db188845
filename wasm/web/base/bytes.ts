export type Bytes = Uint8Array<ArrayBuffer>;

// Some browsers and TypeScript's own library do not have it yet.
const decode = (Uint8Array as { fromBase64?: (text: string) => Bytes }).fromBase64;

/** Decodes base64. Whitespace is allowed. */
export function fromBase64(text: string): Bytes {
  if (decode) return decode.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // A call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += STRIDE) binary += String.fromCharCode(...bytes.subarray(at, at + STRIDE));
  return btoa(binary);
}

const STRIDE = 0x8000;

export const gunzip = (bytes: Bytes): Promise<Bytes> => unpack(bytes, "gzip");

/**
 * Decompresses `bytes`. `deflate` means the zlib format. Throws in browsers without
 * DecompressionStream.
 */
export async function unpack(bytes: Bytes, format: CompressionFormat): Promise<Bytes> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("expected a browser with DecompressionStream (2023 or newer), found none");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function gzip(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Joins arrays in their order. */
export function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
