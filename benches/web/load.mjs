// Makes what loads a trace once and says how many milliseconds that took, or, where there are requests, how many it takes
// to answer these: the same in Node and in Chromium.
export async function loader(glue, [first, ...later], trace, requests = []) {
  const main = await glue.default({ module_or_path: first });
  for (const module of later) await WebAssembly.instantiate(module, { main });
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
