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
