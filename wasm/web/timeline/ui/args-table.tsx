import type { JSX } from "preact";
import { formatPlural } from "../../base/format";

interface Props {
  /** Key and JSON text. */
  readonly args: readonly (readonly [string, string])[];
  /** They need not be unfolded to be read. */
  readonly open: boolean;
}

/** What the recording says about the event beyond its name and times. */
export function ArgsTable({ args, open }: Props): JSX.Element | null {
  if (args.length === 0) return null;
  return (
    <details class="ks-fold" open={open}>
      <summary>{formatPlural(args.length, "argument")}</summary>
      <table class="ks-table ks-args">
        <tbody>
          {args.map(([key, json]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{readable(json)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** A string without its quotes; anything else as it was written, for numbers must keep their digits. */
export function readable(json: string): string {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
