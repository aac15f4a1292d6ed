import { useEffect, useRef, useState } from 'preact/hooks';
import { urlOf } from '../../client/api.js';
import type { Chunk } from './playback.rules.js';

/** A playing picture that differs from the clock by more than this is moved to it. */
const DRIFT_SECONDS = 0.3;
/** The same for a paused picture. */
const EXACT_SECONDS = 0.01;

export interface TileProps {
  readonly cameraId: string;
  /** Its name for people. */
  readonly label: string;
  readonly chunk: Chunk | undefined;
  /** Why there is no file. */
  readonly cause: string | undefined;
  readonly time: number;
  readonly isPlaying: boolean;
  readonly rate: number;
  /** This picture sets the clock. */
  readonly isLeading: boolean;
  readonly onTime: (time: number) => void;
  readonly onUnplayable: (chunk: Chunk) => void;
}

/** One camera: its file at the time of the clock. */
export function PlayerTile(props: TileProps) {
  const { label, chunk, cause } = props;
  return (
    <figure class="tile">
      {chunk === undefined ? (
        <div class="screen">No recording at this time{cause !== undefined && `: ${cause}`}</div>
      ) : (
        <Picture key={chunk.id} {...props} chunk={chunk} />
      )}
      <figcaption>
        <span>{label}</span>
        {chunk !== undefined && (
          <a href={urlOf(`/recordings/${chunk.id}/content`, { download: 'true' })} download>
            Download
          </a>
        )}
      </figcaption>
    </figure>
  );
}

function Picture(props: TileProps & { chunk: Chunk }) {
  const { chunk, cameraId, time, isPlaying, rate, isLeading, onTime, onUnplayable } = props;
  const video = useRef<HTMLVideoElement>(null);
  const [isUnplayable, setUnplayable] = useState(false);
  const [isReady, setReady] = useState(false);
  const offset = (time - chunk.start) / 1_000;
  useEffect(() => {
    const element = video.current;
    if (element === null || !isReady) return;
    const limit = isPlaying ? DRIFT_SECONDS : EXACT_SECONDS;
    if (Math.abs(element.currentTime - offset) > limit) element.currentTime = Math.min(offset, element.duration);
  }, [offset, isReady, isPlaying]);
  useEffect(() => {
    const element = video.current;
    if (element === null || !isReady) return;
    element.playbackRate = rate;
    // A browser may refuse to play before the user has clicked; the button then starts it.
    if (isPlaying) void element.play().catch(() => undefined);
    else element.pause();
  }, [isPlaying, isReady, rate]);
  useEffect(() => {
    if (!isLeading || !isPlaying || !isReady) return undefined;
    const timer = setInterval(() => {
      const element = video.current;
      if (element !== null && !element.seeking) onTime(chunk.start + element.currentTime * 1_000);
    }, 100);
    return () => clearInterval(timer);
  }, [isLeading, isPlaying, isReady, chunk.id]);
  if (isUnplayable) {
    return (
      <div class="screen" role="alert">
        This browser cannot play the file. Download it and open it in another player.
      </div>
    );
  }
  return (
    <video
      ref={video}
      class="screen"
      aria-label={`Camera ${cameraId}`}
      src={urlOf(`/recordings/${chunk.id}/content`)}
      muted
      playsInline
      preload="auto"
      onLoadedMetadata={() => setReady(true)}
      onEnded={() => isLeading && onTime(chunk.end)}
      onError={() => {
        onUnplayable(chunk);
        setUnplayable(true);
      }}
    />
  );
}
