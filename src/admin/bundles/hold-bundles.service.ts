import { pipeline } from 'node:stream/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { actorOf, whoOf } from '../../auth/action-log.interceptor.js';
import { ActionLog } from '../../auth/action-log.repository.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { type HoldBundleQuery, MAX_BUNDLE_RECORDINGS } from '../../contracts/admin/holds.routes.js';
import { Database } from '../../core/database/database.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { limitReader } from '../../core/http/send-file.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import type { HoldRow } from '../../vision/holds/holds.repository.js';
import { Holds } from '../../vision/holds/holds.service.js';
import { recordingFile } from '../../vision/recordings/recording.rules.js';
import { type BundleFacts, bundleName, HoldBundle, ZipArchive } from './hold-bundle.js';
import { countBundle, findBundle } from './hold-bundle.repository.js';

/** What a hold keeps, as one archive that is made while it is sent. */
@Injectable()
export class HoldBundles {
  private readonly logger = new Logger(HoldBundles.name);

  constructor(
    private readonly database: Database,
    private readonly holds: Holds,
    @Inject(STORAGE) private readonly storage: Storage,
    private readonly actions: ActionLog,
  ) {}

  /** Throws before the first byte. After it a failure breaks the connection, so that no client takes a part for the whole. */
  async send(id: string, range: HoldBundleQuery, request: Request, response: Response): Promise<void> {
    const row = await this.holds.find(id);
    await this.check(row, range);
    const hold = await this.holds.get(id);
    const createdAt = new Date();
    const isRead = request.method !== 'HEAD';
    if (isRead) {
      limitReader(request, response);
      await this.record(id, range, request);
    }
    response.set({
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="${bundleName(hold.caseId, id, createdAt)}"`,
    });
    if (isRead) await this.stream({ hold, range, createdAt, createdBy: actorOf(request) }, response);
    else response.end();
  }

  private async check(hold: HoldRow, range: HoldBundleQuery): Promise<void> {
    const { endsAfter, startsBefore } = range;
    if (endsAfter !== undefined && startsBefore !== undefined && startsBefore <= endsAfter)
      throw invalid([{ path: 'startsBefore', rule: 'isRange', message: 'startsBefore must be after endsAfter' }]);
    const [count, first] = await this.database.transaction(
      async (transaction) =>
        [
          await countBundle(transaction, hold, range),
          (await findBundle(transaction, hold, range, undefined, 1))[0],
        ] as const,
      { pool: 'bulk' },
    );
    if (count > MAX_BUNDLE_RECORDINGS) {
      const parts = `a bundle has at most ${MAX_BUNDLE_RECORDINGS}: get it in parts, with endsAfter and startsBefore`;
      throw apiError(ADMIN_API, 'conflict', `the hold ${hold.id} has ${count} recordings in this range, and ${parts}`);
    }
    // A storage that is away is a 503, not an archive that breaks at its first file.
    if (first !== undefined) await this.storage.stat(recordingFile(first.id));
  }

  private record(id: string, range: HoldBundleQuery, request: Request): Promise<void> {
    return this.actions.require({
      ...whoOf(request),
      action: 'hold.exported',
      resource: `hold:${id}`,
      ...(Object.keys(range).length === 0 ? {} : { changes: { ...range } }),
    });
  }

  private async stream(facts: BundleFacts, response: Response): Promise<void> {
    const leaving = new AbortController();
    const archive = new ZipArchive(leaving.signal);
    const { database, storage } = this;
    const bundle = new HoldBundle({ database, storage }, facts, archive);
    const write = async () => {
      await bundle.write();
      archive.end();
    };
    const sending = pipeline(archive.output, response).catch((error: unknown) => {
      leaving.abort();
      throw error;
    });
    try {
      await Promise.all([sending, write()]);
    } catch (err) {
      if (!leaving.signal.aborted) this.logger.error({ err }, `the bundle of the hold ${facts.hold.id} was cut off`);
      response.destroy();
    }
  }
}
