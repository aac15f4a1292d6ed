/** Where an item waits: a hauler, and one of its keys. The keys of a hauler share the turns of the hauler. */
export type Lane = readonly [owner: string, key: string];

/** A cost that every item has, beside its bytes: a small push costs the service as much as these bytes of a large one. */
const ITEM_COST = 8 * 1024;

interface Queue<Item> {
  /** The sum of all costs. */
  readonly cost: number;
  readonly size: number;
  push(item: Item, cost: number, lane: readonly string[]): void;
  /** The next item and its cost. */
  first(): Costed<Item> | undefined;
  shift(): Item | undefined;
  /** Removes the newest item of the lane with the highest cost. */
  evict(): Item | undefined;
  /** Whether `evict` would return an item of this cost and lane if it were added. */
  wouldEvict(cost: number, lane: readonly string[]): boolean;
}

interface Costed<Item> {
  readonly item: Item;
  readonly cost: number;
}

/** The items of one lane, in their order. */
class Fifo<Item> implements Queue<Item> {
  private readonly items: Costed<Item>[] = [];
  cost = 0;

  get size(): number {
    return this.items.length;
  }

  push(item: Item, cost: number): void {
    this.items.push({ item, cost });
    this.cost += cost;
  }

  first(): Costed<Item> | undefined {
    return this.items[0];
  }

  shift(): Item | undefined {
    return this.removed(this.items.shift());
  }

  evict(): Item | undefined {
    return this.removed(this.items.pop());
  }

  wouldEvict(): boolean {
    return true;
  }

  private removed(entry: Costed<Item> | undefined): Item | undefined {
    this.cost -= entry?.cost ?? 0;
    return entry?.item;
  }
}

interface Branch<Item> {
  readonly queue: Queue<Item>;
  /** The virtual time at which the first item of this lane starts. */
  start: number;
}

/**
 * Lanes by their name at one level of `Lane`. Fair queueing by virtual times: an item starts at the finish of the item
 * before it in its lane, finishes its cost later, and the item that finishes first is the next one. So every lane gets the
 * same share of cost, and a small item of a quiet lane passes the large items of all others.
 */
class Lanes<Item> implements Queue<Item> {
  private readonly branches = new Map<string, Branch<Item>>();
  /** The latest start of an item that was taken. A lane that was empty starts here, or at the finish of its last item. */
  private clock = 0;
  cost = 0;
  size = 0;

  constructor(private readonly levels: number) {}

  push(item: Item, cost: number, [name = '', ...rest]: readonly string[]): void {
    let branch = this.branches.get(name);
    if (branch === undefined) {
      branch = { queue: this.levels > 1 ? new Lanes(this.levels - 1) : new Fifo(), start: this.clock };
      this.branches.set(name, branch);
    } else if (branch.queue.size === 0) branch.start = Math.max(branch.start, this.clock);
    branch.queue.push(item, cost, rest);
    this.cost += cost;
    this.size++;
  }

  first(): Costed<Item> | undefined {
    return this.next()?.first;
  }

  shift(): Item | undefined {
    const next = this.next();
    if (next === undefined) return undefined;
    const { branch, finish } = next;
    this.clock = Math.max(this.clock, branch.start);
    branch.start = finish;
    return this.removeFrom(branch.queue, () => branch.queue.shift());
  }

  evict(): Item | undefined {
    let heaviest: Queue<Item> | undefined;
    for (const { queue } of this.branches.values()) if (queue.cost >= (heaviest?.cost ?? 1)) heaviest = queue;
    return heaviest && this.removeFrom(heaviest, () => heaviest.evict());
  }

  wouldEvict(cost: number, [name = '', ...rest]: readonly string[]): boolean {
    const own = this.branches.get(name);
    const ownCost = (own?.queue.cost ?? 0) + cost;
    for (const branch of this.branches.values()) if (branch !== own && branch.queue.cost > ownCost) return false;
    return own?.queue.wouldEvict(cost, rest) ?? true;
  }

  private next() {
    let next: { branch: Branch<Item>; finish: number; first: Costed<Item> } | undefined;
    for (const [name, branch] of this.branches) {
      const first = branch.queue.first();
      if (first !== undefined) {
        const finish = branch.start + first.cost;
        if (next === undefined || finish < next.finish) next = { branch, finish, first };
      } else if (branch.start <= this.clock) this.branches.delete(name);
    }
    return next;
  }

  private removeFrom(queue: Queue<Item>, remove: () => Item | undefined): Item | undefined {
    const before = queue.cost;
    const item = remove();
    this.cost -= before - queue.cost;
    this.size--;
    // Nobody has waited for the share of another: all debts are forgiven.
    if (this.size === 0) this.branches.clear();
    return item;
  }
}

/**
 * Items of many callers, which all get the same share. Beyond `maxItems` or `maxBytes` the newest items of the lane with
 * the most are evicted, so that a loud caller cannot take the place of a quiet one.
 */
export class FairQueue<Item extends { readonly bytes: number }> {
  private readonly lanes: Queue<Item> = new Lanes<Item>(2);
  bytes = 0;

  constructor(
    private readonly maxItems: number,
    private readonly maxBytes: number,
  ) {}

  get size(): number {
    return this.lanes.size;
  }

  /** Whether an item of this size would stay. */
  hasRoom(bytes: number, lane: Lane): boolean {
    if (bytes > this.maxBytes || this.maxItems === 0) return false;
    const fits = this.size < this.maxItems && this.bytes + bytes <= this.maxBytes;
    return fits || !this.lanes.wouldEvict(bytes + ITEM_COST, lane);
  }

  /** Returns the items that were evicted for it, and the item itself if there is no room for it. */
  push(item: Item, lane: Lane): Item[] {
    if (!this.hasRoom(item.bytes, lane)) return [item];
    this.lanes.push(item, item.bytes + ITEM_COST, lane);
    this.bytes += item.bytes;
    const evicted: Item[] = [];
    while (this.size > this.maxItems || this.bytes > this.maxBytes) {
      const one = this.removed(this.lanes.evict());
      if (one === undefined) break;
      evicted.push(one);
    }
    return evicted;
  }

  first(): Item | undefined {
    return this.lanes.first()?.item;
  }

  shift(): Item | undefined {
    return this.removed(this.lanes.shift());
  }

  private removed(item: Item | undefined): Item | undefined {
    this.bytes -= item?.bytes ?? 0;
    return item;
  }
}
