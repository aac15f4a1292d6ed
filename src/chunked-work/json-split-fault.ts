/** Not JSON, or JSON of a size or depth that no answer has; the message is the end of a sentence. */
export class JsonSplitFault extends Error {
  constructor(
    readonly kind: 'notJson' | 'breach',
    readonly path: string,
    message: string,
  ) {
    super(message);
    this.name = 'JsonSplitFault';
  }
}

export const notJson = (): JsonSplitFault => new JsonSplitFault('notJson', '', 'is not valid JSON');
