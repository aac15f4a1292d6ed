import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { HostedSiteDataCounts } from '../../contracts/admin/hosted.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import { unavailable } from '../../errors/app-error.js';
import { JsonRecordStream } from '../../json/json-record-stream.js';
import { writeSiteAnswer } from './site-answer.js';
import { StagedRecords } from './staged-records.repository.js';
import { invalidBody, KINDS, type SubmittedRecord, SubmittedRecords } from './submitted-records.js';

/** A body of 256 MB takes half a minute. */
const STAGING_TIMEOUT_MS = 60_000;
const BATCH_BYTES = 512 * 1024;
const SLICE_BYTES = 65_536;
/** One more than an error body can name. */
const MAX_FOUND = 10_001;

/** The stored response of a hauler; lengths in bytes. */
export interface StoredAnswer {
  readonly haulerId: string;
  readonly version: string;
  readonly digest: string;
  readonly byteLength: number;
  readonly gzipLength: number;
  readonly chunks: number;
}

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
    // A slow caller of a small body must not hold a database connection.
    const first = await batches.next();
    return inTransaction(
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
    ).finally(() => batches.return(undefined));
  }

  /** Undefined if the hauler has no records. If all records are inactive, the response has empty lists (decision 37). */
  async find(haulerId: string): Promise<StoredAnswer | undefined> {
    const rows = await this.dataSource.query<Omit<StoredAnswer, 'haulerId'>[]>(
      `SELECT version, digest, byte_length::float8 AS "byteLength", gzip_length::float8 AS "gzipLength", chunks
       FROM reference_site_data WHERE hauler_id = $1`,
      [haulerId],
    );
    return rows[0] === undefined ? undefined : { haulerId, ...rows[0] };
  }

  /** One piece of the compressed response. A slow caller occupies no database connection between two pieces. */
  async piece({ haulerId, version }: StoredAnswer, position: number): Promise<Buffer> {
    const [row] = await this.dataSource.query<{ bytes: Buffer }[]>(
      'SELECT bytes FROM reference_site_data_chunks WHERE hauler_id = $1 AND version = $2 AND position = $3',
      [haulerId, version, position],
    );
    if (row === undefined) throw unavailable('the data was replaced twice during the response; try again shortly');
    return row.bytes;
  }

  /** Retains the previous version too, for responses that are being sent. Returns the number of active records. */
  private async store(manager: EntityManager, haulerId: string, staged: StagedRecords): Promise<number> {
    const version = uuidv7();
    const answer = await writeSiteAnswer(staged.elements(), async (piece, position) => {
      await manager.query('INSERT INTO reference_site_data_chunks VALUES ($1, $2, $3, $4)', [
        haulerId,
        version,
        position,
        piece,
      ]);
    });
    const [row] = await manager.query<{ previous_version: string | null }[]>(
      `INSERT INTO reference_site_data AS d (hauler_id, version, digest, byte_length, gzip_length, chunks)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (hauler_id) DO UPDATE SET previous_version = d.version, version = excluded.version,
         digest = excluded.digest, byte_length = excluded.byte_length, gzip_length = excluded.gzip_length,
         chunks = excluded.chunks, updated_at = now()
       RETURNING previous_version`,
      [haulerId, version, answer.digest, answer.byteLength, answer.gzipLength, answer.pieces],
    );
    await manager.query(
      'DELETE FROM reference_site_data_chunks WHERE hauler_id = $1 AND version <> ALL (ARRAY[$2::uuid, $3::uuid])',
      [haulerId, version, row?.previous_version ?? version],
    );
    return answer.active;
  }

  private async remove(manager: EntityManager, haulerId: string): Promise<number> {
    await manager.query('DELETE FROM reference_site_data WHERE hauler_id = $1', [haulerId]);
    await manager.query('DELETE FROM reference_site_data_chunks WHERE hauler_id = $1', [haulerId]);
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
