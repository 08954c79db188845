// scripts/notices.sh writes this file.

/** Packages in the front-end by licence. The wheel has the texts. */
export const PACKAGES: Readonly<Record<string, string>> = {
  "Apache-2.0":
    "adler2 2.0.1, block-buffer 0.12.1, cfg-if 1.0.5, cobs 0.3.0, const-oid 0.10.2, crc32fast 1.5.4, crypto-common 0.2.2, digest 0.11.3, flate2 1.1.10, futures-core 0.3.34, futures-task 0.3.34, futures-util 0.3.34, hashbrown 0.17.1, hybrid-array 0.4.15, itoa 1.0.18, js-sys 0.3.107, lzma-rust2 0.25.0, maud 0.27.0, miniz_oxide 0.9.1, pin-project-lite 0.2.17, postcard 1.1.3, Rust standard library, rustc-hash 2.1.3, serde 1.0.229, serde_core 1.0.229, serde_json 1.0.154, sha2 0.11.1, thiserror 2.0.21, typenum 1.20.1, wasm-bindgen 0.2.130, wasm-bindgen-shared 0.2.130",
  "Apache-2.0 AND Unicode-3.0": "unicode-ident 1.0.27",
  MIT: "memchr 2.8.3, preact 11.2.0, serde-wasm-bindgen 0.6.5, simd-adler32 0.3.10, slab 0.4.12, zmij 1.0.23",
};
