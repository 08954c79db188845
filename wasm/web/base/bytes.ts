// Not yet in every browser, nor in TypeScript's own library.
const decode = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;

/** Bytes of base64 text; whitespace is allowed. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (decode) return decode.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The base64 text of bytes. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // So many letters a call as arguments have room for.
  for (let at = 0; at < bytes.length; at += STRIDE) binary += String.fromCharCode(...bytes.subarray(at, at + STRIDE));
  return btoa(binary);
}

const STRIDE = 0x8000;

export const gunzip = (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> => unpack(bytes, "gzip");

/** `deflate` is what zlib writes. */
export async function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("expected a browser with DecompressionStream (2023 or newer), found none");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** One array of all `parts` in order. */
export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
