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

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

/** Decodes the text of the core's `base85`. Whitespace is allowed. */
export function fromBase85(text: string): Bytes {
  const values = new Uint8Array(128);
  for (let at = 0; at < ALPHABET.length; at++) values[ALPHABET.charCodeAt(at)] = at;
  const letters = text.replace(/\s+/g, "");
  const bytes = new Uint8Array(Math.ceil(letters.length / 5) * 4);
  const words = new DataView(bytes.buffer);
  const padded = `${letters}~~~~`;
  for (let from = 0, to = 0; from < letters.length; from += 5, to += 4) {
    let word = 0;
    for (let at = from; at < from + 5; at++) word = word * 85 + (values[padded.charCodeAt(at)] ?? 0);
    words.setUint32(to, word);
  }
  return bytes.subarray(0, Math.floor((letters.length * 4) / 5));
}

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
