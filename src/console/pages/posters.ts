/** Pictures of recordings, drawn by the browser from their files: each once while the console is open. */

const WIDTH = 320;
/** Files that are read at once; more would slow down what the user does. */
const AT_ONCE = 2;
const LONGEST_MS = 15_000;
const MAX_KEPT = 600;
/** The first picture of a file is often black. */
const SECONDS_IN = 0.5;

/** Null where the browser cannot show the file. */
type Poster = ImageBitmap | null;

interface Job {
  readonly url: string;
  readonly isWanted: () => boolean;
  readonly done: (poster: Poster) => void;
}

const kept = new Map<string, Poster>();
const waiting: Job[] = [];
let running = 0;

export const keptPoster = (url: string): Poster | undefined => kept.get(url);

/** Draws the picture of a file when it is its turn, unless nobody wants it any more by then. */
export function drawPoster(job: Job): void {
  waiting.push(job);
  startNext();
}

function startNext(): void {
  if (running >= AT_ONCE) return;
  const job = waiting.shift();
  if (job === undefined) return;
  const known = kept.get(job.url);
  if (known !== undefined || !job.isWanted()) {
    if (known !== undefined) job.done(known);
    startNext();
    return;
  }
  running += 1;
  // A file may be read while something else takes the network: it is tried once more.
  frameOf(job.url)
    .catch(() => frameOf(job.url))
    .catch(() => null)
    .then((poster) => {
      keep(job.url, poster);
      job.done(poster);
    })
    .finally(() => {
      running -= 1;
      startNext();
    })
    .catch(reportError);
  startNext();
}

function keep(url: string, poster: Poster): void {
  kept.set(url, poster);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
}

async function frameOf(url: string): Promise<ImageBitmap> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.preload = 'auto';
  try {
    video.src = url;
    await eventOf(video, 'loadeddata');
    video.currentTime = Math.min(SECONDS_IN, video.duration / 2);
    await eventOf(video, 'seeked');
    return await createImageBitmap(video, { resizeWidth: WIDTH });
  } finally {
    // Ends the download of the rest.
    video.removeAttribute('src');
    video.load();
  }
}

const eventOf = (video: HTMLVideoElement, name: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LONGEST_MS);
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener('error', () => reject(new Error('The browser cannot show the file.')), { once: true });
    signal.addEventListener('abort', () => reject(new Error('The file takes too long.')), { once: true });
  });
