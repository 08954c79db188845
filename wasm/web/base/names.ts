/**
 * The telling part of a name, for a bar: `void at::native::foo_kernel<4, float>(int)` becomes `foo_kernel`.
 * Names that are not C++ signatures stay as they are.
 */
export function shortName(name: string): string {
  if (!name.includes("::") && !name.startsWith("void ")) return name;
  if (!/[<(]/.test(name)) return name;
  const head = withoutBrackets(name).trim();
  const last = head.split("::").at(-1)?.split(/\s+/).at(-1) ?? "";
  return last.length > 2 ? last : name;
}

/** Cuts everything inside `<…>` and `(…)`. */
function withoutBrackets(name: string): string {
  // `(anonymous namespace)::` is a scope, not a list of arguments.
  const text = name.replaceAll("(anonymous namespace)::", "");
  let depth = 0;
  let out = "";
  for (const c of text) {
    if (c === "(" && depth === 0) break;
    if (c === "<") depth++;
    else if (c === ">") depth = Math.max(0, depth - 1);
    else if (depth === 0) out += c;
  }
  return out;
}
