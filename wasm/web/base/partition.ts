/** The first place from `low` on, before `high`, where `isReached` holds, which then holds for all after it; `high` where it holds for none. */
export function firstReached(low: number, high: number, isReached: (at: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isReached(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
