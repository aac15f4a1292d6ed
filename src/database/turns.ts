/** Who has sent an item: a hauler, and one of its keys. */
export type Owner = readonly [hauler: string, key: string];

interface Item {
  readonly bytes: number;
  readonly owner: Owner;
}

/** What an item costs beside its bytes: a small push costs the service as much as these bytes of a large one. */
const ITEM_COST = 8 * 1024;

/** The items of a hauler by its keys, each list in the order of arrival. */
type Lines<I> = Map<string, I[]>;

/**
 * A queue in which haulers take turns, and so do the keys of a hauler: the next hauler gives one item, small or large, and goes to
 * the end. Beyond the limits the newest item of the heaviest key of the heaviest hauler is refused, so that a loud caller cannot
 * take the place of a quiet one.
 */
export class Turns<I extends Item> {
  /** The first entry of a `Map` has its turn; an entry that is deleted and set again is the last one. */
  private readonly haulers = new Map<string, Lines<I>>();
  size = 0;
  bytes = 0;

  constructor(
    private readonly maxItems: number,
    private readonly maxBytes: number,
  ) {}

  /** Returns the items that are refused for this one, which may be itself. */
  push(item: I): I[] {
    const [hauler, key] = item.owner;
    const lines: Lines<I> = this.haulers.get(hauler) ?? new Map<string, I[]>();
    const line = lines.get(key) ?? [];
    line.push(item);
    lines.set(key, line);
    this.haulers.set(hauler, lines);
    this.count(item, 1);
    const refused: I[] = [];
    while (this.size > this.maxItems || this.bytes > this.maxBytes) refused.push(this.evict(item.owner));
    return refused;
  }

  /**
   * Removes and returns at most `maxItems`, in their turns. An item that does not fit keeps its turn: the haulers behind it, and
   * the other keys of its hauler, go on with smaller ones.
   */
  take(maxItems: number, fits: (item: I) => boolean): I[] {
    const taken: I[] = [];
    // A `Map` visits an entry again that is deleted and set meanwhile.
    for (const lines of this.haulers.values()) {
      if (taken.length === maxItems) break;
      for (const [item] of lines.values()) {
        if (item === undefined || !fits(item)) continue;
        this.endTurn(item, lines);
        taken.push(item);
        break;
      }
    }
    return taken;
  }

  /** Removes the first item of its key, and puts key and hauler at the end. */
  private endTurn(item: I, lines: Lines<I>): void {
    const [hauler, key] = item.owner;
    const line = lines.get(key)!;
    line.shift();
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    this.haulers.delete(hauler);
    if (lines.size > 0) this.haulers.set(hauler, lines);
    this.count(item, -1);
  }

  /** Removes the newest item of the heaviest owner. `owner` goes first where others are no heavier. */
  private evict([ownHauler, ownKey]: Owner): I {
    const hauler = heaviest(this.haulers, ownHauler, costOfHauler);
    const lines = this.haulers.get(hauler)!;
    const key = heaviest(lines, ownKey, costOf);
    const line = lines.get(key)!;
    const item = line.pop()!;
    if (line.length === 0) lines.delete(key);
    if (lines.size === 0) this.haulers.delete(hauler);
    this.count(item, -1);
    return item;
  }

  private count({ bytes }: I, sign: 1 | -1): void {
    this.size += sign;
    this.bytes += sign * bytes;
  }
}

const costOf = (items: readonly Item[]): number => items.reduce((sum, { bytes }) => sum + bytes + ITEM_COST, 0);
const costOfHauler = (lines: Lines<Item>): number => [...lines.values()].reduce((sum, line) => sum + costOf(line), 0);

/** The key of the entry with the highest cost; of equal ones `own`. */
function heaviest<V>(map: ReadonlyMap<string, V>, own: string, cost: (value: V) => number): string {
  let [found, max] = ['', -1];
  for (const [key, value] of map) {
    const its = cost(value);
    if (its > max || (its === max && key === own)) [found, max] = [key, its];
  }
  return found;
}
