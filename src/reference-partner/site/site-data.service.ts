import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HostedSiteDataCounts } from '../../contracts/admin/hosted.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import { invalid, unavailable } from '../../errors/app-error.js';
import { type SiteAnswer, writeSiteAnswer } from './site-answer.js';
import { readSiteData } from './submitted-site-data.js';

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

  /** Replaces all data of a hauler with that of a JSON body. Throws `invalid` with all violations and changes nothing. */
  async replace(haulerId: string, body: Buffer): Promise<HostedSiteDataCounts> {
    const { data, violations } = await readSiteData(body);
    if (violations.length > 0) throw invalid(violations);
    const counts = { sites: data.sites.length, kiosks: data.kiosks.length, materials: data.materials.length };
    const answer = await writeSiteAnswer(data);
    if (counts.sites + counts.kiosks + counts.materials === 0) await this.remove(haulerId);
    else await this.store(haulerId, answer);
    return { haulerId, ...counts, active: answer.active };
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

  /** Retains the previous version too, for responses that are being sent. */
  private async store(haulerId: string, answer: SiteAnswer): Promise<void> {
    const version = uuidv7();
    await inTransaction(this.dataSource, async (manager) => {
      for (const [position, bytes] of answer.gzip.entries()) {
        await manager.query('INSERT INTO reference_site_data_chunks VALUES ($1, $2, $3, $4)', [
          haulerId,
          version,
          position,
          bytes,
        ]);
      }
      const [row] = await manager.query<{ previous_version: string | null }[]>(
        `INSERT INTO reference_site_data AS d (hauler_id, version, digest, byte_length, gzip_length, chunks)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (hauler_id) DO UPDATE SET previous_version = d.version, version = excluded.version,
           digest = excluded.digest, byte_length = excluded.byte_length, gzip_length = excluded.gzip_length,
           chunks = excluded.chunks, updated_at = now()
         RETURNING previous_version`,
        [haulerId, version, answer.digest, answer.byteLength, answer.gzipLength, answer.gzip.length],
      );
      await manager.query(
        'DELETE FROM reference_site_data_chunks WHERE hauler_id = $1 AND version <> ALL (ARRAY[$2::uuid, $3::uuid])',
        [haulerId, version, row?.previous_version ?? version],
      );
    });
  }

  private async remove(haulerId: string): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      await manager.query('DELETE FROM reference_site_data WHERE hauler_id = $1', [haulerId]);
      await manager.query('DELETE FROM reference_site_data_chunks WHERE hauler_id = $1', [haulerId]);
    });
  }
}
