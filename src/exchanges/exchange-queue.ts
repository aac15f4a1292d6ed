/** A queue with bounds. When it is full, the oldest elements are dropped. */
export class BoundedQueue<T> {
  private items: { readonly value: T; readonly bytes: number }[] = [];
  private head = 0;
  private bytes = 0;

  constructor(
    private readonly maxItems: number,
    private readonly maxBytes: number,
  ) {}

  get length(): number {
    return this.items.length - this.head;
  }

  /** Returns the number of dropped elements. */
  push(value: T, bytes: number): number {
    this.items.push({ value, bytes });
    this.bytes += bytes;
    return this.dropExcess();
  }

  /** Removes the oldest elements, at least one: at most `maxItems`, and `maxBytes` in all. */
  shift(maxItems: number, maxBytes = Infinity): T[] {
    const taken: T[] = [];
    let left = maxBytes;
    for (const { value, bytes } of this.items.slice(this.head, this.head + maxItems)) {
      left -= bytes;
      if (left < 0 && taken.length > 0) break;
      this.bytes -= bytes;
      taken.push(value);
    }
    this.head += taken.length;
    this.compact();
    return taken;
  }

  private dropExcess(): number {
    let dropped = 0;
    while (this.length > 1 && (this.length > this.maxItems || this.bytes > this.maxBytes)) {
      this.bytes -= this.items[this.head]?.bytes ?? 0;
      this.head++;
      dropped++;
    }
    if (dropped > 0) this.compact();
    return dropped;
  }

  /** An array whose first elements are removed one by one takes time in proportion to its length. */
  private compact(): void {
    if (this.head < 1024 && this.head < this.items.length) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
