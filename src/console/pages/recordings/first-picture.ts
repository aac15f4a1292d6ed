/** Pictures that are read at the same time: the service sends one address a part of its files alone. */
const MAX_AT_ONCE = 4;
/** The picture of the start is often black. */
const SECONDS_IN = 0.5;
/** A browser waits for bytes that the preview does not have. */
const LONGEST_MS = 10_000;
const WIDTH = 320;

/** Bytes of each end of the file: they show why there is no picture. */
const [HEAD, TAIL] = ['bytes=0-524287', 'bytes=-524288'];

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Draws the first picture of a recording from its preview: the player of the browser reads the ends of the file. Returns why there
 * is none, or undefined. Rejects if the signal ends it.
 */
export async function drawFirstPicture(
  url: string,
  canvas: HTMLCanvasElement,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  try {
    await reached(video, 'loadeddata', signal, () => (video.src = url));
    if (video.videoWidth === 0) return await whyNone(url, signal);
    draw(video, canvas);
    // A later picture may be beyond the preview: the first one stays then.
    const later = Math.min(SECONDS_IN, video.duration / 2);
    await reached(video, 'seeked', signal, () => (video.currentTime = later)).then(
      () => draw(video, canvas),
      () => undefined,
    );
    return undefined;
  } catch {
    signal.throwIfAborted();
    return await whyNone(url, signal);
  } finally {
    // Its connection and its decoder are free at once.
    video.removeAttribute('src');
    video.load();
    running--;
    waiting.shift()?.();
  }
}

function draw(video: HTMLVideoElement, canvas: HTMLCanvasElement): void {
  canvas.width = WIDTH;
  canvas.height = Math.max(1, Math.round((WIDTH * video.videoHeight) / video.videoWidth));
  canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height);
}

/** Resolves at an event that a change causes; rejects at an error, at the end of the time, or by the signal. */
function reached(video: HTMLVideoElement, event: string, outer: AbortSignal, cause: () => void): Promise<void> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(LONGEST_MS)]);
  return new Promise((resolve, reject) => {
    const options = { once: true, signal };
    video.addEventListener(event, () => resolve(), options);
    video.addEventListener('error', () => reject(new Error('no picture')), options);
    signal.addEventListener('abort', () => reject(new Error('no picture in time')));
    if (signal.aborted) reject(new Error('not wanted any more'));
    else cause();
  });
}

/** By the bytes of both ends. */
async function whyNone(url: string, signal: AbortSignal): Promise<string> {
  const ends = await Promise.all([HEAD, TAIL].map((range) => textOf(url, range, signal)));
  const failed = ends.find((end) => typeof end === 'number');
  if (failed === 404) return 'The file is gone; it is fetched again if the partner still lists it.';
  if (failed !== undefined) return 'The service does not send it now.';
  const [head = '', tail = ''] = ends as string[];
  if (head === '') return 'The file is empty.';
  if (head.slice(4, 8) !== 'ftyp') return 'The file is no film.';
  if (/hvc1|hev1/.test(head + tail)) return 'H.265, which this browser does not show.';
  if (/moov/.test(head + tail) && !/vide/.test(head + tail)) return 'The file has sound alone.';
  return 'Its first picture is not within the preview.';
}

/** A character for each byte; the status of a refusal. An end that a short file does not have is empty. */
async function textOf(url: string, range: string, signal: AbortSignal): Promise<string | number> {
  const response = await fetch(url, { headers: { Range: range }, signal });
  if (response.status === 416) return '';
  return response.ok ? new TextDecoder('latin1').decode(await response.arrayBuffer()) : response.status;
}
