import type { JSX } from "preact";
import type { EventRef } from "../../source/protocol";

/** An event's name: the short label first, then the full name. */
export function Name({ event }: { event: Pick<EventRef, "name" | "label"> }): JSX.Element {
  const { name, label } = event;
  return (
    <>
      {label}
      {name !== label && (
        <small class="ks-whole-name" title={name}>
          {name}
        </small>
      )}
    </>
  );
}
