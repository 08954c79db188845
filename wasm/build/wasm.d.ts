// Provided by build/bundle.mjs: the compiled core, gzip-compressed, then base64.
declare module "kinetoscope:wasm" {
  const core: string;
  export default core;
}
