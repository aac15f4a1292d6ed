/** Another owner has the row, or nobody: what this run still wanted to write must not be written. */
export class LeaseLost extends Error {
  constructor(kind: string) {
    super(`the lease of a row of ${kind} was lost`);
    this.name = 'LeaseLost';
  }
}

/** Why `run.signal` is aborted when the service stops: the row is given back, and is due at once. */
export class Stopping extends Error {
  constructor() {
    super('the service is stopping');
    this.name = 'Stopping';
  }
}
