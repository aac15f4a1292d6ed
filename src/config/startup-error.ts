/** The service cannot start, for a reason that its operator can remove: `message` is one sentence, made to be printed alone. */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
  }
}
