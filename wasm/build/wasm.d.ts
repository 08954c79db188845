// The compiled core, put in by build/bundle.mjs: each of its modules as gzip, then base64.
declare module "kinetoscope:wasm" {
  const core: Readonly<Record<import("../web/source/core").Part, string>>;
  export default core;
}
