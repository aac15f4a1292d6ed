/**
 * Why a film cannot be used. All of them are final: trying again changes nothing.
 * - `not-mp4`: no `ftyp` box.
 * - `unreadable`: broken, cut short, encrypted, or in a form that the library does not know.
 * - `no-video`: nothing to show in it.
 * - `nothing-recorded`: no chunk has a picture in the asked range.
 */
export type MediaFault = 'not-mp4' | 'unreadable' | 'no-video' | 'nothing-recorded';

/**
 * A fault of the film itself. `message` is one sentence that may be shown to a partner: it names a chunk by its start
 * and never a path. Faults of the storage (a file that is gone, a full disk, a refused connection) are not wrapped:
 * they arrive as they were thrown, since they may pass.
 */
export class MediaError extends Error {
  override readonly name = 'MediaError';

  constructor(
    readonly fault: MediaFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
