import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { isGoneUpload, type S3Place, viaS3 } from './s3-client.js';
import { BoxWalk } from './mp4.js';
import { abortUpload, forgetState, PART_BYTES, readState, type UploadState, writeState } from './s3-state.js';
import type { Memo, Published, StorageWriter, WriterOptions } from './storage.js';
import { StorageUnavailable, WriterSuperseded } from './storage-errors.js';
import { partialOf } from './storage-name.js';

const CHECKPOINT_MS = 1000;

/**
 * One object's bytes on their way: nothing is sent before a part is full, so that a small file is a single `PutObject`;
 * from then on a multipart upload, one part being sent while the next one gathers. An upload that goes on after its
 * lease has ended sends the same parts as its successor, or to an upload that is no longer there.
 */
class S3Writer implements StorageWriter {
  length = 0;
  memo: Memo | undefined;
  readonly #key: string;
  readonly #stateKey: string;
  #hash = createHash('sha256');
  /** Continued after an interruption: the first parts can only be hashed once they are an object. */
  #continued = false;
  #uploadId: string | undefined;
  #parts: string[] = [];
  #walk: BoxWalk | undefined;
  /** The walk's state at the end of the full parts. */
  #boxes: string | undefined;
  #gathering: Buffer | undefined;
  #spare: Buffer | undefined;
  #fill = 0;
  #sending: Promise<void> = Promise.resolve();
  #checkpointAt = 0;

  constructor(
    readonly place: S3Place,
    name: string,
    readonly film: boolean,
  ) {
    this.#walk = film ? new BoxWalk() : undefined;
    this.#key = place.prefix + name;
    this.#stateKey = `${place.prefix}${partialOf(name)}.json`;
  }

  async takeUp(resume: boolean): Promise<void> {
    const state = await readState(this.place, this.#stateKey);
    if (state === undefined || state.key !== this.#key) return;
    this.#uploadId = state.uploadId;
    if (!resume || state.parts.length === 0) return;
    if (this.film) {
      if (state.boxes === undefined) return;
      this.#walk = new BoxWalk(state.boxes);
      this.#boxes = state.boxes;
    }
    this.#continued = true;
    this.#parts = [...state.parts];
    this.memo = state.memo;
    this.length = state.parts.length * PART_BYTES;
  }

  async begin(memo?: Memo): Promise<void> {
    await this.discard();
    this.memo = memo;
    this.length = 0;
    this.#parts = [];
    this.#checkpointAt = 0;
    this.#sending = Promise.resolve();
    this.#continued = false;
    this.#hash = createHash('sha256');
    this.#walk = this.film ? new BoxWalk() : undefined;
    this.#boxes = undefined;
  }

  async append(chunk: Buffer, release?: () => void): Promise<void> {
    if (!this.#continued) this.#hash.update(chunk);
    let done = 0;
    while (done < chunk.length) {
      if (this.#fill === PART_BYTES) await this.#nextPart();
      this.#gathering ??= Buffer.allocUnsafeSlow(PART_BYTES);
      const copied = chunk.copy(this.#gathering, this.#fill, done);
      this.#walk?.update(chunk.subarray(done, done + copied));
      this.#fill += copied;
      done += copied;
    }
    this.length += chunk.length;
    release?.();
  }

  /** What does not fill a part is given up. */
  async suspend(): Promise<void> {
    if (this.memo === undefined) return this.discard();
    if (this.#fill === PART_BYTES) await this.#nextPart();
    await this.#sending;
    if (this.#uploadId !== undefined) await this.#viaUpload(() => this.#keep());
    this.#free();
  }

  async discard(): Promise<void> {
    await this.#sending.catch(() => undefined);
    const uploadId = this.#uploadId;
    this.#free();
    if (uploadId === undefined) return;
    await viaS3(async () => {
      await abortUpload(this.place, this.#key, uploadId);
      await forgetState(this.place, this.#stateKey, uploadId);
    });
  }

  async publish(): Promise<Published> {
    this.#walk?.end();
    // The first part may still be on its way, and the upload without its id.
    await this.#sending;
    if (this.#uploadId === undefined) await this.#putWhole();
    else await this.#complete(this.#uploadId).catch((error: unknown) => this.#expectStored(error));
    this.#free();
    const sha256 = (this.#continued ? await this.#hashStored() : this.#hash).digest('hex');
    return { size: this.length, sha256 };
  }

  async #nextPart(): Promise<void> {
    await this.#sending;
    const body = (this.#gathering ?? Buffer.alloc(0)).subarray(0, this.#fill);
    [this.#gathering, this.#spare] = [this.#spare, this.#gathering];
    this.#fill = 0;
    const boxes = this.#walk?.state;
    this.#sending = this.#viaUpload(() => this.#sendPart(body, boxes));
    // Whoever awaits it next hears of the failure; until then it must not count as unhandled.
    this.#sending.catch(() => undefined);
  }

  async #sendPart(body: Buffer, boxes: string | undefined): Promise<void> {
    const at = { Bucket: this.place.bucket, Key: this.#key };
    if (this.#uploadId === undefined) {
      const { UploadId } = await this.place.client.send(
        new CreateMultipartUploadCommand({ ...at, ContentType: 'video/mp4' }),
      );
      this.#uploadId = UploadId;
      await this.#keep();
    }
    const PartNumber = this.#parts.length + 1;
    const { ETag } = await this.place.client.send(
      new UploadPartCommand({ ...at, UploadId: this.#uploadId, PartNumber, Body: body }),
    );
    this.#parts.push(ETag ?? '');
    if (body.length < PART_BYTES) return;
    this.#boxes = boxes;
    if (Date.now() - this.#checkpointAt < CHECKPOINT_MS) return;
    this.#checkpointAt = Date.now();
    await this.#keep();
  }

  /** Without a memo too: so that a sweep finds the upload of a killed process. */
  async #keep(): Promise<void> {
    const state: UploadState = {
      uploadId: this.#uploadId ?? '',
      key: this.#key,
      // The last one may fill none, where the upload could not be put together: whoever goes on counts full ones.
      parts: this.memo === undefined ? [] : this.#parts.slice(0, Math.floor(this.length / PART_BYTES)),
      memo: this.memo ?? {},
      boxes: this.#boxes,
    };
    await writeState(this.place, this.#stateKey, state);
  }

  async #putWhole(): Promise<void> {
    const body = (this.#gathering ?? Buffer.alloc(0)).subarray(0, this.#fill);
    const at = { Bucket: this.place.bucket, Key: this.#key, ContentType: 'video/mp4' };
    await viaS3(() => this.place.client.send(new PutObjectCommand({ ...at, Body: body })));
  }

  async #complete(uploadId: string): Promise<void> {
    if (this.#fill > 0) await this.#nextPart();
    await this.#sending;
    const Parts = this.#parts.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    const at = { Bucket: this.place.bucket, Key: this.#key, UploadId: uploadId };
    await this.#viaUpload(async () => {
      await this.place.client.send(new CompleteMultipartUploadCommand({ ...at, MultipartUpload: { Parts } }));
      await forgetState(this.place, this.#stateKey, uploadId);
    });
  }

  /** The SDK sends a completion again whose answer was lost, and finds its upload gone: what is stored is then our file. */
  async #expectStored(error: unknown): Promise<void> {
    if (!(error instanceof WriterSuperseded)) throw error;
    const stored = await this.#hashStored().catch(() => undefined);
    const isOurs = this.#continued || stored?.digest('hex') === this.#hash.copy().digest('hex');
    if (stored === undefined || !isOurs) throw error;
  }

  async #hashStored(): Promise<Hash> {
    const hash = createHash('sha256');
    let size = 0;
    await viaS3(async () => {
      const { Body } = await this.place.client.send(
        new GetObjectCommand({ Bucket: this.place.bucket, Key: this.#key }),
      );
      for await (const chunk of Body as Readable) {
        hash.update(chunk as Buffer);
        size += (chunk as Buffer).length;
      }
    });
    if (size === this.length) return hash;
    throw new StorageUnavailable('failed', `The video storage (S3) kept ${size} of ${this.length} bytes.`);
  }

  /** An upload that is gone must not be taken up for ever: its state goes too. */
  #viaUpload(work: () => Promise<void>): Promise<void> {
    return viaS3(() =>
      work().catch(async (error: unknown) => {
        if (!isGoneUpload(error)) throw error;
        await forgetState(this.place, this.#stateKey, this.#uploadId ?? '');
        this.#uploadId = undefined;
        throw new WriterSuperseded(error);
      }),
    );
  }

  #free(): void {
    this.#gathering = this.#spare = this.#uploadId = undefined;
    this.#fill = 0;
  }
}

export async function openS3Writer(
  place: S3Place,
  name: string,
  { resume = true, film = false }: WriterOptions = {},
): Promise<StorageWriter> {
  const writer = new S3Writer(place, name, film);
  await viaS3(() => writer.takeUp(resume));
  return writer;
}
