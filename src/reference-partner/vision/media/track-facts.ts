import type { AudioCodec, InputAudioTrack, InputVideoTrack, Rotation, VideoCodec } from 'mediabunny';
import { type FilmTrack, loadMediabunny } from './film.js';
import { MediaError } from './media-error.js';

/** What a picture track must have in common with another one to be joined to it unchanged. */
export interface VideoFacts {
  readonly codec: VideoCodec;
  /** As RFC 6381 writes it: `avc1.42c00d`. */
  readonly codecString: string;
  readonly width: number;
  readonly height: number;
  readonly rotation: Rotation;
  readonly decoderConfig: VideoDecoderConfig;
}

export interface AudioFacts {
  readonly codec: AudioCodec;
  readonly codecString: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly decoderConfig: AudioDecoderConfig;
}

/** From when to when a track lasts, in seconds of the film's own clock. */
export interface Extent {
  readonly first: number;
  readonly end: number;
}

export function readVideoFacts(video: FilmTrack<InputVideoTrack>): Promise<VideoFacts> {
  return video.ask(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) throw new MediaError('unreadable', 'the film has a picture of an unknown codec');
    return {
      codec,
      codecString: decoderConfig.codec,
      width: await track.getCodedWidth(),
      height: await track.getCodedHeight(),
      rotation: await track.getRotation(),
      decoderConfig,
    };
  });
}

export function readAudioFacts(audio: FilmTrack<InputAudioTrack>): Promise<AudioFacts> {
  return audio.ask(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) throw new MediaError('unreadable', 'the film has a sound of an unknown codec');
    return {
      codec,
      codecString: decoderConfig.codec,
      sampleRate: decoderConfig.sampleRate,
      channels: decoderConfig.numberOfChannels,
      decoderConfig,
    };
  });
}

/** Why a clip cannot have this sound, or null. */
export async function soundFault(audio: FilmTrack<InputAudioTrack>): Promise<string | null> {
  const { Mp4OutputFormat } = await loadMediabunny();
  return audio.ask(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) return 'its codec is unknown';
    return new Mp4OutputFormat().getSupportedAudioCodecs().includes(codec) ? null : `MP4 cannot hold ${codec}`;
  });
}

/** Frames before zero are there to decode from, not to be shown. */
export function readExtent(track: FilmTrack): Promise<Extent> {
  return track.ask(async (of) => ({
    first: Math.max(0, await of.getFirstTimestamp()),
    end: await of.computeDuration(),
  }));
}

/** Why the second picture cannot follow the first unchanged, or null. */
export function videoDifference(a: VideoFacts, b: VideoFacts): string | null {
  if (a.codec !== b.codec) return `another codec (${b.codecString} after ${a.codecString})`;
  if (a.width !== b.width || a.height !== b.height) {
    return `another picture size (${b.width}x${b.height} after ${a.width}x${a.height})`;
  }
  if (a.rotation !== b.rotation) return `another rotation (${b.rotation} after ${a.rotation} degrees)`;
  return sameSetup(a.decoderConfig, b.decoderConfig) ? null : 'other encoder settings';
}

/** Why the second sound cannot follow the first unchanged, or null. */
export function audioDifference(a: AudioFacts, b: AudioFacts): string | null {
  const format = (facts: AudioFacts) => `${facts.codecString}, ${facts.sampleRate} Hz, ${facts.channels} channels`;
  if (format(a) !== format(b)) return `another sound (${format(b)} after ${format(a)})`;
  return sameSetup(a.decoderConfig, b.decoderConfig) ? null : 'other sound settings';
}

type DecoderConfig = VideoDecoderConfig | AudioDecoderConfig;

/** The file has one description for all its frames, so the two must be the same to the byte. */
const sameSetup = (a: DecoderConfig, b: DecoderConfig): boolean =>
  a.codec === b.codec && Buffer.compare(setupOf(a), setupOf(b)) === 0;

function setupOf(config: DecoderConfig): Uint8Array {
  // The browser's types, which are not loaded, name what a description is.
  const description = config.description as ArrayBuffer | ArrayBufferView | undefined;
  if (!description) return new Uint8Array();
  if (!ArrayBuffer.isView(description)) return new Uint8Array(description);
  return new Uint8Array(description.buffer, description.byteOffset, description.byteLength);
}
