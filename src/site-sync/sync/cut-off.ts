/** A run that its owners did not live to end: perhaps it is what ends them. */
export class CutOff extends Error {
  readonly expected = true;

  constructor(times: number) {
    super(`The run was cut off ${times} times because the service stopped in the middle of it.`);
    this.name = 'CutOff';
  }
}
