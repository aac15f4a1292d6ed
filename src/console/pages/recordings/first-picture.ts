/** Pictures that are read at the same time: the service sends one address a part of its files alone. */
const MAX_AT_ONCE = 4;
/** The picture of the start is often black. */
const SECONDS_IN = 0.5;
const LONGEST_MS = 10_000;
const WIDTH = 320;
const ZEROS = 1_048_576;

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Draws the first picture of a recording from its preview. The player of the browser never asks the service itself: it would
 * ask for bytes that a preview does not have. Returns why there is no picture, or undefined. Rejects if the signal ends it.
 */
export async function drawFirstPicture(
  url: string,
  canvas: HTMLCanvasElement,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  const video = document.createElement('video');
  let why: string | undefined = 'The service does not send it now.';
  try {
    const first = await fetch(url, { signal });
    if (first.status === 404) return 'The file is gone; it is fetched again if the partner still lists it.';
    if (!first.ok) return why;
    const head = await bytesOf(first);
    if (head.length === 0) return 'The file is empty.';
    const size = Number(first.headers.get('Content-Range')?.split('/')[1] ?? head.length);
    const rest = { headers: { Range: `bytes=-${head.length}` }, signal };
    const last = size > head.length ? await fetch(url, rest) : undefined;
    if (last?.ok === false) return why;
    const tail = last === undefined ? new Uint8Array() : await bytesOf(last);
    why = whyNone(head, tail);
    video.preload = 'auto';
    await reached(video, 'loadeddata', signal, () => (video.src = URL.createObjectURL(filmOf(head, tail, size))));
    if (video.videoWidth === 0) return why;
    draw(video, canvas);
    why = undefined;
    // A later picture may be beyond the preview: the first one stays then.
    await reached(video, 'seeked', signal, () => (video.currentTime = Math.min(SECONDS_IN, video.duration / 2)));
    draw(video, canvas);
  } catch {
    signal.throwIfAborted();
  } finally {
    URL.revokeObjectURL(video.src);
    video.removeAttribute('src');
    video.load();
    running--;
    waiting.shift()?.();
  }
  return why;
}

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

function draw(video: HTMLVideoElement, canvas: HTMLCanvasElement): void {
  canvas.width = WIDTH;
  canvas.height = Math.max(1, Math.round((WIDTH * video.videoHeight) / video.videoWidth));
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
}

/** Resolves at an event that a change causes; rejects at an error, at the end of the time, or by the signal. */
function reached(video: HTMLVideoElement, event: string, outer: AbortSignal, cause: () => void): Promise<void> {
  outer.throwIfAborted();
  const signal = AbortSignal.any([outer, AbortSignal.timeout(LONGEST_MS)]);
  return new Promise((resolve, reject) => {
    const options = { once: true, signal };
    video.addEventListener(event, () => resolve(), options);
    video.addEventListener('error', () => reject(new Error('no picture')), options);
    signal.addEventListener('abort', () => reject(new Error('no picture in time')));
    cause();
  });
}

/** A film of `size` bytes, of which the ends alone are known. The blob of zeros is one in memory, however often it is named. */
function filmOf(head: Uint8Array<ArrayBuffer>, tail: Uint8Array<ArrayBuffer>, size: number): Blob {
  const zeros = new Blob([new Uint8Array(ZEROS)]);
  const gap = size - head.length - tail.length;
  const parts = Array.from({ length: Math.floor(gap / ZEROS) }, () => zeros);
  return new Blob([head, ...parts, zeros.slice(0, gap % ZEROS), tail]);
}

function whyNone(head: Uint8Array, tail: Uint8Array): string {
  const [first = '', last = ''] = [head, tail].map((bytes) => new TextDecoder('latin1').decode(bytes));
  if (first.slice(4, 8) !== 'ftyp') return 'The file is no film.';
  if (/hvc1|hev1/.test(first + last)) return 'H.265, which this browser does not show.';
  if (/moov/.test(first + last) && !/vide/.test(first + last)) return 'The file has sound alone.';
  return 'Its first picture is not within the preview.';
}
