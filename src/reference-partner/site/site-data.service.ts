import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { HostedSiteDataCounts } from '../../contracts/admin/hosted.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import { unavailable } from '../../errors/app-error.js';
import { JsonRecordStream } from '../../json/json-record-stream.js';
import { writeSiteAnswer } from './site-answer.js';
import {
  deleteAnswer,
  findAnswer,
  findPiece,
  insertPiece,
  replaceAnswer,
  type StoredAnswer,
} from './site-data.repository.js';
import { StagedRecords } from './staged-records.repository.js';
import { invalidBody, KINDS, type SubmittedRecord, SubmittedRecords } from './submitted-records.js';

/** A body of 256 MB takes half a minute. */
const STAGING_TIMEOUT_MS = 60_000;
const BATCH_BYTES = 512 * 1024;
const SLICE_BYTES = 65_536;
/** One more than an error body can name. */
const MAX_FOUND = 10_001;

/**
 * The site data of each hauler. It is stored as the compressed response of `GET /sites`, because it is read often and
 * changed rarely. The response is sent piece by piece.
 */
@Injectable()
export class ReferenceSiteData {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Replaces all data of a hauler with that of a JSON body, in constant memory. Throws `invalid` with all violations and
   * changes nothing.
   */
  async replace(haulerId: string, body: AsyncIterable<Buffer>): Promise<HostedSiteDataCounts> {
    const stream = new JsonRecordStream(KINDS);
    const submitted = new SubmittedRecords();
    const batches = batchesOf(stream, submitted, body);
    try {
      // A slow caller of a small body must not hold a database connection.
      const first = await batches.next();
      return await inTransaction(
        this.dataSource,
        async (manager) => {
          const staged = await StagedRecords.create(manager);
          for (let next = first; next.done !== true; next = await batches.next()) await staged.add(next.value);
          for (const { kind, position, first: index } of await staged.repeated(MAX_FOUND)) {
            submitted.addRepeated(kind, position, index);
          }
          for (const { kind, position, parent } of await staged.unknownParents(MAX_FOUND)) {
            submitted.addUnknownParent(kind, position, parent);
          }
          submitted.assertValid();
          const { counts } = submitted;
          const isEmpty = counts.sites + counts.kiosks + counts.materials === 0;
          const active = isEmpty ? await this.remove(manager, haulerId) : await this.store(manager, haulerId, staged);
          return { haulerId, ...counts, active };
        },
        // The body can be read once only.
        { statementTimeoutMs: STAGING_TIMEOUT_MS, attempts: 1 },
      );
    } finally {
      await batches.return(undefined);
    }
  }

  /** Undefined if the hauler has no records. If all records are inactive, the response has empty lists (decision 37). */
  find(haulerId: string): Promise<StoredAnswer | undefined> {
    return findAnswer(this.dataSource, haulerId);
  }

  /** One piece of the compressed response. A slow caller occupies no database connection between two pieces. */
  async piece(answer: StoredAnswer, position: number): Promise<Buffer> {
    const piece = await findPiece(this.dataSource, answer, position);
    if (piece === undefined) throw unavailable('the data was replaced twice during the response; try again shortly');
    return piece;
  }

  /** Returns the number of active records. */
  private async store(manager: EntityManager, haulerId: string, staged: StagedRecords): Promise<number> {
    const stored = { haulerId, version: uuidv7() };
    const insert = (piece: Buffer, position: number) => insertPiece(manager, stored, position, piece);
    const { active, pieces: chunks, ...answer } = await writeSiteAnswer(staged.elements(), insert);
    await replaceAnswer(manager, { ...stored, ...answer, chunks });
    return active;
  }

  private async remove(manager: EntityManager, haulerId: string): Promise<number> {
    await deleteAnswer(manager, haulerId);
    return 0;
  }
}

/** Batches of about `BATCH_BYTES`; the envelope is read at the end. */
async function* batchesOf(
  stream: JsonRecordStream,
  submitted: SubmittedRecords,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<SubmittedRecord[], undefined> {
  let batch: SubmittedRecord[] = [];
  let bytes = 0;
  try {
    for await (const records of stream.batches(slicesOf(body))) {
      for (const record of records) {
        batch.push(submitted.read(record));
        bytes += record.text?.length ?? 0;
      }
      if (bytes < BATCH_BYTES) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    submitted.addEnvelope(stream.envelope());
  } catch (error) {
    throw invalidBody(error);
  }
  yield batch;
}

/** The event loop gets its turn after each slice. */
async function* slicesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      yield chunk.subarray(start, start + SLICE_BYTES);
      await setImmediate();
    }
  }
}
