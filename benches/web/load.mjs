// Returns a function that loads the trace once and returns the milliseconds. With requests, it returns
// the milliseconds of their answers instead. Node and Chromium share it.
export async function loader(glue, module, trace, requests = []) {
  await glue.default({ module_or_path: module });
  const asked = requests.map((request) => new TextEncoder().encode(request));
  return () => {
    const start = performance.now();
    const session = glue.Session.read(trace);
    const loaded = performance.now();
    for (const request of asked) session.query(request);
    const took = asked.length > 0 ? performance.now() - loaded : loaded - start;
    session.free();
    return took;
  };
}
