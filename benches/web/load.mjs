// Makes what loads a trace once and says how many milliseconds that took: the same in Node and in Chromium.
export async function loader(glue, module, trace) {
  await glue.default({ module_or_path: module });
  return () => {
    const start = performance.now();
    const session = glue.Session.read(trace);
    const took = performance.now() - start;
    session.free();
    return took;
  };
}
