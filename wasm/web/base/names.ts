/**
 * The telling part of a name first, for a bar or a row that has no room for all of it:
 *
 * * `void at::native::foo_kernel<4, float>(int)` → `foo_kernel`
 * * `torch/nn/modules/linear.py(124): forward` → `forward · linear.py(124)`
 * * `<built-in method run_backward of torch._C.Engine object at 0x7f>` → `run_backward · built-in`
 * * `nn.Module: Linear_3` → `Linear_3 · nn.Module`
 *
 * Other names stay as they are.
 */
export function shortName(name: string): string {
  return ofPythonFrame(name) ?? ofBuiltin(name) ?? ofModule(name) ?? ofSignature(name) ?? name;
}

function ofPythonFrame(name: string): string | null {
  const match = /^(.+\.py\(\d+\)): (.+)$/.exec(name);
  const file = match?.[1]?.split("/").at(-1);
  return match && file ? `${match[2]} · ${file}` : null;
}

function ofBuiltin(name: string): string | null {
  const match = /^<built-in (?:method|function) (\S+?)(?: of .*)?>$/.exec(name);
  return match ? `${match[1]} · built-in` : null;
}

function ofModule(name: string): string | null {
  const match = /^nn\.Module: (.+)$/.exec(name);
  return match ? `${match[1]} · nn.Module` : null;
}

function ofSignature(name: string): string | null {
  if (!/^(void |[\w:~]+(::|<|\())/.test(name) || !/[<(]/.test(name)) return null;
  const last = withoutBrackets(name).trim().split("::").at(-1)?.split(/\s+/).at(-1) ?? "";
  return last.length > 2 ? last : null;
}

/** Cuts what is inside `<…>`, and everything from the arguments on. */
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
