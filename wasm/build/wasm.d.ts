// The compiled core, put in by build/bundle.mjs: gzip, then base64.
declare module "kinetoscope:wasm" {
  const base64: string;
  export default base64;
}
