import type { JSX } from "preact";
import { formatPlural } from "../../base/format";

interface Props {
  /** Key and JSON text. */
  readonly args: readonly (readonly [string, string])[];
  /** Whether the list is open at first. */
  readonly open: boolean;
}

/** The event's arguments in the recording. */
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

/** Removes a string's quotes. Other values stay as written, so that numbers keep their digits. */
export function readable(json: string): string {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
