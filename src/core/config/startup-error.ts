/**
 * The service cannot start, and its operator can remove the reason. `message` is printed without a stack.
 */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
  }
}
