import type { JSX } from "preact";
import { KINDS, kindColor, type Palette } from "../../base/palette";

interface Props {
  readonly color: string;
  readonly name: string;
  readonly note?: string;
}

/** A colour with its meaning. */
export function LegendLine({ color, name, note }: Props): JSX.Element {
  return (
    <li title={name}>
      <i style={{ background: color }} />
      <span class="ks-color-name">{name || "none"}</span> {note && <small>{note}</small>}
    </li>
  );
}

/** Colours of all kinds. */
export function KindLines({ palette }: { readonly palette: Palette }): JSX.Element {
  return (
    <>
      {KINDS.map((kind) => (
        <LegendLine key={kind} color={kindColor(palette, kind)} name={kind} />
      ))}
    </>
  );
}

/** Stripes over events of two compared traces. */
export function StripeLines(): JSX.Element {
  const stripes = (angle: number) =>
    `repeating-linear-gradient(${angle}deg, var(--ks-path) 0 1.5px, transparent 0 4px)`;
  return (
    <>
      <LegendLine color={stripes(135)} name="longer after" />
      <LegendLine color={stripes(45)} name="shorter after" />
    </>
  );
}
