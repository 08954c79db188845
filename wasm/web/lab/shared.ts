import type { LabModules } from "./host";

/** Versions of a package that the application shares. */
type SharedVersions = Readonly<
  Record<string, { readonly get: () => Promise<() => unknown>; readonly loaded?: unknown }>
>;

/** Packages that the application shares, as webpack's module federation has them. */
export type SharedScope = Readonly<Record<string, SharedVersions>>;

/** The application's own copy of a package; `undefined` if it has none. */
export async function findShared<T extends keyof LabModules>(
  scope: SharedScope,
  name: T,
): Promise<LabModules[T] | undefined> {
  const versions = Object.values(scope[name] ?? {});
  const chosen = versions.find(({ loaded }) => loaded) ?? versions[0];
  if (!chosen) return undefined;
  const load = await chosen.get();
  return load() as LabModules[T];
}

/** As `findShared`; rejects if the application lacks the package. */
export async function takeShared<T extends keyof LabModules>(scope: SharedScope, name: T): Promise<LabModules[T]> {
  const found = await findShared(scope, name);
  if (!found) throw new Error(`expected JupyterLab 4 or Notebook 7 with ${name}, found none`);
  return found;
}
