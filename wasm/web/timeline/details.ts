import { Cell } from "../base/cell";
import { keep, kept } from "../base/kept";

/** The subject of the details. */
export type Subject = "trace" | "event" | "gap" | "range" | "compare" | "hits" | "counter" | "finding";

/** The side of the picture that the details are on. */
export type Side = "bottom" | "right";

/** Width from which the details are beside the picture, in CSS pixels. */
const WIDE = 1100;
/** Width from which a reader can have them there. */
const NOT_NARROW = 800;
// The details' share of the height or the width.
const USUAL: Readonly<Record<Side, number>> = { bottom: 0.42, right: 0.33 };
const SMALLEST: Readonly<Record<Side, number>> = { bottom: 0.15, right: 0.2 };
const LARGEST: Readonly<Record<Side, number>> = { bottom: 0.8, right: 0.7 };

const keyOf = (what: string): string => `details-${what}`;

/** The size that the reader chose before, or the usual one. */
function keptShare(side: Side): number {
  const share = Number(kept(keyOf(side)));
  return share >= SMALLEST[side] && share <= LARGEST[side] ? share : USUAL[side];
}

/**
 * The subject and the place of the details. Beside the picture they are open without a selection,
 * too, so that opening them does not move what was clicked. The browser keeps the reader's choices.
 */
export class Details {
  /** Null without a subject. */
  readonly open = new Cell<Subject | null>(null);
  readonly side = new Cell<Side>("bottom");
  /** Whether the reader closed the details beside the picture. */
  readonly isClosed = new Cell(kept(keyOf("closed")) === "yes");
  readonly share = new Cell(USUAL.bottom);
  readonly #shares: Record<Side, number> = { bottom: keptShare("bottom"), right: keptShare("right") };
  #wanted = kept(keyOf("side"));
  #width = 0;

  /** Chooses the side for a timeline of this width. */
  fitInto(width: number): void {
    if (width === 0 || width === this.#width) return;
    this.#width = width;
    this.#choose();
  }

  #choose(): void {
    const fits = this.#width >= (this.#wanted === "right" ? NOT_NARROW : WIDE);
    const side = fits && this.#wanted !== "bottom" ? "right" : "bottom";
    this.share.set(this.#shares[side]);
    this.side.set(side);
  }

  /** Whether there is room for the details beside the picture. */
  get canMove(): boolean {
    return this.#width >= NOT_NARROW;
  }

  /** Moves the details to the other side. */
  move(): void {
    this.#wanted = this.side.value === "right" ? "bottom" : "right";
    keep(keyOf("side"), this.#wanted);
    this.#choose();
  }

  /** Changes their size, as a share of the timeline's. */
  resize(share: number): void {
    const side = this.side.value;
    this.#shares[side] = Math.min(LARGEST[side], Math.max(SMALLEST[side], share));
    this.share.set(this.#shares[side]);
    keep(keyOf(side), this.share.value.toFixed(3));
  }

  /** The subject to show; null for none. */
  get shown(): Subject | null {
    const isOpen = this.side.value === "right" && !this.isClosed.value;
    return this.open.value ?? (isOpen ? "trace" : null);
  }

  /** Closes the details; beside the picture, until something is selected. */
  close(): void {
    this.open.set(null);
    if (this.side.value === "right") this.#stayClosed(true);
  }

  /** Closes the details, or opens them for `subject`. */
  toggle(subject: Subject): void {
    if (this.shown) {
      this.close();
      return;
    }
    if (this.side.value === "right") this.#stayClosed(false);
    this.open.set(subject);
  }

  #stayClosed(isClosed: boolean): void {
    this.isClosed.set(isClosed);
    keep(keyOf("closed"), isClosed ? "yes" : "no");
  }
}
