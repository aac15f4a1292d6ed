/** Something in a partner's answer that is not as the contract says, and that was passed over. */
export interface Finding {
  /** `data.videos[3].startTime` */
  readonly path: string;
  readonly reason: string;
  /** The element as it came. */
  readonly raw?: unknown;
}
