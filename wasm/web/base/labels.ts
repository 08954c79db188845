/** Short labels by name, for names that the core abbreviates. Other names are their own label. */
export type Labels = Readonly<Record<string, string>>;

export function labelOf(labels: Labels, name: string): string {
  // A trace may call an event `constructor`.
  return (Object.hasOwn(labels, name) ? labels[name] : undefined) ?? name;
}
