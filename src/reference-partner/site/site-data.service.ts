import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import type { HostedSiteDataCounts } from '../../contracts/admin/hosted.routes.js';
import type { SiteData } from '../../contracts/site/site.api.js';
import { Database } from '../../core/database/database.js';
import { listedData, readSiteData, removedRecords } from './site-data.rules.js';
import { deleteAnswer, findAnswer, replaceAnswer, type StoredAnswer } from './site-data.repository.js';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * The site data of each hauler. It is stored as the compressed response of `GET /sites`, because it is read often and
 * changed rarely.
 */
@Injectable()
export class ReferenceSiteData {
  constructor(private readonly database: Database) {}

  /**
   * Replaces all data of a hauler with that of a JSON body. Throws `invalid` with all violations and changes nothing. A dry run
   * changes nothing either, and counts what callers would no longer receive.
   */
  async replace(haulerId: string, body: unknown, isDryRun = false): Promise<HostedSiteDataCounts> {
    const { sites, kiosks, materials } = readSiteData(body);
    const data = listedData({ sites, kiosks, materials });
    const counts = { sites: sites.length, kiosks: kiosks.length, materials: materials.length };
    const active = data.sites.length + data.kiosks.length + data.materials.length;
    if (isDryRun) {
      return { haulerId, ...counts, active, preview: removedRecords(await this.listed(haulerId), data) };
    }
    if (counts.sites + counts.kiosks + counts.materials === 0) await deleteAnswer(this.database, haulerId);
    else await replaceAnswer(this.database, haulerId, await answerOf({ success: true, data }));
    return { haulerId, ...counts, active };
  }

  private async listed(haulerId: string): Promise<Required<SiteData>> {
    const stored = await findAnswer(this.database, haulerId);
    if (stored === undefined) return { sites: [], kiosks: [], materials: [] };
    const bytes = await decompress(stored.body);
    return (JSON.parse(bytes.toString()) as { readonly data: Required<SiteData> }).data;
  }

  /** Undefined if the hauler has no records. If all records are inactive, the response has empty lists (decision 37). */
  find(haulerId: string): Promise<StoredAnswer | undefined> {
    return findAnswer(this.database, haulerId);
  }
}

async function answerOf(response: object): Promise<StoredAnswer> {
  const bytes = Buffer.from(JSON.stringify(response));
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { digest, byteLength: bytes.length, body: await compress(bytes) };
}
