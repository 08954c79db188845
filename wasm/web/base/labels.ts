/** What the core writes for names that have no room for all of themselves, by the names; the others are their own. */
export type Labels = Readonly<Record<string, string>>;

export function labelOf(labels: Labels, name: string): string {
  // A trace may call an event `constructor`.
  return (Object.hasOwn(labels, name) ? labels[name] : undefined) ?? name;
}
