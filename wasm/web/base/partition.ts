/**
 * Binary search: the first index in `low..high` where `isReached` holds, else `high`. `isReached`
 * must hold for every index after the first.
 */
export function firstReached(low: number, high: number, isReached: (at: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isReached(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
