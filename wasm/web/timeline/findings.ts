import { Cell } from "../base/cell";
import type { Scale } from "../base/scale";
import type { Finding } from "../source/protocol";
import { type Source, settle } from "../source/source";

// Markers closer than this become one, in CSS pixels.
const NEAR = 18;
const NEAR_OF_MANY = 116;
const MANY = 10;

/** Findings that share a marker, sorted by cost. */
export interface FindingGroup {
  readonly x: number;
  readonly findings: readonly Finding[];
}

/** The group under the pointer. */
export interface FindingHover extends FindingGroup {
  readonly y: number;
}

/** Bottlenecks of the traces. */
export class Findings {
  /** Sorted by cost. */
  readonly all = new Cell<readonly Finding[]>([]);
  readonly current = new Cell<Finding | null>(null);
  readonly hover = new Cell<FindingHover | null>(null);
  readonly #source: Source;
  readonly #failed: (error: unknown) => void;
  #asked = false;

  constructor(source: Source, failed: (error: unknown) => void) {
    this.#source = source;
    this.#failed = failed;
  }

  /** Requests the findings once. `then` receives them. */
  ask(then?: (all: readonly Finding[]) => void): void {
    if (this.#asked) return;
    this.#asked = true;
    settle(
      () => this.#source.query("findings", {}),
      ({ findings }) => {
        this.all.set(findings);
        then?.(findings);
      },
      this.#failed,
    );
  }

  /** Requests the findings again after the screen's options change. */
  renew(): void {
    if (!this.#asked) return;
    this.#asked = false;
    const at = this.current.value ? this.all.value.indexOf(this.current.value) : -1;
    this.ask((all) => this.current.set(all[at] ?? null));
  }

  get hasMarkers(): boolean {
    return this.all.value.some((finding) => finding.start !== null);
  }

  /** The next or previous finding, wrapping around. */
  beside(by: 1 | -1): Finding | null {
    const all = this.all.value;
    // Without a current finding, `next` is the first and `previous` the last.
    const before = by > 0 ? -1 : 0;
    const at = this.current.value ? all.indexOf(this.current.value) : before;
    return all.at((at + by) % Math.max(1, all.length)) ?? null;
  }

  /** Markers in a window, each at the costliest event of its finding. */
  groups(scale: Scale): readonly FindingGroup[] {
    const places = this.all.value.flatMap((finding) => {
      const at = finding.evidence[0]?.start ?? finding.start;
      return at === null ? [] : [{ finding, x: scale.x(at) }];
    });
    places.sort((a, b) => a.x - b.x);
    const groups: { x: number; findings: Finding[] }[] = [];
    const seen = places.filter(({ x }) => x >= 0 && x < scale.x(scale.window.end)).length;
    const near = seen > MANY ? NEAR_OF_MANY : NEAR;
    for (const { finding, x } of places) {
      const last = groups.at(-1);
      if (last && x - last.x < near) last.findings.push(finding);
      else groups.push({ x, findings: [finding] });
    }
    for (const group of groups) group.findings.sort((a, b) => b.cost_ns - a.cost_ns);
    return groups;
  }

  groupAt(scale: Scale, x: number): FindingGroup | null {
    return (
      this.groups(scale).find((group) => x >= group.x - 3 && x < group.x + Math.max(NEAR, markerWidth(group))) ?? null
    );
  }
}

/** Width in CSS pixels, with room for the number. */
export const markerWidth = ({ findings }: FindingGroup): number => 14 + 6 * (String(findings.length).length - 1);

export const titleOf = (finding: Finding): string => finding.finding.replaceAll("_", " ");

/** One finding that several traces have, sorted by cost. */
export type SharedFinding = readonly [Finding, ...Finding[]];

export function alike(findings: readonly Finding[]): readonly SharedFinding[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.finding, finding.subject]);
    const group = groups.get(key);
    if (group) group.push(finding);
    else groups.set(key, [finding]);
  }
  return [...groups.values()];
}
