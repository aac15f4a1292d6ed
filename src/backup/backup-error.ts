/** A backup, a restore or a verification cannot go on. `message` is a sentence for the operator. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}

/** The archive is not as it was written. The reader of the archive adds its name. */
export class DamagedArchiveError extends BackupError {
  constructor(readonly where: string) {
    super(`the archive is damaged (${where}); restore from another one`);
    this.name = 'DamagedArchiveError';
  }
}
