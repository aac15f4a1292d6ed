/** A download that waits: the storage can take nothing just now, or the host has to be asked again later. */
export class Later extends Error {
  readonly expected = true;
  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super(message);
    this.name = 'Later';
  }
}
