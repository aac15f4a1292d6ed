import { open, rm, type FileHandle } from 'node:fs/promises';
import type {
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  Output,
  StreamTargetChunk,
} from 'mediabunny';
import { PRIVATE_FILE } from '../../../config/private-modes.js';
import { errorCode } from '../../../storage/storage-errors.js';
import { MediaError } from './stored-mp4.js';
import { loadMediabunny } from './mp4-input.js';
import type { AudioFacts, VideoFacts } from './track-facts.js';

/** The media library cannot write the sound. Its checks are stricter than those of a reader. */
export class UnwritableSoundError extends Error {
  override readonly name = 'UnwritableSoundError';
}

/** Size of one write. Two or three writes are in memory at a time. */
const WRITE_BYTES = 2 * 1024 * 1024;

export interface ClipFormat {
  readonly video: VideoFacts;
  /** The library reads from the packet `first` what the description of the codec omits. */
  readonly audio: { readonly facts: AudioFacts; readonly first: EncodedPacket } | null;
  /** Maximum number of packets. The writer reserves space for the table of contents at the front. */
  readonly packets: { readonly video: number; readonly audio: number };
}

/**
 * Writes an MP4 with its table of contents at the front ("fast start"), so that a player can begin before the download is
 * complete. The pieces follow each other on one timeline that begins at zero.
 */
export class ClipWriter {
  /** Start of the current piece, and the ends of video and audio so far, in seconds of the clip. */
  private base = 0;
  private videoEnd = 0;
  private audioEnd = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly output: Output,
    private readonly video: EncodedVideoPacketSource,
    private readonly audio: EncodedAudioPacketSource | null,
  ) {}

  static async create(path: string, { video, audio, packets }: ClipFormat): Promise<ClipWriter> {
    const mediabunny = await loadMediabunny();
    const file = await open(path, 'w', PRIVATE_FILE);
    const output = new mediabunny.Output({
      format: new mediabunny.Mp4OutputFormat({ fastStart: 'reserve' }),
      target: new mediabunny.StreamTarget(writableFile(file), { chunked: true, chunkSize: WRITE_BYTES }),
    });
    const videoSource = new mediabunny.EncodedVideoPacketSource(video.codec);
    const audioSource = audio && new mediabunny.EncodedAudioPacketSource(audio.facts.codec);
    const writer = new ClipWriter(path, file, output, videoSource, audioSource);
    await writer.orDiscard(async () => {
      try {
        output.addVideoTrack(videoSource, {
          decoderConfig: video.decoderConfig,
          rotation: video.rotation,
          maximumPacketCount: packets.video,
        });
      } catch (error) {
        throw new MediaError('not-cuttable', `its pictures (${video.codec}) cannot be written`, { cause: error });
      }
      if (!audioSource) return output.start();
      try {
        output.addAudioTrack(audioSource, {
          decoderConfig: audio.facts.decoderConfig,
          primingPacket: audio.first,
          maximumPacketCount: packets.audio,
        });
        await output.start();
      } catch (error) {
        soundRefused(error);
      }
    });
    return writer;
  }

  /** `seconds`: when the frame is shown, counted from the start of the piece. Call it in decode order. */
  async addVideo(packet: EncodedPacket, seconds: number): Promise<void> {
    const timestamp = this.base + seconds;
    this.videoEnd = Math.max(this.videoEnd, timestamp + packet.duration);
    await this.video.add(packet.clone({ timestamp })).catch((error: unknown) => {
      if (isFileError(error)) throw error;
      throw new MediaError('unreadable', 'a frame of the video cannot be written', { cause: error });
    });
  }

  /**
   * Skips a packet if more than half of it overlaps the previous audio. Otherwise moves it to the end of the previous
   * audio.
   */
  async addAudio(packet: EncodedPacket, seconds: number): Promise<void> {
    const wanted = this.base + seconds;
    if (wanted < this.audioEnd - packet.duration / 2) return;
    const timestamp = Math.max(wanted, this.audioEnd);
    this.audioEnd = timestamp + packet.duration;
    await this.audio?.add(packet.clone({ timestamp })).catch(soundRefused);
  }

  /** Ends the current piece; the next packets belong to the next piece. Returns the length of the piece in seconds. */
  endPiece(): number {
    const length = this.videoEnd - this.base;
    this.base = this.videoEnd;
    return length;
  }

  /** Completes the file and returns its size in bytes. */
  async finish(): Promise<number> {
    await (this.audio ? this.output.finalize().catch(soundRefused) : this.output.finalize());
    const { size } = await this.file.stat();
    await this.file.close();
    return size;
  }

  /** Runs a step. Deletes the file if it fails. */
  async orDiscard<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.output.cancel().catch(() => undefined);
      await this.file.close().catch(() => undefined);
      await rm(this.path, { force: true });
      throw error;
    }
  }
}

/** Whether the error concerns the written file, and not the contents of the recordings. */
const isFileError = (error: unknown): boolean => errorCode(error) !== undefined;

/** For `catch` where sound is written. */
function soundRefused(error: unknown): never {
  throw isFileError(error) ? error : new UnwritableSoundError('the sound is refused', { cause: error });
}

function writableFile(file: FileHandle): WritableStream<StreamTargetChunk> {
  return new WritableStream({
    async write({ data, position }) {
      for (let done = 0; done < data.length;) {
        done += (await file.write(data, done, data.length - done, position + done)).bytesWritten;
      }
    },
  });
}
