import type { AudioCodec, InputAudioTrack, InputVideoTrack, Rotation, VideoCodec } from 'mediabunny';
import { MediaError } from './stored-mp4.js';
import { type Mp4Track, loadMediabunny } from './mp4-input.js';

/** Properties that two video tracks must share to be joined without encoding. */
export interface VideoFacts {
  readonly codec: VideoCodec;
  readonly width: number;
  readonly height: number;
  readonly rotation: Rotation;
  /** Its `codec` is in the notation of RFC 6381: `avc1.42c00d`. */
  readonly decoderConfig: VideoDecoderConfig;
}

export interface AudioFacts {
  readonly codec: AudioCodec;
  readonly decoderConfig: AudioDecoderConfig;
}

/** Start and end of a track, in seconds of the video's own clock. */
export interface Extent {
  readonly first: number;
  readonly end: number;
}

export function readVideoFacts(video: Mp4Track<InputVideoTrack>): Promise<VideoFacts> {
  return video.query(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) {
      const name = await track.getInternalCodecId();
      const shown = typeof name === 'string' && /^[\x21-\x7e]{1,4} ?$/.test(name) ? ` (${name.trim()})` : '';
      throw new MediaError('not-cuttable', `its pictures are of a codec that cannot be cut${shown}`);
    }
    return {
      codec,
      width: await track.getCodedWidth(),
      height: await track.getCodedHeight(),
      rotation: await track.getRotation(),
      decoderConfig,
    };
  });
}

export function readAudioFacts(audio: Mp4Track<InputAudioTrack>): Promise<AudioFacts> {
  return audio.query(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) throw new MediaError('unreadable', 'the audio track has an unknown codec');
    return { codec, decoderConfig };
  });
}

/** Why a clip cannot include this audio track, or null. */
export async function soundFault(audio: Mp4Track<InputAudioTrack>): Promise<string | null> {
  const { Mp4OutputFormat } = await loadMediabunny();
  return audio.query(async (track) => {
    const [codec, decoderConfig] = [await track.getCodec(), await track.getDecoderConfig()];
    if (!codec || !decoderConfig) return 'its codec is unknown';
    return new Mp4OutputFormat().getSupportedAudioCodecs().includes(codec) ? null : `MP4 cannot hold ${codec}`;
  });
}

/** Frames before time zero are only for decoding; players do not show them. */
export function readExtent(track: Mp4Track): Promise<Extent> {
  return track.query(async (of) => ({
    first: Math.max(0, await of.getFirstTimestamp()),
    end: await of.computeDuration(),
  }));
}

/** Why the second video cannot be joined to the first without encoding, or null. */
export function videoDifference(a: VideoFacts, b: VideoFacts): string | null {
  if (a.codec !== b.codec) return `another codec (${b.decoderConfig.codec} after ${a.decoderConfig.codec})`;
  if (a.width !== b.width || a.height !== b.height) {
    return `another picture size (${b.width}x${b.height} after ${a.width}x${a.height})`;
  }
  if (a.rotation !== b.rotation) return `another rotation (${b.rotation} after ${a.rotation} degrees)`;
  return sameSetup(a.decoderConfig, b.decoderConfig) ? null : 'other encoder settings';
}

/** Why the second audio cannot be joined to the first without encoding, or null. */
export function audioDifference(a: AudioFacts, b: AudioFacts): string | null {
  const format = ({ decoderConfig: { codec, sampleRate, numberOfChannels } }: AudioFacts) =>
    `${codec}, ${sampleRate} Hz, ${numberOfChannels} channels`;
  if (format(a) !== format(b)) return `another sound (${format(b)} after ${format(a)})`;
  return sameSetup(a.decoderConfig, b.decoderConfig) ? null : 'other sound settings';
}

type DecoderConfig = VideoDecoderConfig | AudioDecoderConfig;

/** An MP4 has one decoder configuration for all frames, so both must be equal byte by byte. */
const sameSetup = (a: DecoderConfig, b: DecoderConfig): boolean =>
  a.codec === b.codec && Buffer.compare(setupOf(a), setupOf(b)) === 0;

function setupOf(config: DecoderConfig): Uint8Array {
  // The DOM types, which this project does not load, define the type of a description.
  const description = config.description as ArrayBuffer | ArrayBufferView | undefined;
  if (!description) return new Uint8Array();
  if (!ArrayBuffer.isView(description)) return new Uint8Array(description);
  return new Uint8Array(description.buffer, description.byteOffset, description.byteLength);
}
