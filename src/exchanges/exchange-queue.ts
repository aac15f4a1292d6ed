/** A queue with bounds. When it is full, the oldest elements are dropped. */
export class BoundedQueue<T> {
  private items: { readonly value: T; readonly bytes: number }[] = [];
  private head = 0;
  private bytes = 0;
  private removedCount = 0;

  constructor(
    private readonly maxItems: number,
    private readonly maxBytes: number,
  ) {}

  get length(): number {
    return this.items.length - this.head;
  }

  /** How many elements left the queue since the start, taken or dropped: they leave it in the order in which they came. */
  get removed(): number {
    return this.removedCount;
  }

  /** Returns the number of dropped elements. */
  push(value: T, bytes: number): number {
    this.items.push({ value, bytes });
    this.bytes += bytes;
    return this.dropExcess();
  }

  /** Removes the oldest elements: at most `maxItems`, and `maxBytes` in all, but at least one if `maxItems` allows it. */
  shift(maxItems: number, maxBytes = Infinity): T[] {
    const taken: T[] = [];
    let left = maxBytes;
    for (const { value, bytes } of this.items.slice(this.head, this.head + maxItems)) {
      left -= bytes;
      if (left < 0 && taken.length > 0) break;
      taken.push(value);
      this.removeFirst(bytes);
    }
    this.compact();
    return taken;
  }

  private dropExcess(): number {
    let dropped = 0;
    while (this.length > 1 && (this.length > this.maxItems || this.bytes > this.maxBytes)) {
      this.removeFirst(this.items[this.head]?.bytes ?? 0);
      dropped++;
    }
    if (dropped > 0) this.compact();
    return dropped;
  }

  private removeFirst(bytes: number): void {
    this.bytes -= bytes;
    this.head++;
    this.removedCount++;
  }

  /** An array whose first elements are removed one by one takes time in proportion to its length. */
  private compact(): void {
    if (this.head < 1024 && this.head < this.items.length) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
