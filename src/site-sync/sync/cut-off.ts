/** A run that was begun again and again and never ended: perhaps it is what kills its owners, or is too much for the database. */
export class CutOff extends Error {
  readonly expected = true;

  constructor(times: number) {
    super(
      `The run was cut off ${times} times: the service stopped in the middle of it, or the database was away or too slow.`,
    );
    this.name = 'CutOff';
  }
}
