import type { ColorBy } from "../base/palette";
import type { Owner } from "../source/protocol";

/** The owner that tiles must name for a colour mode; null where none is needed. */
export const ownerOf = (by: ColorBy): Owner | null => (by === "operator" || by === "module" ? by : null);
