// Divides the compiled core into a module that a page loads first and others that share its memory.
import binaryen from "binaryen";
import { LATER, partOf } from "./parts.mjs";
import { fail } from "./run.mjs";

// What the others import from.
const MAIN = "main";
const STACK = "__stack_pointer";
// Those of the compiled core; the second holds what JavaScript lends it.
const FUNCTIONS = "0";
const MEMORY = "0";
const OBJECTS = "__wbindgen_externrefs";
// A call through place 0 is one through a null pointer.
const FIRST_PLACE = 1;

/**
 * The first module and those of `LATER`, with the names of functions. `calls` maps a function to those that it calls.
 *
 * A function of a later module that an earlier one calls is called through a place in the table, which the later one fills when
 * it is instantiated with `{main: exports of the first}`. Until then, calling it traps.
 */
export function split(bytes, calls) {
  const whole = edited(bytes, survey);
  const parts = partOf({ ...whole, pointed: new Set(whole.table), calls });
  const plan = { names: whole.names, parts, table: placed(whole, parts, calls), lent: new Set() };
  const later = LATER.map(({ name, hasCopies }, at) => {
    const isHere = (name) => parts.get(name) === at + 1;
    const isIn = (name) => isHere(name) || (hasCopies && parts.get(name) === 0);
    return { name, bytes: edited(bytes, (module) => keepLater(module, plan, isHere, isIn)) };
  });
  return [{ name: "kinetoscope", bytes: edited(bytes, (module) => keepFirst(module, plan)) }, ...later];
}

function survey(module) {
  const all = functionsOf(module);
  const exported = exportsOf(module).filter(({ kind }) => kind === binaryen.ExternalFunction);
  return {
    // What a module exports under, short and its own.
    names: new Map(all.map(({ name }, at) => [name, `f${at}`])),
    functions: all.filter(({ isImport }) => !isImport).map(({ name }) => name),
    exported: exported.map(({ value }) => value),
    table: tableOf(module),
  };
}

/** The functions in the table: places are counted from the first. */
function tableOf(module) {
  const [segment, ...more] = segmentsOf(module);
  const { value } = binaryen.getExpressionInfo(segment.offset);
  const isPlain = value === FIRST_PLACE && more.length === 0 && new Set(segment.data).size === segment.data.length;
  if (!isPlain) fail("the compiled core: expected one run of functions in its table, each once, found another table");
  return segment.data;
}

/** The functions in the table, in their places, and after them those of later parts that others call. */
function placed({ functions, exported, table }, parts, calls) {
  const isLater = (name) => parts.get(name) > 0;
  const across = (from) => (calls.get(from) ?? []).filter((to) => isLater(to) && parts.get(to) !== parts.get(from));
  return [...new Set([...table, ...exported.filter(isLater), ...functions.flatMap(across)])];
}

/** Leaves the functions of one part, and of those that are `isIn` what they call; what else they need of the first is to be `lent`. */
function keepLater(module, { names, table, lent }, isHere, isIn) {
  for (const { name } of exportsOf(module)) module.removeExport(name);
  const elsewhere = functionsOf(module).filter(({ name }) => !isIn(name));
  for (const { name, params, results } of elsewhere) {
    module.removeFunction(name);
    module.addFunctionImport(name, MAIN, names.get(name), params, results);
  }
  emptyTable(module);
  module.addTableImport(FUNCTIONS, MAIN, "table");
  fill(module, table, isHere);
  module.setMemory(module.getMemoryInfo(MEMORY).initial, -1, null, [], false, false, MEMORY);
  module.addMemoryImport(MEMORY, MAIN, "memory", false);
  module.addTableImport(OBJECTS, MAIN, OBJECTS);
  module.addGlobalImport(STACK, MAIN, STACK, binaryen.i32, true);
  module.runPasses(["remove-unused-module-elements"]);
  for (const { name, isImport } of functionsOf(module)) if (isImport) lent.add(name);
  return module.emitBinary();
}

/** Leaves the functions of the first part and ways through the table to those of later ones. */
function keepFirst(module, { names, parts, table, lent }) {
  for (const { name, params, results } of functionsOf(module).filter(({ name }) => parts.get(name) > 0)) {
    const place = table.indexOf(name);
    module.removeFunction(name);
    if (place >= 0) module.addFunction(name, params, results, [], passOn(module, FIRST_PLACE + place, params, results));
  }
  emptyTable(module);
  module.addTable(FUNCTIONS, FIRST_PLACE + table.length, FIRST_PLACE + table.length);
  fill(module, table, (name) => parts.get(name) === 0);
  module.addTableExport(FUNCTIONS, "table");
  module.addGlobalExport(STACK, STACK);
  for (const name of lent) module.addFunctionExport(name, names.get(name));
  module.runPasses(["remove-unused-module-elements"]);
  return module.emitBinary();
}

/** A call of what stands in that place of the table, with the arguments of the function that it is in. */
function passOn(module, place, params, results) {
  const given = binaryen.expandType(params).map((type, at) => module.local.get(at, type));
  return module.call_indirect(FUNCTIONS, module.i32.const(place), given, params, results);
}

function emptyTable(module) {
  for (const { name } of segmentsOf(module)) module.removeElementSegment(name);
  module.removeTable(FUNCTIONS);
}

/** Puts those functions of `table` that are wanted into their places. */
function fill(module, table, isWanted) {
  for (let from = 0; from < table.length; from++) {
    let end = from;
    while (end < table.length && isWanted(table[end])) end++;
    if (end === from) continue;
    const place = module.i32.const(FIRST_PLACE + from);
    module.addActiveElementSegment(FUNCTIONS, `from${from}`, table.slice(from, end), place);
    from = end;
  }
}

function edited(bytes, edit) {
  const module = binaryen.readBinary(bytes);
  try {
    return edit(module);
  } finally {
    module.dispose();
  }
}

const range = (length) => Array.from({ length }, (_, at) => at);

const exportsOf = (module) =>
  range(module.getNumExports()).map((at) => binaryen.getExportInfo(module.getExportByIndex(at)));

const segmentsOf = (module) =>
  range(module.getNumElementSegments()).map((at) =>
    binaryen.getElementSegmentInfo(module.getElementSegmentByIndex(at)),
  );

const functionsOf = (module) =>
  range(module.getNumFunctions()).map((at) => {
    const { name, module: from, params, results } = binaryen.getFunctionInfo(module.getFunctionByIndex(at));
    return { name, isImport: from !== "", params, results };
  });
