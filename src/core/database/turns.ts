/** Who has sent an item: a hauler, and one of its keys. */
export type Sender = readonly [hauler: string, key: string];

interface Item {
  readonly bytes: number;
  readonly sender: Sender;
}

/** What an item costs beside its bytes: a small push costs the service as much as these bytes of a large one. */
const ITEM_COST = 8 * 1024;

/** The items of a key, in the order of arrival, and what they cost together. */
interface Line<I> {
  readonly items: I[];
  cost: number;
}

/** What waits of a hauler, by its keys. */
interface Lines<I> {
  readonly byKey: Map<string, Line<I>>;
  cost: number;
}

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
    const [hauler, key] = item.sender;
    const lines = this.haulers.get(hauler) ?? { byKey: new Map<string, Line<I>>(), cost: 0 };
    const line = lines.byKey.get(key) ?? { items: [], cost: 0 };
    line.items.push(item);
    lines.byKey.set(key, line);
    this.haulers.set(hauler, lines);
    this.count(item, lines, line, 1);
    const refused: I[] = [];
    while (this.size > this.maxItems || this.bytes > this.maxBytes) refused.push(this.evict(item.sender));
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
      for (const {
        items: [item],
      } of lines.byKey.values()) {
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
    const [hauler, key] = item.sender;
    const line = lines.byKey.get(key)!;
    line.items.shift();
    lines.byKey.delete(key);
    if (line.items.length > 0) lines.byKey.set(key, line);
    this.haulers.delete(hauler);
    if (lines.byKey.size > 0) this.haulers.set(hauler, lines);
    this.count(item, lines, line, -1);
  }

  /** Removes the newest item of the heaviest sender. `sender` goes first where others are no heavier. */
  private evict([ownHauler, ownKey]: Sender): I {
    const hauler = heaviest(this.haulers, ownHauler);
    const lines = this.haulers.get(hauler)!;
    const key = heaviest(lines.byKey, ownKey);
    const line = lines.byKey.get(key)!;
    const item = line.items.pop()!;
    if (line.items.length === 0) lines.byKey.delete(key);
    if (lines.byKey.size === 0) this.haulers.delete(hauler);
    this.count(item, lines, line, -1);
    return item;
  }

  private count({ bytes }: I, lines: Lines<I>, line: Line<I>, sign: 1 | -1): void {
    const cost = sign * (bytes + ITEM_COST);
    lines.cost += cost;
    line.cost += cost;
    this.size += sign;
    this.bytes += sign * bytes;
  }
}

/** The key of the entry with the highest cost; of equal ones `own`. */
function heaviest(map: ReadonlyMap<string, { readonly cost: number }>, own: string): string {
  let [found, max] = ['', -1];
  for (const [key, { cost }] of map) {
    if (cost > max || (cost === max && key === own)) [found, max] = [key, cost];
  }
  return found;
}
