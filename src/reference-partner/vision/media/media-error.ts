/**
 * Why a video cannot be used. A retry does not help.
 * - `not-mp4`: no `ftyp` box.
 * - `unreadable`: damaged, truncated, encrypted, or in a format that the library does not know.
 * - `no-video`: no video track.
 * - `nothing-recorded`: no chunk has a frame in the requested range.
 */
export type MediaFault = 'not-mp4' | 'unreadable' | 'no-video' | 'nothing-recorded';

/**
 * An error of the video itself. `message` may be shown to a partner: it names a chunk by its start and never a path.
 * Errors of the storage (a missing file, a full disk, a refused connection) are not wrapped, because they may be temporary.
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
