import type { ColorBy } from "../base/palette";
import type { Owner } from "../source/protocol";

/** What tiles must tell besides their events, to be coloured so. */
export const ownerOf = (by: ColorBy): Owner | null => (by === "operator" || by === "module" ? by : null);
